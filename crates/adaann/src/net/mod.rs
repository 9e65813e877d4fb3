//! Small dense networks with hand-derived backward passes.
//!
//! Points pass through a network in groups of [`GROUP`]. A group's activations are stored in blocks
//! with one row of [`GROUP`] numbers per unit, so that a lane holds one unit of neighbouring points
//! and a weight is one number for all of them. The blocks of all layers for one group form its
//! record. The tape of a batch is a sequence of records.
//!
//! `tile.rs` has the matrix products: M rows by R registers with twelve accumulators. Weights are
//! read as single numbers in the order of the parameter vector, so that no packing is needed.
//! `dense.rs` builds the three products of a layer from it. Weight gradients sum over points, so
//! the side with fewer units is first transposed from rows of units to rows of points
//! (`gather.rs`).

mod activation;
mod dense;
mod gather;
mod network;
mod parameter;
mod tile;

pub use activation::Activation;
pub(crate) use network::{Network, Shape};
pub use parameter::Parameter;
pub(crate) use tile::Row;

/// Points per group: a divisor of the batches' padding, equal to four registers of AVX2 or two of
/// AVX-512.
pub(crate) const GROUP: usize = 16;

/// The layout of a batch's blocks: one record of rows per group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Records {
    /// Rows per record.
    pub(crate) rows: usize,
    /// Points in the batch.
    pub(crate) points: usize,
}

impl Records {
    /// Number of groups; the last may include padding.
    pub(crate) fn groups(self) -> usize {
        self.points.div_ceil(GROUP)
    }

    /// Number of points in a group.
    #[inline(always)]
    pub(crate) fn len(self, group: usize) -> usize {
        (self.points - group * GROUP).min(GROUP)
    }
}
