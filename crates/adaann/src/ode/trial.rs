//! A step that has been computed but not yet accepted.

use crate::program::Node;

/// The result of a trial step.
pub(super) struct Trial {
    /// The states after it.
    pub(super) to: Vec<Node>,
    /// The difference from a solution of one order less.
    pub(super) error: Vec<Node>,
    /// Pairs of nodes; the arithmetic is accurate where the first is at most the second.
    pub(super) sound: Vec<[Node; 2]>,
}
