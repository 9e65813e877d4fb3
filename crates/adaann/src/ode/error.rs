//! The size of an error relative to the tolerances.

use super::method::Tolerances;
use crate::program::{Graph, Node, Unary};

/// The mean of (e/(absolute + relative·max(|x|, |y|)))²: at most 1 for an accepted error.
pub(super) fn error_square(
    graph: &mut Graph,
    tolerances: &Tolerances,
    e: &[Node],
    x: &[Node],
    y: &[Node],
) -> Node {
    let mut sum = graph.constant(0.0);
    for ((&e, &x), &y) in e.iter().zip(x).zip(y) {
        let tolerated = tolerated(graph, tolerances, x, y);
        let ratio = graph.div(e, tolerated);
        let square = graph.mul(ratio, ratio);
        sum = graph.add(sum, square);
    }
    let share = graph.constant(1.0 / e.len() as f64);
    graph.mul(share, sum)
}

/// absolute + relative·max(|x|, |y|)
pub(super) fn tolerated(graph: &mut Graph, tolerances: &Tolerances, x: Node, y: Node) -> Node {
    let relative = graph.constant(tolerances.relative);
    let absolute = graph.constant(tolerances.absolute);
    let (x, y) = (graph.unary(Unary::Abs, x), graph.unary(Unary::Abs, y));
    let size = graph.max(x, y);
    let scaled = graph.mul(relative, size);
    graph.add(absolute, scaled)
}
