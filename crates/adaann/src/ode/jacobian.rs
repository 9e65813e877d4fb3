//! The derivatives of a system's rates in states and time, with the zeros that its equations have.

use crate::program::{Graph, Node, tangent};

/// Derivatives of the rates; none where they are 0 whatever the states.
pub(super) struct Jacobian {
    /// Row i has those of rate number i in each state.
    pub(super) states: Vec<Vec<Option<Node>>>,
    /// Those in time.
    pub(super) time: Vec<Option<Node>>,
}

impl Jacobian {
    /// The derivatives of `rates`, which are nodes made from `t` and `x`.
    pub(super) fn new(graph: &mut Graph, rates: &[Node], t: Node, x: &[Node]) -> Self {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let mut in_direction = |input: Node| -> Vec<Option<Node>> {
            let slopes = tangent(graph, &[(input, one)], rates);
            slopes.into_iter().map(|slope| (slope != zero).then_some(slope)).collect()
        };
        let columns: Vec<_> = x.iter().map(|&x| in_direction(x)).collect();
        let time = in_direction(t);
        let row = |i: usize| columns.iter().map(|column| column[i]).collect();
        Self { states: (0..rates.len()).map(row).collect(), time }
    }
}
