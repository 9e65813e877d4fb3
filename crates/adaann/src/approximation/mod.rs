//! A trained flow in the target's own coordinates: draws, and log q and log p at any point.

use crate::{
    Batch, Result,
    flow::Flow,
    importance::{Sample, WeightSums},
    target::{Evaluation, Target, Unconstrained},
};
use rayon::prelude::*;

/// Points per task of a thread.
const CHUNK: usize = 1_024;

/// Points of [`Approximation::weight_sums`] in memory at once.
const WAVE: usize = 65_536;

/// A flow as an approximation of a target, in the target's coordinates.
pub struct Approximation<'a> {
    target: Unconstrained<'a>,
    flow: Flow,
}

impl<'a> Approximation<'a> {
    /// A flow as an approximation of a target.
    ///
    /// # Errors
    /// If their dimensions differ, or the target's supports are invalid.
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

    /// The target in unconstrained coordinates.
    pub fn target(&self) -> &Unconstrained<'a> {
        &self.target
    }

    /// Draws `count` points, weighted towards the target. The seed determines them, for any number of
    /// threads.
    ///
    /// # Errors
    /// Returns the target's errors.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Sample> {
        self.sample_from(0, count, seed)
    }

    /// The same draws, reusing known values of log p ([`Sample::log_p`]) at the first of them. Only the
    /// others are evaluated, which makes it cheap to lengthen a sample:
    ///
    /// ```
    /// use adaann::{Program, approximation::Approximation, flow::{Base, Flow, FlowSpec}};
    ///
    /// let target = Program::record(1, |z| -0.5 * z[0].square());
    /// let flow = Flow::new(&FlowSpec::Affine, Base::standard(1))?;
    /// let approximation = Approximation::new(&target, flow)?;
    /// let few = approximation.sample(100, 7)?;
    /// let more = approximation.sample_knowing(few.log_p(), 300, 7)?;
    /// assert_eq!(more.log_weights(), approximation.sample(300, 7)?.log_weights());
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the target's errors, and an error if more values are known than draws requested.
    pub fn sample_knowing(&self, log_p: &[f64], count: usize, seed: u64) -> Result<Sample> {
        let Some(more) = count.checked_sub(log_p.len()) else {
            return Err(crate::error::shape("the known values of log p", log_p.len(), count));
        };
        let (z, x, log_q) = self.draw(0, log_p.len(), seed);
        let known = Sample::of_draws(z, x, log_p.to_vec(), log_q)?;
        known.join(&self.sample_from(log_p.len(), more, seed)?)
    }

    /// Draws `count` points, starting with number `first`.
    pub(crate) fn sample_from(&self, first: usize, count: usize, seed: u64) -> Result<Sample> {
        let (z, x, log_q) = self.draw(first, count, seed);
        let log_p = self.log_p(&x)?;
        Sample::of_draws(z, x, log_p, log_q)
    }

    /// The draws in unconstrained and in the target's coordinates, and log q.
    fn draw(&self, first: usize, count: usize, seed: u64) -> (Batch, Batch, Vec<f64>) {
        let starts: Vec<usize> = (0..count).step_by(CHUNK).collect();
        let chunks: Vec<(Batch, Batch, Vec<f64>)> = starts
            .par_iter()
            .map(|&start| {
                let len = CHUNK.min(count - start);
                let draws = self.flow.sample_from(first + start, len, seed);
                let (x, log_jacobian) = self.target.constrain(&draws.points);
                let log_q = draws.log_q.iter().zip(&log_jacobian).map(|(q, j)| q - j).collect();
                (draws.points, x, log_q)
            })
            .collect();
        let mut z = Batch::zeros(self.target.dim(), count);
        let mut x = z.clone();
        let mut log_q = Vec::with_capacity(count);
        for (&start, (own_z, own_x, own_log_q)) in starts.iter().zip(chunks) {
            z.copy_points(start, &own_z, 0, own_z.len());
            x.copy_points(start, &own_x, 0, own_x.len());
            log_q.extend(own_log_q);
        }
        (z, x, log_q)
    }

    /// The weight sums of `count` draws. The draws are not stored, so memory does not grow with their
    /// number.
    ///
    /// # Errors
    /// Returns the target's errors.
    pub fn weight_sums(&self, count: usize, seed: u64) -> Result<WeightSums> {
        let mut sums = WeightSums::default();
        for first in (0..count).step_by(WAVE) {
            let sample = self.sample_from(first, WAVE.min(count - first), seed)?;
            sums.add(sample.log_weights())?;
        }
        Ok(sums)
    }

    /// Unnormalised log p at points.
    ///
    /// # Errors
    /// Returns the target's errors.
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
    /// If a point is outside the support or has another dimension.
    pub fn log_q(&self, points: &Batch) -> Result<Vec<f64>> {
        let z = self.target.unconstrain(points)?;
        let (_, log_jacobian) = self.target.constrain(&z);
        let log_q = self.flow.log_density(&z)?;
        Ok(log_q.iter().zip(&log_jacobian).map(|(log_q, log_j)| log_q - log_j).collect())
    }
}
