//! Chains: a value with a single use stays in registers, and its user becomes a tail of its work.

use super::code::{Chain, Scalar, Tail, Work};
use super::graph::Graph;
use super::op::Node;
use super::quick_hash::QuickMap;

/// Tails of a chain. A chain runs once its last tail can run, and holds all its operands until
/// then: a long sum as one chain would hold all its terms.
pub(super) const MOST_TAILS: usize = 4;

/// Calls `see` with every operand of a work; those of a call are stored in the graph.
pub(super) fn each_operand(graph: &Graph, work: Work<Node>, mut see: impl FnMut(Node)) {
    match work {
        Work::Call { call } => graph.call(call).operands.iter().for_each(|&n| see(n)),
        work => work.each(see),
    }
}

/// Joins works to chains. `one` is the position of the scalar 1.
pub(super) fn chain(
    graph: &Graph,
    works: &[(Node, Work<Node>)],
    outputs: &[Node],
    one: Scalar,
) -> Vec<(Node, Chain<Node>)> {
    let mut uses: QuickMap<Node, u32> = QuickMap::default();
    for (_, work) in works {
        each_operand(graph, *work, |operand| *uses.entry(operand).or_default() += 1);
    }
    for output in outputs {
        // Counted twice, so that an output never looks like a value with a single use.
        *uses.entry(*output).or_default() += 2;
    }
    // Chains that may still grow, by the node that they compute; the others are finished, in order.
    let mut chains: Vec<Option<(Node, Chain<Node>)>> = Vec::with_capacity(works.len());
    let mut open: QuickMap<Node, usize> = QuickMap::default();
    for &(node, work) in works {
        let mut chain = Chain { work, tails: Vec::new() };
        if let Some((head, tail)) = absorb(work, |operand| open.contains_key(&operand), one)
            && let Some((_, begun)) = open.remove(&head).and_then(|index| chains[index].take())
        {
            chain = begun;
            chain.tails.push(tail);
        }
        if !chain.work.is_dear() && uses[&node] == 1 && chain.tails.len() < MOST_TAILS {
            open.insert(node, chains.len());
        }
        chains.push(Some((node, chain)));
    }
    chains.into_iter().flatten().collect()
}

/// An operand that may stay in registers, and the tail that the work becomes.
fn absorb(work: Work<Node>, may: impl Fn(Node) -> bool, one: Scalar) -> Option<(Node, Tail<Node>)> {
    let first = |options: &[(Node, Tail<Node>)]| options.iter().find(|(r, _)| may(*r)).copied();
    match work {
        Work::Shift { a, t } => first(&[(a, Tail::Affine { s: one, t })]),
        Work::Scale { s, a } => first(&[(a, Tail::Scale { s })]),
        Work::Affine { s, a, t } => first(&[(a, Tail::Affine { s, t })]),
        Work::Add { a, b } => first(&[(a, Tail::Add { b }), (b, Tail::Add { b: a })]),
        Work::ScaleAdd { s, a, c } => {
            first(&[(a, Tail::ScaleAdd { s, b: c }), (c, Tail::AddScaled { t: s, b: a })])
        }
        Work::Combine { s, a, t, c } => {
            first(&[(a, Tail::Combine { s, t, b: c }), (c, Tail::CombineLast { t: s, b: a, s: t })])
        }
        Work::Mul { a, b } => first(&[(a, Tail::Mul { b }), (b, Tail::Mul { b: a })]),
        Work::MulAdd { a, b, c } => first(&[
            (a, Tail::MulAdd { b, c }),
            (b, Tail::MulAdd { b: a, c }),
            (c, Tail::AddMul { b: a, c: b }),
        ]),
        Work::MulScaleAdd { s, a, b, c } => first(&[(c, Tail::AddMulScaled { s, b: a, c: b })]),
        _ => None,
    }
}
