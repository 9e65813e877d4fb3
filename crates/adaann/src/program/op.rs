//! The operations of a graph, and their values for plain numbers.

use crate::simd::Special;

/// A value of a graph, by its position in single-assignment order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(super) u32);

impl Node {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation on earlier values.
///
/// There is no negation and no difference: −x is (−1)·x. A single rule then moves every scale,
/// signs included, to where it is fused with another instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// A number, by its bits.
    Constant(u64),
    /// A number that differs between samples.
    Input(u32),
    /// A number that is the same for all samples of a call, known only at run time.
    Uniform(u32),
    /// A function of one value.
    Unary(Unary, Node),
    /// A function of two values.
    Binary(Binary, [Node; 2]),
    /// `[a, b, yes, no]`: yes where a compares with b, no elsewhere.
    Select(Comparison, [Node; 4]),
    /// A dense routine over many values, by its index among the calls of the graph, which hold its
    /// operands. It has no value itself: its results are parts.
    Call(u32),
    /// One result of a call.
    Part { of: Node, index: u32 },
}

/// Functions of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Abs,
    /// −1, 0 or 1; NaN for NaN.
    Sign,
    Sqrt,
    Exp,
    ExpM1,
    Ln,
    Ln1p,
    Tanh,
    Sin,
    Cos,
    /// A special function.
    Special(Special),
    /// The value itself, with derivative 0.
    Detach,
}

/// Functions of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Mul,
    Div,
    /// The smaller; NaN if either is NaN.
    Min,
    /// The larger; NaN if either is NaN.
    Max,
    /// ln(e^a + e^b)
    LogAddExp,
    /// e^a / (e^a + e^b), the share of the first in the sum
    Share,
    /// e^−|a − b|, and 1 where a = b, even if infinite: the common part of `LogAddExp` and `Share`
    ExpNegDistance,
}

/// A comparison of two values; false for NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
}

impl Unary {
    /// The function of a plain number.
    pub(super) fn of(self, x: f64) -> f64 {
        match self {
            Self::Abs => x.abs(),
            Self::Sign if x == 0.0 || x.is_nan() => x,
            Self::Sign => x.signum(),
            Self::Sqrt => x.sqrt(),
            Self::Exp => x.exp(),
            Self::ExpM1 => x.exp_m1(),
            Self::Ln => x.ln(),
            Self::Ln1p => x.ln_1p(),
            Self::Tanh => x.tanh(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Special(function) => function.at(x),
            Self::Detach => x,
        }
    }
}

impl Binary {
    /// The function of two plain numbers.
    pub(super) fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Min => {
                if b < a || b.is_nan() {
                    b
                } else {
                    a
                }
            }
            Self::Max => {
                if a < b || b.is_nan() {
                    b
                } else {
                    a
                }
            }
            Self::LogAddExp => Self::Max.of(a, b) + Self::ExpNegDistance.of(a, b).ln_1p(),
            Self::Share => {
                let e = Self::ExpNegDistance.of(a, b);
                (if a < b { e } else { 1.0 }) / (1.0 + e)
            }
            Self::ExpNegDistance if a == b => 1.0,
            Self::ExpNegDistance => (-(a - b).abs()).exp(),
        }
    }

    pub(super) fn commutes(self) -> bool {
        matches!(self, Self::Add | Self::Mul | Self::LogAddExp | Self::ExpNegDistance)
    }
}

impl Comparison {
    /// Whether the comparison of a with b holds.
    pub(super) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
        }
    }
}

impl Op {
    /// The operands of the operation; those of a call are stored in the graph.
    pub(super) fn own_operands(&self) -> &[Node] {
        match self {
            Self::Constant(_) | Self::Input(_) | Self::Uniform(_) | Self::Call(_) => &[],
            Self::Part { of, .. } => std::slice::from_ref(of),
            Self::Unary(_, x) => std::slice::from_ref(x),
            Self::Binary(_, operands) => operands,
            Self::Select(_, operands) => operands,
        }
    }

    /// The same operation on other values.
    pub(super) fn map(self, to: impl Fn(Node) -> Node) -> Self {
        match self {
            Self::Unary(function, x) => Self::Unary(function, to(x)),
            Self::Binary(function, operands) => Self::Binary(function, operands.map(to)),
            Self::Select(comparison, operands) => Self::Select(comparison, operands.map(to)),
            Self::Part { of, index } => Self::Part { of: to(of), index },
            leaf => leaf,
        }
    }

    /// The result for plain numbers, used for constant folding and for the scalar part of a
    /// program.
    ///
    /// `value` looks up an operand. Leaves other than constants have no result.
    pub(super) fn of(&self, value: impl Fn(Node) -> f64) -> Option<f64> {
        Some(match *self {
            Self::Constant(bits) => f64::from_bits(bits),
            Self::Input(_) | Self::Uniform(_) | Self::Call(_) | Self::Part { .. } => return None,
            Self::Unary(function, x) => function.of(value(x)),
            Self::Binary(function, [a, b]) => function.of(value(a), value(b)),
            Self::Select(comparison, [a, b, yes, no]) => {
                value(if comparison.holds(value(a), value(b)) { yes } else { no })
            }
        })
    }
}
