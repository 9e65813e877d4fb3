//! The tempered density: the parts of log p at a batch of points, log p_t = a + t b on a path, and
//! the gradient of any weighted sum of the parts.

#[cfg(test)]
pub(crate) mod lopsided;
#[cfg(test)]
mod tests;

use super::{Parts, PathKind};
use crate::{
    Batch, Result,
    flow::Base,
    non_finite,
    simd::{Buffer, F64, Lane},
    target::{Unconstrained, Workspace},
};
use fearless_simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// A target on a path.
pub(crate) struct Tempered<'a> {
    pub(crate) target: Unconstrained<'a>,
    pub(crate) path: PathKind,
    /// The density that the path starts from, before training; `None` makes its part 0.
    pub(crate) reference: Option<Base>,
}

/// The inputs and results of evaluating a tile of points; allocated once.
pub(crate) struct Tile {
    evaluated: Evaluated,
    pub(crate) a: Buffer,
    pub(crate) b: Buffer,
}

/// Parts and gradient, with the working memory.
struct Evaluated {
    work: Workspace,
    noise: Batch,
    log_reference: Buffer,
}

impl Evaluated {
    fn parts(&self) -> Parts<&[f64]> {
        Parts {
            prior: &self.work.evaluation.log_prior,
            likelihood: &self.work.evaluation.log_likelihood,
            jacobian: &self.work.log_jacobian,
            reference: &self.log_reference,
        }
    }
}

impl Tile {
    pub(crate) fn zeros(dim: usize, len: usize) -> Self {
        let noise = Batch::zeros(dim, len);
        let values = Buffer::zeros(noise.padded_len());
        let work = Workspace::zeros(dim, len);
        let evaluated = Evaluated { work, noise, log_reference: values.clone() };
        Self { evaluated, a: values.clone(), b: values }
    }

    /// log p_t for the register of points that starts at `at`. At t = 0 it is a alone, even if b is
    /// −∞.
    #[inline(always)]
    pub(crate) fn log_p<S: Simd>(&self, simd: S, t: f64, at: usize) -> F64<S> {
        let a = F64::load(simd, &self.a[at..]);
        if t == 0.0 { a } else { F64::splat(simd, t).mul_add(F64::load(simd, &self.b[at..]), a) }
    }

    /// The requested gradient.
    pub(crate) fn gradient(&self) -> &Batch {
        &self.evaluated.work.evaluation.gradient
    }

    /// The parts of log p at every point, padding included.
    pub(crate) fn parts(&self) -> Parts<&[f64]> {
        self.evaluated.parts()
    }

    /// The weighted sum of the parts of point `i`; −∞ for a non-finite point.
    pub(crate) fn log_density(&self, weights: Parts, i: usize) -> f64 {
        non_finite::log_density(self.parts().at(i).dot(weights))
    }
}

impl<'a> Tempered<'a> {
    /// The target itself, without a path.
    pub(crate) fn untempered(target: Unconstrained<'a>) -> Self {
        Self { target, path: PathKind::Power, reference: None }
    }

    /// Fills a and b, and the gradient of a + t b if t is given.
    pub(crate) fn evaluate(&self, z: &Batch, t: Option<f64>, tile: &mut Tile) -> Result<()> {
        self.evaluate_parts(z, t.map(|t| self.path.weights(t)), tile)?;
        self.path.lines(&tile.evaluated.parts(), &mut tile.a, &mut tile.b);
        Ok(())
    }

    /// Fills the parts and, if weights are given, the gradient of their weighted sum.
    pub(crate) fn evaluate_parts(
        &self,
        z: &Batch,
        gradient: Option<Parts>,
        tile: &mut Tile,
    ) -> Result<()> {
        let asked = gradient.map(|weights| (weights.of_target(), weights.jacobian));
        let Evaluated { work, noise, log_reference } = &mut tile.evaluated;
        self.target.evaluate(z, asked, work)?;
        if let Some(reference) = &self.reference {
            noise.truncate(z.len());
            log_reference[..z.padded_len()].fill(0.0);
            reference.log_density(z, noise, log_reference);
            if let Some(weight) = gradient.map(|weights| weights.reference).filter(|w| *w != 0.0) {
                let gradient = &mut work.evaluation.gradient;
                reference.add_log_density_gradient(weight, z, noise, gradient);
            }
        }
        Ok(())
    }

    /// Runs `work` on ranges of `len` points in the thread pool, and returns the results in order.
    /// The split into pieces depends only on the number of points, so that threads never change a
    /// result. A target may request a single piece.
    pub(crate) fn each_piece<T: Send>(
        &self,
        len: usize,
        piece: usize,
        work: impl Fn(Range<usize>) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        let piece = if self.target.target().wants_whole_batch() { len.max(1) } else { piece };
        let pieces: Vec<_> = (0..len).step_by(piece).map(|at| at..len.min(at + piece)).collect();
        pieces.into_par_iter().map(work).collect()
    }
}
