//! Checks proofs on random segments: whatever is proved is concave, and nothing else is proved.

use super::{Shape, shapes};
use crate::program::Graph;
use crate::rng::{Purpose, Stream};
use crate::target::{Evaluation, Target};
use crate::{Batch, Expr, Program};
use std::cell::RefCell;

type LogDensity = for<'g> fn(&[Expr<'g>]) -> Expr<'g>;

const DATA: [(f64, f64, f64); 6] = [
    (0.3, 1.0, 2.0),
    (-1.2, 0.0, 0.0),
    (0.8, 0.0, 5.0),
    (2.0, 1.0, 1.0),
    (-0.5, 1.0, 3.0),
    (1.4, 1.0, 0.0),
];

fn eta<'g>(z: &[Expr<'g>], x: f64) -> Expr<'g> {
    z[0] + z[1] * x - 0.3 * z[2]
}

fn normal<'g>(z: &[Expr<'g>]) -> Expr<'g> {
    z.iter().map(|z| -0.5 * ((*z - 0.3) / 2.5).square()).sum()
}

fn over<'g>(f: impl Fn(f64, f64, f64) -> Expr<'g>) -> Expr<'g> {
    DATA.iter().map(|&(x, y, n)| f(x, y, n)).sum()
}

/// Three coordinates each; all of these are concave, and none of those below.
fn concave() -> Vec<(&'static str, LogDensity)> {
    vec![
        ("normal", |z| normal(z)),
        ("laplace prior", |z| {
            z.iter().map(|z| -(*z - 1.0).abs() / 0.7).sum::<Expr<'_>>()
                + over(|x, y, _| -0.5 * (y - eta(z, x)).square())
        }),
        ("logistic prior", |z| z.iter().map(|z| -*z - 2.0 * (-*z).softplus()).sum::<Expr<'_>>()),
        ("logistic regression", |z| {
            normal(z) + over(|x, y, _| y * eta(z, x) - eta(z, x).softplus())
        }),
        ("poisson regression", |z| normal(z) + over(|x, _, n| n * eta(z, x) - eta(z, x).exp())),
        ("probit regression", |z| {
            let term = |x, y: f64| {
                let eta = eta(z, x);
                y * eta.ln_normal_cdf() + (1.0 - y) * (-eta).ln_normal_cdf()
            };
            normal(z) + over(|x, y, _| term(x, y))
        }),
        ("probit by probabilities", |z| {
            let term = |x, y: f64| {
                let p = 0.5 * (-std::f64::consts::FRAC_1_SQRT_2 * eta(z, x)).erfc();
                y * p.ln() + (1.0 - y) * (1.0 - p).ln()
            };
            normal(z) + over(|x, y, _| term(x, y))
        }),
        ("softmax regression", |z| {
            normal(z)
                + over(|x, _, _| z[0] * x - crate::program::log_sum_exp(&[z[0] * x, z[1], z[2]]))
        }),
        ("log of an affine rate", |z| {
            over(|x, _, n| n * (x + 4.0 + 0.1 * z[0]).ln() - 0.1 * z[0]) + normal(z)
        }),
        ("fourth powers", |z| -z[0].square().square() - (z[1] - z[2]).powi(4)),
        ("products in the log domain", |z| -(z[0].exp() * (z[1] - z[2]).exp()) - z[1].square()),
        ("bounded by a comparison", |z| {
            z[0].lt(2.0).select(-z[0].square(), f64::NEG_INFINITY) + normal(z)
        }),
    ]
}

fn others() -> Vec<(&'static str, LogDensity)> {
    vec![
        ("mixture", |z| (-0.5 * z[0].square()).log_add_exp(-0.5 * (z[0] - 6.0).square())),
        ("cauchy", |z| -(1.0 + z[0].square()).ln()),
        ("product of parameters", |z| -0.5 * (1.0 - z[0] * z[1]).square() + normal(z)),
        ("unknown scale", |z| {
            over(|x, y, _| -0.5 * ((y - eta(z, x)) / z[2].exp()).square() - z[2])
        }),
        ("two wells", |z| -(z[0].square() - 1.0).square()),
        ("wave", |z| z[0].sin() + normal(z)),
        ("wrong sign", |z| z[0].softplus() + z[1].abs()),
        ("wrong labels", |z| over(|x, y, _| (y - 2.0) * (eta(z, x).ln_normal_cdf()))),
        ("root of a square", |z| -(1.0 + z[0].square()).sqrt().ln() - z[1].square()),
    ]
}

fn values(target: &dyn Target, points: &[Vec<f64>]) -> Vec<f64> {
    let mut out = Evaluation::zeros(3, points.len());
    target.evaluate(&Batch::from_points(3, points), None, &mut out).unwrap();
    (0..points.len()).map(|i| out.log_prior[i] + out.log_likelihood[i]).collect()
}

/// How often the midpoint of a segment lies below the mean of its ends, by more than rounding. NaN
/// counts as −∞.
fn violations(target: &dyn Target, seed: u64) -> usize {
    const SEGMENTS: usize = 4_000;
    let mut ends = Batch::zeros(6, SEGMENTS);
    Stream::new(seed, Purpose::Data).fill_normals(0, 0, &mut ends);
    let mut points = Vec::new();
    for i in 0..SEGMENTS {
        let x: Vec<f64> = ends.point(i).iter().map(|x| 2.0 * x).collect();
        let middle = (0..3).map(|d| 0.5 * (x[d] + x[3 + d])).collect();
        points.extend([x[..3].to_vec(), x[3..].to_vec(), middle]);
    }
    let number = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    let found = values(target, &points);
    let is_violated = |of: &[f64]| {
        let [a, b, middle] = [of[0], of[1], of[2]].map(number);
        middle < 0.5 * (a + b) - 1e-9 * (1.0 + a.abs() + b.abs())
    };
    found.chunks_exact(3).filter(|of| is_violated(of)).count()
}

#[test]
fn what_is_proved_is_concave_on_random_segments() {
    for (name, density) in concave() {
        let program = Program::record(3, density);
        assert!(program.is_log_concave(), "{name} is not proved");
        assert_eq!(violations(&program, 1), 0, "{name}");
    }
}

#[test]
fn what_is_not_concave_is_not_proved() {
    for (name, density) in others() {
        let program = Program::record(3, density);
        assert!(!program.is_log_concave(), "{name} is proved");
        assert!(violations(&program, 2) > 0, "{name} is concave");
    }
}

#[test]
fn both_parts_must_be_concave() {
    let posterior = |sign: f64| {
        Program::record_parts(1, move |z| (-0.5 * z[0].square(), sign * z[0].softplus()))
    };
    assert!(posterior(-1.0).is_log_concave());
    assert!(!posterior(1.0).is_log_concave());
}

/// −x²/y + ln y is concave for y > 0, and the support is part of the proof.
#[test]
fn bounds_of_parameters_count() {
    let cell = RefCell::new(Graph::new());
    let (x, y) = (Expr::input(&cell, 0), Expr::input(&cell, 1));
    let node = (-(x.square() / y) + y.ln()).node(&cell);
    let graph = cell.into_inner();
    let line = [f64::NEG_INFINITY, f64::INFINITY];
    let proved = |low: f64| {
        let bounds = [line, [low, f64::INFINITY]];
        shapes(&graph, |input| Shape::line(bounds[input as usize]))[node.index()].is_concave()
    };
    assert!(proved(0.0) && proved(2.0) && !proved(-1.0));
}
