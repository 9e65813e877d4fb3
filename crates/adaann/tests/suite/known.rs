//! The known answers of the registered densities, verified by quadrature.

use crate::support::common;
use adaann::{
    Batch,
    registry::{self, Gaussian, Known, Problem, mode_weights},
    target::Target,
};
use common::{Numbers, assert_close, log_p, log_p_at};
use std::f64::consts::{PI, TAU};

fn build(name: &str) -> Problem {
    registry::find(name).unwrap().build(&[]).unwrap()
}

fn with(name: &str, parameter: &str, value: f64) -> Problem {
    registry::find(name).unwrap().build(&[(parameter.to_string(), value)]).unwrap()
}

/// The results of the quadrature of a density.
struct Found {
    log_z: f64,
    mean: Vec<f64>,
    sd: Vec<f64>,
    weights: Vec<f64>,
}

/// The midpoint rule over a box with `cells` cells per side. It converges faster than any power for a
/// smooth density that vanishes at the border or is periodic.
fn quadrature(problem: &Problem, low: &[f64], high: &[f64], cells: usize) -> Found {
    let dim = low.len();
    let step: Vec<f64> = (0..dim).map(|d| (high[d] - low[d]) / cells as f64).collect();
    let at = |d: usize, i: usize| low[d] + (i as f64 + 0.5) * step[d];
    let rows = if dim == 1 { 1 } else { cells };
    let known = &problem.known;
    let shift = known.log_z.unwrap();
    let (mut sum, mut first, mut second) = (0.0, vec![0.0; dim], vec![0.0; dim]);
    let mut weights = vec![0.0; known.modes.len()];
    for j in 0..rows {
        let point = |i| if dim == 1 { vec![at(0, i)] } else { vec![at(0, i), at(1, j)] };
        let points: Vec<Vec<f64>> = (0..cells).map(point).collect();
        for (point, log_p) in points.iter().zip(log_p(&*problem.target, &points)) {
            let p = (log_p - shift).exp();
            sum += p;
            for d in 0..dim {
                first[d] += p * point[d];
                second[d] += p * point[d] * point[d];
            }
            // The nearest mode matters only where the density is not negligible.
            let mode = if p > 1e-12 { known.mode_of(point) } else { None };
            if let Some(mode) = mode {
                weights[mode] += p;
            }
        }
    }
    let mean: Vec<f64> = first.iter().map(|s| s / sum).collect();
    let variance = |d: usize| second[d] / sum - mean[d] * mean[d];
    Found {
        log_z: shift + (sum * step.iter().product::<f64>()).ln(),
        sd: (0..dim).map(|d| variance(d).sqrt()).collect(),
        weights: weights.iter().map(|w| w / sum).collect(),
        mean,
    }
}

#[track_caller]
fn compare(name: &str, known: &Known, found: &Found, tolerance: f64, weight_tolerance: f64) {
    assert_close(known.log_z.unwrap(), found.log_z, tolerance, &format!("{name}: log Z"));
    let moments = [(&known.mean, &found.mean, "mean"), (&known.sd, &found.sd, "sd")];
    for (exact, values, what) in moments {
        for (a, b) in exact.as_ref().unwrap().iter().zip(values) {
            assert_close(*a, *b, tolerance, &format!("{name}: {what}"));
        }
    }
    for (mode, weight) in known.modes.iter().zip(&found.weights) {
        let error = (mode.weight - weight).abs();
        assert!(error < weight_tolerance, "{name} at {:?}: {weight}", mode.location);
    }
}

#[test]
fn answers_on_a_line() {
    let mut cases = vec![("bimodal", build("bimodal"))];
    for mu in [0.2, 1.0, 4.0, 8.0] {
        cases.push(("mixture1d", with("mixture1d", "mu", mu)));
        cases.push(("mixture1d-asymmetric", with("mixture1d-asymmetric", "mu", mu)));
    }
    cases.push(("gaussian", with("gaussian", "dim", 1.0)));
    for (name, problem) in cases {
        // The means lie on cell edges, so that every cell is on one side.
        let middle = problem.known.mean.as_ref().unwrap()[0];
        let found = quadrature(&problem, &[middle - 12.0], &[middle + 12.0], 20_000);
        compare(name, &problem.known, &found, 1e-10, 1e-9);
    }
}

#[test]
fn answers_in_the_plane() {
    let cases = [
        ("mixture2d", with("mixture2d", "mu", 0.0), [-4.0, -4.0], [4.0, 4.0]),
        ("mixture2d", with("mixture2d", "mu", 2.5), [-6.0, -1.0], [6.0, 6.0]),
        ("gaussian", build("gaussian"), [-8.0, -13.0], [10.0, 11.0]),
        ("eight-gaussians", build("eight-gaussians"), [-5.0, -5.0], [5.0, 5.0]),
        ("two-moons", build("two-moons"), [-5.0, -5.0], [5.0, 5.0]),
        ("rings", build("rings"), [-6.0, -6.0], [6.0, 6.0]),
    ];
    for (name, problem, low, high) in cases {
        let found = quadrature(&problem, &low, &high, 1_000);
        // A cell crossed by a border counts on one side.
        compare(name, &problem.known, &found, 1e-9, 1e-4);
    }
    // x varies widely, and y follows it in a thin valley.
    let problem = build("rosenbrock");
    let found = quadrature(&problem, &[-4.0, -1.0], &[6.0, 36.0], 4_000);
    compare("rosenbrock", &problem.known, &found, 1e-8, 1e-9);
}

#[test]
fn forty_modes_weigh_the_same() {
    let problem = build("mixture40");
    assert_eq!(problem.known.modes.len(), 40);
    let found = quadrature(&problem, &[-55.0; 2], &[55.0; 2], 600);
    // Neighbours exchange mass equally, unless a third one is near.
    compare("mixture40", &problem.known, &found, 1e-9, 1e-3);
}

#[test]
fn eggs_in_the_box() {
    let problem = build("eggbox");
    let found = quadrature(&problem, &[0.0; 2], &[10.0 * PI; 2], 1_500);
    compare("eggbox", &problem.known, &found, 1e-9, 1e-4);
    for (weight, count) in [(0.08, 8), (0.04, 8), (0.02, 2)] {
        let as_heavy = |w: &&f64| (**w - weight).abs() < 1e-4;
        assert_eq!(found.weights.iter().filter(as_heavy).count(), count, "{weight}");
    }
    assert!((found.log_z - 235.856).abs() < 5e-4);
}

/// The table from which the densities were registered.
#[test]
fn log_z_has_the_digits_of_the_table() {
    for (problem, log_z, digits) in [
        (build("bimodal"), 0.047120, 6),
        (build("two-moons"), 0.804214, 6),
        (build("rosenbrock"), -1.157855, 6),
        (build("many-well"), 164.69568, 5),
        (build("eggbox"), 235.856, 3),
        (with("shells", "dim", 2.0), -1.7456, 4),
        (with("shells", "dim", 5.0), -5.6736, 4),
        (with("shells", "dim", 10.0), -14.5905, 4),
        (with("shells", "dim", 20.0), -36.0865, 4),
        (with("shells", "dim", 30.0), -60.1278, 4),
    ] {
        let error = (problem.known.log_z.unwrap() - log_z).abs();
        assert!(error <= 0.5 * 10_f64.powi(-digits) + 1e-12, "{log_z}: off by {error}");
    }
}

/// The sum of a function of one number over equally spaced nodes.
fn integrate(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let cells = 20_000;
    let step = (high - low) / f64::from(cells);
    (0..cells).map(|i| f(low + (f64::from(i) + 0.5) * step)).sum::<f64>() * step
}

/// Each pair is independent of the others, and y of x.
#[test]
fn wells_are_products() {
    let pair = with("many-well", "dim", 2.0);
    let known = &pair.known;
    let p = |x: f64| (log_p_at(&*pair.target, &[x, 0.0]) - 9.0).exp();
    let z = integrate(-5.0, 5.0, p);
    let mean = integrate(-5.0, 5.0, |x| x * p(x)) / z;
    let variance = integrate(-5.0, 5.0, |x| (x - mean).powi(2) * p(x)) / z;
    assert_close(known.log_z.unwrap(), z.ln() + 9.0 + 0.5 * TAU.ln(), 1e-12, "log Z");
    assert_close(known.mean.as_ref().unwrap()[0], mean, 1e-12, "mean");
    assert_close(known.sd.as_ref().unwrap()[0], variance.sqrt(), 1e-12, "sd");
    assert_close(known.splits[0].above, integrate(0.0, 5.0, p) / z, 1e-9, "P(x > 0)");
    assert!((known.splits[0].above - 0.844307).abs() < 5e-7);
    let whole = build("many-well");
    assert_close(whole.known.log_z.unwrap(), 16.0 * known.log_z.unwrap(), 1e-14, "product");
    assert_eq!(whole.known.splits.len(), 16);
    let (x, y) = (0.7, -1.1);
    let sum = log_p_at(&*whole.target, &[x, y].repeat(16));
    assert_close(sum, 16.0 * log_p_at(&*pair.target, &[x, y]), 1e-13, "sum over pairs");
}

/// Along a ray from its centre, in a transverse direction, a shell's density depends only on the
/// distance.
#[test]
fn shells_by_radial_quadrature() {
    for dim in [2_usize, 5, 10, 20, 30] {
        let problem = with("shells", "dim", dim as f64);
        let ray = |r: f64| {
            let mut point = vec![0.0; dim];
            (point[0], point[1]) = (3.5, r);
            log_p_at(&*problem.target, &point)
        };
        // 2 π^(d/2)/Γ(d/2), with Γ from its recurrence.
        let mut half = 0.5 * dim as f64;
        let mut gamma = 1.0;
        while half > 1.0 {
            half -= 1.0;
            gamma *= half;
        }
        gamma *= if half == 0.5 { PI.sqrt() } else { 1.0 };
        let sphere = 2.0 * PI.powf(0.5 * dim as f64) / gamma;
        let shift = 2.5 * dim as f64;
        let power = |r: f64, k: usize| r.powi(k as i32) * (ray(r) + shift).exp();
        let mass = integrate(0.5, 3.5, |r| power(r, dim - 1));
        let log_z = (2.0 * sphere * mass).ln() - shift;
        // The box truncates each shell 5 standard deviations out, below 1e-6 of its mass.
        assert_close(problem.known.log_z.unwrap(), log_z, 1e-6, &format!("d = {dim}"));
        let square = integrate(0.5, 3.5, |r| power(r, dim + 1)) / mass / dim as f64;
        let sd = problem.known.sd.unwrap();
        assert_close(sd[1], square.sqrt(), 1e-9, "sd");
        assert_close(sd[0], (3.5 * 3.5 + square).sqrt(), 1e-9, "sd of the first");
    }
    let problem = build("shells");
    let found = quadrature(&problem, &[-6.0; 2], &[6.0; 2], 1_200);
    compare("shells", &problem.known, &found, 1e-6, 1e-9);
}

/// Integrated over all but the first coordinate, the funnel is N(0, 9).
#[test]
fn the_funnel_is_built_from_gaussians() {
    let problem = build("funnel");
    let mut numbers = Numbers(5);
    for _ in 0..100 {
        let x0 = 3.0 * numbers.normal();
        let scale = (0.5 * x0).exp();
        let mut point = vec![x0];
        point.extend((1..10).map(|_| scale * numbers.normal()));
        let normal = |x: f64, sd: f64| -0.5 * (x / sd).powi(2) - sd.ln() - 0.5 * TAU.ln();
        let exact = normal(x0, 3.0) + point[1..].iter().map(|x| normal(*x, scale)).sum::<f64>();
        assert_close(log_p_at(&*problem.target, &point), exact, 1e-13, "funnel");
    }
    let sd = problem.known.sd.unwrap();
    // E[e^x0] for x0 ~ N(0, 9)
    let variance = integrate(-40.0, 60.0, |x| (x - x * x / 18.0).exp()) / (3.0 * TAU.sqrt());
    assert_close(sd[0], 3.0, 1e-15, "sd");
    assert_close(sd[1], variance.sqrt(), 1e-12, "sd of the others");
}

/// Under a Gaussian −log p is half a chi-square variable with d degrees of freedom, of variance d/2.
#[test]
fn the_log_density_of_a_gaussian_has_variance_half_the_dimension() {
    let mut numbers = Numbers(6);
    for dim in [1_usize, 3, 8] {
        let problem = with("gaussian", "dim", dim as f64);
        let (mean, sd) = (problem.known.mean.clone().unwrap(), problem.known.sd.clone().unwrap());
        // Exact draws of the autoregression with this covariance.
        let count = 40_000;
        let draw = |numbers: &mut Numbers| {
            let mut point = Vec::with_capacity(dim);
            let mut e = numbers.normal();
            for d in 0..dim {
                point.push(mean[d] + sd[d] * e);
                e = 0.8 * e + 0.6 * numbers.normal();
            }
            point
        };
        let points: Vec<Vec<f64>> = (0..count).map(|_| draw(&mut numbers)).collect();
        let values = log_p(&*problem.target, &points);
        let average = values.iter().sum::<f64>() / count as f64;
        let variance = values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / count as f64;
        // The variance of half a chi-square variable has a relative error of sqrt((2 + 12/d)/n): at
        // most 0.02.
        let relative = variance / (0.5 * dim as f64) - 1.0;
        assert!(
            relative.abs() < 4.0 * ((2.0 + 12.0 / dim as f64) / count as f64).sqrt(),
            "{relative}"
        );
    }
}

#[test]
fn gaussians_of_users_are_checked() {
    let gaussian = Gaussian::new(&[1.0, -2.0], &[4.0, 1.2, 1.2, 9.0]).unwrap();
    assert_eq!((gaussian.dim(), gaussian.sd()), (2, vec![2.0, 3.0]));
    // By the textbook inverse, with determinant 34.56.
    let (u, v) = (0.5 - 1.0, 1.0 + 2.0);
    let square = (9.0 * u * u - 2.0 * 1.2 * u * v + 4.0 * v * v) / 34.56;
    let exact = -0.5 * square - 0.5 * 34.56_f64.ln() - TAU.ln();
    assert_close(log_p_at(&gaussian, &[0.5, 1.0]), exact, 1e-14, "value");
    for (mean, covariance) in [
        (vec![], vec![]),
        (vec![f64::NAN], vec![1.0]),
        (vec![0.0], vec![-1.0]),
        (vec![0.0, 0.0], vec![1.0, 2.0, 2.0, 1.0]),
        (vec![0.0, 0.0], vec![1.0]),
    ] {
        assert!(Gaussian::new(&mean, &covariance).is_err(), "{covariance:?}");
    }
}

#[test]
fn shares_of_exact_draws_are_the_weights() {
    let problem = build("rings");
    let mut numbers = Numbers(7);
    let draw = |numbers: &mut Numbers| {
        let pick = numbers.uniform();
        let ring = [0.1, 0.3, 0.6, 1.0].iter().position(|&edge| pick < edge).unwrap() + 1;
        let (r, angle) = (ring as f64 + 0.15 * numbers.normal(), TAU * numbers.uniform());
        [r * angle.cos(), r * angle.sin()]
    };
    let points: Vec<_> = (0..20_000).map(|_| draw(&mut numbers)).collect();
    let shares = mode_weights(&problem.known, &Batch::from_points(2, &points));
    for (share, mode) in shares.iter().zip(&problem.known.modes) {
        assert!((share - mode.weight).abs() < 4.0 * (0.25_f64 / 20_000.0).sqrt(), "{shares:?}");
    }
}
