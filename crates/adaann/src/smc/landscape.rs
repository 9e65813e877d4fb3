//! What particles move on: the parts of log p at points, and weighted sums of them with gradients.

use crate::{
    Batch, Result,
    flow::Base,
    path::Parts,
    target::{Unconstrained, Workspace},
};
use rayon::prelude::*;
use std::ops::Range;

/// Points that go through a move together. Random numbers come in groups of 16 points and kernels
/// work on 32 at a time; more points would leave the caches.
const CHUNK: usize = 128;

/// The target with the density that particles start from.
pub(super) struct Landscape<'a> {
    pub(super) target: Unconstrained<'a>,
    pub(super) reference: Base,
}

/// Points, with all that was found out about them.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    pub(super) z: Batch,
    pub(super) parts: Parts<Vec<f64>>,
    /// Gradient of the weighted sum of parts that was last asked for.
    pub(super) gradient: Batch,
}

impl Cells {
    pub(super) fn zeros(dim: usize, len: usize) -> Self {
        let row = || vec![0.0; len];
        let parts = Parts { prior: row(), likelihood: row(), jacobian: row(), reference: row() };
        Self { z: Batch::zeros(dim, len), parts, gradient: Batch::zeros(dim, len) }
    }

    pub(super) fn len(&self) -> usize {
        self.z.len()
    }

    fn rows_mut(&mut self) -> [&mut Vec<f64>; 4] {
        let Parts { prior, likelihood, jacobian, reference } = &mut self.parts;
        [prior, likelihood, jacobian, reference]
    }

    fn rows(&self) -> [&Vec<f64>; 4] {
        let Parts { prior, likelihood, jacobian, reference } = &self.parts;
        [prior, likelihood, jacobian, reference]
    }

    /// The weighted sum of the parts of one point; −∞ where it is no number.
    pub(super) fn log_density(&self, weights: Parts, i: usize) -> f64 {
        let Parts { prior, likelihood, jacobian, reference } = &self.parts;
        let parts = Parts {
            prior: prior[i],
            likelihood: likelihood[i],
            jacobian: jacobian[i],
            reference: reference[i],
        };
        let sum = parts.dot(weights);
        if sum.is_nan() { f64::NEG_INFINITY } else { sum }
    }

    /// Copies of some of them.
    pub(super) fn gather(&self, indices: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let mut out = Self::zeros(self.z.dim(), indices.len());
        for d in 0..self.z.dim() {
            let pairs = [(&self.z, &mut out.z), (&self.gradient, &mut out.gradient)];
            for (from, to) in pairs {
                let from = from.row(d);
                for (to, i) in to.row_mut(d).iter_mut().zip(indices.clone()) {
                    *to = from[i];
                }
            }
        }
        for (from, to) in self.rows().into_iter().zip(out.rows_mut()) {
            for (to, i) in to.iter_mut().zip(indices.clone()) {
                *to = from[i];
            }
        }
        out
    }

    /// Copies points of another set over these, from `at` on.
    pub(super) fn put(&mut self, at: usize, other: &Self) {
        self.z.copy_points(at, &other.z, 0, other.len());
        self.gradient.copy_points(at, &other.gradient, 0, other.len());
        for (to, from) in self.rows_mut().into_iter().zip(other.rows()) {
            to[at..at + from.len()].copy_from_slice(from);
        }
    }

    /// Copies one point of another set over one of these.
    pub(super) fn put_point(&mut self, at: usize, other: &Self, from: usize) {
        self.z.copy_points(at, &other.z, from, 1);
        self.gradient.copy_points(at, &other.gradient, from, 1);
        for (to, row) in self.rows_mut().into_iter().zip(other.rows()) {
            to[at] = row[from];
        }
    }
}

impl Landscape<'_> {
    /// Finds out about points: their parts and, if weights are given, the gradient of that sum.
    pub(super) fn survey(&self, z: Batch, weights: Option<Parts>) -> Result<Cells> {
        let (dim, len) = (z.dim(), z.len());
        let mut cells = Cells { z, ..Cells::zeros(dim, len) };
        let mut work = Workspace::zeros(dim, len);
        let asked = weights.map(|weights| (weights.of_target(), weights.jacobian));
        self.target.evaluate(&cells.z, asked, &mut work)?;
        let mut noise = Batch::zeros(dim, len);
        let mut log_reference = vec![0.0; cells.z.padded_len()];
        self.reference.log_density(&cells.z, &mut noise, &mut log_reference);
        let gradient = &mut work.evaluation.gradient;
        if let Some(weights) = weights.filter(|weights| weights.reference != 0.0) {
            let weight = weights.reference;
            self.reference.add_log_density_gradient(weight, &cells.z, &mut noise, gradient);
        }
        cells.gradient.copy_points(0, gradient, 0, len);
        let values = [
            &work.evaluation.log_prior[..len],
            &work.evaluation.log_likelihood[..len],
            &work.log_jacobian[..len],
            &log_reference[..len],
        ];
        for (row, values) in cells.rows_mut().into_iter().zip(values) {
            row.copy_from_slice(values);
        }
        Ok(cells)
    }

    /// Where `len` points are cut, by their number alone, so that threads never change a result; in
    /// one piece if the target asks for that.
    pub(super) fn chunks(&self, len: usize) -> Vec<Range<usize>> {
        let size = if self.target.target().wants_whole_batch() { len.max(1) } else { CHUNK };
        (0..len).step_by(size).map(|at| at..len.min(at + size)).collect()
    }

    /// Runs every chunk on the threads of the pool, and gives the results in order.
    pub(super) fn each_chunk<T: Send>(
        &self,
        len: usize,
        run: impl Fn(Range<usize>) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        self.chunks(len).into_par_iter().map(run).collect()
    }

    /// Finds out about all points again, gradients included.
    pub(super) fn refresh(&self, cells: &mut Cells, weights: Parts) -> Result<()> {
        let z = &cells.z;
        let surveyed = self.each_chunk(cells.len(), |range| {
            let mut chunk = Batch::zeros(z.dim(), range.len());
            chunk.copy_points(0, z, range.start, range.len());
            self.survey(chunk, Some(weights))
        })?;
        let mut at = 0;
        for chunk in &surveyed {
            cells.put(at, chunk);
            at += chunk.len();
        }
        Ok(())
    }
}
