//! Values that are affine in the inputs, such as linear predictors and residuals: Σ_j c_j·u_j + c₀
//! with the same coefficients for all samples.

use super::graph::Graph;
use super::op::{Binary, Node, Op};
use std::collections::BTreeMap;

/// Which nodes are affine in the inputs, including uniform ones.
pub(super) fn affine(graph: &Graph) -> Vec<bool> {
    let mut is_affine = vec![false; graph.len()];
    for index in 0..graph.len() {
        let node = Node(index as u32);
        is_affine[index] = graph.is_uniform(node)
            || match graph.op(node) {
                Op::Input(_) => true,
                Op::Binary(Binary::Add, [a, b]) => is_affine[a.index()] && is_affine[b.index()],
                Op::Binary(Binary::Mul, [s, x]) => graph.is_uniform(s) && is_affine[x.index()],
                _ => false,
            };
    }
    is_affine
}

/// The coefficients of an affine node, by the index of the input, and its value at 0: all uniform.
#[derive(Debug)]
pub(super) struct Coefficients {
    pub(super) terms: Vec<(usize, Node)>,
    pub(super) offset: Node,
}

/// Finds the coefficients of an affine node.
pub(super) fn coefficients(graph: &mut Graph, node: Node) -> Coefficients {
    let (mut terms, mut offset) = (Vec::new(), graph.constant(0.0));
    // How often each node enters the sum; users come before their operands.
    let mut shares = BTreeMap::from([(node, graph.constant(1.0))]);
    while let Some((node, share)) = shares.pop_last() {
        let mut give = |graph: &mut Graph, to: Node, part: Node| {
            let sum = shares.get(&to).map_or(part, |others| graph.add(*others, part));
            shares.insert(to, sum);
        };
        match graph.op(node) {
            _ if graph.is_uniform(node) => {
                let part = graph.mul(share, node);
                offset = graph.add(offset, part);
            }
            Op::Input(input) => terms.push((input as usize, share)),
            Op::Binary(Binary::Add, [a, b]) => {
                give(graph, a, share);
                give(graph, b, share);
            }
            Op::Binary(Binary::Mul, [s, x]) => {
                let share = graph.mul(share, s);
                give(graph, x, share);
            }
            _ => unreachable!("is affine"),
        }
    }
    terms.sort_unstable_by_key(|(input, _)| *input);
    Coefficients { terms, offset }
}

/// The factors of the inputs and the constant term, if a node is affine with constant coefficients.
pub(super) fn constant_coefficients(
    graph: &mut Graph,
    node: Node,
) -> Option<(Vec<(usize, f64)>, f64)> {
    if !affine(graph)[node.index()] {
        return None;
    }
    let Coefficients { terms, offset } = coefficients(graph, node);
    let plain = |(input, factor): (usize, Node)| Some((input, graph.as_constant(factor)?));
    let terms: Option<Vec<(usize, f64)>> = terms.into_iter().map(plain).collect();
    Some((terms?, graph.as_constant(offset)?))
}

/// Splits a sum into its affine part and the rest, each a sum of terms; `None` if a part has no
/// terms.
pub(super) fn separate(graph: &mut Graph, value: Node) -> [Option<Node>; 2] {
    let is_affine = affine(graph);
    let uses = graph.uses(&[value]);
    let mut parts = [None; 2];
    let mut stack = vec![(1.0, value)];
    while let Some((scale, node)) = stack.pop() {
        match graph.op(node) {
            _ if is_affine[node.index()] => put(graph, &mut parts[0], scale, node),
            Op::Binary(Binary::Add, [a, b]) if uses[node.index()] <= 1 => {
                stack.extend([(scale, b), (scale, a)]);
            }
            Op::Binary(Binary::Mul, [s, x])
                if uses[node.index()] <= 1
                    && graph.as_constant(s).is_some_and(|s| (scale * s).is_normal()) =>
            {
                let s = graph.as_constant(s).unwrap_or(1.0);
                stack.push((scale * s, x));
            }
            _ => put(graph, &mut parts[1], scale, node),
        }
    }
    parts
}

fn put(graph: &mut Graph, sum: &mut Option<Node>, scale: f64, node: Node) {
    let scale = graph.constant(scale);
    let term = graph.mul(scale, node);
    *sum = Some(sum.map_or(term, |sum| graph.add(sum, term)));
}
