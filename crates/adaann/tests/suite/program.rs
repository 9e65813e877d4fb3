//! Recorded programs compared with dual numbers, central differences and hand-written kernels.

use crate::support::{common, dual::Dual};
use adaann::program::log_sum_exp;
use adaann::support::hand::{Bimodal, Mixture2d, TwoMoons};
use adaann::target::{Evaluation, Target, Weights};
use adaann::{Batch, Expr, Program};
use common::Difference;
use proptest::prelude::*;

const PLAIN: Weights = Weights { prior: 1.0, likelihood: 1.0 };

fn evaluate(target: &impl Target, points: &[Vec<f64>], weights: Weights) -> Evaluation {
    let batch = Batch::from_points(target.dim(), points);
    let mut out = Evaluation::zeros(target.dim(), points.len());
    target.evaluate(&batch, Some(weights), &mut out).expect("shapes agree");
    // Values are the same with and without a gradient.
    let mut values = Evaluation::zeros(target.dim(), points.len());
    target.evaluate(&batch, None, &mut values).expect("shapes agree");
    for i in 0..points.len() {
        close(values.log_likelihood[i], out.log_likelihood[i], 1e-13, "value without gradient");
        close(values.log_prior[i], out.log_prior[i], 1e-13, "prior without gradient");
    }
    out
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let same = found == expected || (found.is_nan() && expected.is_nan());
    let near = (found - expected).abs() <= tolerance * (1.0 + expected.abs());
    assert!(same || near, "{what}: {found} but {expected} expected");
}

/// Points without symmetry.
fn points(dim: usize, len: usize) -> Vec<Vec<f64>> {
    let coordinate = |i: usize, d: usize| (1.3 * i as f64 + 0.7 * d as f64 + 0.4).sin() * 2.5;
    (0..len).map(|i| (0..dim).map(|d| coordinate(i, d)).collect()).collect()
}

/// The operations of an expression on its numbers: recorded ones and dual ones.
trait Number: Copy {
    fn of(x: f64) -> Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn unary(self, name: &str) -> Self;
    fn powi(self, n: i32) -> Self;
    fn powf(self, c: f64) -> Self;
    fn min(self, b: Self) -> Self;
    fn max(self, b: Self) -> Self;
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self;
    fn log_sum_exp(terms: &[Self]) -> Self;
}

const UNARY: [&str; 14] = [
    "exp", "exp_m1", "ln", "ln_1p", "sqrt", "tanh", "sin", "cos", "softplus", "logistic", "abs",
    "square", "recip", "neg",
];

impl Number for Expr<'_> {
    fn of(x: f64) -> Self {
        x.into()
    }
    fn add(self, b: Self) -> Self {
        self + b
    }
    fn sub(self, b: Self) -> Self {
        self - b
    }
    fn mul(self, b: Self) -> Self {
        self * b
    }
    fn div(self, b: Self) -> Self {
        self / b
    }
    fn unary(self, name: &str) -> Self {
        match name {
            "exp" => self.exp(),
            "exp_m1" => self.exp_m1(),
            "ln" => self.ln(),
            "ln_1p" => self.ln_1p(),
            "sqrt" => self.sqrt(),
            "tanh" => self.tanh(),
            "sin" => self.sin(),
            "cos" => self.cos(),
            "softplus" => self.softplus(),
            "logistic" => self.logistic(),
            "abs" => self.abs(),
            "square" => self.square(),
            "recip" => self.recip(),
            "neg" => -self,
            _ => unreachable!(),
        }
    }
    fn powi(self, n: i32) -> Self {
        self.powi(n)
    }
    fn powf(self, c: f64) -> Self {
        self.powf(c)
    }
    fn min(self, b: Self) -> Self {
        self.min(b)
    }
    fn max(self, b: Self) -> Self {
        self.max(b)
    }
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
        self.lt(b).select(yes, no)
    }
    fn log_sum_exp(terms: &[Self]) -> Self {
        log_sum_exp(terms)
    }
}

impl Number for Dual {
    fn of(x: f64) -> Self {
        x.into()
    }
    fn add(self, b: Self) -> Self {
        self + b
    }
    fn sub(self, b: Self) -> Self {
        self - b
    }
    fn mul(self, b: Self) -> Self {
        self * b
    }
    fn div(self, b: Self) -> Self {
        self / b
    }
    fn unary(self, name: &str) -> Self {
        match name {
            "exp" => self.exp(),
            "exp_m1" => self.exp_m1(),
            "ln" => self.ln(),
            "ln_1p" => self.ln_1p(),
            "sqrt" => self.sqrt(),
            "tanh" => self.tanh(),
            "sin" => self.sin(),
            "cos" => self.cos(),
            "softplus" if self.value > 0.0 => self + (-self).exp().ln_1p(),
            "softplus" => self.exp().ln_1p(),
            "logistic" => (Dual::from(1.0) + (-self).exp()).recip(),
            "abs" if self.value < 0.0 => -self,
            "abs" => self,
            "square" => self * self,
            "recip" => self.recip(),
            "neg" => -self,
            _ => unreachable!(),
        }
    }
    fn powi(self, n: i32) -> Self {
        self.powi(n)
    }
    fn powf(self, c: f64) -> Self {
        self.powf(c)
    }
    fn min(self, b: Self) -> Self {
        if b.value < self.value { b } else { self }
    }
    fn max(self, b: Self) -> Self {
        if self.value < b.value { b } else { self }
    }
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
        if self.value < b.value { yes } else { no }
    }
    fn log_sum_exp(terms: &[Self]) -> Self {
        let shift = terms.iter().fold(f64::NEG_INFINITY, |m, x| m.max(x.value));
        let sum = terms.iter().fold(Dual::from(0.0), |sum, x| sum + (*x - shift.into()).exp());
        sum.ln() + shift.into()
    }
}

/// An expression, to be recorded by one function and differentiated with dual numbers by the other.
#[derive(Debug, Clone)]
enum Tree {
    Input(usize),
    Number(f64),
    Unary(&'static str, Box<Tree>),
    Powi(i32, Box<Tree>),
    Powf(f64, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Select([Box<Tree>; 4]),
}

impl Tree {
    fn of<N: Number>(&self, z: &[N]) -> N {
        let one = N::of(1.0);
        match self {
            Tree::Input(d) => z[*d],
            Tree::Number(x) => N::of(*x),
            Tree::Unary(name, x) => {
                let x = x.of(z);
                // Map into the domain, away from its edges and from overflow.
                let x = match *name {
                    "ln" | "sqrt" | "recip" | "ln_1p" => x.mul(x).add(one),
                    "exp" | "exp_m1" => x.unary("tanh").mul(N::of(2.0)),
                    "sin" | "cos" => x.unary("tanh").mul(N::of(20.0)),
                    _ => x,
                };
                x.unary(name)
            }
            Tree::Powi(n, x) => x.of(z).unary("tanh").add(N::of(2.0)).powi(*n),
            Tree::Powf(c, x) => x.of(z).unary("tanh").add(N::of(2.0)).powf(*c),
            Tree::Binary(name, a, b) => {
                let (a, b) = (a.of(z), b.of(z));
                match *name {
                    "add" => a.add(b),
                    "sub" => a.sub(b),
                    "mul" => a.unary("tanh").mul(b),
                    "div" => a.div(b.mul(b).add(one)),
                    "min" => a.min(b),
                    "max" => a.max(b),
                    "log_add_exp" => N::log_sum_exp(&[a, b]),
                    "log_sum_exp" => N::log_sum_exp(&[a, b, a.sub(b)]),
                    _ => unreachable!(),
                }
            }
            Tree::Select([a, b, yes, no]) => a.of(z).if_lt(b.of(z), yes.of(z), no.of(z)),
        }
    }

    /// Value and gradient by dual numbers.
    fn by_duals(&self, z: &[f64]) -> (f64, Vec<f64>) {
        let seeded = |d: usize| -> Vec<Dual> {
            let number = |(i, &x)| Dual::new(x, if i == d { 1.0 } else { 0.0 });
            z.iter().enumerate().map(number).collect()
        };
        let gradient = (0..z.len()).map(|d| self.of(&seeded(d)).slope).collect();
        (self.of(&seeded(0)).value, gradient)
    }

    fn record(&self, dim: usize) -> Program {
        Program::record(dim, |z| self.of(z))
    }
}

fn agree(tree: &Tree, z: &[Vec<f64>]) {
    let dim = z[0].len();
    let out = evaluate(&tree.record(dim), z, PLAIN);
    for (i, z) in z.iter().enumerate() {
        let (value, gradient) = tree.by_duals(z);
        close(out.log_likelihood[i], value, 1e-10, &format!("value at {z:?}"));
        for d in 0..dim {
            let found = out.gradient.row(d)[i];
            close(found, gradient[d], 1e-10, &format!("derivative {d} at {z:?}"));
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => (0..3usize).prop_map(Tree::Input),
        1 => prop::sample::select(vec![-2.0, -1.0, 0.0, 0.5, 1.0, 3.7]).prop_map(Tree::Number),
    ];
    const BINARY: [&str; 8] =
        ["add", "sub", "mul", "div", "min", "max", "log_add_exp", "log_sum_exp"];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            3 => (prop::sample::select(UNARY.to_vec()), one()).prop_map(|(f, x)| Tree::Unary(f, x)),
            6 => (prop::sample::select(BINARY.to_vec()), one(), one())
                .prop_map(|(f, a, b)| Tree::Binary(f, a, b)),
            1 => (-4..8, one()).prop_map(|(n, x)| Tree::Powi(n, x)),
            1 => (prop::sample::select(vec![-1.5, -0.5, 0.5, 1.3, 2.5, 3.0]), one())
                .prop_map(|(c, x)| Tree::Powf(c, x)),
            1 => [one(), one(), one(), one()].prop_map(Tree::Select),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_expressions_agree_with_dual_numbers(
        tree in trees(),
        z in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 3), 1..40),
    ) {
        agree(&tree, &z);
    }

    #[test]
    fn random_expressions_agree_with_differences(
        tree in trees(),
        z in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 3), 1..4),
    ) {
        let plain = |z: &[f64]| {
            let z: Vec<Dual> = z.iter().map(|&x| x.into()).collect();
            tree.of(&z).value
        };
        // Parts of an expression may be larger than the result, and contribute their rounding
        // error.
        agree_with_differences(&tree.record(3), plain, &z, 1e-7, "expression");
    }
}

#[test]
fn every_function_agrees_with_dual_numbers() {
    for name in UNARY {
        agree(&Tree::Unary(name, Box::new(Tree::Input(0))), &points(1, 50));
    }
}

/// Compares values and derivatives of a program with differences of `plain` at points; returns how
/// many comparisons are accurate to six digits.
fn agree_with_differences(
    program: &Program,
    plain: impl Fn(&[f64]) -> f64,
    points: &[Vec<f64>],
    tolerance: f64,
    what: &str,
) -> usize {
    let out = evaluate(program, points, PLAIN);
    let mut sharp = 0;
    for (i, z) in points.iter().enumerate() {
        close(out.log_likelihood[i], plain(z), 1e-10, &format!("{what} at {z:?}"));
        for d in 0..z.len() {
            let slope = Difference::of(z[d], |x| {
                let mut moved = z.clone();
                moved[d] = x;
                plain(&moved)
            });
            let found = out.gradient.row(d)[i];
            let bound = tolerance * (1.0 + slope.value.abs()) + 10.0 * slope.error;
            assert!(
                (found - slope.value).abs() <= bound,
                "{what}, derivative {d} at {z:?}: {found} but {} expected to {bound:e}",
                slope.value
            );
            sharp += usize::from(bound < 1e-6 * (1.0 + found.abs()));
        }
    }
    sharp
}

type Recorded = for<'g> fn(&[Expr<'g>]) -> Expr<'g>;
type Plain = fn(&[f64]) -> f64;

/// Every operation of [`Expr`], in plain arithmetic, and the range of its arguments.
const OPERATIONS: [(&str, Recorded, Plain, [f64; 2]); 44] = [
    ("exp", |z| z[0].exp(), |z| z[0].exp(), [-5.0, 5.0]),
    ("exp_m1", |z| z[0].exp_m1(), |z| z[0].exp_m1(), [-5.0, 5.0]),
    ("ln", |z| z[0].ln(), |z| z[0].ln(), [0.1, 9.0]),
    ("ln_1p", |z| z[0].ln_1p(), |z| z[0].ln_1p(), [-0.9, 5.0]),
    ("sqrt", |z| z[0].sqrt(), |z| z[0].sqrt(), [0.1, 9.0]),
    ("tanh", |z| z[0].tanh(), |z| z[0].tanh(), [-4.0, 4.0]),
    ("sin", |z| z[0].sin(), |z| z[0].sin(), [-20.0, 20.0]),
    ("cos", |z| z[0].cos(), |z| z[0].cos(), [-20.0, 20.0]),
    ("abs", |z| z[0].abs(), |z| z[0].abs(), [-3.0, 3.0]),
    ("square", |z| z[0].square(), |z| z[0] * z[0], [-3.0, 3.0]),
    ("recip", |z| z[0].recip(), |z| 1.0 / z[0], [0.2, 3.0]),
    ("recip below 0", |z| z[0].recip(), |z| 1.0 / z[0], [-3.0, -0.2]),
    ("neg", |z| -z[0], |z| -z[0], [-3.0, 3.0]),
    ("softplus", |z| z[0].softplus(), |z| z[0].exp().ln_1p(), [-9.0, 9.0]),
    ("logistic", |z| z[0].logistic(), |z| 1.0 / (1.0 + (-z[0]).exp()), [-9.0, 9.0]),
    ("powi -3", |z| z[0].powi(-3), |z| z[0].powi(-3), [0.3, 3.0]),
    ("powi -2", |z| z[0].powi(-2), |z| z[0].powi(-2), [-3.0, -0.3]),
    ("powi -1", |z| z[0].powi(-1), |z| z[0].powi(-1), [0.3, 3.0]),
    ("powi 0", |z| z[0].powi(0), |_| 1.0, [-3.0, 3.0]),
    ("powi 1", |z| z[0].powi(1), |z| z[0], [-3.0, 3.0]),
    ("powi 2", |z| z[0].powi(2), |z| z[0].powi(2), [-3.0, 3.0]),
    ("powi 3", |z| z[0].powi(3), |z| z[0].powi(3), [-3.0, 3.0]),
    ("powi 7", |z| z[0].powi(7), |z| z[0].powi(7), [-2.0, 2.0]),
    ("powf -1.5", |z| z[0].powf(-1.5), |z| z[0].powf(-1.5), [0.3, 3.0]),
    ("powf 0.5", |z| z[0].powf(0.5), |z| z[0].powf(0.5), [0.3, 3.0]),
    ("powf 1.3", |z| z[0].powf(1.3), |z| z[0].powf(1.3), [0.3, 3.0]),
    ("powf 2.5", |z| z[0].powf(2.5), |z| z[0].powf(2.5), [0.3, 3.0]),
    ("powf 3", |z| z[0].powf(3.0), |z| z[0].powf(3.0), [-2.0, 2.0]),
    ("add", |z| z[0] + z[1], |z| z[0] + z[1], [-3.0, 3.0]),
    ("sub", |z| z[0] - z[1], |z| z[0] - z[1], [-3.0, 3.0]),
    ("mul", |z| z[0] * z[1], |z| z[0] * z[1], [-3.0, 3.0]),
    ("div", |z| z[0] / z[1], |z| z[0] / z[1], [0.3, 3.0]),
    ("number over", |z| 2.5 / z[0], |z| 2.5 / z[0], [0.3, 3.0]),
    ("number less", |z| 2.5 - z[0], |z| 2.5 - z[0], [-3.0, 3.0]),
    ("min", |z| z[0].min(z[1]), |z| z[0].min(z[1]), [-3.0, 3.0]),
    ("max", |z| z[0].max(z[1]), |z| z[0].max(z[1]), [-3.0, 3.0]),
    ("log_add_exp", |z| z[0].log_add_exp(z[1]), |z| (z[0].exp() + z[1].exp()).ln(), [-5.0, 5.0]),
    (
        "log_sum_exp",
        |z| log_sum_exp(&[z[0], z[1], z[2], z[0] * z[1]]),
        |z| (z[0].exp() + z[1].exp() + z[2].exp() + (z[0] * z[1]).exp()).ln(),
        [-3.0, 3.0],
    ),
    ("log_sum_exp of 1", |z| log_sum_exp(&[z[0]]), |z| z[0], [-3.0, 3.0]),
    (
        "lt",
        |z| z[0].lt(z[1]).select(z[2] * z[0], z[1].sin()),
        |z| if z[0] < z[1] { z[2] * z[0] } else { z[1].sin() },
        [-3.0, 3.0],
    ),
    (
        "le",
        |z| z[0].le(z[1]).select(z[2] * z[0], z[1].sin()),
        |z| if z[0] <= z[1] { z[2] * z[0] } else { z[1].sin() },
        [-3.0, 3.0],
    ),
    (
        "gt",
        |z| z[0].gt(0.5).select(z[2] * z[0], z[1].sin()),
        |z| if z[0] > 0.5 { z[2] * z[0] } else { z[1].sin() },
        [-3.0, 3.0],
    ),
    (
        "ge",
        |z| z[0].ge(z[1]).select(z[2], z[1].exp()),
        |z| if z[0] >= z[1] { z[2] } else { z[1].exp() },
        [-3.0, 3.0],
    ),
    (
        "all at once",
        |z| (z[0] * z[1]).sin() - (z[0] - z[1]).powi(4) / 7.0 + (z[0] * z[2]).tanh(),
        |z| (z[0] * z[1]).sin() - (z[0] - z[1]).powi(4) / 7.0 + (z[0] * z[2]).tanh(),
        [-2.0, 2.0],
    ),
];

#[test]
fn every_operation_agrees_with_plain_arithmetic_and_its_differences() {
    for (name, recorded, plain, [low, high]) in OPERATIONS {
        let program = Program::record(3, recorded);
        let within = |x: f64| low + (high - low) * (x + 2.5) / 5.0;
        let points: Vec<Vec<f64>> =
            points(3, 40).into_iter().map(|z| z.into_iter().map(within).collect()).collect();
        let sharp = agree_with_differences(&program, plain, &points, 1e-9, name);
        // All except those near a kink.
        assert!(sharp >= 114, "{name}: {sharp} of 120 derivatives checked sharply");
    }
}

#[test]
fn hand_written_kernels_agree_with_programs() {
    let mu = 1.5;
    let bimodal = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    // As in the paper, without log-sum-exp: the program does not underflow either.
    let mixture = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let c = 8.0 / std::f64::consts::PI;
        let mode = |u: f64| c * (-16.0 * ((x - u).square() + (y - mu).square())).exp();
        (mode(-mu - 1.0) + mode(mu + 1.0)).ln()
    });
    let moons = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let r = (x * x + y * y).sqrt();
        let side = |u: f64| -((x - u) / 0.3).square() / 2.0;
        -((r - 2.0) / 0.2).square() / 2.0 + log_sum_exp(&[side(2.0), side(-2.0)])
    });
    let weights = Weights { prior: 0.2, likelihood: 0.7 };
    let same = |hand: &dyn Fn(&[Vec<f64>]) -> Evaluation, program: &Program| {
        let z = points(program.dim(), 100);
        let (hand, program) = (hand(&z), evaluate(program, &z, weights));
        for i in 0..z.len() {
            close(program.log_likelihood[i], hand.log_likelihood[i], 1e-12, "value");
            for d in 0..z[0].len() {
                close(program.gradient.row(d)[i], hand.gradient.row(d)[i], 1e-12, "derivative");
            }
        }
    };
    same(&|z| evaluate(&Bimodal, z, weights), &bimodal);
    same(&|z| evaluate(&Mixture2d { mu }, z, weights), &mixture);
    same(&|z| evaluate(&TwoMoons, z, weights), &moons);
}

#[test]
fn weights_scale_the_two_parts() {
    let posterior = Program::record_parts(1, |z| (-0.5 * z[0] * z[0], (2.0 * z[0]).sin()));
    assert!(posterior.has_prior());
    let z = points(1, 7);
    for weights in [PLAIN, Weights { prior: 1.0, likelihood: 0.25 }] {
        let out = evaluate(&posterior, &z, weights);
        for (i, z) in z.iter().enumerate() {
            close(out.log_prior[i], -0.5 * z[0] * z[0], 1e-14, "prior");
            let slope = -weights.prior * z[0] + weights.likelihood * 2.0 * (2.0 * z[0]).cos();
            close(out.gradient.row(0)[i], slope, 1e-14, "weighted slope");
        }
    }
}

#[test]
fn any_number_of_points() {
    let density = Program::record(3, |z| z[0].exp() * z[1] - z[2].powi(3));
    for len in [1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100] {
        let z = points(3, len);
        let out = evaluate(&density, &z, PLAIN);
        for (i, z) in z.iter().enumerate() {
            close(out.log_likelihood[i], z[0].exp() * z[1] - z[2].powi(3), 1e-14, "value");
            close(out.gradient.row(2)[i], -3.0 * z[2] * z[2], 1e-14, "derivative");
        }
    }
}

#[test]
fn inputs_and_constants_as_results() {
    let linear = Program::record(3, |z| z[1]);
    let out = evaluate(&linear, &points(3, 5), PLAIN);
    assert_eq!(out.log_likelihood[..5], points(3, 5).iter().map(|z| z[1]).collect::<Vec<_>>()[..]);
    assert_eq!(out.gradient.point(2), [0.0, 1.0, 0.0], "unused inputs have derivative 0");
    let constant = Program::record(2, |_| 3.0.into());
    let out = evaluate(&constant, &points(2, 5), PLAIN);
    assert_eq!((out.log_likelihood[4], out.gradient.point(4)), (3.0, vec![0.0, 0.0]));
    let twice = Program::record_parts(1, |z| (z[0].exp(), z[0].exp()));
    let out = evaluate(&twice, &points(1, 5), PLAIN);
    assert_eq!(out.log_prior[3], out.log_likelihood[3]);
}

#[test]
fn outside_the_support_the_gradient_is_zero() {
    // A normal prior truncated at 0, and a likelihood that is NaN below 0.
    let posterior = Program::record_parts(1, |z| {
        let prior = z[0].gt(0.0).select(-0.5 * z[0] * z[0], f64::NEG_INFINITY);
        (prior, z[0].sqrt())
    });
    let out = evaluate(&posterior, &[vec![-1.0], vec![4.0], vec![-0.5]], PLAIN);
    let minus = f64::NEG_INFINITY;
    assert_eq!(out.log_prior[..3], [minus, -8.0, minus]);
    assert_eq!(out.log_likelihood[..3], [minus, 2.0, minus]);
    assert_eq!(out.gradient.row(0), [0.0, -3.75, 0.0]);
    // NaN in the density itself stays NaN: a failure to be counted, not a point outside the
    // support.
    let failing = Program::record(1, |z| z[0].sqrt());
    let out = evaluate(&failing, &[vec![-1.0], vec![4.0]], PLAIN);
    assert!(out.log_likelihood[0].is_nan());
    assert_eq!(out.gradient.row(0), [0.0, 0.25]);
}

#[test]
fn log_sum_exp_of_nothing_likely() {
    let density = |terms: usize| {
        Program::record(1, move |z| {
            let log = z[0].ln();
            log_sum_exp(&(0..terms).map(|k| log - k as f64).collect::<Vec<_>>())
        })
    };
    for terms in 1..5 {
        let out = evaluate(&density(terms), &[vec![0.0], vec![1.0]], PLAIN);
        assert_eq!(out.log_likelihood[0], f64::NEG_INFINITY, "{terms} terms");
        close(out.gradient.row(0)[1], 1.0, 1e-14, "the shares make 1");
    }
    let far = Program::record(1, |z| log_sum_exp(&[z[0], 2.0 * z[0], z[0] - 1.0]));
    let out = evaluate(&far, &[vec![-1e4], vec![1e4]], PLAIN);
    assert_eq!(out.log_likelihood[1], 2e4);
    close(out.log_likelihood[0], -1e4 + (-1.0f64).exp().ln_1p(), 1e-14, "no underflow");
}

#[test]
fn minus_infinity_plus_minus_infinity_in_log_add_exp() {
    let never = f64::NEG_INFINITY;
    let density = Program::record(2, |z| z[0].log_add_exp(z[1]));
    let out = evaluate(&density, &[vec![never, never], vec![never, 1.0], vec![2.0, 2.0]], PLAIN);
    assert_eq!(out.log_likelihood[..2], [never, 1.0]);
    assert_eq!((out.gradient.point(0), out.gradient.point(1)), (vec![0.0; 2], vec![0.0, 1.0]));
    assert_eq!(out.gradient.point(2), [0.5, 0.5]);
}

#[test]
fn kinks_follow_their_conventions() {
    let density = Program::record(2, |z| z[0].abs() + 3.0 * z[0].max(z[1]) + 5.0 * z[0].min(z[1]));
    let out = evaluate(&density, &[vec![0.0, 0.0], vec![-1.0, 2.0]], PLAIN);
    assert_eq!(out.gradient.point(0), [8.0, 0.0], "|x|' = 0, and the first wins a tie");
    assert_eq!(out.gradient.point(1), [4.0, 3.0]);
}

#[test]
fn nan_is_not_hidden_by_min_and_max() {
    let density = Program::record(1, |z| {
        let nan = z[0].sqrt();
        nan.max(1.0).min(2.0) + Expr::from(1.0).max(nan).min(nan)
    });
    assert!(evaluate(&density, &[vec![-1.0]], PLAIN).log_likelihood[0].is_nan());
}

#[test]
fn long_programs_need_no_deep_stack() {
    let density = Program::record(2, |z| {
        let (mut x, mut y) = (z[0], z[1]);
        for _ in 0..50_000 {
            (x, y) = (x + 1e-5 * y, y - 1e-5 * x);
        }
        x - y
    });
    // The steps turn the point by 1e-5 each; the last one reads x before it turns.
    let out = evaluate(&density, &[vec![1.0, 0.5]], PLAIN);
    let (c, s) = (0.5f64.cos(), 0.5f64.sin());
    close(out.log_likelihood[0], (c + 0.5 * s) - (0.5 * c - s), 1e-5, "rotation");
    close(out.gradient.row(0)[0], c + s, 1e-5, "its transpose");
}

#[test]
fn sums_and_assignments() {
    let density = Program::record(3, |z| {
        let mut total: Expr<'_> = z.iter().map(|x| x * x).sum();
        total += 1.0;
        total -= z[0];
        total *= 2.0;
        total /= z[1].square() + 1.0;
        -total
    });
    let z = points(3, 9);
    let out = evaluate(&density, &z, PLAIN);
    for (i, z) in z.iter().enumerate() {
        let squares: f64 = z.iter().map(|x| x * x).sum();
        let value = -2.0 * (squares + 1.0 - z[0]) / (z[1] * z[1] + 1.0);
        close(out.log_likelihood[i], value, 1e-14, "value");
    }
}

#[test]
fn a_batch_of_another_dimension_is_an_error() {
    let density = Program::record(2, |z| z[0] * z[1]);
    let mut out = Evaluation::zeros(2, 4);
    assert!(density.evaluate(&Batch::zeros(3, 4), None, &mut out).is_err());
    assert!(density.evaluate(&Batch::zeros(2, 40), None, &mut out).is_err());
    let mut narrow = Evaluation::zeros(1, 4);
    assert!(density.evaluate(&Batch::zeros(2, 4), Some(PLAIN), &mut narrow).is_err());
}
