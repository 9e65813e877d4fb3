//! Proves concavity from the graph of an expression, by the rules of disciplined convex
//! programming.
//!
//! Every value gets a [`Shape`]: whether it is a convex or a concave function of the parameters,
//! whether its logarithm is, and its bounds. A rule derives the shape of an operation from the
//! shapes of its operands. Values without a rule have no known shape, so a proof may be missed but
//! is never wrong.
//!
//! Functions may be infinite or undefined outside a convex set, like ln x for x ≤ 0: a concave
//! function is −∞ there.

mod patterns;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use shape::Shape;

use super::dense::Dense;
use super::graph::{Call, Graph};
use super::op::{Binary, Node, Op, Unary};
use crate::simd::Special;
use patterns::Known;

/// The shapes of all values of a graph, given those of its inputs.
pub(crate) fn shapes(graph: &Graph, input: impl Fn(u32) -> Shape) -> Vec<Shape> {
    let mut found: Vec<Shape> = Vec::with_capacity(graph.len());
    for index in 0..graph.len() {
        let known = Known { graph, shapes: &found };
        let shape = known.shape(Node(index as u32), &input);
        found.push(shape);
    }
    found
}

impl Known<'_> {
    fn shape(&self, node: Node, input: &impl Fn(u32) -> Shape) -> Shape {
        match self.graph.op(node) {
            Op::Constant(bits) => {
                let value = f64::from_bits(bits);
                Shape::number(value, value)
            }
            Op::Input(number) => input(number),
            Op::Uniform(_) => Shape::number(f64::NEG_INFINITY, f64::INFINITY),
            Op::Unary(function, x) => self.unary(function, x),
            Op::Binary(function, [a, b]) => self.binary(function, a, b),
            Op::Select(_, [a, b, yes, no]) => self.select(a, b, yes, no),
            Op::Call(_) => Shape::UNKNOWN,
            Op::Part { of, index } => self.part(of, index),
        }
    }

    fn unary(&self, function: Unary, x: Node) -> Shape {
        let shape = self.of(x);
        let anything = if shape.is_constant {
            Shape::number(f64::NEG_INFINITY, f64::INFINITY)
        } else {
            Shape::UNKNOWN
        };
        match function {
            Unary::Abs => shape.abs(),
            Unary::Sqrt => {
                let root =
                    shape.growing_concave(shape.low.max(0.0).sqrt(), shape.high.max(0.0).sqrt());
                let Shape { is_log_convex, is_log_concave, .. } = shape;
                let is_log_concave = root.is_log_concave || is_log_concave;
                Shape { is_log_convex, is_log_concave, ..root }.with_logs()
            }
            Unary::Exp => shape.exp(),
            Unary::ExpM1 => Shape {
                is_constant: shape.is_constant,
                is_convex: shape.is_convex,
                ..Shape::between(shape.low.exp_m1(), shape.high.exp_m1())
            }
            .with_logs(),
            Unary::Ln if self.is_complement(x) => Shape::LOG_PROBABILITY,
            Unary::Ln => self.of(self.bare(x)).ln(),
            Unary::Ln1p if self.is_minus_probability(x) => Shape::LOG_PROBABILITY,
            Unary::Ln1p => shape.ln_1p(),
            Unary::Special(Special::LnNormalCdf) => shape.growing_concave(f64::NEG_INFINITY, 0.0),
            // erfc decreases, and so does its logarithm, which is concave.
            Unary::Special(Special::Erfc) => Shape {
                is_constant: shape.is_constant,
                is_log_concave: shape.is_convex,
                ..if shape.is_constant { Shape::number(0.0, 2.0) } else { Shape::between(0.0, 2.0) }
            },
            Unary::Special(Special::LnGamma) if !shape.is_constant => {
                Shape { is_convex: shape.is_affine() && shape.low >= 0.0, ..Shape::UNKNOWN }
            }
            // Binet's function is completely monotone: it decreases and is convex.
            Unary::Special(Special::LnGammaRest) if !shape.is_constant => Shape {
                is_convex: shape.is_concave && shape.low >= 0.0,
                ..Shape::between(0.0, f64::INFINITY)
            },
            _ => anything,
        }
    }

    fn binary(&self, function: Binary, a: Node, b: Node) -> Shape {
        let (x, y) = (self.of(a), self.of(b));
        match function {
            Binary::Add if self.is_log_sum_exp(a, b) => Shape { is_convex: true, ..Shape::UNKNOWN },
            Binary::Add if self.is_logistic(a, b) || self.is_logistic(b, a) => {
                Shape { is_concave: true, ..x.plus(y) }
            }
            Binary::Add => x.plus(y),
            Binary::Mul if a == b => x.squared(),
            Binary::Mul => x.times(y),
            Binary::Div if x.is_constant || y.is_constant => x.times(y.inverse()),
            Binary::Div => {
                let quotient = x.times(y.inverse());
                // x²/y is convex in both, and decreases in y > 0.
                let is_square = matches!(self.graph.op(a), Op::Binary(Binary::Mul, [p, q]) if p == q && self.of(p).is_affine());
                let is_convex = is_square && y.is_concave && y.low >= 0.0;
                Shape { is_convex: quotient.is_convex || is_convex, ..quotient }
            }
            Binary::Min => x.min(y),
            Binary::Max => x.max(y),
            Binary::LogAddExp => {
                let interval = Shape::between(x.low.max(y.low), f64::INFINITY);
                let is_constant = x.is_constant && y.is_constant;
                let is_convex = x.is_convex && y.is_convex;
                Shape { is_constant, is_convex, is_concave: is_constant, ..interval }.with_logs()
            }
            // Its logarithm is −ln(1 + e^(b − a)).
            Binary::Share => {
                let is_constant = x.is_constant && y.is_constant;
                let falls = x.is_concave && y.is_convex;
                let shape =
                    if is_constant { Shape::number(0.0, 1.0) } else { Shape::between(0.0, 1.0) };
                Shape { is_log_concave: falls, ..shape }
            }
            Binary::ExpNegDistance => Shape::UNKNOWN,
        }
    }

    /// A choice by data is one of its branches. A choice by parameters acts as a bound if one
    /// branch is −∞ and the other holds on a half-space.
    fn select(&self, a: Node, b: Node, yes: Node, no: Node) -> Shape {
        let [left, right, if_so, if_not] = [a, b, yes, no].map(|node| self.of(node));
        if [yes, no] == [b, a] {
            return left.max(right);
        }
        if [yes, no] == [a, b] {
            return left.min(right);
        }
        if left.is_constant && right.is_constant {
            return if_so.either(if_not);
        }
        let inside = if self.is_outside(no) && self.is_convex_set(a, b) {
            if_so
        } else if self.is_outside(yes) && self.is_convex_set(b, a) {
            if_not
        } else {
            return Shape::UNKNOWN;
        };
        let is_concave = inside.is_concave;
        Shape { is_concave, ..Shape::between(f64::NEG_INFINITY, inside.high) }
    }

    /// A normal density is concave in residuals that are affine, and L x is affine in either
    /// factor.
    fn part(&self, of: Node, index: u32) -> Shape {
        let Op::Call(number) = self.graph.op(of) else { return Shape::UNKNOWN };
        let Call { routine, operands } = self.graph.call(number);
        let all = |nodes: &[Node], holds: fn(Shape) -> bool| {
            nodes.iter().all(|node| holds(self.of(*node)))
        };
        match routine {
            Dense::MultiNormal { n } if index == 0 => {
                let (residuals, covariance) = operands.split_at(*n);
                let is_concave =
                    all(residuals, Shape::is_affine) && all(covariance, |shape| shape.is_constant);
                Shape { is_concave, ..Shape::UNKNOWN }
            }
            Dense::LowerTimes { .. } => {
                let count = operands.len() - routine.outputs();
                let (factor, x) = operands.split_at(count);
                let is_constant = |shape: Shape| shape.is_constant;
                let is_affine = all(factor, is_constant) && all(x, Shape::is_affine)
                    || all(x, is_constant) && all(factor, Shape::is_affine);
                Shape { is_convex: is_affine, is_concave: is_affine, ..Shape::UNKNOWN }
            }
            _ => Shape::UNKNOWN,
        }
    }
}
