//! Normalizing flows: a base density and a stack of layers that moves its draws.
//!
//! A [`Stack`] is a whole family's worth of layers, not one layer, so that it can keep points in
//! registers all the way through. A [`Flow`] is a stack with its base and its parameters: it draws
//! samples and gives their log density, and the log density at any point through the inverse.

mod affine;
mod autoregressive;
mod base;
mod choices;
mod compose;
mod conditioner;
mod glow;
mod layer;
mod linear;
pub(crate) mod marginals;
mod permutation;
mod planar;
mod points;
mod positive;
pub(crate) mod quadratic;
mod radial;
mod realnvp;
mod rows;
mod save;
mod spec;
mod spline;
mod trained;
mod triangle;

pub use crate::net::{Activation as UnitActivation, Parameter};
pub use autoregressive::Autoregressive;
pub(crate) use base::Noise;
pub use base::{Base, BaseSpec, Covariance, Start};
pub use choices::{Hidden, Mask, Ordering};
pub use compose::compose;
pub use conditioner::affine::ScaleMap;
pub use glow::Glow;
pub use layer::{Layer, PerPoint};
pub use permutation::Order;
pub use planar::Activation;
pub use realnvp::RealNvp;
pub use spec::FlowSpec;
pub use spline::SplineSpec;
pub(crate) use trained::Given;
pub use trained::{Draws, Flow, LogDensityGradient};

use crate::{Batch, Result, error};
use serde::{Deserialize, Serialize};

/// Layers of a stack; more is surely a slip, and would not fit the memory.
const MOST_LAYERS: usize = 100_000;

/// Refuses a stack of no dimensions, and one of no or too many layers.
fn check_size(dim: usize, layers: usize) -> Result<()> {
    error::at_least_one("dim", dim)?;
    if !(1..=MOST_LAYERS).contains(&layers) {
        return Err(error::setting("layers", layers, format!("from 1 to {MOST_LAYERS}")));
    }
    Ok(())
}

/// The precision that layers compute in while they are trained; sums over points are in double
/// precision either way, and so is the flow that comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Precision {
    /// 64 bits.
    #[default]
    #[serde(rename = "f64")]
    Double,
    /// 32 bits: twice the numbers in a register.
    #[serde(rename = "f32")]
    Single,
}

/// The parameters of a stack, and what [`Stack::prepare`] derived from them.
#[derive(Debug, Clone, Copy)]
pub struct Weights<'a> {
    /// The flat parameter vector.
    pub parameters: &'a [f64],
    /// What was derived from it.
    pub derived: &'a [f64],
}

/// How a stack likes its points cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// Points that go through the whole stack together, so that their tape stays in cache.
    pub tile: usize,
    /// Fewer points than this are not worth sums of their own.
    pub shard: usize,
}

/// An invertible map of R^d with parameters: all the layers of one family.
///
/// The caller owns all memory. Work is split so that nothing is done twice: [`Stack::prepare`] runs
/// once for each value of the parameters, [`Stack::forward`] and [`Stack::backward`] for each tile
/// of points, possibly on several threads with their own `sums`, and [`Stack::gradient`] once for
/// the sums added up.
///
/// Both ways through a stack can be differentiated. [`Stack::backward`] follows
/// [`Stack::forward`], as training on draws of the flow needs it; [`Stack::backward_inverse`]
/// follows [`Stack::inverse`], as the gradient of log q at given points needs it.
///
/// [`Flow::from_stack`] makes a flow of any implementation, and [`compose`] sets it among others.
/// [`Layer`] asks for less: three methods for one point.
///
/// A batch has `z.len()` points; its rows, `log_det` and `g_log_det` have room for
/// [`Batch::padded_len`], and what stands behind the points may be read and written but means
/// nothing. Buffers are cut to the lengths that the stack asks for; a tape may hold anything before
/// it is filled.
pub trait Stack: Send + Sync + std::fmt::Debug {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The blocks of the flat parameter vector, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Sets the parameters to a start for training: near the identity, nearer for a smaller
    /// `scale`. `normal` gives standard normal numbers.
    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        for parameter in parameters {
            *parameter = scale * normal();
        }
    }

    /// Length of the buffer that [`Stack::prepare`] fills.
    fn derived_len(&self) -> usize;

    /// Derives from the parameters what the kernels read.
    fn prepare(&self, parameters: &[f64], derived: &mut [f64]);

    /// How it likes its points cut.
    fn grain(&self) -> Grain {
        Grain { tile: 32, shard: 48 }
    }

    /// Length of the tape for a batch with this many points, padding included.
    fn tape_len(&self, padded_points: usize) -> usize;

    /// Moves the points, adds their log-determinants to `log_det`, and fills the tape if there is
    /// to be a backward pass.
    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    );

    /// Length of the buffer that [`Stack::backward`] and [`Stack::backward_inverse`] add to.
    fn sums_len(&self) -> usize;

    /// Readies sums for the first of some backward passes.
    fn clear(&self, sums: &mut [f64]) {
        sums.fill(0.0);
    }

    /// The vector-Jacobian product of [`Stack::forward`], which filled the tape: `g_z` goes from
    /// the cotangent of the image to that of the base points, given also the cotangent of the
    /// log-determinant. `z` goes from the image back to the base points. What the parameters
    /// receive is added to `sums`.
    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    );

    /// Moves points back, adds the log-determinant of the way forward to `log_det`, and fills the
    /// tape if [`Stack::backward_inverse`] is to follow.
    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    );

    /// Does [`Stack::forward`] leave the tape that [`Stack::inverse`] fills for the same points?
    /// Then [`Stack::backward_inverse`] may follow it too, and nothing is solved.
    fn shares_tape(&self) -> bool {
        true
    }

    /// The vector-Jacobian product of [`Stack::inverse`], which filled the tape: `g_z` goes from
    /// the cotangent of the base points to that of the image, given also the cotangent of the
    /// log-determinant (of the way forward, as `inverse` adds it). `z` goes from the base points to
    /// the image. What the parameters receive, with the image held fixed, is added to `sums`.
    ///
    /// For x = f(z; θ) with Jacobian J and log-determinant L(z; θ), the cotangents ḡ of z and k of
    /// L give g = J⁻ᵀ(ḡ + k ∂L/∂z) for x, and −gᵀ ∂f/∂θ + k ∂L/∂θ for θ: what `backward` gives for
    /// the cotangents −g and k.
    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    );

    /// Fills `gradient` with what `sums` say; may use parts of `derived` as scratch space.
    fn gradient(&self, parameters: &[f64], derived: &mut [f64], sums: &[f64], gradient: &mut [f64]);

    /// Length of the flat parameter vector.
    fn parameter_len(&self) -> usize {
        self.parameters().iter().map(Parameter::len).sum()
    }
}
