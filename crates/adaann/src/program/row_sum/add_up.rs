//! Sums values with a single logarithm for many of them.

use crate::program::graph::Graph;
use crate::program::op::{Binary, Node, Op, Unary};

/// Factors of a product of numbers in [1, 2]: few enough that its rounding error is that of a sum.
const MOST_FACTORS: usize = 8;

/// sum + Σ values. A term ln(e^a + e^b) is max(a, b) + ln(1 + e^−|a − b|), and the logarithms of
/// several terms are combined into that of a product. 1 + x loses the digits of x below the
/// rounding of 1, which is negligible in a sum that is a log density. The result must not be
/// differentiated.
pub(super) fn add_up(graph: &mut Graph, sum: Node, values: &[Node]) -> Node {
    let uses = graph.uses(values);
    let mut sum = sum;
    let mut pairs: Vec<(f64, [Node; 2])> = Vec::new();
    let mut stack: Vec<(f64, Node)> = values.iter().rev().map(|value| (1.0, *value)).collect();
    while let Some((scale, node)) = stack.pop() {
        match graph.op(node) {
            _ if uses[node.index()] > 1 => sum = add_scaled(graph, sum, scale, node),
            Op::Binary(Binary::LogAddExp, pair) => pairs.push((scale, pair)),
            Op::Binary(Binary::Add, [a, b]) => stack.extend([(scale, b), (scale, a)]),
            Op::Binary(Binary::Mul, [s, x])
                if graph.as_constant(s).is_some_and(|s| (scale * s).is_normal())
                    && has_logarithm(graph, x) =>
            {
                stack.push((scale * graph.as_constant(s).unwrap_or(1.0), x));
            }
            _ => sum = add_scaled(graph, sum, scale, node),
        }
    }
    pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    for pairs in pairs.chunk_by(|(a, _), (b, _)| a == b) {
        for factors in pairs.chunks(MOST_FACTORS) {
            let one = graph.constant(1.0);
            let (scale, mut product) = (factors[0].0, one);
            for &(_, [a, b]) in factors {
                let larger = graph.max(a, b);
                sum = add_scaled(graph, sum, scale, larger);
                let e = graph.push(Op::Binary(Binary::ExpNegDistance, [a, b]));
                let factor = graph.add(one, e);
                product = graph.mul(product, factor);
            }
            let log = graph.unary(Unary::Ln, product);
            sum = add_scaled(graph, sum, scale, log);
        }
    }
    sum
}

/// Whether [`add_up`] can split this term.
fn has_logarithm(graph: &Graph, node: Node) -> bool {
    matches!(graph.op(node), Op::Binary(Binary::LogAddExp | Binary::Add, _))
}

fn add_scaled(graph: &mut Graph, sum: Node, scale: f64, node: Node) -> Node {
    let scale = graph.constant(scale);
    let term = graph.mul(scale, node);
    graph.add(sum, term)
}
