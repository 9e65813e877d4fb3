//! What a run has found, in the target's own coordinates: draws, and log q and log p anywhere.

use crate::{
    Batch, Result,
    flow::Flow,
    importance::{Sample, WeightSums},
    target::{Evaluation, Target, Unconstrained},
};
use rayon::prelude::*;

/// Points that go to a thread at once.
const CHUNK: usize = 1_024;

/// Points of [`Approximation::weight_sums`] in memory at once.
const WAVE: usize = 65_536;

/// A flow seen in the coordinates of a target.
pub struct Approximation<'a> {
    target: Unconstrained<'a>,
    flow: Flow,
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

    /// Draws `count` points, weighted towards the target; the seed fixes them, for any number of threads.
    ///
    /// # Errors
    /// What the target says.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Sample> {
        self.sample_from(0, count, seed)
    }

    /// The same draws where log p is known at the first of them, as [`Sample::log_p`] has it: it is only
    /// computed at the others. So is a sample lengthened:
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
    /// What the target says, or if more are known than are asked for.
    pub fn sample_knowing(&self, log_p: &[f64], count: usize, seed: u64) -> Result<Sample> {
        let Some(more) = count.checked_sub(log_p.len()) else {
            return Err(crate::error::shape("the known values of log p", log_p.len(), count));
        };
        let (z, x, log_q) = self.draw(0, log_p.len(), seed);
        let known = Sample::of_draws(z, x, log_p.to_vec(), log_q)?;
        known.join(&self.sample_from(log_p.len(), more, seed)?)
    }

    /// Draws `count` points from number `first` on.
    pub(crate) fn sample_from(&self, first: usize, count: usize, seed: u64) -> Result<Sample> {
        let (z, x, log_q) = self.draw(first, count, seed);
        let log_p = self.log_p(&x)?;
        Sample::of_draws(z, x, log_p, log_q)
    }

    /// The draws themselves: on the whole line, in the target's coordinates, and log q.
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

    /// What the weights of `count` draws add up to; none of the draws is kept, so that memory does not
    /// grow with their number.
    ///
    /// # Errors
    /// What the target says.
    pub fn weight_sums(&self, count: usize, seed: u64) -> Result<WeightSums> {
        let mut sums = WeightSums::default();
        for first in (0..count).step_by(WAVE) {
            let sample = self.sample_from(first, WAVE.min(count - first), seed)?;
            sums.add(sample.log_weights())?;
        }
        Ok(sums)
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
