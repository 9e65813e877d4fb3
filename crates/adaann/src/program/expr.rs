//! The symbolic number, whose arithmetic is recorded into a graph.

use super::affine;
use super::dense::Dense;
use super::graph::Graph;
use super::op::{Binary, Comparison, Node, Unary};
use std::cell::RefCell;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number whose value is known when the program runs; operators and functions on it are recorded.
///
/// It mixes freely with `f64` on either side. Code that is generic over its number type can be
/// recorded too: constants enter by `From<f64>`. It cannot be compared with `<`, since a program
/// takes the same path for all samples; use [`Expr::lt`] and similar methods.
#[derive(Clone, Copy)]
pub struct Expr<'g>(Value<'g>);

#[derive(Clone, Copy)]
enum Value<'g> {
    Constant(f64),
    Node(&'g RefCell<Graph>, Node),
}

/// A comparison of two recorded numbers; see [`Condition::select`].
#[derive(Clone, Copy)]
#[must_use = "a comparison does nothing until it selects"]
pub struct Condition<'g> {
    comparison: Comparison,
    left: Expr<'g>,
    right: Expr<'g>,
}

impl<'g> Expr<'g> {
    /// Coordinate `index` of the points.
    pub(crate) fn input(graph: &'g RefCell<Graph>, index: u32) -> Self {
        let node = graph.borrow_mut().input(index);
        Self(Value::Node(graph, node))
    }

    /// Its node in `graph`.
    pub(crate) fn node(self, graph: &'g RefCell<Graph>) -> Node {
        match self.0 {
            Value::Constant(value) => graph.borrow_mut().constant(value),
            Value::Node(own, node) => {
                assert!(std::ptr::eq(own, graph), "an expression belongs to one recording");
                node
            }
        }
    }

    /// Records an operation on some numbers, at least one of which is not a constant.
    fn record<const N: usize>(
        operands: [Self; N],
        operation: impl FnOnce(&mut Graph, [Node; N]) -> Node,
    ) -> Option<Self> {
        let graph = operands.iter().find_map(|x| match x.0 {
            Value::Node(graph, _) => Some(graph),
            Value::Constant(_) => None,
        })?;
        let nodes = operands.map(|x| x.node(graph));
        let node = operation(&mut graph.borrow_mut(), nodes);
        Some(Self(Value::Node(graph, node)))
    }

    /// The first results of a dense routine.
    pub(crate) fn dense(routine: Dense, operands: &[Self], results: usize) -> Vec<Self> {
        let graph = operands.iter().find_map(|x| match x.0 {
            Value::Node(graph, _) => Some(graph),
            Value::Constant(_) => None,
        });
        let Some(graph) = graph else {
            let plain: Vec<f64> = operands.iter().filter_map(|x| x.as_constant()).collect();
            return routine.of(&plain)[..results].iter().map(|&x| x.into()).collect();
        };
        let nodes = operands.iter().map(|x| x.node(graph)).collect();
        let nodes = graph.borrow_mut().dense(routine, nodes, results);
        nodes.into_iter().map(|node| Self(Value::Node(graph, node))).collect()
    }

    /// The number, if it is a constant.
    pub(crate) fn as_constant(self) -> Option<f64> {
        match self.0 {
            Value::Constant(value) => Some(value),
            Value::Node(graph, node) => graph.borrow().as_constant(node),
        }
    }

    /// The factors of the inputs and the constant term, if it is affine in the inputs with constant
    /// coefficients.
    pub(crate) fn as_affine(self, graph: &'g RefCell<Graph>) -> Option<(Vec<(usize, f64)>, f64)> {
        let node = self.node(graph);
        affine::constant_coefficients(&mut graph.borrow_mut(), node)
    }

    pub(super) fn unary(self, function: Unary) -> Self {
        match self.0 {
            Value::Constant(x) => function.of(x).into(),
            Value::Node(graph, x) => {
                let node = graph.borrow_mut().unary(function, x);
                Self(Value::Node(graph, node))
            }
        }
    }

    fn binary(
        self,
        other: Self,
        function: Binary,
        operation: impl FnOnce(&mut Graph, Node, Node) -> Node,
    ) -> Self {
        match (self.0, other.0) {
            (Value::Constant(a), Value::Constant(b)) => function.of(a, b).into(),
            _ => Self::record([self, other], |graph, [a, b]| operation(graph, a, b))
                .expect("at least one is not a constant"),
        }
    }

    /// e^self
    pub fn exp(self) -> Self {
        self.unary(Unary::Exp)
    }

    /// e^self − 1, accurate near 0.
    pub fn exp_m1(self) -> Self {
        self.unary(Unary::ExpM1)
    }

    /// The natural logarithm; a sum of two exponentials does not underflow.
    pub fn ln(self) -> Self {
        self.unary(Unary::Ln)
    }

    /// ln(1 + self), accurate near 0.
    pub fn ln_1p(self) -> Self {
        self.unary(Unary::Ln1p)
    }

    /// √self
    pub fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// The hyperbolic tangent.
    pub fn tanh(self) -> Self {
        self.unary(Unary::Tanh)
    }

    /// The sine.
    pub fn sin(self) -> Self {
        self.unary(Unary::Sin)
    }

    /// The cosine.
    pub fn cos(self) -> Self {
        self.unary(Unary::Cos)
    }

    /// |self|; its derivative at 0 is 0.
    pub fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    /// self²
    pub fn square(self) -> Self {
        self * self
    }

    /// 1 / self
    pub fn recip(self) -> Self {
        1.0 / self
    }

    /// self^n, by products.
    pub fn powi(self, n: i32) -> Self {
        match self.0 {
            Value::Constant(x) => x.powi(n).into(),
            Value::Node(graph, x) => {
                let node = graph.borrow_mut().powi(x, n);
                Self(Value::Node(graph, node))
            }
        }
    }

    /// self^c for self ≥ 0; any self if c is an integer of at most 64.
    ///
    /// Half-integer powers use a root and products; others are e^(c ln self). Their derivative at
    /// self = 0 is set to 0: the limit for c > 1, and a finite replacement for smaller c.
    pub fn powf(self, c: f64) -> Self {
        match self.0 {
            Value::Constant(x) => x.powf(c).into(),
            Value::Node(graph, x) => {
                let node = graph.borrow_mut().powf(x, c);
                Self(Value::Node(graph, node))
            }
        }
    }

    /// The smaller; at a tie, the derivative of the first. NaN if either is NaN.
    pub fn min(self, other: impl Into<Self>) -> Self {
        self.binary(other.into(), Binary::Min, Graph::min)
    }

    /// The larger; at a tie, the derivative of the first. NaN if either is NaN.
    pub fn max(self, other: impl Into<Self>) -> Self {
        self.binary(other.into(), Binary::Max, Graph::max)
    }

    /// ln(e^self + e^other), without overflow or underflow.
    pub fn log_add_exp(self, other: impl Into<Self>) -> Self {
        self.binary(other.into(), Binary::LogAddExp, Graph::log_add_exp)
    }

    /// ln(1 + e^self), without overflow.
    pub fn softplus(self) -> Self {
        self.log_add_exp(0.0)
    }

    /// 1 / (1 + e^−self)
    pub fn logistic(self) -> Self {
        self.binary(0.0.into(), Binary::Share, Graph::share)
    }

    /// self < other
    pub fn lt(self, other: impl Into<Self>) -> Condition<'g> {
        Condition { comparison: Comparison::Less, left: self, right: other.into() }
    }

    /// self ≤ other
    pub fn le(self, other: impl Into<Self>) -> Condition<'g> {
        Condition { comparison: Comparison::LessOrEqual, left: self, right: other.into() }
    }

    /// self > other
    pub fn gt(self, other: impl Into<Self>) -> Condition<'g> {
        other.into().lt(self)
    }

    /// self ≥ other
    pub fn ge(self, other: impl Into<Self>) -> Condition<'g> {
        other.into().le(self)
    }
}

impl<'g> Condition<'g> {
    /// `yes` where the comparison holds, `no` elsewhere; both are computed.
    ///
    /// The derivative is that of the selected branch times 1, plus that of the other times 0. A
    /// branch with an infinite derivative where it is not selected therefore makes the gradient NaN
    /// there; bound its argument with [`Expr::max`] in that case.
    pub fn select(self, yes: impl Into<Expr<'g>>, no: impl Into<Expr<'g>>) -> Expr<'g> {
        let (yes, no) = (yes.into(), no.into());
        let record = |graph: &mut Graph, operands| graph.select(self.comparison, operands);
        Expr::record([self.left, self.right, yes, no], record).unwrap_or_else(|| {
            let constant = |x: Expr<'_>| match x.0 {
                Value::Constant(x) => x,
                Value::Node(..) => unreachable!("a node can be recorded"),
            };
            let holds = self.comparison.holds(constant(self.left), constant(self.right));
            if holds { yes } else { no }
        })
    }
}

/// ln Σ e^x, without overflow or underflow; −∞ for no terms.
pub fn log_sum_exp<'g>(terms: &[Expr<'g>]) -> Expr<'g> {
    match *terms {
        [] => f64::NEG_INFINITY.into(),
        [x] => x,
        [a, b] => a.log_add_exp(b),
        [first, ref others @ ..] => {
            // The shift cancels, so it needs no derivative. It stays finite, to avoid −∞ − (−∞).
            let largest = others.iter().fold(first, |m, &x| m.max(x));
            let shift = largest.max(-f64::MAX).min(f64::MAX).unary(Unary::Detach);
            shift + terms.iter().map(|&x| (x - shift).exp()).sum::<Expr<'g>>().ln()
        }
    }
}

impl From<f64> for Expr<'_> {
    fn from(value: f64) -> Self {
        Self(Value::Constant(value))
    }
}

impl<'g> From<&Expr<'g>> for Expr<'g> {
    fn from(expr: &Expr<'g>) -> Self {
        *expr
    }
}

impl std::fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Value::Constant(value) => write!(f, "{value}"),
            Value::Node(_, node) => write!(f, "{node:?}"),
        }
    }
}

impl Neg for Expr<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        -1.0 * self
    }
}

impl<'g> Neg for &Expr<'g> {
    type Output = Expr<'g>;
    fn neg(self) -> Expr<'g> {
        -*self
    }
}

impl<'g> Sub for Expr<'g> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Value::Constant(a), Value::Constant(b)) => (a - b).into(),
            _ => Self::record([self, other], |graph, [a, b]| graph.sub(a, b))
                .expect("at least one is not a constant"),
        }
    }
}

/// The operators that are functions of the graph.
macro_rules! operators {
    ($($op:ident $method:ident),*) => {$(
        impl<'g> $op for Expr<'g> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.binary(other, Binary::$op, Graph::$method)
            }
        }
    )*};
}
operators!(Add add, Mul mul, Div div);

/// Operators with numbers and references, all reduced to the one on two values.
macro_rules! mixed_operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident),*) => {$(
        mixed_operators!(@ $op $method (Expr<'g>, &Expr<'g>) (&Expr<'g>, Expr<'g>)
            (&Expr<'g>, &Expr<'g>) (Expr<'g>, f64) (&Expr<'g>, f64)
            (f64, Expr<'g>) (f64, &Expr<'g>));
        impl<'g, T: Into<Expr<'g>>> $assign<T> for Expr<'g> {
            fn $assign_method(&mut self, other: T) {
                *self = $op::$method(*self, other.into());
            }
        }
    )*};
    (@ $op:ident $method:ident $(($left:ty, $right:ty))*) => {$(
        impl<'g> $op<$right> for $left {
            type Output = Expr<'g>;
            fn $method(self, other: $right) -> Expr<'g> {
                $op::$method(Expr::from(self), Expr::from(other))
            }
        }
    )*};
}
mixed_operators!(
    Add add AddAssign add_assign,
    Sub sub SubAssign sub_assign,
    Mul mul MulAssign mul_assign,
    Div div DivAssign div_assign
);

impl<'g> Sum for Expr<'g> {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(0.0.into(), |sum, x| sum + x)
    }
}

impl<'a, 'g> Sum<&'a Expr<'g>> for Expr<'g> {
    fn sum<I: Iterator<Item = &'a Expr<'g>>>(terms: I) -> Self {
        terms.copied().sum()
    }
}
