//! The tempered density: log p_t = a + t b of a target on a path, over a tile of points.

use super::{Parts, PathKind};
use crate::{
    Batch, Result,
    flow::Base,
    simd::{Buffer, F64, Lane},
    target::{Unconstrained, Workspace},
};
use fearless_simd::Simd;

/// A target on a path.
pub(crate) struct Tempered<'a> {
    pub(crate) target: Unconstrained<'a>,
    pub(crate) path: PathKind,
    /// Where a bridge starts: the base as it was before training.
    pub(crate) reference: Base,
}

/// What evaluating a tile needs and leaves; allocated once.
pub(crate) struct Tile {
    work: Workspace,
    noise: Batch,
    log_reference: Buffer,
    pub(crate) a: Buffer,
    pub(crate) b: Buffer,
}

impl Tile {
    pub(crate) fn zeros(dim: usize, len: usize) -> Self {
        let noise = Batch::zeros(dim, len);
        let values = Buffer::zeros(noise.padded_len());
        Self {
            work: Workspace::zeros(dim, len),
            noise,
            log_reference: values.clone(),
            a: values.clone(),
            b: values,
        }
    }

    /// log p_t at the register of points from `at` on: a alone at t = 0, also where b is −∞.
    #[inline(always)]
    pub(crate) fn log_p<S: Simd>(&self, simd: S, t: f64, at: usize) -> F64<S> {
        let a = F64::load(simd, &self.a[at..]);
        if t == 0.0 { a } else { F64::splat(simd, t).mul_add(F64::load(simd, &self.b[at..]), a) }
    }

    /// ∇(a + t b)
    pub(crate) fn gradient(&self) -> &Batch {
        &self.work.evaluation.gradient
    }
}

impl Tempered<'_> {
    /// Fills a and b, and the gradient of a + t b if t is given.
    pub(crate) fn evaluate(&self, z: &Batch, t: Option<f64>, tile: &mut Tile) -> Result<()> {
        let weights = t.map(|t| self.path.weights(t));
        let asked = weights.map(|weights| (weights.of_target(), weights.jacobian));
        self.target.evaluate(z, asked, &mut tile.work)?;
        if self.path.needs_reference() {
            tile.noise.truncate(z.len());
            tile.log_reference[..z.padded_len()].fill(0.0);
            self.reference.log_density(z, &mut tile.noise, &mut tile.log_reference);
            if let Some(weights) = weights {
                let gradient = &mut tile.work.evaluation.gradient;
                self.reference.add_log_density_gradient(
                    weights.reference,
                    z,
                    &mut tile.noise,
                    gradient,
                );
            }
        }
        let evaluation = &tile.work.evaluation;
        self.path.lines(
            &Parts {
                prior: &evaluation.log_prior,
                likelihood: &evaluation.log_likelihood,
                jacobian: &tile.work.log_jacobian,
                reference: &tile.log_reference,
            },
            &mut tile.a,
            &mut tile.b,
        );
        Ok(())
    }
}
