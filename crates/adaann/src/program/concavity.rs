//! Proofs of concavity from the graph of an expression, by the rules of disciplined convex programming.
//!
//! Every value gets a [`Shape`]: whether it is a convex or a concave function of the parameters, whether its
//! logarithm is, and between which numbers it lies. A rule says what an operation makes of the shapes of its
//! operands. What no rule covers has no shape, so that a proof may be missed but is never wrong.
//!
//! Functions may be infinite or undefined outside a convex set, as ln x is for x ≤ 0: a concave function is −∞ there.

use super::dense::Dense;
use super::graph::{Call, Graph};
use super::op::{Binary, Node, Op, Unary};
use crate::simd::Special;
use crate::target::Support;

/// What is known of a value as a function of the parameters. All flags are false where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Does no parameter move it? It may still be another number in each row.
    is_constant: bool,
    is_convex: bool,
    is_concave: bool,
    /// Is it positive with a convex logarithm? It is then convex itself.
    is_log_convex: bool,
    /// Is it nonnegative with a concave logarithm?
    is_log_concave: bool,
    low: f64,
    high: f64,
}

impl Shape {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        is_constant: false,
        is_convex: false,
        is_concave: false,
        is_log_convex: false,
        is_log_concave: false,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// The logarithm of a probability that is log-concave.
    const LOG_PROBABILITY: Self = Self { is_concave: true, high: 0.0, ..Self::UNKNOWN };

    /// A number that no parameter moves, between two others.
    pub(crate) fn number(low: f64, high: f64) -> Self {
        Self { is_constant: true, is_convex: true, is_concave: true, ..Self::between(low, high) }
            .with_logs()
    }

    /// A parameter itself.
    pub(crate) fn line([low, high]: [f64; 2]) -> Self {
        Self { is_convex: true, is_concave: true, ..Self::between(low, high) }.with_logs()
    }

    /// A parameter with this support, as a function of itself or of its place on the whole line.
    pub(crate) fn of_parameter(support: &Support, on_the_line: bool) -> Self {
        let unknown = Self::between(support.bounds()[0], support.bounds()[1]);
        match *support {
            _ if !on_the_line => Self::line(support.bounds()),
            Support::Real => Self::line(support.bounds()),
            // b + eᶻ is convex; with b = 0 its logarithm is z, which is affine.
            Support::Above(bound) => Self {
                is_convex: true,
                is_log_convex: bound >= 0.0,
                is_log_concave: bound == 0.0,
                ..unknown
            },
            Support::Below(_) => Self { is_concave: true, ..unknown },
            // 1/(1 + e⁻ᶻ) has a concave logarithm.
            Support::Between(low, _) => Self { is_log_concave: low == 0.0, ..unknown },
            _ => unknown,
        }
    }

    /// Is log|J| of the map onto a support known to be a concave function of the place on the line?
    pub(crate) fn has_concave_jacobian(support: &Support) -> bool {
        use Support::{Above, Below, Between, Real};
        matches!(support, Real | Above(_) | Below(_) | Between(..))
    }

    /// The shape of a value that is one of two.
    pub(crate) fn either(self, other: Self) -> Self {
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_convex: self.is_convex && other.is_convex,
            is_concave: self.is_concave && other.is_concave,
            is_log_convex: self.is_log_convex && other.is_log_convex,
            is_log_concave: self.is_log_concave && other.is_log_concave,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    pub(crate) fn is_concave(self) -> bool {
        self.is_concave
    }

    fn between(low: f64, high: f64) -> Self {
        let is_interval = low <= high;
        let (low, high) =
            if is_interval { (low, high) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        Self { low, high, ..Self::UNKNOWN }
    }

    /// With what the other flags and the interval say of the logarithm, and it of them.
    fn with_logs(mut self) -> Self {
        self.is_convex |= self.is_constant;
        self.is_concave |= self.is_constant;
        self.is_log_concave |= self.is_concave && self.low >= 0.0;
        self.is_log_convex |= self.is_constant && self.low > 0.0;
        self.is_convex |= self.is_log_convex;
        self
    }

    fn is_affine(self) -> bool {
        self.is_convex && self.is_concave
    }

    /// −x
    fn negated(self) -> Self {
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_concave,
            is_concave: self.is_convex,
            ..Self::between(-self.high, -self.low)
        }
    }

    /// c·x for a number c.
    fn scaled(self, by: Self) -> Self {
        let interval = product(by, self);
        let shape = if by.low >= 0.0 {
            self
        } else if by.high <= 0.0 {
            self.negated()
        } else if self.is_affine() {
            // A sign that differs between rows leaves a line a line.
            Self { is_log_convex: false, is_log_concave: false, ..self }
        } else {
            Self::UNKNOWN
        };
        let is_positive = by.low > 0.0;
        Self {
            is_log_convex: shape.is_log_convex && is_positive,
            is_log_concave: shape.is_log_concave && by.low >= 0.0,
            is_constant: self.is_constant,
            low: interval.low,
            high: interval.high,
            ..shape
        }
        .with_logs()
    }

    fn plus(self, other: Self) -> Self {
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_convex: self.is_convex && other.is_convex,
            is_concave: self.is_concave && other.is_concave,
            is_log_convex: self.is_log_convex && other.is_log_convex,
            ..Self::between(self.low + other.low, self.high + other.high)
        }
        .with_logs()
    }

    fn squared(self) -> Self {
        let (a, b) = (self.low * self.low, self.high * self.high);
        let low = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { a.min(b) };
        let grows = self.is_convex && self.low >= 0.0 || self.is_concave && self.high <= 0.0;
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_affine() || grows,
            is_log_convex: self.is_log_convex,
            is_log_concave: self.is_log_concave,
            ..Self::between(low, a.max(b))
        }
        .with_logs()
    }

    fn times(self, other: Self) -> Self {
        if self.is_constant {
            return other.scaled(self);
        }
        if other.is_constant {
            return self.scaled(other);
        }
        Self {
            is_log_convex: self.is_log_convex && other.is_log_convex,
            is_log_concave: self.is_log_concave && other.is_log_concave,
            ..product(self, other)
        }
        .with_logs()
    }

    /// 1/x
    fn inverse(self) -> Self {
        let interval = match () {
            () if self.low > 0.0 || self.high < 0.0 => {
                Self::between(self.high.recip(), self.low.recip())
            }
            () if self.low >= 0.0 => Self::between(self.high.recip().max(0.0), f64::INFINITY),
            () => Self::UNKNOWN,
        };
        if self.is_constant {
            return Self::number(interval.low, interval.high);
        }
        if self.low < 0.0 {
            return Self::UNKNOWN;
        }
        Self {
            is_convex: self.is_concave,
            is_log_convex: self.is_log_concave,
            is_log_concave: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    fn exp(self) -> Self {
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_convex,
            is_log_convex: self.is_convex,
            is_log_concave: self.is_concave,
            ..Self::between(self.low.exp(), self.high.exp())
        }
        .with_logs()
    }

    /// A function that grows and is concave, such as √x, with its interval.
    fn growing_concave(self, low: f64, high: f64) -> Self {
        let interval = Self::between(low, high);
        Self { is_constant: self.is_constant, is_concave: self.is_concave, ..interval }.with_logs()
    }

    fn ln(self) -> Self {
        let interval = Self::between(self.low.max(0.0).ln(), self.high.max(0.0).ln());
        Self {
            is_constant: self.is_constant,
            is_concave: self.is_concave || self.is_log_concave,
            is_convex: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    /// ln(1 + x)
    fn ln_1p(self) -> Self {
        let interval = Self::between(self.low.max(-1.0).ln_1p(), self.high.max(-1.0).ln_1p());
        Self {
            is_constant: self.is_constant,
            is_concave: self.is_concave,
            is_convex: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    fn abs(self) -> Self {
        if self.low >= 0.0 {
            return self;
        }
        if self.high <= 0.0 {
            return self.negated().with_logs();
        }
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_affine(),
            ..Self::between(0.0, self.high.max(-self.low))
        }
        .with_logs()
    }
}

/// The interval of a product; 0·∞ is 0, since no number is infinite.
fn product(a: Shape, b: Shape) -> Shape {
    let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let corners =
        [times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)];
    let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
    let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Shape::between(low, high)
}

/// The shapes of all values of a graph, from those of its inputs.
pub(crate) fn shapes(graph: &Graph, input: impl Fn(u32) -> Shape) -> Vec<Shape> {
    let mut found: Vec<Shape> = Vec::with_capacity(graph.len());
    for index in 0..graph.len() {
        let known = Known { graph, shapes: &found };
        let shape = known.shape(Node(index as u32), &input);
        found.push(shape);
    }
    found
}

/// Shapes of the values so far.
struct Known<'a> {
    graph: &'a Graph,
    shapes: &'a [Shape],
}

impl Known<'_> {
    fn of(&self, node: Node) -> Shape {
        self.shapes[node.index()]
    }

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
            // erfc falls, and so does its logarithm, which is concave.
            Unary::Special(Special::Erfc) => Shape {
                is_constant: shape.is_constant,
                is_log_concave: shape.is_convex,
                ..if shape.is_constant { Shape::number(0.0, 2.0) } else { Shape::between(0.0, 2.0) }
            },
            Unary::Special(Special::LnGamma) if !shape.is_constant => {
                Shape { is_convex: shape.is_affine() && shape.low >= 0.0, ..Shape::UNKNOWN }
            }
            // Binet's function is completely monotone: it falls and is convex.
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
                // x²/y is convex in both, and falls in y > 0.
                let is_square = matches!(self.graph.op(a), Op::Binary(Binary::Mul, [p, q]) if p == q && self.of(p).is_affine());
                let is_convex = is_square && y.is_concave && y.low >= 0.0;
                Shape { is_convex: quotient.is_convex || is_convex, ..quotient }
            }
            Binary::Min | Binary::Max if x.is_constant && y.is_constant => {
                if function == Binary::Min {
                    Shape::number(x.low.min(y.low), x.high.min(y.high))
                } else {
                    Shape::number(x.low.max(y.low), x.high.max(y.high))
                }
            }
            Binary::Min => Shape {
                is_concave: x.is_concave && y.is_concave,
                ..Shape::between(x.low.min(y.low), x.high.min(y.high))
            }
            .with_logs(),
            Binary::Max => Shape {
                is_convex: x.is_convex && y.is_convex,
                is_log_convex: x.is_log_convex && y.is_log_convex,
                ..Shape::between(x.low.max(y.low), x.high.max(y.high))
            }
            .with_logs(),
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

    /// A choice by data is one of its branches. A choice by parameters is a bound where one branch is −∞ and the
    /// other holds on a half-space.
    fn select(&self, a: Node, b: Node, yes: Node, no: Node) -> Shape {
        let [left, right, if_so, if_not] = [a, b, yes, no].map(|node| self.of(node));
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

    /// A normal density is concave in residuals that are affine, and L x is affine in either.
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

    /// s + ln Σ e^(x − s) of convex values x, whatever the shift s, which is detached.
    fn is_log_sum_exp(&self, a: Node, b: Node) -> bool {
        let (shift, log) = match (self.graph.op(a), self.graph.op(b)) {
            (Op::Unary(Unary::Detach, _), Op::Unary(Unary::Ln, sum)) => (a, sum),
            (Op::Unary(Unary::Ln, sum), Op::Unary(Unary::Detach, _)) => (b, sum),
            _ => return false,
        };
        let is_minus_shift = |node: Node| match self.graph.op(node) {
            Op::Binary(Binary::Mul, [s, x]) => {
                self.graph.as_constant(s) == Some(-1.0) && x == shift
            }
            _ => false,
        };
        let mut left = vec![log];
        while let Some(term) = left.pop() {
            let is_convex = match self.graph.op(term) {
                Op::Binary(Binary::Add, terms) => {
                    left.extend(terms);
                    true
                }
                Op::Unary(Unary::Exp, exponent) => match self.graph.op(exponent) {
                    Op::Binary(Binary::Add, [x, y]) => {
                        is_minus_shift(y) && self.of(x).is_convex
                            || is_minus_shift(x) && self.of(y).is_convex
                    }
                    _ => false,
                },
                _ => false,
            };
            if !is_convex {
                return false;
            }
        }
        true
    }

    /// −s + c ln(1 + e^−s) with −2 ≤ c ≤ 0 falls and is concave for s ≥ 0, and s is convex: a logistic density.
    fn is_logistic(&self, a: Node, b: Node) -> bool {
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

    /// p of max(p, tiny) and of min(p, 1 − ε), which distributions write so that logarithms stay finite. What is
    /// smaller than every normal number counts as 0.
    fn bare(&self, node: Node) -> Node {
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

    /// Has 1 − p a concave logarithm? So it is if p is convex, ½ erfc of a line, or a share of two lines.
    fn has_log_concave_complement(&self, p: Node) -> bool {
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

    /// −p for a probability p of which 1 − p has a concave logarithm.
    fn is_minus_probability(&self, node: Node) -> bool {
        let Op::Binary(Binary::Mul, [s, x]) = self.graph.op(node) else { return false };
        match (self.graph.as_constant(s), self.graph.op(x)) {
            (Some(-0.5), Op::Unary(Unary::Special(Special::Erfc), t)) => self.of(t).is_affine(),
            (Some(-1.0), _) => self.has_log_concave_complement(self.bare(x)),
            _ => false,
        }
    }

    /// 1 − p of the same.
    fn is_complement(&self, node: Node) -> bool {
        let Op::Binary(Binary::Add, [a, b]) = self.graph.op(node) else { return false };
        self.graph.as_constant(a) == Some(1.0) && self.is_minus_probability(b)
            || self.graph.as_constant(b) == Some(1.0) && self.is_minus_probability(a)
    }

    /// A value that stands for no density: −∞, NaN or the least number, or a choice of these.
    fn is_outside(&self, node: Node) -> bool {
        match self.graph.op(node) {
            Op::Constant(bits) => !(f64::from_bits(bits) > -f64::MAX),
            Op::Select(_, [_, _, yes, no]) => self.is_outside(yes) && self.is_outside(no),
            _ => false,
        }
    }

    /// Is {a < b} convex? So it is if a is convex and b concave, or one is a number and the other lies beyond it on
    /// a convex set.
    fn is_convex_set(&self, a: Node, b: Node) -> bool {
        let (x, y) = (self.of(a), self.of(b));
        x.is_convex && y.is_concave
            || x.is_constant && y.is_log_concave
            || y.is_constant && self.has_log_concave_complement(a)
    }
}

#[cfg(test)]
mod tests;
