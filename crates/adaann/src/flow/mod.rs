//! Normalizing flows: a base density and a stack of layers that moves its draws.
//!
//! A [`Stack`] holds all the layers of one family, so that points stay in registers from the first
//! layer to the last. A [`Flow`] combines a stack with a base and parameters. It draws samples with
//! their log density, and evaluates the log density at any point through the inverse.
//!
//! # Families
//!
//! A family is a whole stack, not a layer, so that points stay in registers through all its layers.
//! A family built of layers is a composition of stacks (`compose.rs`), and so is a layer written
//! for one point ([`Layer`]). A family's file has its settings ([`RealNvp`], [`Autoregressive`],
//! [`Glow`], [`SplineSpec`]) and builds a composition from them. All families built on networks
//! share `conditioner/`. `docs/src/flows.md` has the measured results of each family.
//!
//! If [`Stack::shares_tape`] holds, [`Stack::backward_inverse`] may follow [`Stack::forward`] as
//! well as [`Stack::inverse`]. This gives the score at a flow's own draws without an inverse.

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

/// Upper limit on the layers of a stack: more would not fit into memory.
const MOST_LAYERS: usize = 100_000;

/// Refuses zero dimensions, zero layers and too many layers.
fn check_size(dim: usize, layers: usize) -> Result<()> {
    error::at_least_one("dim", dim)?;
    if !(1..=MOST_LAYERS).contains(&layers) {
        return Err(error::setting("layers", layers, format!("from 1 to {MOST_LAYERS}")));
    }
    Ok(())
}

/// The precision of the layers during training. Sums over points and the trained flow are always in
/// double precision.
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

/// The parameters of a stack, and the numbers that [`Stack::prepare`] derived from them.
#[derive(Debug, Clone, Copy)]
pub struct Weights<'a> {
    /// The flat parameter vector.
    pub parameters: &'a [f64],
    /// The numbers derived from it.
    pub derived: &'a [f64],
}

/// How a stack prefers its points to be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// Points that go through the whole stack together, so that their tape stays in cache.
    pub tile: usize,
    /// The smallest number of points that justifies separate sums.
    pub shard: usize,
}

/// An invertible map of R^d with parameters: all the layers of one family.
///
/// The caller owns all memory. No work is repeated: [`Stack::prepare`] runs once for each value of
/// the parameters; [`Stack::forward`] and [`Stack::backward`] run for each tile of points, possibly
/// on several threads with separate `sums`; [`Stack::gradient`] runs once on the total of the sums.
///
/// Both directions can be differentiated. [`Stack::backward`] follows [`Stack::forward`] and serves
/// training on the flow's own draws. [`Stack::backward_inverse`] follows [`Stack::inverse`] and
/// serves the gradient of log q at given points.
///
/// [`Flow::from_stack`] makes a flow of any implementation, and [`compose`] combines it with other
/// stacks. [`Layer`] is a simpler interface: three methods for one point.
///
/// A batch has `z.len()` points. Its rows, `log_det` and `g_log_det` have room for
/// [`Batch::padded_len`] numbers; the numbers after the last point may be read and written but have
/// no meaning. Buffers have the lengths that the stack requests. A tape may hold arbitrary numbers
/// before it is filled.
pub trait Stack: Send + Sync + std::fmt::Debug {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The blocks of the flat parameter vector, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Initialises the parameters for training: near the identity, nearer for a smaller `scale`.
    /// `normal` draws standard normal numbers.
    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        for parameter in parameters {
            *parameter = scale * normal();
        }
    }

    /// Length of the buffer that [`Stack::prepare`] fills.
    fn derived_len(&self) -> usize;

    /// Derives from the parameters the numbers that the kernels read.
    fn prepare(&self, parameters: &[f64], derived: &mut [f64]);

    /// How it prefers its points to be split.
    fn grain(&self) -> Grain {
        Grain { tile: 32, shard: 48 }
    }

    /// Length of the tape for a batch with this many points, padding included.
    fn tape_len(&self, padded_points: usize) -> usize;

    /// Moves the points, adds their log-determinants to `log_det`, and fills the tape if one is
    /// given, for a backward pass.
    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    );

    /// Length of the sums of [`Stack::backward`] and [`Stack::backward_inverse`].
    fn sums_len(&self) -> usize;

    /// Prepares the sums for the first of several backward passes.
    fn clear(&self, sums: &mut [f64]) {
        sums.fill(0.0);
    }

    /// The vector-Jacobian product of [`Stack::forward`], which filled the tape. `g_z` changes from
    /// the cotangent of the image to that of the base points, given also the cotangent of the
    /// log-determinant. `z` changes from the image back to the base points. The gradient of the
    /// parameters is added to `sums`.
    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    );

    /// Moves points back, adds the log-determinant of the forward map to `log_det`, and fills the
    /// tape if one is given, for [`Stack::backward_inverse`].
    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    );

    /// Whether [`Stack::forward`] fills the same tape as [`Stack::inverse`] for the same points. If
    /// so, [`Stack::backward_inverse`] may follow it directly, without solving for the inverse.
    fn shares_tape(&self) -> bool {
        true
    }

    /// The vector-Jacobian product of [`Stack::inverse`], which filled the tape. `g_z` changes from
    /// the cotangent of the base points to that of the image, given also the cotangent of the
    /// log-determinant (of the forward map, as `inverse` adds it). `z` changes from the base points
    /// to the image. The gradient of the parameters, with the image held fixed, is added to `sums`.
    ///
    /// For x = f(z; θ) with Jacobian J and log-determinant L(z; θ), the cotangents ḡ of z and k of
    /// L give g = J⁻ᵀ(ḡ + k ∂L/∂z) for x, and −gᵀ ∂f/∂θ + k ∂L/∂θ for θ. The latter is the result
    /// of `backward` for the cotangents −g and k.
    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    );

    /// Converts `sums` to the gradient; may use parts of `derived` as scratch space.
    fn gradient(&self, parameters: &[f64], derived: &mut [f64], sums: &[f64], gradient: &mut [f64]);

    /// Length of the flat parameter vector.
    fn parameter_len(&self) -> usize {
        self.parameters().iter().map(Parameter::len).sum()
    }
}
