//! A step that was worked out, before anything is decided about it.

use crate::program::Node;

/// Where a step would lead.
pub(super) struct Trial {
    /// The states after it.
    pub(super) to: Vec<Node>,
    /// The difference to a solution of one order less.
    pub(super) error: Vec<Node>,
    /// Pairs of which the first is at most the second where the arithmetic kept its digits.
    pub(super) sound: Vec<[Node; 2]>,
}
