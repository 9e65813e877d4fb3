//! Expressions that are concave as a whole, although no rule for their single operations shows it.

use super::shape::Shape;
use crate::program::graph::Graph;
use crate::program::op::{Binary, Node, Op, Unary};
use crate::program::summands::shifted_exponents;
use crate::simd::Special;

/// The shapes found so far.
pub(super) struct Known<'a> {
    pub(super) graph: &'a Graph,
    pub(super) shapes: &'a [Shape],
}

impl Known<'_> {
    pub(super) fn of(&self, node: Node) -> Shape {
        self.shapes[node.index()]
    }

    /// s + ln Σ e^(x − s) of convex values x, for any shift s, which is detached.
    pub(super) fn is_log_sum_exp(&self, a: Node, b: Node) -> bool {
        let exponents = shifted_exponents(self.graph, a, b);
        exponents.is_some_and(|exponents| exponents.into_iter().all(|x| self.of(x).is_convex))
    }

    /// −s + c ln(1 + e^−s) with −2 ≤ c ≤ 0 decreases and is concave for s ≥ 0, and s is convex: a
    /// logistic density.
    pub(super) fn is_logistic(&self, a: Node, b: Node) -> bool {
        let scaled = |node: Node| match self.graph.op(node) {
            Op::Binary(Binary::Mul, [c, x]) => self.graph.as_constant(c).map(|c| (c, x)),
            _ => None,
        };
        let Some((-1.0, size)) = scaled(a) else { return false };
        let Some((c, log)) = scaled(b) else { return false };
        let Op::Unary(Unary::Ln1p, exp) = self.graph.op(log) else { return false };
        let Op::Unary(Unary::Exp, exponent) = self.graph.op(exp) else { return false };
        let shape = self.of(size);
        exponent == a && (-2.0..=0.0).contains(&c) && shape.is_convex && shape.low >= 0.0
    }

    /// The p of max(p, tiny) and of min(p, 1 − ε), which distributions use so that logarithms stay
    /// finite. Anything smaller than every normal number counts as 0.
    pub(super) fn bare(&self, node: Node) -> Node {
        let is = |node: Node, value: f64| self.graph.as_constant(node) == Some(value);
        let one = |[a, b]: [Node; 2], value: f64| match () {
            () if is(b, value) => a,
            () if is(a, value) => b,
            () => node,
        };
        match self.graph.op(node) {
            Op::Binary(Binary::Max, operands) => one(operands, f64::MIN_POSITIVE),
            Op::Binary(Binary::Min, operands) => one(operands, 1.0_f64.next_down()),
            _ => node,
        }
    }

    /// Whether 1 − p has a concave logarithm: if p is convex, ½ erfc of a line, or a share of two
    /// lines.
    pub(super) fn has_log_concave_complement(&self, p: Node) -> bool {
        let is_affine = |node: Node| self.of(node).is_affine();
        let is_known = match self.graph.op(p) {
            Op::Binary(Binary::Share, [a, b]) => is_affine(a) && is_affine(b),
            Op::Binary(Binary::Mul, [s, x]) if self.graph.as_constant(s) == Some(0.5) => {
                matches!(self.graph.op(x), Op::Unary(Unary::Special(Special::Erfc), t) if is_affine(t))
            }
            _ => false,
        };
        is_known || self.of(p).is_convex
    }

    /// −p for a probability p such that 1 − p has a concave logarithm.
    pub(super) fn is_minus_probability(&self, node: Node) -> bool {
        let Op::Binary(Binary::Mul, [s, x]) = self.graph.op(node) else { return false };
        match (self.graph.as_constant(s), self.graph.op(x)) {
            (Some(-0.5), Op::Unary(Unary::Special(Special::Erfc), t)) => self.of(t).is_affine(),
            (Some(-1.0), _) => self.has_log_concave_complement(self.bare(x)),
            _ => false,
        }
    }

    /// 1 − p for such a probability.
    pub(super) fn is_complement(&self, node: Node) -> bool {
        let Op::Binary(Binary::Add, [a, b]) = self.graph.op(node) else { return false };
        self.graph.as_constant(a) == Some(1.0) && self.is_minus_probability(b)
            || self.graph.as_constant(b) == Some(1.0) && self.is_minus_probability(a)
    }

    /// A value that marks the outside of a support: −∞, NaN or the lowest finite number, or a
    /// choice of these.
    pub(super) fn is_outside(&self, node: Node) -> bool {
        match self.graph.op(node) {
            Op::Constant(bits) => {
                let value = f64::from_bits(bits);
                value.is_nan() || value <= -f64::MAX
            }
            Op::Select(_, [_, _, yes, no]) => self.is_outside(yes) && self.is_outside(no),
            _ => false,
        }
    }

    /// Whether {a < b} is convex: if a is convex and b concave, or if one is a constant and the
    /// other lies beyond it on a convex set.
    pub(super) fn is_convex_set(&self, a: Node, b: Node) -> bool {
        let (x, y) = (self.of(a), self.of(b));
        x.is_convex && y.is_concave
            || x.is_constant && y.is_log_concave
            || y.is_constant && self.has_log_concave_complement(a)
    }
}
