//! Mixtures of normal, skewed or heavy-tailed components with full covariances and exact answers.

use super::matrices::cholesky;
use adaann::{
    Batch, Result,
    registry::{Known, Mode},
    support::simd::Special,
    target::{Evaluation, Support, Target, Weights},
};
use serde::Serialize;
use std::f64::consts::{PI, TAU};

/// The shape of a standardised component, with mean 0 and covariance 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    Normal,
    /// Every second coordinate is skew-normal with this α, with alternating sides.
    Skewed(f64),
    /// A multivariate Student distribution.
    Student(f64),
}

/// A component of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Component {
    pub(super) weight: f64,
    pub(super) mean: Vec<f64>,
    /// Lower triangle L with L Lᵀ the covariance, row by row.
    pub(super) factor: Vec<f64>,
    pub(super) shape: Shape,
}

impl Component {
    pub(super) fn new(weight: f64, mean: Vec<f64>, covariance: &[f64], shape: Shape) -> Self {
        let factor = cholesky(mean.len(), covariance);
        Self { weight, mean, factor, shape }
    }

    fn variance(&self, d: usize) -> f64 {
        let dim = self.mean.len();
        self.factor[d * dim..][..=d].iter().map(|l| l * l).sum()
    }
}

/// A mixture, times e^`log_z`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Mixture {
    pub(super) components: Vec<Component>,
    pub(super) log_z: f64,
    /// The side of a uniform prior on [−side, side]^d, if any.
    pub(super) side: Option<f64>,
}

impl Mixture {
    /// Moments are exact. The points of a mode are those nearest to its mean: for components ten standard deviations
    /// apart, less than a thousandth lies on the other side, also for Student components.
    pub(super) fn known(&self) -> Known {
        let dim = self.dim();
        let over = |f: &dyn Fn(&Component, usize) -> f64, d| -> f64 {
            self.components.iter().map(|c| c.weight * f(c, d)).sum()
        };
        let mean: Vec<f64> = (0..dim).map(|d| over(&|c, d| c.mean[d], d)).collect();
        let second = |c: &Component, d: usize| c.variance(d) + (c.mean[d] - mean[d]).powi(2);
        let sd = (0..dim).map(|d| over(&second, d).sqrt()).collect();
        let mode = |c: &Component| {
            let sd = (0..dim).map(|d| c.variance(d).sqrt()).collect();
            Mode::new(c.mean.clone(), c.weight).with_moments(c.mean.clone(), sd)
        };
        Known {
            log_z: Some(self.log_z + self.log_prior()),
            modes: self.components.iter().map(mode).collect(),
            sd: Some(sd),
            mean: Some(mean),
            ..Known::default()
        }
    }

    fn log_prior(&self) -> f64 {
        self.side.map_or(0.0, |side| -(self.dim() as f64) * (2.0 * side).ln())
    }
}

/// The number of points processed at once.
const BLOCK: usize = 16;

/// A coordinate of these points.
type Row = [f64; BLOCK];

impl Target for Mixture {
    fn dim(&self) -> usize {
        self.components[0].mean.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let (dim, len) = (self.dim(), points.len());
        let mut x = vec![[0.0; BLOCK]; dim];
        let mut terms = vec![[0.0; BLOCK]; self.components.len()];
        let mut slopes = vec![vec![[0.0; BLOCK]; dim]; self.components.len()];
        out.log_prior[..len].fill(self.log_prior());
        for at in (0..len).step_by(BLOCK) {
            let here = BLOCK.min(len - at);
            for (d, x) in x.iter_mut().enumerate() {
                x[..here].copy_from_slice(&points.row(d)[at..at + here]);
            }
            for ((component, term), slopes) in
                self.components.iter().zip(&mut terms).zip(&mut slopes)
            {
                *term = component.log_term(&x, gradient.is_some(), slopes);
            }
            for i in 0..here {
                let largest = terms.iter().fold(f64::NEG_INFINITY, |most, term| most.max(term[i]));
                let sum: f64 = terms.iter().map(|term| (term[i] - largest).exp()).sum();
                let value = largest + sum.ln();
                out.log_likelihood[at + i] = value + self.log_z;
                let share = |term: &Row| (term[i] - value).exp();
                if let Some(weights) = gradient {
                    let is_finite = value.is_finite();
                    for d in 0..dim {
                        let slope: f64 = (terms.iter().zip(&slopes))
                            .map(|(term, slopes)| share(term) * slopes[d][i])
                            .sum();
                        let slope = if is_finite { weights.likelihood * slope } else { 0.0 };
                        out.gradient.row_mut(d)[at + i] = slope;
                    }
                }
                let is_outside = |side: f64| x.iter().any(|x| x[i].abs() > side);
                if self.side.is_some_and(is_outside) {
                    out.log_prior[at + i] = f64::NEG_INFINITY;
                    out.log_likelihood[at + i] = f64::NEG_INFINITY;
                    (0..dim).for_each(|d| out.gradient.row_mut(d)[at + i] = 0.0);
                }
            }
        }
        Ok(())
    }

    fn has_prior(&self) -> bool {
        self.side.is_some()
    }

    /// Each component solves with its factor and the transpose, and computes an exponential.
    fn operations(&self) -> Option<f64> {
        let dim = self.dim() as f64;
        Some(self.components.len() as f64 * (2.0 * dim * dim + 12.0 * dim + 40.0))
    }

    fn support(&self, _: usize) -> Support {
        self.side.map_or(Support::Real, |side| Support::Between(-side, side))
    }
}

impl Component {
    /// log of weight times density. Writes its gradient to `slopes`.
    fn log_term(&self, x: &[Row], with_slopes: bool, slopes: &mut [Row]) -> Row {
        let dim = self.mean.len();
        let mut log_det = 0.0;
        // y = L⁻¹(x − mean)
        for d in 0..dim {
            let mut y = x[d].map(|x| x - self.mean[d]);
            for k in 0..d {
                let factor = self.factor[d * dim + k];
                for i in 0..BLOCK {
                    y[i] -= factor * slopes[k][i];
                }
            }
            let diagonal = self.factor[d * dim + d];
            log_det += diagonal.ln();
            slopes[d] = y.map(|y| y / diagonal);
        }
        let value = self.shape.log_density(slopes);
        if with_slopes {
            // L⁻ᵀ s, from the last row on.
            for d in (0..dim).rev() {
                let mut slope = slopes[d];
                for k in d + 1..dim {
                    let factor = self.factor[k * dim + d];
                    for i in 0..BLOCK {
                        slope[i] -= factor * slopes[k][i];
                    }
                }
                let diagonal = self.factor[d * dim + d];
                slopes[d] = slope.map(|slope| slope / diagonal);
            }
        }
        value.map(|value| value + self.weight.ln() - log_det)
    }
}

impl Shape {
    /// log density at y, which it replaces by the gradient.
    fn log_density(self, y: &mut [Row]) -> Row {
        let half = 0.5 * y.len() as f64;
        let mut square = [0.0; BLOCK];
        match self {
            Self::Normal => {
                for y in y {
                    for i in 0..BLOCK {
                        square[i] += y[i] * y[i];
                        y[i] = -y[i];
                    }
                }
                square.map(|square| -0.5 * square - half * TAU.ln())
            }
            Self::Skewed(alpha) => {
                let delta = alpha / (1.0 + alpha * alpha).sqrt();
                let mean = delta * (2.0 / PI).sqrt();
                let sd = (1.0 - mean * mean).sqrt();
                let mut value = [-half * TAU.ln(); BLOCK];
                for (d, y) in y.iter_mut().enumerate() {
                    for i in 0..BLOCK {
                        if d % 2 == 1 {
                            value[i] -= 0.5 * y[i] * y[i];
                            y[i] = -y[i];
                            continue;
                        }
                        let side = if d % 4 == 0 { 1.0 } else { -1.0 };
                        let u = sd * side * y[i] + mean;
                        value[i] += 2.0_f64.ln() + sd.ln() - 0.5 * u * u
                            + Special::LnNormalCdf.at(alpha * u);
                        y[i] = side * sd * (alpha * Special::NormalHazard.at(alpha * u) - u);
                    }
                }
                value
            }
            Self::Student(nu) => {
                // The scale that makes the covariance 1.
                let scale = (nu - 2.0) / nu;
                for y in y.iter() {
                    for i in 0..BLOCK {
                        square[i] += y[i] * y[i] / scale;
                    }
                }
                let power = 0.5 * nu + half;
                let ln_gamma = |x: f64| Special::LnGamma.at(x);
                let peak = ln_gamma(power) - ln_gamma(0.5 * nu) - half * (nu * PI * scale).ln();
                for y in y {
                    for i in 0..BLOCK {
                        y[i] *= -2.0 * power / (scale * (nu + square[i]));
                    }
                }
                square.map(|square| peak - power * (square / nu).ln_1p())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::target::{Unconstrained, compare_gradient};

    fn mixture(shape: Shape) -> Mixture {
        let one = Component::new(0.3, vec![-1.0, 0.5], &[0.5, 0.1, 0.1, 0.3], shape);
        let other = Component::new(0.7, vec![1.0, -0.5], &[1.0, -0.4, -0.4, 2.0], shape);
        Mixture { components: vec![one, other], log_z: 1.5, side: None }
    }

    /// The trapezoid rule on a square. Student tails with ν = 5 beyond a distance r contain a share r⁻⁵.
    #[test]
    fn integral_and_moments_are_those_of_a_grid() {
        for (shape, half, allowed) in [
            (Shape::Normal, 12.0, 1e-9),
            (Shape::Skewed(4.0), 12.0, 1e-9),
            (Shape::Student(5.0), 40.0, 1e-3),
        ] {
            let (mixture, steps) = (mixture(shape), 800);
            let spacing = 2.0 * half / f64::from(steps);
            let side = || (0..=steps).map(|i| spacing * f64::from(i) - half);
            let points: Vec<[f64; 2]> = side().flat_map(|x| side().map(move |y| [x, y])).collect();
            let batch = Batch::from_points(2, &points);
            let mut out = Evaluation::zeros(2, batch.len());
            mixture.evaluate(&batch, None, &mut out).unwrap();
            let weights: Vec<f64> =
                out.log_likelihood[..batch.len()].iter().map(|l| l.exp()).collect();
            let total: f64 = weights.iter().sum();
            let known = mixture.known();
            let log_z = (total * spacing * spacing).ln();
            assert!((log_z - known.log_z.unwrap()).abs() < allowed, "{shape:?}: {log_z}");
            for d in 0..2 {
                let mean = points.iter().zip(&weights).map(|(x, w)| x[d] * w).sum::<f64>() / total;
                let square = points
                    .iter()
                    .zip(&weights)
                    .map(|(x, w)| (x[d] - mean).powi(2) * w)
                    .sum::<f64>();
                let sd = (square / total).sqrt();
                assert!((mean - known.mean.as_ref().unwrap()[d]).abs() < allowed, "{shape:?}");
                assert!((sd - known.sd.as_ref().unwrap()[d]).abs() < allowed, "{shape:?}: {sd}");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let points: Vec<[f64; 2]> =
            (0..21).map(|i| [0.3 * f64::from(i) - 3.0, 0.2 * f64::from(i) - 1.7]).collect();
        for shape in [Shape::Normal, Shape::Skewed(4.0), Shape::Student(5.0)] {
            let target = mixture(shape);
            let target = Unconstrained::new(&target).unwrap();
            let worst =
                compare_gradient(&target, &Batch::from_points(2, &points), &[1.0, 1.0]).unwrap();
            let error = worst.expect("finite everywhere").error;
            assert!(error < 1e-8, "{shape:?}: {error}");
        }
    }
}
