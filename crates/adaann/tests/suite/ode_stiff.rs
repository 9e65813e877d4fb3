//! The solver for stiff systems: reference values, gradients, agreement with explicit steps, and
//! samples that cannot be solved.
#![cfg(feature = "stiff")]

use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Differentiation, Noise, Observations, Scatter, Solution, Solver, System, solve};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::target::{Evaluation, Target, Weights};
use std::f64::consts::LN_10;

fn stiff(relative: f64, absolute: f64) -> Solver {
    Solver::Stiff { relative, absolute, most_steps: 20_000 }
}

/// Robertson's chemical reactions, in the decimal logarithms of the rates.
fn robertson() -> System {
    System::record(
        &["a", "b", "c"],
        &["log_k1", "log_k2", "log_k3"],
        |_, x, p| {
            let k = [0, 1, 2].map(|j| (LN_10 * p[j]).exp());
            let lost = k[0] * x[0] - k[2] * x[1] * x[2];
            let made = k[1] * x[1] * x[1];
            vec![-lost, lost - made, made]
        },
        0.0,
        |_| vec![1.0.into(), 0.0.into(), 0.0.into()],
    )
    .unwrap()
}

fn log_rates() -> Vec<f64> {
    [0.04_f64, 3e7, 1e4].map(f64::log10).to_vec()
}

const TIMES: [f64; 4] = [0.4, 40.0, 4e3, 4e5];

/// Robertson's system at [`TIMES`]: Radau IIA of order 5 on a fixed geometric grid, of which 60 and
/// 120 steps a decade agree to these digits.
const STATES: [[f64; 3]; 4] = [
    [9.85172114e-1, 3.38639538e-5, 1.47940222e-2],
    [7.15827069e-1, 9.18553476e-6, 2.84163746e-1],
    [1.83202258e-1, 8.94237125e-7, 8.16796848e-1],
    [4.93827452e-3, 1.98499409e-8, 9.95061706e-1],
];

/// All three states are observed, with a tenth of noise in the logarithm; some values are missing.
fn robertson_posterior(solver: Solver) -> OdePosterior {
    let system = robertson();
    let mut values: Vec<f64> = STATES.concat();
    values.iter_mut().enumerate().for_each(|(i, y)| *y *= 1.0 + 0.1 * (i as f64).sin());
    values[4] = f64::NAN;
    values[9] = f64::NAN;
    let noise = Noise::LogNormal(Scatter::Variance(0.01));
    let data = Observations::of_states(&system, &["a", "b", "c"], noise, &TIMES, &values).unwrap();
    let priors: Vec<_> = log_rates().iter().map(|&mean| Prior::Normal { mean, sd: 1.0 }).collect();
    OdePosterior::new(&system, solver, data, &priors).unwrap()
}

const WEIGHTS: Weights = Weights { prior: 0.7, likelihood: 1.3 };

fn evaluate(posterior: &OdePosterior, points: &[Vec<f64>]) -> Evaluation {
    let points = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(points.dim(), points.len());
    posterior.evaluate(&points, Some(WEIGHTS), &mut out).unwrap();
    out
}

fn values(posterior: &OdePosterior, points: &[Vec<f64>]) -> Vec<f64> {
    let batch = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(batch.dim(), batch.len());
    posterior.evaluate(&batch, None, &mut out).unwrap();
    out.log_likelihood[..points.len()].to_vec()
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn solution(system: &System, solver: &Solver, p: &[f64], times: &[f64]) -> Solution {
    solve(system, solver, &Batch::from_points(p.len(), &[p]), times).unwrap()
}

#[test]
fn robertson_agrees_with_reference_values() {
    for (relative, tolerated) in [(1e-8, 1e-6), (1e-11, 1e-8)] {
        let solver = stiff(relative, 1e-6 * relative);
        let found = solution(&robertson(), &solver, &log_rates(), &TIMES);
        assert!(!found.lost[0]);
        for (states, reference) in found.states.iter().zip(STATES) {
            let x = states.point(0);
            for (x, reference) in x.iter().zip(reference) {
                let error = (x / reference - 1.0).abs();
                assert!(error < tolerated, "{relative:e}: {x} for {reference}, off by {error:e}");
            }
            assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-9, "mass is conserved");
        }
    }
}

#[test]
fn an_explicit_method_loses_what_is_stiff() {
    // At t = 40 the fastest rate is near 2·10³ and an explicit step at most 3.3 of its inverse:
    // some 10⁴ steps for a solution that hardly moves.
    let (system, p, times) = (robertson(), log_rates(), &TIMES[..2]);
    let steps = |most_steps| Solver::DormandPrince { relative: 1e-6, absolute: 1e-12, most_steps };
    assert!(solution(&system, &steps(10_000), &p, times).lost[0]);
    assert!(!solution(&system, &steps(1_000_000), &p, times).lost[0]);
    let few = Solver::Stiff { relative: 1e-6, absolute: 1e-12, most_steps: 500 };
    assert!(!solution(&system, &few, &p, times).lost[0]);
    assert!(
        solution(
            &system,
            &Solver::Stiff { relative: 1e-6, absolute: 1e-12, most_steps: 20 },
            &p,
            times
        )
        .lost[0]
    );
    assert_eq!(
        values(&robertson_posterior(steps(10_000)), std::slice::from_ref(&p)),
        [f64::NEG_INFINITY]
    );
    assert!(values(&robertson_posterior(few), &[p])[0].is_finite());
}

#[test]
fn gradients_of_a_stiff_posterior_agree_with_central_differences() {
    let posterior = robertson_posterior(stiff(1e-10, 1e-16));
    assert_eq!(posterior.differentiation(), Differentiation::Forward);
    assert_eq!(posterior.operations_per_step(), (Some(0), 0));
    let near = |by: [f64; 3]| log_rates().iter().zip(by).map(|(p, by)| p + by).collect();
    let points: Vec<Vec<f64>> =
        vec![near([0.0; 3]), near([0.3, -0.2, 0.4]), near([-0.5, 0.6, 0.1])];
    let out = evaluate(&posterior, &points);
    for (i, point) in points.iter().enumerate() {
        let gradient = out.gradient.point(i);
        for d in 0..3 {
            // Truncation is of order h⁴ = 10⁻⁸; the solutions' errors of some 10⁻⁹ are divided
            // by h.
            let h = 1e-2;
            let moved = [-2.0, -1.0, 1.0, 2.0].map(|k| {
                let mut moved = point.clone();
                moved[d] += k * h;
                moved
            });
            let at = evaluate(&posterior, &moved);
            let f = |k: usize| 0.7 * at.log_prior[k] + 1.3 * at.log_likelihood[k];
            let difference = (f(0) - 8.0 * f(1) + 8.0 * f(2) - f(3)) / (12.0 * h);
            let error = (gradient[d] - difference).abs() / size(&gradient);
            assert!(error < 1e-6, "point {i} d {d}: {} and {difference}", gradient[d]);
        }
    }
}

#[test]
fn values_do_not_depend_on_the_gradient() {
    let near = |by: f64| log_rates().iter().map(|p| p + by).collect();
    let points: Vec<Vec<f64>> = [-0.4, -0.1, 0.0, 0.2].map(near).to_vec();
    for relative in [1e-5, 1e-7, 1e-9] {
        let posterior = robertson_posterior(stiff(relative, 1e-6 * relative));
        let out = evaluate(&posterior, &points);
        assert_eq!(out.log_likelihood[..4], values(&posterior, &points), "{relative:e}");
    }
}

#[test]
fn implicit_and_explicit_steps_agree() {
    // Initial states among the parameters, times that come twice, missing values.
    let explicit = Solver::DormandPrince { relative: 1e-10, absolute: 1e-12, most_steps: 100_000 };
    for case in [systems::lotka_volterra(), systems::hiv()] {
        let found = evaluate(&case.posterior(stiff(1e-10, 1e-12)), &case.points);
        let expected = evaluate(&case.posterior(explicit), &case.points);
        for i in 0..case.points.len() {
            let (f, e) = (found.log_likelihood[i], expected.log_likelihood[i]);
            assert!((f - e).abs() < 1e-6 * e.abs().max(1.0), "{} {i}: {f} for {e}", case.name);
            let (f, e) = (found.gradient.point(i), expected.gradient.point(i));
            for d in 0..f.len() {
                let error = (f[d] - e[d]).abs() / size(&e);
                assert!(error < 1e-5, "{} {i} {d}: {} for {}", case.name, f[d], e[d]);
            }
        }
    }
}

#[test]
fn time_and_an_initial_state_matter() {
    // x = x_0 e^(a sin t), also at the start itself and at a time that comes twice.
    let times = [0.0, 0.0, 0.7, 2.0, 2.0, 9.0];
    let found = solution(&systems::driven(), &stiff(1e-10, 1e-12), &[0.8, 1.7], &times);
    for (states, t) in found.states.iter().zip(times) {
        let exact = 1.7 * (0.8 * t.sin()).exp();
        let x = states.row(0)[0];
        assert!((x / exact - 1.0).abs() < 1e-7, "x({t}): {x} for {exact}");
    }
    let start = solution(&systems::driven(), &stiff(1e-10, 1e-12), &[0.8, 1.7], &[0.0]);
    assert!(!start.lost[0] && start.states[0].row(0)[0] == 1.7);
}

#[test]
fn parameters_of_the_noise_alone_have_their_gradient() {
    // The decay has one active parameter of two; the other is the standard deviation.
    let system = System::record(
        &["x"],
        &["sd", "rate"],
        |_, x, p| vec![-p[1] * x[0]],
        0.0,
        |_| vec![1.0.into()],
    )
    .unwrap();
    let noise = Noise::Gaussian(Scatter::SdParameter(0));
    let (t, y) = ([0.5, 1.5], [0.7, 0.1]);
    let data = Observations::of_states(&system, &["x"], noise, &t, &y).unwrap();
    let prior = Prior::LogNormal { log_mean: 0.0, log_sd: 1.0 };
    let posterior = OdePosterior::new(&system, stiff(1e-9, 1e-12), data, &[prior; 2]).unwrap();
    let (sd, rate) = (0.3, 1.1);
    let batch = Batch::from_points(2, &[[sd, rate]]);
    let mut out = Evaluation::zeros(2, 1);
    let weights = Weights { prior: 0.0, likelihood: 1.0 };
    posterior.evaluate(&batch, Some(weights), &mut out).unwrap();
    let mut expected = [0.0; 2];
    for (t, y) in t.into_iter().zip(y) {
        let x = (-rate * t).exp();
        expected[0] += -1.0 / sd + (x - y).powi(2) / sd.powi(3);
        expected[1] += (x - y) / (sd * sd) * t * x;
    }
    for (found, expected) in out.gradient.point(0).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

/// x' = a x² from 1: infinite at t = 1/a.
fn blow_up() -> (System, Observations) {
    let system = systems::explosive();
    let noise = Noise::Gaussian(Scatter::Variance(1.0));
    let data = Observations::of_states(&system, &["x"], noise, &[1.0, 2.0], &[1.1, 1.3]).unwrap();
    (system, data)
}

#[test]
fn a_trajectory_that_blows_up_is_lost_alone() {
    let (system, data) = blow_up();
    let prior = [Prior::Normal { mean: 0.0, sd: 1.0 }];
    let posterior = OdePosterior::new(&system, stiff(1e-8, 1e-10), data, &prior).unwrap();
    // More than a block, so that what a lost sample leaves behind meets others.
    let a = |i: usize| match i % 5 {
        3 => [0.7, 2.0, 1e300, f64::NAN, f64::INFINITY][i / 5 % 5],
        _ => 0.4 - 0.01 * i as f64,
    };
    let points: Vec<Vec<f64>> = (0..45).map(|i| vec![a(i)]).collect();
    let out = evaluate(&posterior, &points);
    let plain = values(&posterior, &points);
    let solution =
        solve(&system, &stiff(1e-8, 1e-10), &Batch::from_points(1, &points), &[1.0, 2.0]).unwrap();
    for i in 0..points.len() {
        let (a, gradient) = (a(i), out.gradient.point(i)[0]);
        assert_eq!(solution.lost[i], i % 5 == 3, "a = {a}");
        if i % 5 == 3 {
            assert_eq!(out.log_likelihood[i], f64::NEG_INFINITY, "a = {a}");
            assert_eq!(plain[i], f64::NEG_INFINITY, "a = {a}");
            assert_eq!(gradient, 0.0, "a = {a}");
            continue;
        }
        // x = 1/(1 − at), dx/da = t x²
        let mut slope = 0.0;
        for (t, y) in [(1.0, 1.1), (2.0, 1.3)] {
            let x = 1.0 / (1.0 - a * t);
            slope -= (x - y) * t * x * x;
        }
        let expected = 1.3 * slope - 0.7 * a;
        assert!((gradient - expected).abs() < 1e-4 * expected.abs().max(1.0), "a = {a}");
        assert!((solution.states[1].row(0)[i] * (1.0 - 2.0 * a) - 1.0).abs() < 1e-5, "a = {a}");
    }
    let floor = evaluate(&posterior.with_floor(-50.0), &points);
    assert_eq!(floor.log_likelihood[3], -50.0);
    assert_eq!(floor.gradient.point(3)[0], 0.7 * -0.7, "the prior's gradient remains");
    assert_eq!(floor.log_likelihood[4], out.log_likelihood[4]);
}

#[test]
fn a_derivative_without_a_value_is_lost() {
    // The square root has no value beyond t = 1/2, the logarithm none at the start.
    for root in [true, false] {
        let system = System::record(
            &["x"],
            &["a"],
            |t, x, p| vec![if root { (0.5 - t).sqrt() - p[0] * x[0] } else { -(p[0] - 2.0).ln() }],
            0.0,
            |_| vec![1.0.into()],
        )
        .unwrap();
        let found = solution(&system, &stiff(1e-6, 1e-9), &[1.0], &[0.2, 1.0]);
        assert!(found.lost[0] && found.states[1].row(0)[0].is_nan());
    }
}

#[test]
fn settings_out_of_range_and_the_adjoint_are_refused() {
    let (system, data) = blow_up();
    let refused = |solver: Solver| {
        let prior = [Prior::Normal { mean: 0.0, sd: 1.0 }];
        OdePosterior::new(&system, solver, data.clone(), &prior).unwrap_err().to_string()
    };
    assert!(refused(stiff(2.0, 1e-9)).contains("relative"));
    assert!(refused(stiff(1e-6, 0.0)).contains("absolute"));
    let none = Solver::Stiff { relative: 1e-6, absolute: 1e-9, most_steps: 0 };
    assert!(refused(none).contains("most-steps"));
    let posterior = robertson_posterior(stiff(1e-6, 1e-12));
    let error = posterior.with_differentiation(Differentiation::Adjoint).unwrap_err().to_string();
    assert!(error.contains("forward"), "{error}");
    let posterior = robertson_posterior(stiff(1e-6, 1e-12));
    assert!(posterior.with_differentiation(Differentiation::Forward).is_ok());
}
