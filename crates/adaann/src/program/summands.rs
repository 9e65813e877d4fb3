//! The terms of a density that is recorded as a sum, p = Σ pᵢ, as their logarithms.

use super::graph::Graph;
use super::op::{Binary, Node, Op, Unary};

/// Sums of more terms are not split: a mixture for each of many observations expands to far more.
const MOST_TERMS: usize = 64;

/// The most factors that are sums of two or more terms.
const MOST_SUMS: usize = MOST_TERMS.ilog2() as usize;

/// log pᵢ of every term of p = e^node; empty if its graph shows no sum, or too many terms.
///
/// Recognises sums in log-sum-exp and ln(a + b). Products of sums with each other and with other
/// factors are expanded.
pub(crate) fn log_summands(graph: &mut Graph, node: Node) -> Vec<Node> {
    let (mut open, mut terms) = (vec![node], Vec::new());
    while let Some(next) = open.pop() {
        match split(graph, next) {
            Some(parts) => open.extend(parts.into_iter().rev()),
            None => terms.push(next),
        }
        if open.len() + terms.len() > MOST_TERMS {
            return Vec::new();
        }
    }
    if terms.len() > 1 { terms } else { Vec::new() }
}

/// Splits a node's outermost sum into its terms; `None` if it has no sum.
fn split(graph: &mut Graph, node: Node) -> Option<Vec<Node>> {
    if let Some(terms) = sum(graph, node) {
        return Some(terms);
    }
    // A product: its first sum is expanded.
    let factors = factors(graph, node);
    let is_sum: Vec<bool> = factors.iter().map(|&factor| is_sum(graph, factor)).collect();
    if is_sum.iter().filter(|is_sum| **is_sum).count() > MOST_SUMS {
        return None;
    }
    let first = is_sum.iter().position(|is_sum| *is_sum)?;
    let terms = sum(graph, factors[first])?;
    let others = factors.iter().enumerate().filter(|(i, _)| *i != first).map(|(_, node)| *node);
    let rest = others.reduce(|a, b| graph.add(a, b));
    Some(terms.into_iter().map(|term| rest.map_or(term, |rest| graph.add(rest, term))).collect())
}

fn is_sum(graph: &Graph, node: Node) -> bool {
    match graph.op(node) {
        Op::Binary(Binary::LogAddExp, _) => true,
        Op::Binary(Binary::Add, [a, b]) => shifted_exponents(graph, a, b).is_some(),
        Op::Unary(Unary::Ln, sum) => {
            let terms = addends(graph, sum);
            terms.len() > 1 && terms.into_iter().all(|term| is_positive(graph, term))
        }
        _ => false,
    }
}

/// The logarithms of the terms of a sum.
fn sum(graph: &mut Graph, node: Node) -> Option<Vec<Node>> {
    if !is_sum(graph, node) {
        return None;
    }
    match graph.op(node) {
        Op::Binary(Binary::LogAddExp, pair) => Some(pair.to_vec()),
        Op::Binary(_, [a, b]) => shifted_exponents(graph, a, b),
        Op::Unary(_, sum) => {
            let terms = addends(graph, sum);
            Some(terms.into_iter().map(|term| log_of_positive(graph, term)).collect())
        }
        _ => None,
    }
}

/// The factors of a product in the log domain, down to sums.
fn factors(graph: &Graph, node: Node) -> Vec<Node> {
    let (mut left, mut factors) = (vec![node], Vec::new());
    while let Some(next) = left.pop() {
        match graph.op(next) {
            Op::Binary(Binary::Add, [a, b]) if !is_sum(graph, next) => left.extend([b, a]),
            _ => factors.push(next),
        }
    }
    factors
}

/// The exponents x of s + ln Σ e^(x − s), for any shift s, which is detached.
pub(super) fn shifted_exponents(graph: &Graph, a: Node, b: Node) -> Option<Vec<Node>> {
    let (shift, sum) = match (graph.op(a), graph.op(b)) {
        (Op::Unary(Unary::Detach, _), Op::Unary(Unary::Ln, sum)) => (a, sum),
        (Op::Unary(Unary::Ln, sum), Op::Unary(Unary::Detach, _)) => (b, sum),
        _ => return None,
    };
    let is_minus_shift = |node: Node| match graph.op(node) {
        Op::Binary(Binary::Mul, [s, x]) => graph.as_constant(s) == Some(-1.0) && x == shift,
        _ => false,
    };
    let exponent = |term: Node| match graph.op(term) {
        Op::Unary(Unary::Exp, exponent) => match graph.op(exponent) {
            Op::Binary(Binary::Add, [x, y]) if is_minus_shift(y) => Some(x),
            Op::Binary(Binary::Add, [x, y]) if is_minus_shift(x) => Some(y),
            _ => None,
        },
        _ => None,
    };
    addends(graph, sum).into_iter().map(exponent).collect()
}

/// The terms of a sum, in order.
fn addends(graph: &Graph, node: Node) -> Vec<Node> {
    let (mut left, mut terms) = (vec![node], Vec::new());
    while let Some(term) = left.pop() {
        match graph.op(term) {
            Op::Binary(Binary::Add, [a, b]) => left.extend([b, a]),
            _ => terms.push(term),
        }
    }
    terms
}

/// A product of exponentials and positive numbers. The sign of anything else is unknown.
fn is_positive(graph: &Graph, node: Node) -> bool {
    match graph.op(node) {
        Op::Constant(bits) => f64::from_bits(bits) > 0.0,
        Op::Unary(Unary::Exp, _) => true,
        Op::Binary(Binary::Mul | Binary::Div, pair) => {
            pair.into_iter().all(|factor| is_positive(graph, factor))
        }
        _ => false,
    }
}

/// ln of a node that [`is_positive`].
fn log_of_positive(graph: &mut Graph, node: Node) -> Node {
    match graph.op(node) {
        Op::Constant(bits) => graph.constant(f64::from_bits(bits).ln()),
        Op::Unary(_, exponent) => exponent,
        Op::Binary(operation, pair) => {
            let [a, b] = pair.map(|factor| log_of_positive(graph, factor));
            if operation == Binary::Mul { graph.add(a, b) } else { graph.sub(a, b) }
        }
        _ => unreachable!("it is positive"),
    }
}

#[cfg(test)]
mod tests;
