//! What a run has found, in the target's own coordinates: draws, and log q and log p anywhere.

use crate::{
    Batch, Result,
    flow::Flow,
    importance::Tally,
    target::{Evaluation, Target, Unconstrained},
};
use rayon::prelude::*;

/// Points that go to a thread at once.
const CHUNK: usize = 1_024;

/// Points of [`Approximation::tally`] in memory at once.
const WAVE: usize = 65_536;

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

    /// The target, seen from the whole line.
    pub fn target(&self) -> &Unconstrained<'a> {
        &self.target
    }

    /// Draws `count` points; the seed fixes them, for any number of threads.
    ///
    /// # Errors
    /// What the target says.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Sample> {
        let starts: Vec<usize> = (0..count).step_by(CHUNK).collect();
        let chunks: Vec<(Batch, Vec<f64>)> = starts
            .par_iter()
            .map(|&first| {
                let draws = self.flow.sample_from(first, CHUNK.min(count - first), seed);
                let (points, log_jacobian) = self.target.constrain(&draws.points);
                let log_q = draws.log_q.iter().zip(&log_jacobian).map(|(q, j)| q - j).collect();
                (points, log_q)
            })
            .collect();
        let mut points = Batch::zeros(self.target.dim(), count);
        let mut log_q = Vec::with_capacity(count);
        for (&first, (chunk, chunk_log_q)) in starts.iter().zip(chunks) {
            points.copy_points(first, &chunk, 0, chunk.len());
            log_q.extend(chunk_log_q);
        }
        let log_p = self.log_p(&points)?;
        Ok(Sample { points, log_p, log_q })
    }

    /// Weights p/q of `count` draws, of which none is kept: memory does not grow with their number.
    ///
    /// # Errors
    /// What the target says.
    pub fn tally(&self, count: usize, seed: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        for first in (0..count).step_by(WAVE) {
            let len = WAVE.min(count - first);
            let draws = self.flow.sample_from(first, len, seed);
            let (points, log_jacobian) = self.target.constrain(&draws.points);
            let log_p = self.log_p(&points)?;
            let log_ratios: Vec<f64> =
                (0..len).map(|i| log_p[i] + log_jacobian[i] - draws.log_q[i]).collect();
            tally.add(&log_ratios)?;
        }
        Ok(tally)
    }

    /// log p at points, not normalised.
    ///
    /// # Errors
    /// What the target says.
    pub fn log_p(&self, points: &Batch) -> Result<Vec<f64>> {
        let target = self.target.target();
        let size = if target.wants_whole_batch() { points.len().max(1) } else { CHUNK };
        let starts: Vec<usize> = (0..points.len()).step_by(size).collect();
        let chunks: Vec<Vec<f64>> = starts
            .par_iter()
            .map(|&first| {
                let len = size.min(points.len() - first);
                let mut chunk = Batch::zeros(points.dim(), len);
                chunk.copy_points(0, points, first, len);
                let mut evaluation = Evaluation::zeros(points.dim(), len);
                target.evaluate(&chunk, None, &mut evaluation)?;
                let parts = evaluation.log_prior.iter().zip(evaluation.log_likelihood.iter());
                Ok(parts.take(len).map(|(prior, likelihood)| prior + likelihood).collect())
            })
            .collect::<Result<_>>()?;
        Ok(chunks.concat())
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
