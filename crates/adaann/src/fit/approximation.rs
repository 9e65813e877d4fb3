//! What a run has found, in the target's own coordinates: draws, and log q and log p anywhere.

use crate::{
    Batch, Result,
    flow::Flow,
    target::{Evaluation, Target, Unconstrained},
};

/// A flow seen in the coordinates of a target.
pub struct Approximation<'a> {
    target: Unconstrained<'a>,
    flow: Flow,
}

/// Draws of an approximation with both log densities, in the target's own coordinates.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The points.
    pub points: Batch,
    /// log p at each point, not normalised.
    pub log_p: Vec<f64>,
    /// log q at each point.
    pub log_q: Vec<f64>,
}

impl Sample {
    /// Estimate of E_q[log q − log p], which is KL(q‖p) − log Z, from the points that are not lost;
    /// infinite if all are.
    pub fn neg_elbo(&self) -> f64 {
        let kept = self.log_q.len() - self.lost();
        if kept == 0 { f64::INFINITY } else { self.finite().sum::<f64>() / kept as f64 }
    }

    /// How many points have log density −∞ or none: q has mass where p has not. With any of them
    /// KL(q‖p) is infinite, and [`Sample::neg_elbo`] speaks of the rest.
    pub fn lost(&self) -> usize {
        self.log_q.len() - self.finite().count()
    }

    fn finite(&self) -> impl Iterator<Item = f64> {
        let differences = self.log_q.iter().zip(&self.log_p).map(|(log_q, log_p)| log_q - log_p);
        differences.filter(|difference| difference.is_finite())
    }
}

impl<'a> Approximation<'a> {
    /// A flow as an approximation of a target.
    ///
    /// # Errors
    /// If they differ in dimension, or the target's supports are no supports.
    pub fn new(target: &'a dyn Target, flow: Flow) -> Result<Self> {
        let target = Unconstrained::new(target)?;
        if flow.dim() != target.dim() {
            return Err(crate::Error::Shape {
                what: "the flow".into(),
                found: format!("{} dimensions", flow.dim()),
                expected: target.dim().to_string(),
            });
        }
        Ok(Self { target, flow })
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Draws `count` points; the seed fixes them.
    ///
    /// # Errors
    /// What the target says.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Sample> {
        let draws = self.flow.sample(count, seed);
        let (points, log_jacobian) = self.target.constrain(&draws.points);
        let log_p = self.log_p(&points)?;
        let log_q =
            draws.log_q.iter().zip(&log_jacobian).map(|(log_q, log_j)| log_q - log_j).collect();
        Ok(Sample { points, log_p, log_q })
    }

    /// log p at points, not normalised.
    ///
    /// # Errors
    /// What the target says.
    pub fn log_p(&self, points: &Batch) -> Result<Vec<f64>> {
        let mut evaluation = Evaluation::zeros(points.dim(), points.len());
        self.target.target().evaluate(points, None, &mut evaluation)?;
        let parts = evaluation.log_prior.iter().zip(evaluation.log_likelihood.iter());
        Ok(parts.take(points.len()).map(|(prior, likelihood)| prior + likelihood).collect())
    }

    /// log q at points of the target's support.
    ///
    /// # Errors
    /// If a point is outside the support or of another dimension.
    pub fn log_q(&self, points: &Batch) -> Result<Vec<f64>> {
        let z = self.target.unconstrain(points)?;
        let (_, log_jacobian) = self.target.constrain(&z);
        let log_q = self.flow.log_density(&z)?;
        Ok(log_q.iter().zip(&log_jacobian).map(|(log_q, log_j)| log_q - log_j).collect())
    }
}
