//! Where a coordinate lives, and the map onto it from the whole line.
//!
//! Flows work on R^d. A coordinate θ with bounds is written θ = T(z), and the density of z gains
//! the Jacobian log T'(z), which belongs to the fixed part of every path and is never tempered.

use crate::{
    Error, Result, error,
    simd::{F64, Kernel, Lane, Math},
};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// Where a coordinate lives.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Support {
    /// The whole line: θ = z.
    #[default]
    Real,
    /// Above a bound: θ = bound + eᶻ.
    Above(f64),
    /// Below a bound: θ = bound − eᶻ.
    Below(f64),
    /// Between two bounds: θ = low + (high − low)/(1 + e⁻ᶻ).
    Between(f64, f64),
}

impl Support {
    /// Refuses bounds that are not finite or not in order.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Real => Ok(()),
            Self::Above(bound) | Self::Below(bound) if bound.is_finite() => Ok(()),
            Self::Between(low, high) if low.is_finite() && high.is_finite() && low < high => Ok(()),
            bad => Err(error::setting(
                "support",
                format!("{bad:?}"),
                "bounded by finite numbers in order",
            )),
        }
    }

    /// Is θ inside?
    pub fn contains(self, theta: f64) -> bool {
        match self {
            Self::Real => theta.is_finite(),
            Self::Above(bound) => theta > bound,
            Self::Below(bound) => theta < bound,
            Self::Between(low, high) => low < theta && theta < high,
        }
    }

    /// z with T(z) = θ.
    ///
    /// # Errors
    /// If θ is outside.
    pub fn unconstrain(self, theta: f64) -> Result<f64> {
        if !self.contains(theta) {
            return Err(Error::Target(format!("{theta} is outside its support {self}")));
        }
        Ok(match self {
            Self::Real => theta,
            Self::Above(bound) => (theta - bound).ln(),
            Self::Below(bound) => (bound - theta).ln(),
            Self::Between(low, high) => ((theta - low) / (high - theta)).ln(),
        })
    }
}

impl std::fmt::Display for Support {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real => write!(f, "(-inf, inf)"),
            Self::Above(bound) => write!(f, "({bound}, inf)"),
            Self::Below(bound) => write!(f, "(-inf, {bound})"),
            Self::Between(low, high) => write!(f, "({low}, {high})"),
        }
    }
}

/// One coordinate of a batch onto its support: θ and T'(z) for each point, and log T' added up.
pub(super) struct Constrain<'a> {
    pub(super) support: Support,
    pub(super) z: &'a [f64],
    pub(super) theta: &'a mut [f64],
    pub(super) slope: &'a mut [f64],
    pub(super) log_jacobian: &'a mut [f64],
}

impl Kernel for Constrain<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let (theta, slope, log_slope) = match self.support {
                Support::Real => (z, one, zero),
                Support::Above(bound) => {
                    let e = z.exp();
                    (F64::splat(simd, bound) + e, e, z)
                }
                Support::Below(bound) => {
                    let e = z.exp();
                    (F64::splat(simd, bound) - e, -e, z)
                }
                Support::Between(low, high) => {
                    let width = F64::splat(simd, high - low);
                    // With e = exp(−|z|), the share on the far side of the middle is e/(1 + e).
                    let e = (-z.abs()).exp();
                    let minor = e / (one + e);
                    let from_low = zero.lt(z);
                    let theta = F64::select(
                        from_low,
                        width.neg_mul_add(minor, F64::splat(simd, high)),
                        width.mul_add(minor, F64::splat(simd, low)),
                    );
                    // log(width · e/(1 + e)²)
                    let log_slope = width.ln() - z.abs() - (e.ln_1p() + e.ln_1p());
                    (theta, width * minor * (one - minor), log_slope)
                }
            };
            theta.store(&mut self.theta[at..]);
            slope.store(&mut self.slope[at..]);
            log_slope.accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }
}

/// The chain rule for one coordinate: g ← g T'(z) + weight · d log T'/dz.
pub(super) struct PullBack<'a> {
    pub(super) support: Support,
    pub(super) jacobian_weight: f64,
    pub(super) z: &'a [f64],
    pub(super) slope: &'a [f64],
    pub(super) gradient: &'a mut [f64],
}

impl Kernel for PullBack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let weight = F64::splat(simd, self.jacobian_weight);
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let bend = match self.support {
                Support::Real => F64::splat(simd, 0.0),
                Support::Above(_) | Support::Below(_) => F64::splat(simd, 1.0),
                // 1 − 2/(1 + e⁻ᶻ) = −tanh(z/2)
                Support::Between(..) => {
                    -(F64::splat(simd, 0.5) * F64::load(simd, &self.z[at..])).tanh()
                }
            };
            let g = F64::load(simd, &self.gradient[at..]);
            let g = g.mul_add(F64::load(simd, &self.slope[at..]), weight * bend);
            g.store(&mut self.gradient[at..]);
        }
    }
}
