//! A target in R^d: bounded coordinates are mapped onto the whole line, and all are standardised.

use super::{
    Evaluation, Support, Target, Weights,
    maps::{Constrain, PullBack},
};
use crate::{Batch, Error, Result, error, simd, simd::Buffer};

/// A target with the maps for its supports.
#[derive(Clone)]
pub struct Unconstrained<'a> {
    target: &'a dyn Target,
    supports: Vec<Support>,
    /// Middle and spread of each coordinate on the line; `None` if all are 0 and 1.
    units: Option<Vec<(f64, f64)>>,
    real: bool,
}

/// Inputs and outputs of the evaluation of a batch; allocated once.
#[derive(Debug, Clone)]
pub struct Workspace {
    theta: Batch,
    slope: Batch,
    /// The points on the line, before the maps onto supports, unless all units are 0 and 1.
    line: Batch,
    /// The remainder of a simplex after its parts so far, and their sum.
    left: Buffer,
    sum: Buffer,
    /// Slopes carried from a coordinate to the one before it.
    carried: Buffer,
    /// log |J| at every point.
    pub log_jacobian: Buffer,
    /// The target's output, with the gradient in the unconstrained coordinates.
    pub evaluation: Evaluation,
}

impl Workspace {
    /// Storage for `len` points in `dim` dimensions.
    pub fn zeros(dim: usize, len: usize) -> Self {
        let theta = Batch::zeros(dim, len);
        let values = Buffer::zeros(theta.padded_len());
        Self {
            slope: theta.clone(),
            line: theta.clone(),
            theta,
            left: values.clone(),
            sum: values.clone(),
            carried: values.clone(),
            log_jacobian: values,
            evaluation: Evaluation::zeros(dim, len),
        }
    }
}

impl<'a> Unconstrained<'a> {
    /// Wraps a target.
    ///
    /// # Errors
    /// If a bound is not finite, bounds are not in order, or a coordinate depends on a missing one.
    pub fn new(target: &'a dyn Target) -> Result<Self> {
        let supports: Vec<_> = (0..target.dim()).map(|d| target.support(d)).collect();
        Support::check(&supports)?;
        let units: Vec<_> = (0..target.dim()).map(|d| target.standardisation(d)).collect();
        for &(middle, spread) in &units {
            if !(middle.is_finite() && spread > 0.0 && spread.is_finite()) {
                let found = format!("{middle} and {spread}");
                return Err(error::setting(
                    "standardisation",
                    found,
                    "a finite middle and a positive spread",
                ));
            }
        }
        let units = units.iter().any(|units| *units != (0.0, 1.0)).then_some(units);
        let real = units.is_none() && supports.iter().all(|support| *support == Support::Real);
        Ok(Self { target, supports, units, real })
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.supports.len()
    }

    /// How many values of the target `points` points cost, including the gradient of this sum if
    /// given.
    pub(crate) fn values(&self, points: usize, gradient: Option<Weights>) -> usize {
        points.saturating_mul(gradient.map_or(1, |of| self.target.values_per_gradient(of)))
    }

    /// The same with the gradient of the whole density.
    pub(crate) fn values_with_gradients(&self, points: usize) -> usize {
        self.values(points, Some(Weights::ALL))
    }

    /// The target in its own coordinates.
    pub fn target(&self) -> &'a dyn Target {
        self.target
    }

    /// Log prior, log likelihood and log |J| at points of R^d and, if requested, the gradient of
    /// their weighted sum.
    ///
    /// # Errors
    /// Errors of the target.
    pub fn evaluate(
        &self,
        z: &Batch,
        gradient: Option<(Weights, f64)>,
        work: &mut Workspace,
    ) -> Result<()> {
        let weights = gradient.map(|(weights, _)| weights);
        work.evaluation.gradient.truncate(z.len());
        if self.real {
            return self.target.evaluate(z, weights, &mut work.evaluation);
        }
        self.constrain_into(z, work);
        self.target.evaluate(&work.theta, weights, &mut work.evaluation)?;
        if let Some((_, jacobian_weight)) = gradient {
            let z = if self.units.is_some() { &work.line } else { z };
            let mut is_followed = false;
            for (d, support) in self.supports.iter().enumerate().rev() {
                fill_edges(support, &work.theta, &mut work.left, &mut work.sum);
                simd::dispatch(PullBack {
                    support,
                    is_followed,
                    jacobian_weight,
                    z: z.padded_row(d),
                    slope: work.slope.padded_row(d),
                    carried: &mut work.carried,
                    low: &mut work.left,
                    high: &mut work.sum,
                    gradient: work.evaluation.gradient.padded_row_mut(d),
                });
                if let Support::Within { low, high } = support {
                    for (edge, slope) in [(low, &work.left), (high, &work.sum)] {
                        for &(of, factor) in edge.moves() {
                            let row = work.evaluation.gradient.padded_row_mut(of);
                            row.iter_mut()
                                .zip(slope.iter())
                                .for_each(|(to, slope)| *to += factor * slope);
                        }
                    }
                }
                is_followed = support.builds_on_before();
            }
            for (d, (_, spread)) in self.units.iter().flatten().enumerate() {
                let row = work.evaluation.gradient.padded_row_mut(d);
                row.iter_mut().for_each(|slope| *slope *= spread);
            }
        }
        Ok(())
    }

    fn constrain_into(&self, z: &Batch, work: &mut Workspace) {
        work.theta.truncate(z.len());
        work.slope.truncate(z.len());
        let spreads = self.units.iter().flatten().map(|(_, spread)| spread.ln());
        work.log_jacobian.fill(spreads.sum());
        let z = match &self.units {
            None => z,
            Some(units) => {
                work.line.truncate(z.len());
                for (d, (middle, spread)) in units.iter().enumerate() {
                    let from = z.padded_row(d);
                    for (to, x) in work.line.padded_row_mut(d).iter_mut().zip(from) {
                        *to = middle + spread * x;
                    }
                }
                &work.line
            }
        };
        for (d, support) in self.supports.iter().enumerate() {
            fill_edges(support, &work.theta, &mut work.left, &mut work.sum);
            let (before, theta) = work.theta.padded_row_after(d);
            simd::dispatch(Constrain {
                support,
                z: z.padded_row(d),
                before,
                left: &mut work.left,
                sum: &mut work.sum,
                theta,
                slope: work.slope.padded_row_mut(d),
                log_jacobian: &mut work.log_jacobian,
            });
        }
    }

    /// Points in the target's own coordinates, with log |J| at each.
    pub fn constrain(&self, z: &Batch) -> (Batch, Vec<f64>) {
        let mut work = Workspace::zeros(self.dim(), z.len());
        self.constrain_into(z, &mut work);
        (work.theta, work.log_jacobian[..z.len()].to_vec())
    }

    /// Points in the target's own coordinates as points of R^d.
    ///
    /// # Errors
    /// If a point is outside the support; the message names it.
    pub fn unconstrain(&self, theta: &Batch) -> Result<Batch> {
        let mut z = Batch::zeros(theta.dim(), theta.len());
        for i in 0..theta.len() {
            let point = theta.point(i);
            let intervals = Support::intervals(&self.supports, &point);
            for (d, (support, interval)) in self.supports.iter().zip(intervals).enumerate() {
                let outside = |error| {
                    Error::Target(format!("point {}, coordinate {}: {error}", i + 1, d + 1))
                };
                let on_line = support.unconstrain(point[d], interval).map_err(outside)?;
                let (middle, spread) = self.units.as_ref().map_or((0.0, 1.0), |units| units[d]);
                z.row_mut(d)[i] = (on_line - middle) / spread;
            }
        }
        Ok(z)
    }
}

/// The moving bounds at every point.
fn fill_edges(support: &Support, theta: &Batch, to_low: &mut [f64], to_high: &mut [f64]) {
    if let Support::Within { low, high } = support {
        low.fill(theta, to_low);
        high.fill(theta, to_high);
    }
}
