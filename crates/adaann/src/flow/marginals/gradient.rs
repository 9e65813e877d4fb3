//! Gradients of one coordinate's map, by the implicit function F(x) = Φ(z): dx = (φ(z) dz − dF)/f(x).

use super::lanes::Hump;
use crate::{
    simd::{HALF_LN_TAU, Special},
    weight::log_sum_exp,
};

/// Quantities at one point that the gradients need.
pub(super) struct Pull {
    z: f64,
    x: f64,
    log_density: f64,
    /// The slope of log f.
    slope: f64,
    /// dx/dz
    stretch: f64,
    /// 1 in the lower half, where F from below is most accurate, and −1 in the upper half.
    sign: f64,
    /// Log mass on that side of x.
    log_tail: f64,
}

fn units(hump: &Hump, x: f64) -> f64 {
    (x - hump.mean) * hump.per_sd
}

impl Pull {
    /// Computes them at the point z and its image x.
    pub(super) fn new(law: &[Hump], z: f64, x: f64) -> Self {
        let term = |hump: &Hump| hump.log_height - 0.5 * units(hump, x).powi(2);
        let log_density = log_sum_exp(law.iter().map(term));
        let sign = if z > 0.0 { -1.0 } else { 1.0 };
        let tail = |hump: &Hump| hump.log_weight + Special::LnNormalCdf.at(sign * units(hump, x));
        let slopes =
            law.iter().map(|hump| -(term(hump) - log_density).exp() * units(hump, x) * hump.per_sd);
        Self {
            z,
            x,
            log_density,
            slope: slopes.sum(),
            stretch: (-0.5 * z * z - HALF_LN_TAU - log_density).exp(),
            sign,
            log_tail: log_sum_exp(law.iter().map(tail)),
        }
    }

    /// The total cotangent of x: its own, and its part through the log-determinant.
    fn of_image(&self, g: f64, k: f64) -> f64 {
        g - k * self.slope
    }

    /// The cotangent of z, given that of x and that of the log-determinant log φ(z) − log f(x).
    pub(super) fn to_start(&self, g: f64, k: f64) -> f64 {
        self.of_image(g, k) * self.stretch - k * self.z
    }

    /// The cotangent of x, given that of z and that of the same log-determinant.
    pub(super) fn to_image(&self, g: f64, k: f64) -> f64 {
        (g - k * self.z) / self.stretch - k * self.slope
    }

    /// The gradients of a component's logit, mean and log standard deviation.
    pub(super) fn parameters(&self, hump: &Hump, g: f64, k: f64) -> [f64; 3] {
        let (u, g) = (units(hump, self.x), self.of_image(g, k));
        let r = (hump.log_height - 0.5 * u * u - self.log_density).exp();
        // (∂F/∂logit)/f, computed from the tail that contains x.
        let own_tail = Special::LnNormalCdf.at(self.sign * u);
        let mass = (hump.log_weight + own_tail - self.log_density).exp()
            - (hump.log_weight + self.log_tail - self.log_density).exp();
        [
            -g * self.sign * mass - k * (r - hump.log_weight.exp()),
            g * r - k * r * u * hump.per_sd,
            g * r * u * hump.sd - k * r * (u * u - 1.0),
        ]
    }
}
