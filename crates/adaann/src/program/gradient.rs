//! Reverse mode: the derivatives of a graph as new nodes of the same graph, so that they share its
//! parts.
//!
//! Conventions where no derivative exists: |x| has derivative 0 at 0; `min` and `max` give the
//! whole derivative to the first argument at a tie; a comparison has none, so `select`
//! differentiates the selected branch. A factor that is the constant 0 makes its product 0,
//! whatever the other factor is. A power x^y = e^(y ln x) with y > 0 has derivatives 0 at x = 0.
//! Those by y and, for y > 1, by x are the limits; an infinite limit would only make the point
//! non-finite.

use super::call_gradient::back_call;
use super::graph::Graph;
use super::op::{Binary, Comparison, Node, Op, Unary};
use crate::simd::Special;
use std::f64::consts::FRAC_2_SQRT_PI;

/// The derivatives of Σ seed·output by each of the inputs `wrt`.
///
/// The seeds may be any nodes: weights that are uniform over the samples, or adjoints that are
/// inputs.
pub(crate) fn gradient(graph: &mut Graph, outputs: &[(Node, Node)], wrt: &[Node]) -> Vec<Node> {
    let zero = graph.constant(0.0);
    let one = graph.constant(1.0);
    let active = graph.depending_on(wrt);
    let mut reverse = Reverse { active, graph, adjoints: Vec::new(), zero, one };
    reverse.adjoints = vec![None; reverse.active.len()];
    for &(output, seed) in outputs {
        reverse.give(output, seed);
    }
    for index in (0..reverse.active.len()).rev() {
        let node = Node(index as u32);
        if let Op::Call(call) = reverse.graph.op(node) {
            reverse.back_call(node, call);
        } else if let Some(adjoint) = reverse.adjoints[index] {
            reverse.back(node, adjoint);
        }
    }
    wrt.iter().map(|node| reverse.adjoints[node.index()].unwrap_or(zero)).collect()
}

/// The derivative of y = f(x).
pub(super) fn slope(graph: &mut Graph, function: Unary, x: Node, y: Node) -> Node {
    let one = graph.constant(1.0);
    match function {
        Unary::Abs => graph.unary(Unary::Sign, x),
        Unary::Sign | Unary::Detach => graph.constant(0.0),
        Unary::Sqrt => {
            let half = graph.constant(0.5);
            let reciprocal = graph.div(one, y);
            graph.mul(half, reciprocal)
        }
        Unary::Exp => y,
        Unary::ExpM1 => graph.add(one, y),
        Unary::Ln => graph.div(one, x),
        Unary::Ln1p => {
            let shifted = graph.add(one, x);
            graph.div(one, shifted)
        }
        Unary::Tanh => {
            let square = graph.mul(y, y);
            graph.sub(one, square)
        }
        Unary::Sin => graph.unary(Unary::Cos, x),
        Unary::Cos => {
            let sin = graph.unary(Unary::Sin, x);
            graph.neg(sin)
        }
        Unary::Special(function) => special_slope(graph, function, x, y),
    }
}

/// The derivative of y = f(x) for a special function.
fn special_slope(graph: &mut Graph, function: Special, x: Node, y: Node) -> Node {
    let one = graph.constant(1.0);
    match function {
        Special::LnGamma => graph.unary(Unary::Special(Special::Polygamma(0)), x),
        Special::Polygamma(n) => {
            graph.unary(Unary::Special(Special::Polygamma(n.saturating_add(1))), x)
        }
        Special::LnGammaRest => graph.unary(Unary::Special(Special::DigammaRest), x),
        Special::DigammaRest => {
            // ψ₁(x) − (1 + 1/(2x))/x
            let trigamma = graph.unary(Unary::Special(Special::Polygamma(1)), x);
            let (half, reciprocal) = (graph.constant(0.5), graph.div(one, x));
            let term = graph.mul(half, reciprocal);
            let factor = graph.add(one, term);
            let product = graph.mul(factor, reciprocal);
            graph.sub(trigamma, product)
        }
        Special::Erf | Special::Erfc => {
            let sign = if function == Special::Erf { 1.0 } else { -1.0 };
            let square = graph.mul(x, x);
            let exponent = graph.neg(square);
            let exp = graph.unary(Unary::Exp, exponent);
            let factor = graph.constant(sign * FRAC_2_SQRT_PI);
            graph.mul(factor, exp)
        }
        Special::LnNormalCdf => graph.unary(Unary::Special(Special::NormalHazard), x),
        Special::NormalHazard => {
            let sum = graph.add(x, y);
            let product = graph.mul(y, sum);
            graph.neg(product)
        }
        Special::Atan => {
            let square = graph.mul(x, x);
            let sum = graph.add(one, square);
            graph.div(one, sum)
        }
        Special::Floor => graph.constant(0.0),
    }
}

/// The factors of an exponent y·ln x, where the logarithm may also be a uniform.
pub(super) fn power(graph: &Graph, exponent: Node) -> Option<[Node; 2]> {
    let is_log = |n: Node| {
        matches!(graph.op(n), Op::Unary(Unary::Ln, _))
            || graph.is_uniform(n) && graph.as_constant(n).is_none_or(f64::is_infinite)
    };
    match graph.op(exponent) {
        Op::Binary(Binary::Mul, factors) if factors.into_iter().any(is_log) => Some(factors),
        _ => None,
    }
}

/// A factor that may be ln 0, as a finite number: 0 times it is then 0, the limit of x^y ln x.
pub(super) fn finite_log(graph: &mut Graph, factor: Node) -> Node {
    let is_log = matches!(graph.op(factor), Op::Unary(Unary::Ln, _)) || graph.is_uniform(factor);
    match graph.as_constant(factor) {
        Some(f64::NEG_INFINITY) => graph.constant(-f64::MAX),
        None if is_log => {
            let least = graph.constant(-f64::MAX);
            graph.max(factor, least)
        }
        _ => factor,
    }
}

/// 1/x, or the largest finite number at 0.
pub(super) fn finite_reciprocal(graph: &mut Graph, x: Node) -> Node {
    let (one, most) = (graph.constant(1.0), graph.constant(f64::MAX));
    let reciprocal = graph.div(one, x);
    graph.min(reciprocal, most)
}

struct Reverse<'a> {
    graph: &'a mut Graph,
    active: Vec<bool>,
    adjoints: Vec<Option<Node>>,
    zero: Node,
    one: Node,
}

impl Reverse<'_> {
    /// Passes the adjoint of a node to its operands.
    fn back(&mut self, node: Node, adjoint: Node) {
        match self.graph.op(node) {
            Op::Constant(_) | Op::Input(_) | Op::Uniform(_) => {}
            // A call's adjoints are passed on once those of all its parts are known.
            Op::Call(_) | Op::Part { .. } => {}
            Op::Unary(Unary::Exp, x) if let Some(factors) = power(self.graph, x) => {
                self.back_power(factors, node, adjoint);
            }
            Op::Unary(function, x) => {
                let slope = slope(self.graph, function, x, node);
                self.give_times(x, adjoint, slope);
            }
            Op::Binary(function, [a, b]) => self.back_binary(function, a, b, node, adjoint),
            Op::Select(comparison, [a, b, yes, no]) => {
                self.give_select(yes, comparison, [a, b, adjoint, self.zero]);
                self.give_select(no, comparison, [a, b, self.zero, adjoint]);
            }
        }
    }

    /// Passes the adjoint of e^(a·b), a power, to both factors, or to the arguments of logarithms.
    fn back_power(&mut self, [a, b]: [Node; 2], node: Node, adjoint: Node) {
        let scaled = self.times(adjoint, node);
        for (to, other) in [(a, b), (b, a)] {
            if !self.active[to.index()] {
                continue;
            }
            let other = finite_log(self.graph, other);
            let given = self.times(scaled, other);
            match self.graph.op(to) {
                Op::Unary(Unary::Ln, x) => {
                    let slope = finite_reciprocal(self.graph, x);
                    self.give_times(x, given, slope);
                }
                _ => self.give(to, given),
            }
        }
    }

    /// Passes the adjoints of all parts of a call to its operands.
    fn back_call(&mut self, node: Node, number: u32) {
        let call = self.graph.call(number).clone();
        let adjoint = |index| {
            let part = self.graph.known_part(node, index)?;
            self.adjoints.get(part.index()).copied().flatten()
        };
        let adjoints: Vec<Option<Node>> = (0..call.routine.outputs()).map(adjoint).collect();
        if adjoints.iter().all(Option::is_none) {
            return;
        }
        let is_active = |n: &Node| self.active[n.index()];
        let active: Vec<bool> = call.operands.iter().map(is_active).collect();
        let given = back_call(self.graph, node, &call, &adjoints, &active);
        for (operand, part) in call.operands.into_iter().zip(given) {
            if let Some(part) = part {
                self.give(operand, part);
            }
        }
    }

    fn back_binary(&mut self, function: Binary, a: Node, b: Node, node: Node, adjoint: Node) {
        let zero = self.zero;
        match function {
            Binary::Add => {
                self.give(a, adjoint);
                self.give(b, adjoint);
            }
            Binary::Mul => {
                self.give_times(a, adjoint, b);
                self.give_times(b, adjoint, a);
            }
            Binary::Div => {
                let reciprocal = self.graph.div(self.one, b);
                let scaled = self.times(adjoint, reciprocal);
                self.give(a, scaled);
                let slope = self.graph.neg(node);
                self.give_times(b, scaled, slope);
            }
            Binary::Min => {
                self.give_select(a, Comparison::Less, [b, a, zero, adjoint]);
                self.give_select(b, Comparison::Less, [b, a, adjoint, zero]);
            }
            Binary::Max => {
                self.give_select(a, Comparison::Less, [a, b, zero, adjoint]);
                self.give_select(b, Comparison::Less, [a, b, adjoint, zero]);
            }
            Binary::LogAddExp => {
                let (first, second) = (self.graph.share(a, b), self.graph.share(b, a));
                self.give_times(a, adjoint, first);
                self.give_times(b, adjoint, second);
            }
            Binary::Share => {
                let other = self.graph.share(b, a);
                let slope = self.graph.mul(node, other);
                self.give_times(a, adjoint, slope);
                let slope = self.graph.neg(slope);
                self.give_times(b, adjoint, slope);
            }
            Binary::ExpNegDistance => {
                unreachable!("made when a program is compiled, after it was differentiated")
            }
        }
    }

    fn give_times(&mut self, to: Node, adjoint: Node, slope: Node) {
        if self.active[to.index()] {
            let product = self.times(adjoint, slope);
            self.give(to, product);
        }
    }

    fn give_select(&mut self, to: Node, comparison: Comparison, operands: [Node; 4]) {
        if self.active[to.index()] {
            let part = self.graph.select(comparison, operands);
            self.give(to, part);
        }
    }

    fn give(&mut self, to: Node, part: Node) {
        if !self.active[to.index()] || part == self.zero {
            return;
        }
        let sum = match self.adjoints[to.index()] {
            Some(others) => self.plus(others, part),
            None => part,
        };
        self.adjoints[to.index()] = Some(sum);
    }

    fn times(&mut self, a: Node, b: Node) -> Node {
        if a == self.zero || b == self.zero { self.zero } else { self.graph.mul(a, b) }
    }

    /// a + b. The two shares of one sum add up to 1, so the common part of two mixture modes needs
    /// no shares.
    fn plus(&mut self, a: Node, b: Node) -> Node {
        let split = |node| self.graph.as_scaled(node).unwrap_or((self.one, node));
        let ((s, x), (t, y)) = (split(a), split(b));
        if s == t
            && let Op::Binary(Binary::Share, [first, second]) = self.graph.op(x)
            && self.graph.op(y) == Op::Binary(Binary::Share, [second, first])
        {
            return s;
        }
        self.graph.add(a, b)
    }
}
