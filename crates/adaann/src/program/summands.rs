//! The terms of a density that is recorded as a sum, p = Σ pᵢ, as their logarithms.

use super::graph::Graph;
use super::op::{Binary, Node, Op, Unary};

/// Sums of more terms are left as they are: a mixture for each of many observations multiplies out to far more.
const MOST_TERMS: usize = 64;

/// Factors that are sums, each of two terms or more.
const MOST_SUMS: usize = MOST_TERMS.ilog2() as usize;

/// log pᵢ of every term of p = e^node; none if its graph shows no sum, or too many terms.
///
/// Sums are found in log-sum-exp and ln(a + b). Products of them with each other and with other factors are multiplied out.
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

/// The terms of a node's outermost sum; none if there is none.
fn split(graph: &mut Graph, node: Node) -> Option<Vec<Node>> {
    if let Some(terms) = sum(graph, node) {
        return Some(terms);
    }
    // A product: its first sum is multiplied out.
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

/// What a logarithm adds up, down to sums.
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

/// The exponents x of s + ln Σ e^(x − s), whatever the shift s, which is detached.
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

/// A product of exponentials and positive numbers. The sign of anything else is not known.
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

/// ln of what [`is_positive`].
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
mod tests {
    use crate::Batch;
    use crate::program::{Expr, Program, log_sum_exp};
    use crate::target::{Evaluation, Target};

    /// A Gaussian in two dimensions with its middle at (m, −m).
    fn bump<'g>(z: &[Expr<'g>], m: f64, precision: f64) -> Expr<'g> {
        -0.5 * precision * ((z[0] - m).square() + (z[1] + m).square())
    }

    fn at(target: &dyn Target, point: [f64; 2]) -> f64 {
        let mut out = Evaluation::zeros(2, 1);
        target.evaluate(&Batch::from_points(2, &[point]), None, &mut out).unwrap();
        out.log_likelihood[0] + out.log_prior[0]
    }

    /// How many terms there are; they are log-concave and add up to the density.
    fn terms(program: &Program) -> usize {
        let summands = program.summands();
        for point in [[0.3, -0.2], [2.0, 1.0]] {
            let sum: f64 = summands.iter().map(|term| at(term, point).exp()).sum();
            let whole = at(program, point).exp();
            assert!(summands.is_empty() || (sum - whole).abs() < 1e-12 * whole, "{sum} {whole}");
        }
        assert!(summands.iter().all(|term| term.is_log_concave()));
        summands.len()
    }

    #[test]
    fn sums_are_found_however_they_are_written() {
        let two = Program::record(2, |z| bump(z, 1.0, 1.0).log_add_exp(bump(z, -1.0, 9.0)));
        assert_eq!(terms(&two), 2);
        let three = Program::record(2, |z| {
            log_sum_exp(&[bump(z, 1.0, 1.0), bump(z, -1.0, 9.0) - 0.7, bump(z, 3.0, 2.0)])
        });
        assert_eq!(terms(&three), 3);
        let by_hand = Program::record(2, |z| {
            (0.3 * bump(z, 1.0, 1.0).exp()
                + bump(z, -1.0, 2.0).exp() * 0.2
                + bump(z, 0.0, 1.0).exp())
            .ln()
        });
        assert_eq!(terms(&by_hand), 3);
        let with_prior = Program::record_parts(2, |z| {
            let terms = [bump(z, 1.0, 1.0), bump(z, -1.0, 9.0), bump(z, 3.0, 2.0)];
            (bump(z, 0.0, 0.01), log_sum_exp(&terms))
        });
        assert_eq!(terms(&with_prior), 3);
        let product = Program::record(2, |z| {
            bump(z, 1.0, 1.0).log_add_exp(bump(z, 2.0, 1.0))
                + bump(z, 3.0, 2.0).log_add_exp(bump(z, 0.0, 1.0))
        });
        assert_eq!(terms(&product), 4);
    }

    #[test]
    fn what_is_no_sum_or_a_sum_of_too_many_is_left() {
        let one = Program::record(2, |z| bump(z, 1.0, 1.0));
        assert_eq!(terms(&one), 0);
        // 2⁷ terms.
        let observations = Program::record(2, |z| {
            (0..7).map(|i| bump(z, f64::from(i), 1.0).log_add_exp(bump(z, -1.0, 2.0))).sum()
        });
        assert_eq!(terms(&observations), 0);
        // The sign of z₀ is not known.
        let signed = Program::record(2, |z| (z[0] + bump(z, 1.0, 1.0).exp()).ln());
        assert_eq!(terms(&signed), 0);
    }
}
