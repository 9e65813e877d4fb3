//! The graph of an expression, with constants folded, identities simplified and common parts
//! shared.
//!
//! Simplifications preserve values up to rounding: scales (factors that are the same for all
//! samples, signs included) move out of products, division by a scale becomes multiplication by its
//! reciprocal, and ln of a sum of two exponentials is computed in the log domain, where it does not
//! underflow. Nothing is assumed finite: 0·x is not 0, x − x is not 0, and sums retain their order.

use super::dense::Dense;
use super::op::{Binary, Comparison, Node, Op, Unary};
use super::quick_hash::QuickMap;
use std::collections::HashMap;

/// Operations in single-assignment form: operands come before their users.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    ops: Vec<Op>,
    /// Whether the value is the same for all samples.
    uniform: Vec<bool>,
    /// Every operation has one node.
    known: QuickMap<Op, Node>,
    /// Calls of dense routines, and the node of each.
    calls: Vec<Call>,
    known_calls: HashMap<Call, Node>,
}

/// A dense routine with its operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) routine: Dense,
    pub(super) operands: Vec<Node>,
}

/// The results of a call; plain numbers if all operands are constants.
#[derive(Debug, Clone)]
pub(super) enum Called {
    Node(Node),
    Folded(Vec<f64>),
}

impl Graph {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The number of operations, inputs and constants.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(super) fn op(&self, node: Node) -> Op {
        self.ops[node.index()]
    }

    /// The operands of a node.
    pub(super) fn operands(&self, node: Node) -> &[Node] {
        match &self.ops[node.index()] {
            Op::Call(call) => &self.calls[*call as usize].operands,
            op => op.own_operands(),
        }
    }

    /// The call with this index.
    pub(super) fn call(&self, number: u32) -> &Call {
        &self.calls[number as usize]
    }

    /// Result `index` of a call, if it is used.
    pub(super) fn known_part(&self, of: Node, index: usize) -> Option<Node> {
        self.known.get(&Op::Part { of, index: index as u32 }).copied()
    }

    pub(super) fn is_uniform(&self, node: Node) -> bool {
        self.uniform[node.index()]
    }

    /// The number, if the node is a constant.
    pub(crate) fn as_constant(&self, node: Node) -> Option<f64> {
        match self.op(node) {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// (scale, rest) of a product with a scale.
    pub(super) fn as_scaled(&self, node: Node) -> Option<(Node, Node)> {
        match self.op(node) {
            Op::Binary(Binary::Mul, [s, x]) if self.is_uniform(s) && !self.is_uniform(x) => {
                Some((s, x))
            }
            _ => None,
        }
    }

    /// The node of an operation without simplification; all nodes are created here.
    pub(super) fn push(&mut self, op: Op) -> Node {
        if let Some(&node) = self.known.get(&op) {
            return node;
        }
        let constant = |n: Node| self.as_constant(n);
        if !op.own_operands().is_empty()
            && op.own_operands().iter().all(|&n| constant(n).is_some())
            && let Some(value) = op.of(|n| constant(n).unwrap_or(f64::NAN))
        {
            return self.constant(value);
        }
        let uniform = match op {
            Op::Input(_) => false,
            // Even with uniform operands, since calls run only on blocks.
            Op::Call(_) => false,
            _ => op.own_operands().iter().all(|&n| self.is_uniform(n)),
        };
        let index = u32::try_from(self.ops.len()).expect("fewer than 2^32 operations");
        self.ops.push(op);
        self.uniform.push(uniform);
        self.known.insert(op, Node(index));
        Node(index)
    }

    /// Calls a dense routine; [`Graph::part`] returns the results.
    pub(super) fn call_dense(&mut self, routine: Dense, operands: Vec<Node>) -> Called {
        debug_assert_eq!(operands.len(), routine.inputs(), "an operand for each input");
        let constants: Option<Vec<f64>> = operands.iter().map(|&n| self.as_constant(n)).collect();
        if let Some(constants) = constants {
            return Called::Folded(routine.of(&constants));
        }
        let call = Call { routine, operands };
        if let Some(&node) = self.known_calls.get(&call) {
            return Called::Node(node);
        }
        let node = self.push(Op::Call(self.calls.len() as u32));
        self.calls.push(call.clone());
        self.known_calls.insert(call, node);
        Called::Node(node)
    }

    /// Result `index` of a call.
    pub(super) fn part(&mut self, called: &Called, index: usize) -> Node {
        match called {
            Called::Node(of) => self.push(Op::Part { of: *of, index: index as u32 }),
            Called::Folded(values) => self.constant(values[index]),
        }
    }

    /// The first results of a call of a dense routine.
    pub(crate) fn dense(
        &mut self,
        routine: Dense,
        operands: Vec<Node>,
        results: usize,
    ) -> Vec<Node> {
        let called = self.call_dense(routine, operands);
        (0..results).map(|index| self.part(&called, index)).collect()
    }

    /// Which nodes depend on one of the given inputs.
    pub(super) fn depending_on(&self, inputs: &[Node]) -> Vec<bool> {
        let mut depends = vec![false; self.len()];
        inputs.iter().for_each(|n| depends[n.index()] = true);
        for index in 0..self.len() {
            depends[index] |= match self.ops[index] {
                Op::Unary(Unary::Detach, _) => false,
                _ => self.operands(Node(index as u32)).iter().any(|n| depends[n.index()]),
            };
        }
        depends
    }

    /// Which nodes are computed from leaves selected by `is_source`, detached or not.
    pub(super) fn computed_from(&self, is_source: impl Fn(Op) -> bool) -> Vec<bool> {
        let mut computed = vec![false; self.len()];
        for (index, &op) in self.ops.iter().enumerate() {
            let operands = self.operands(Node(index as u32));
            computed[index] = is_source(op) || operands.iter().any(|n| computed[n.index()]);
        }
        computed
    }

    /// Writes another graph's `outputs` into this one, with `inputs` for its inputs.
    pub(crate) fn embed(&mut self, other: &Graph, outputs: &[Node], inputs: &[Node]) -> Vec<Node> {
        self.embed_given(other, outputs, |_, _, op| match op {
            Op::Input(input) => Some(inputs[input as usize]),
            _ => None,
        })
    }

    /// Writes another graph's `outputs` into this one. `given` maps nodes of the other graph to
    /// nodes of this one; their operands are not copied.
    pub(super) fn embed_given(
        &mut self,
        other: &Graph,
        outputs: &[Node],
        mut given: impl FnMut(&mut Self, Node, Op) -> Option<Node>,
    ) -> Vec<Node> {
        let mut needed = vec![false; other.len()];
        let mut moved: Vec<Option<Node>> = vec![None; other.len()];
        outputs.iter().for_each(|n| needed[n.index()] = true);
        for index in (0..other.len()).rev() {
            if needed[index] {
                moved[index] = given(self, Node(index as u32), other.ops[index]);
                needed[index] = moved[index].is_none();
            }
            if needed[index] {
                other.operands(Node(index as u32)).iter().for_each(|n| needed[n.index()] = true);
            }
        }
        let mut calls: HashMap<Node, Called> = HashMap::new();
        for index in (0..other.len()).filter(|&index| needed[index]) {
            let to = |n: Node| moved[n.index()].expect("operands come first");
            moved[index] = Some(match other.ops[index] {
                Op::Unary(function, x) => self.unary(function, to(x)),
                Op::Binary(Binary::Add, [a, b]) => self.add(to(a), to(b)),
                Op::Binary(Binary::Mul, [a, b]) => self.mul(to(a), to(b)),
                Op::Binary(Binary::Div, [a, b]) => self.div(to(a), to(b)),
                Op::Binary(Binary::Min, [a, b]) => self.min(to(a), to(b)),
                Op::Binary(Binary::Max, [a, b]) => self.max(to(a), to(b)),
                Op::Binary(function, operands) => self.binary(function, operands.map(to)),
                Op::Select(comparison, operands) => self.select(comparison, operands.map(to)),
                Op::Call(number) => {
                    let Call { routine, operands } = other.call(number);
                    let operands = operands.iter().map(|&n| to(n)).collect();
                    let called = self.call_dense(routine.clone(), operands);
                    calls.insert(Node(index as u32), called);
                    continue;
                }
                Op::Part { of, index } => self.part(&calls[&of], index as usize),
                leaf @ (Op::Constant(_) | Op::Uniform(_) | Op::Input(_)) => self.push(leaf),
            });
        }
        outputs.iter().map(|n| moved[n.index()].expect("is needed")).collect()
    }

    /// Which nodes are needed to compute the outputs.
    pub(super) fn needed_for(&self, outputs: &[Node]) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        outputs.iter().for_each(|n| needed[n.index()] = true);
        for index in (0..self.len()).rev() {
            if needed[index] {
                let operands = self.operands(Node(index as u32));
                operands.iter().for_each(|n| needed[n.index()] = true);
            }
        }
        needed
    }

    /// How often each node is an operand, among the nodes needed for `outputs`.
    pub(super) fn uses(&self, outputs: &[Node]) -> Vec<u32> {
        let needed = self.needed_for(outputs);
        let mut uses = vec![0; self.len()];
        for index in (0..self.len()).filter(|&index| needed[index]) {
            self.operands(Node(index as u32)).iter().for_each(|n| uses[n.index()] += 1);
        }
        uses
    }

    pub(crate) fn constant(&mut self, value: f64) -> Node {
        self.push(Op::Constant(value.to_bits()))
    }

    pub(crate) fn input(&mut self, index: u32) -> Node {
        self.push(Op::Input(index))
    }

    pub(crate) fn uniform(&mut self, index: u32) -> Node {
        self.push(Op::Uniform(index))
    }

    pub(crate) fn unary(&mut self, function: Unary, x: Node) -> Node {
        match function {
            Unary::Ln => {
                if let Some(node) = self.ln_of_exponentials(x) {
                    return node;
                }
            }
            // |−x| = |x|
            Unary::Abs => {
                if let Some((s, rest)) = self.as_scaled(x)
                    && self.as_constant(s) == Some(-1.0)
                {
                    return self.push(Op::Unary(Unary::Abs, rest));
                }
            }
            _ => {}
        }
        self.push(Op::Unary(function, x))
    }

    /// ln(e^a) = a and ln(c e^a + d e^b), which would be −∞ wherever both exponentials underflow.
    fn ln_of_exponentials(&mut self, x: Node) -> Option<Node> {
        if let Op::Unary(Unary::Exp, a) = self.op(x) {
            return Some(a);
        }
        let (scale, sum) = match self.as_scaled(x) {
            Some((s, sum)) => (self.as_constant(s).filter(|s| *s > 0.0)?, sum),
            None => (1.0, x),
        };
        let Op::Binary(Binary::Add, [a, b]) = self.op(sum) else { return None };
        let (a, b) = (self.exponent(a)?, self.exponent(b)?);
        let [a, b] = [a, b].map(|(c, a)| {
            let shift = self.constant((scale * c).ln());
            self.add(shift, a)
        });
        Some(self.log_add_exp(a, b))
    }

    /// (c, a) of c e^a with c > 0.
    fn exponent(&self, x: Node) -> Option<(f64, Node)> {
        let (c, x) = match self.as_scaled(x) {
            Some((s, rest)) => (self.as_constant(s).filter(|c| *c > 0.0)?, rest),
            None => (1.0, x),
        };
        match self.op(x) {
            Op::Unary(Unary::Exp, a) if !self.is_uniform(a) => Some((c, a)),
            _ => None,
        }
    }

    /// Operands of a commutative function: scales first, then the older node.
    fn binary(&mut self, function: Binary, mut operands: [Node; 2]) -> Node {
        if function.commutes() {
            operands.sort_by_key(|&n| (!self.is_uniform(n), n));
        }
        self.push(Op::Binary(function, operands))
    }

    pub(crate) fn add(&mut self, a: Node, b: Node) -> Node {
        if self.as_constant(a) == Some(0.0) {
            return b;
        }
        if self.as_constant(b) == Some(0.0) {
            return a;
        }
        if a == b {
            let two = self.constant(2.0);
            return self.mul(two, a);
        }
        self.binary(Binary::Add, [a, b])
    }

    pub(crate) fn sub(&mut self, a: Node, b: Node) -> Node {
        let minus = self.neg(b);
        self.add(a, minus)
    }

    pub(crate) fn neg(&mut self, x: Node) -> Node {
        let minus_one = self.constant(-1.0);
        self.mul(minus_one, x)
    }

    pub(crate) fn mul(&mut self, a: Node, b: Node) -> Node {
        match (self.is_uniform(a), self.is_uniform(b)) {
            (true, true) if self.as_constant(a) == Some(1.0) => b,
            (true, true) if self.as_constant(b) == Some(1.0) => a,
            (true, true) => self.binary(Binary::Mul, [a, b]),
            (true, false) => self.scale(a, b),
            (false, true) => self.scale(b, a),
            (false, false) => {
                let (s, x) = self.take_scale(a);
                let (t, y) = self.take_scale(b);
                let [x, y] = self.with_finite_log(x, y);
                let product = self.binary(Binary::Mul, [x, y]);
                let scales: Vec<Node> = [s, t].into_iter().flatten().collect();
                scales.into_iter().fold(product, |product, s| self.scale(s, product))
            }
        }
    }

    /// x and ln x as factors of x ln x, which is 0 at 0.
    fn with_finite_log(&mut self, x: Node, y: Node) -> [Node; 2] {
        let is_log = |log: Node, of: Node| self.op(log) == Op::Unary(Unary::Ln, of);
        let (in_first, in_second) = (is_log(x, y), is_log(y, x));
        let least = if in_first || in_second { self.constant(-f64::MAX) } else { x };
        match (in_first, in_second) {
            (true, _) => [self.max(x, least), y],
            (_, true) => [x, self.max(y, least)],
            _ => [x, y],
        }
    }

    /// s·x for a scale s.
    fn scale(&mut self, s: Node, x: Node) -> Node {
        if self.as_constant(s) == Some(1.0) {
            return x;
        }
        if self.may_move(s)
            && let (Some(t), rest) = self.take_scale(x)
        {
            let both = self.mul(s, t);
            return self.scale(both, rest);
        }
        self.push(Op::Binary(Binary::Mul, [s, x]))
    }

    /// Splits off a scale that may be moved.
    fn take_scale(&self, x: Node) -> (Option<Node>, Node) {
        match self.as_scaled(x) {
            Some((s, rest)) if self.may_move(s) => (Some(s), rest),
            _ => (None, x),
        }
    }

    /// A moved scale must not cause an overflow. A number of moderate size does so only at the very
    /// edge of the range.
    fn may_move(&self, s: Node) -> bool {
        const LARGE: f64 = 18_446_744_073_709_551_616.0; // 2^64
        self.as_constant(s).is_none_or(|s| (LARGE.recip()..=LARGE).contains(&s.abs()))
    }

    pub(crate) fn div(&mut self, a: Node, b: Node) -> Node {
        let invertible = match self.as_constant(b) {
            Some(value) => value.is_normal() && value.recip().is_normal(),
            None => self.is_uniform(b),
        };
        if invertible && !self.is_uniform(a) {
            let one = self.constant(1.0);
            let reciprocal = self.push(Op::Binary(Binary::Div, [one, b]));
            return self.mul(reciprocal, a);
        }
        self.push(Op::Binary(Binary::Div, [a, b]))
    }

    pub(crate) fn min(&mut self, a: Node, b: Node) -> Node {
        if a == b { a } else { self.push(Op::Binary(Binary::Min, [a, b])) }
    }

    pub(crate) fn max(&mut self, a: Node, b: Node) -> Node {
        if a == b { a } else { self.push(Op::Binary(Binary::Max, [a, b])) }
    }

    pub(crate) fn select(&mut self, comparison: Comparison, operands: [Node; 4]) -> Node {
        let [a, b, yes, no] = operands;
        if yes == no {
            return yes;
        }
        if let (Some(a), Some(b)) = (self.as_constant(a), self.as_constant(b)) {
            return if comparison.holds(a, b) { yes } else { no };
        }
        self.push(Op::Select(comparison, operands))
    }

    pub(crate) fn log_add_exp(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::LogAddExp, [a, b])
    }

    /// e^a / (e^a + e^b)
    pub(crate) fn share(&mut self, a: Node, b: Node) -> Node {
        self.push(Op::Binary(Binary::Share, [a, b]))
    }

    /// x^n by repeated squaring.
    pub(crate) fn powi(&mut self, x: Node, n: i32) -> Node {
        let mut result = None;
        let mut power = x;
        let mut rest = n.unsigned_abs();
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(result.map_or(power, |result| self.mul(result, power)));
            }
            rest >>= 1;
            if rest > 0 {
                power = self.mul(power, power);
            }
        }
        let one = self.constant(1.0);
        match result {
            None => one,
            Some(result) if n < 0 => self.div(one, result),
            Some(result) => result,
        }
    }

    /// x^c; half-integer powers by a root and products, others as e^(c ln x).
    pub(crate) fn powf(&mut self, x: Node, c: f64) -> Node {
        const LARGEST: f64 = 64.0; // products beyond it lose more digits than the exponential
        if c.abs() <= LARGEST && c.fract() == 0.0 {
            return self.powi(x, c as i32);
        }
        if c.abs() <= LARGEST && c.fract().abs() == 0.5 {
            let root = self.unary(Unary::Sqrt, x);
            let whole = self.powi(x, c.abs() as i32);
            let power = self.mul(root, whole);
            let one = self.constant(1.0);
            return if c > 0.0 { power } else { self.div(one, power) };
        }
        let log = self.unary(Unary::Ln, x);
        let c = self.constant(c);
        let exponent = self.mul(c, log);
        self.unary(Unary::Exp, exponent)
    }
}
