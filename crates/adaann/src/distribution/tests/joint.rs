//! Compares joint densities with products of conditional ones, and tests their draws.

use super::super::Family::*;
use super::super::*;
use super::draws::{assert_drawn_from, uniforms};
use super::folded;
use crate::program::Way;
use crate::{Expr, Program};

fn close(found: f64, exact: f64) {
    assert!((found - exact).abs() <= 1e-13 * exact.abs().max(1.0), "{found} is not {exact}");
}

/// The log density of a program at one point, and its gradient.
fn at(program: &Program, point: &[f64]) -> (f64, Vec<f64>) {
    super::evaluate(program, &[point.to_vec()]).remove(0)
}

#[test]
fn a_multivariate_normal_is_a_chain_of_normals() {
    // sd 2 and 0.5, correlation −0.6
    let factor = factor_of(2, &[4.0, -0.6, -0.6, 0.25]).unwrap();
    let mean = [0.3, -1.1];
    let program = Program::record(4, |z| {
        let spread = Spread::Factor(factor.iter().map(|&x| x.into()).collect());
        multi_normal(&z[..2], &z[2..], &spread, Way::Dense)
    });
    for [x, y] in [[0.0, 0.0], [2.7, -1.3], [-5.0, 0.4]] {
        let centre = mean[1] - 0.15 * (x - mean[0]);
        let exact = folded(Normal, x, &[mean[0], 2.0]) + folded(Normal, y, &[centre, 0.4]);
        let (value, slopes) = at(&program, &[x, y, mean[0], mean[1]]);
        close(value, exact);
        // The density depends on differences alone.
        close(slopes[0], -slopes[2]);
        close(slopes[1], -slopes[3]);
        close(slopes[1], -(y - centre) / 0.16);
    }
    let mut random = uniforms(1);
    let draws: Vec<Vec<f64>> =
        (0..2_000).map(|_| draw_multi_normal(&mean, &factor, &mut random)).collect();
    let normal =
        |sd: f64| move |x: f64| Normal.log_mass(&[0.0, sd], f64::NEG_INFINITY, x).unwrap().exp();
    let second = draws.iter().map(|x| x[1] + 1.1).collect();
    assert_drawn_from(second, normal(0.5), "second");
    // The variance of x + 3y is 4 − 6·0.6 + 9·0.25.
    let sum = draws.iter().map(|x| x[0] - 0.3 + 3.0 * (x[1] + 1.1)).collect();
    assert_drawn_from(sum, normal(2.65_f64.sqrt()), "sum");
}

#[test]
fn a_dirichlet_is_a_chain_of_betas() {
    let [a, b, c] = [0.7, 2.5, 4.0];
    let program = Program::record(6, |z| dirichlet(&z[..3], &z[3..]));
    for [x, y] in [[0.2, 0.3], [0.01, 0.9], [0.6, 1e-5]] {
        let rest: f64 = 1.0 - x;
        let exact = folded(Beta, x, &[a, b + c]) + folded(Beta, y / rest, &[b, c]) - rest.ln();
        close(at(&program, &[x, y, 1.0 - x - y, a, b, c]).0, exact);
    }
    assert_eq!(at(&program, &[-0.1, 0.5, 0.6, a, b, c]).0, f64::NEG_INFINITY);
    assert!(at(&program, &[0.0, 0.4, 0.6, a, b, c]).0.is_finite());
    let mut random = uniforms(2);
    let draws: Vec<Vec<f64>> =
        (0..2_000).map(|_| draw_dirichlet(&[a, b, c], &mut random)).collect();
    assert!(draws.iter().all(|x| (x.iter().sum::<f64>() - 1.0).abs() < 1e-15));
    for (i, (first, rest)) in [(a, b + c), (b, a + c)].into_iter().enumerate() {
        let below = |x: f64| Beta.log_mass(&[first, rest], 0.0, x).unwrap().exp();
        assert_drawn_from(draws.iter().map(|x| x[i]).collect(), below, "share");
    }
}

#[test]
fn a_mixture_is_the_logarithm_of_a_sum() {
    let weights = [0.2, 0.5, 0.3_f64];
    let program = Program::record(1, |z| {
        let logs = weights.map(|w| Expr::from(w.ln()));
        let normal = |mean: f64, sd: f64| Normal.log_density(z[0], &[mean.into(), sd.into()]);
        mixture(&logs, &[normal(-3.0, 1.0), normal(0.5, 0.3), normal(4.0, 2.0)])
    });
    let density = |x: f64, mean, sd| folded(Normal, x, &[mean, sd]).exp();
    for x in [-3.5, 0.0, 0.7, 6.0] {
        let sum = 0.2 * density(x, -3.0, 1.0) + 0.5 * density(x, 0.5, 0.3);
        close(at(&program, &[x]).0, (sum + 0.3 * density(x, 4.0, 2.0)).ln());
    }
    // Where all terms but one underflow.
    close(at(&program, &[-200.0]).0, 0.3_f64.ln() + folded(Normal, -200.0, &[4.0, 2.0]));
    assert_eq!(at(&Program::record(1, |_| mixture(&[], &[])), &[0.0]).0, f64::NEG_INFINITY);
}
