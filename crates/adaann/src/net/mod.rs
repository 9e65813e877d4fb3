//! Small dense networks with hand-derived backward passes.
//!
//! Points go through a network in groups of [`GROUP`]. A group's activations lie in blocks, a row of
//! [`GROUP`] numbers for each unit, so that a lane holds one unit of neighbouring points and a
//! weight is one number for all of them. The blocks of a group, of all its layers, are its record;
//! the tape of a batch is one record after another.

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

/// Points that go through a layer together: a divisor of the batches' padding, and four registers
/// of AVX2 or two of AVX-512.
pub(crate) const GROUP: usize = 16;

/// The blocks of a batch: one record of rows a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Records {
    /// Rows of a record.
    pub(crate) rows: usize,
    /// Points of the batch.
    pub(crate) points: usize,
}

impl Records {
    /// How many groups there are; the last may be in part padding.
    pub(crate) fn groups(self) -> usize {
        self.points.div_ceil(GROUP)
    }

    /// Points of a group.
    #[inline(always)]
    pub(crate) fn len(self, group: usize) -> usize {
        (self.points - group * GROUP).min(GROUP)
    }
}
