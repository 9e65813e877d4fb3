//! Normalizing flows: a base density and a stack of layers that moves its draws.
//!
//! A [`Stack`] is a whole family's worth of layers, not one layer, so that it can keep points in
//! registers all the way through. A [`Flow`] is a stack with its base and its parameters: it draws
//! samples and gives their log density, and the log density at any point through the inverse.

mod base;
pub mod planar;
mod points;
mod positive;
pub mod radial;
mod save;
mod spec;
mod trained;

pub use base::{Base, Covariance};
pub use spec::FlowSpec;
pub use trained::{Draws, Flow};

use crate::{Batch, Result, error};
use serde::{Deserialize, Serialize};

/// A named block of a flat parameter vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its shape, slowest index first.
    pub shape: Vec<usize>,
}

impl Parameter {
    pub(crate) fn new(name: &str, shape: &[usize]) -> Self {
        Self { name: name.to_owned(), shape: shape.to_vec() }
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Does it hold none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

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

/// An invertible map of R^d with parameters: all the layers of one family.
///
/// The caller owns all memory. Work is split so that nothing is done twice: [`Stack::prepare`] runs
/// once for each value of the parameters, [`Stack::forward`] and [`Stack::backward`] for each tile
/// of points, possibly on several threads with their own `sums`, and [`Stack::gradient`] once for
/// the sums added up.
pub trait Stack: Send + Sync + std::fmt::Debug {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The blocks of the flat parameter vector, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Length of the buffer that [`Stack::prepare`] fills.
    fn prepared_len(&self) -> usize;

    /// Derives from the parameters what the kernels read.
    fn prepare(&self, parameters: &[f64], prepared: &mut [f64]);

    /// Length of the tape for a batch with this many points, padding included.
    fn tape_len(&self, padded_points: usize) -> usize;

    /// Moves the points, adds their log-determinants to `log_det`, and fills the tape if there is
    /// to be a backward pass.
    fn forward(
        &self,
        prepared: &[f64],
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    );

    /// Length of the buffer that [`Stack::backward`] adds to.
    fn sums_len(&self) -> usize;

    /// The vector-Jacobian product: `g_z` goes from the cotangent of the image to that of the base
    /// points, given also the cotangent of the log-determinant. `z` goes from the image back to
    /// the base points. What the parameters receive is added to `sums`.
    fn backward(
        &self,
        prepared: &[f64],
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    );

    /// Adds to `gradient` what `sums` say; may use parts of `prepared` as scratch space.
    fn gradient(&self, prepared: &mut [f64], sums: &[f64], gradient: &mut [f64]);

    /// Moves points back, and adds the log-determinant of the way forward to `log_det`.
    fn inverse(&self, prepared: &[f64], z: &mut Batch, log_det: &mut [f64]);

    /// Length of the flat parameter vector.
    fn parameter_len(&self) -> usize {
        self.parameters().iter().map(Parameter::len).sum()
    }
}
