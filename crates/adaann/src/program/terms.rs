//! Splits a sum into terms, each with its row-independent factor.
//!
//! Σ_rows (a + g·h(row)) = n·a + g·Σ_rows h(row): row-independent parts leave the loop over rows.

use super::graph::Graph;
use super::op::{Binary, Node, Op};

/// The terms of a value, as nodes of its graph.
#[derive(Debug)]
pub(super) struct Terms {
    /// Terms that do not change with the row.
    pub(super) free: Vec<Node>,
    /// Terms that do, grouped by their common factors.
    pub(super) groups: Vec<Group>,
}

/// factor · sum, where the factor does not change with the row; `None` stands for 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) factor: Option<Node>,
    pub(super) sum: Node,
}

/// A product during its expansion into terms: scale · factor · node.
struct Product {
    scale: f64,
    factor: Option<Node>,
    node: Node,
}

/// Splits a value into terms; `with_row` marks the nodes that change with the row.
pub(super) fn terms(graph: &mut Graph, with_row: &[bool], value: Node) -> Terms {
    let uses = graph.uses(&[value]);
    let mut terms = Terms { free: Vec::new(), groups: Vec::new() };
    let mut stack = vec![Product { scale: 1.0, factor: None, node: value }];
    while let Some(Product { scale, factor, node }) = stack.pop() {
        let is_free = |n: Node| !with_row[n.index()];
        if is_free(node) {
            let term = times(graph, scale, factor, node);
            terms.free.push(term);
            continue;
        }
        // A node with several users would be computed twice, or far more often.
        let is_once = uses[node.index()] <= 1;
        match graph.op(node) {
            Op::Binary(Binary::Add, [a, b]) if is_once && factor.is_none() => {
                // The first operand is popped first, so that terms retain their order.
                stack.extend([b, a].map(|node| Product { scale, factor, node }));
            }
            Op::Binary(Binary::Mul, [a, b]) if is_once && (is_free(a) || is_free(b)) => {
                let (own, node) = if is_free(a) { (a, b) } else { (b, a) };
                let product = match graph.as_constant(own) {
                    Some(s) if (scale * s).is_normal() => {
                        Product { scale: scale * s, factor, node }
                    }
                    _ => {
                        let factor = factor.map_or(own, |factor| graph.mul(factor, own));
                        Product { scale, factor: Some(factor), node }
                    }
                };
                stack.push(product);
            }
            Op::Binary(Binary::Div, [a, b]) if is_once && is_free(b) => {
                let factor = factor.unwrap_or_else(|| graph.constant(1.0));
                let factor = Some(graph.div(factor, b));
                stack.push(Product { scale, factor, node: a });
            }
            _ => {
                let term = times(graph, scale, None, node);
                match terms.groups.iter_mut().find(|group| group.factor == factor) {
                    Some(group) => group.sum = graph.add(group.sum, term),
                    None => terms.groups.push(Group { factor, sum: term }),
                }
            }
        }
    }
    terms
}

fn times(graph: &mut Graph, scale: f64, factor: Option<Node>, node: Node) -> Node {
    let scale = graph.constant(scale);
    let product = factor.map_or(node, |factor| graph.mul(factor, node));
    graph.mul(scale, product)
}
