//! Stiff solvers: order, reference values, gradients, and unsolvable samples.

use crate::support::stiff::{STATES, TIMES, log_rates, prothero_robinson, robertson, van_der_pol};
use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Differentiation, Noise, Observations, Scatter, Solution, Solver, System, solve};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::target::{Evaluation, Target, Weights};

fn stiff(relative: f64, absolute: f64) -> Solver {
    Solver::Rosenbrock { relative, absolute, most_steps: 20_000 }
}

/// All three states are observed until 4·10⁵, with noise of a tenth in the logarithm; some values are
/// missing.
fn robertson_posterior(solver: Solver) -> OdePosterior {
    let system = robertson();
    let mut values: Vec<f64> = STATES[..4].concat();
    values.iter_mut().enumerate().for_each(|(i, y)| *y *= 1.0 + 0.1 * (i as f64).sin());
    values[4] = f64::NAN;
    values[9] = f64::NAN;
    let noise = Noise::LogNormal(Scatter::Variance(0.01));
    let names = ["a", "b", "c"];
    let data = Observations::of_states(&system, &names, noise, &TIMES[..4], &values).unwrap();
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

/// Points around Robertson's rates.
fn near(by: &[[f64; 3]]) -> Vec<Vec<f64>> {
    by.iter().map(|by| log_rates().iter().zip(by).map(|(p, by)| p + by).collect()).collect()
}

#[test]
fn the_method_has_order_five() {
    // A tolerance that accepts everything, so that the distance of the times is the step length.
    let loose = Solver::Rosenbrock { relative: 0.5, absolute: 1e9, most_steps: 10_000 };
    let lorenz = systems::lorenz();
    let tight = Solver::DormandPrince { relative: 1e-13, absolute: 1e-16, most_steps: 1_000_000 };
    let reference = solution(&lorenz.system, &tight, &lorenz.points[0], &[0.3]);
    // The first depends on time, the second has coupled states, and the third has both.
    let cases = [
        (systems::driven(), vec![0.8, 1.7], 2.0, vec![1.7 * (0.8 * 2.0_f64.sin()).exp()], 20),
        (lorenz.system, lorenz.points[0].clone(), 0.3, reference.states[0].point(0), 40),
        (prothero_robinson(), vec![3.0, 1.0], 2.0, vec![2.0_f64.cos(), 2.0_f64.sin()], 20),
    ];
    for (system, p, end, exact, first) in cases {
        let at = |count: usize| {
            let times: Vec<f64> = (1..=count).map(|i| end * i as f64 / count as f64).collect();
            let found = solution(&system, &loose, &p, &times);
            let last = found.states.last().unwrap().point(0);
            size(&last.iter().zip(&exact).map(|(x, exact)| x - exact).collect::<Vec<_>>())
        };
        for count in [first, 2 * first, 4 * first] {
            let order = (at(count) / at(2 * count)).log2();
            assert!((order - 5.0).abs() < 0.5, "{:?}, {count}: {order}", system.parameters());
        }
    }
}

#[test]
fn robertson_agrees_with_reference_values() {
    for (relative, tolerated) in [(1e-6, 1e-3), (1e-8, 1e-5), (1e-11, 2e-8)] {
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
fn a_far_end_is_reached_without_times_on_the_way() {
    let found = solution(&robertson(), &stiff(1e-8, 1e-16), &log_rates(), &TIMES[4..]);
    let (a, reference) = (found.states[0].row(0)[0], STATES[4][0]);
    assert!(!found.lost[0] && (a / reference - 1.0).abs() < 1e-4, "{a} for {reference}");
}

#[test]
fn van_der_pols_oscillator_agrees_with_reference_values() {
    // From the Test Set for IVP Solvers (VDPOL), with time t/μ.
    let found = solution(&van_der_pol(), &stiff(1e-9, 1e-12), &[1e3], &[2e3]);
    let [x, v] = [0, 1].map(|row| found.states[0].row(row)[0]);
    assert!((x / 1.706_167_732_170_483 - 1.0).abs() < 1e-6, "{x}");
    assert!((v / -0.892_809_701_024_797_5e-3 - 1.0).abs() < 1e-6, "{v}");
    // Two cycles with the jumps: an explicit method would need half a million steps.
    let around = Solver::Rosenbrock { relative: 1e-6, absolute: 1e-9, most_steps: 1_500 };
    assert!(!solution(&van_der_pol(), &around, &[1e3], &[3.2e3]).lost[0]);
}

#[test]
fn a_fast_rate_that_follows_the_time_costs_neither_steps_nor_digits() {
    let few = Solver::Rosenbrock { relative: 1e-6, absolute: 1e-9, most_steps: 250 };
    for fast in [1e1, 1e3, 1e6, 1e9] {
        let found = solution(&prothero_robinson(), &few, &[fast, 1.0], &[1.0, 10.0]);
        assert!(!found.lost[0], "{fast:e}");
        for (states, t) in found.states.iter().zip([1.0_f64, 10.0]) {
            let [x, y] = [0, 1].map(|row| states.row(row)[0]);
            assert!((x - t.cos()).abs() < 1e-5, "{fast:e}: {x} for {}", t.cos());
            assert!((y - t.sin()).abs() < 1e-5, "{fast:e}: {y} for {}", t.sin());
        }
    }
}

#[test]
fn an_explicit_method_loses_what_is_stiff() {
    // At t = 40 the fastest rate is about 2·10³ and an explicit step at most 3.3 of its inverse: about 10⁴
    // steps for a nearly constant solution.
    let (system, p, times) = (robertson(), log_rates(), &TIMES[..2]);
    let steps = |most_steps| Solver::DormandPrince { relative: 1e-6, absolute: 1e-12, most_steps };
    assert!(solution(&system, &steps(10_000), &p, times).lost[0]);
    assert!(!solution(&system, &steps(1_000_000), &p, times).lost[0]);
    let few = |most_steps| Solver::Rosenbrock { relative: 1e-6, absolute: 1e-12, most_steps };
    assert!(!solution(&system, &few(100), &p, times).lost[0]);
    assert!(solution(&system, &few(10), &p, times).lost[0]);
    let explicit = robertson_posterior(steps(10_000));
    assert_eq!(values(&explicit, std::slice::from_ref(&p)), [f64::NEG_INFINITY]);
    assert!(values(&robertson_posterior(few(300)), &[p])[0].is_finite());
}

#[test]
fn gradients_of_a_stiff_posterior_agree_with_central_differences() {
    let points = near(&[[0.0; 3], [0.3, -0.2, 0.4], [-0.5, 0.6, 0.1]]);
    let both = [Differentiation::Forward, Differentiation::Adjoint];
    for way in both {
        let posterior = robertson_posterior(stiff(1e-11, 1e-17)).with_differentiation(way).unwrap();
        let out = evaluate(&posterior, &points);
        for (i, point) in points.iter().enumerate() {
            let gradient = out.gradient.point(i);
            for d in 0..3 {
                // The truncation error is of order h⁴ = 10⁻⁸; the solutions' errors of about 10⁻⁹ are
                // divided by h.
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
                assert!(error < 1e-6, "{way:?} {i} {d}: {} and {difference}", gradient[d]);
            }
        }
    }
}

#[test]
fn forward_and_adjoint_are_derivatives_of_the_same_steps() {
    // Loose tolerances, where the solution is inaccurate: both methods differentiate the computed
    // solution.
    let points = near(&[[0.0; 3], [0.3, -0.2, 0.4], [-0.5, 0.6, 0.1]]);
    let found = [Differentiation::Forward, Differentiation::Adjoint].map(|way| {
        let posterior = robertson_posterior(stiff(1e-4, 1e-9)).with_differentiation(way).unwrap();
        evaluate(&posterior, &points)
    });
    assert_eq!(found[0].log_likelihood[..3], found[1].log_likelihood[..3]);
    for i in 0..points.len() {
        let [forward, adjoint] = [&found[0], &found[1]].map(|out| out.gradient.point(i));
        for (f, a) in forward.iter().zip(&adjoint) {
            assert!((f - a).abs() < 1e-8 * size(&forward), "{i}: {f} and {a}");
        }
    }
}

#[test]
fn values_do_not_depend_on_the_gradient() {
    let points = near(&[[-0.4; 3], [-0.1; 3], [0.0; 3], [0.2; 3]]);
    for relative in [1e-5, 1e-7, 1e-9] {
        let posterior = robertson_posterior(stiff(relative, 1e-6 * relative));
        let out = evaluate(&posterior, &points);
        assert_eq!(out.log_likelihood[..4], values(&posterior, &points), "{relative:e}");
    }
}

#[test]
fn steps_for_stiff_and_explicit_steps_agree() {
    // Initial states among the parameters, repeated times, missing values, twenty states.
    let explicit = Solver::DormandPrince { relative: 1e-10, absolute: 1e-12, most_steps: 100_000 };
    for case in [systems::lotka_volterra(), systems::hiv(), systems::chain()] {
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
    // x = x_0 e^(a sin t), also at the start and at a repeated time.
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
fn a_trajectory_that_blows_up_is_lost_alone() {
    // x' = a x² from 1: infinite at t = 1/a.
    let system = systems::explosive();
    let noise = Noise::Gaussian(Scatter::Variance(1.0));
    let data = Observations::of_states(&system, &["x"], noise, &[1.0, 2.0], &[1.1, 1.3]).unwrap();
    let prior = [Prior::Normal { mean: 0.0, sd: 1.0 }];
    let posterior = OdePosterior::new(&system, stiff(1e-8, 1e-10), data, &prior).unwrap();
    // More than one block, so that later samples could meet the remains of a non-finite one.
    let a = |i: usize| match i % 5 {
        3 => [0.7, 2.0, 1e300, f64::NAN, f64::INFINITY][i / 5 % 5],
        _ => 0.4 - 0.01 * i as f64,
    };
    let points: Vec<Vec<f64>> = (0..45).map(|i| vec![a(i)]).collect();
    let out = evaluate(&posterior, &points);
    let plain = values(&posterior, &points);
    for i in 0..points.len() {
        let (a, gradient) = (a(i), out.gradient.point(i)[0]);
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
        let alone = evaluate(&posterior, &points[i..=i]);
        assert_eq!(alone.log_likelihood[0], out.log_likelihood[i], "a = {a}");
        assert_eq!(alone.gradient.point(0)[0], gradient, "a = {a}");
    }
}

#[test]
fn a_derivative_without_a_value_is_lost() {
    // The square root is undefined for t > 1/2, the logarithm at the start.
    for root in [true, false] {
        let system = System::record(
            &["x"],
            &["a"],
            |t, x, p| vec![if root { (0.5 - t).sqrt() - p[0] * x[0] } else { -(p[0] - 2.0).ln() }],
            0.0,
            |_| vec![1.0.into()],
        )
        .unwrap();
        assert!(solution(&system, &stiff(1e-6, 1e-9), &[1.0], &[0.2, 1.0]).lost[0]);
    }
}

#[test]
fn a_sample_that_waits_where_the_jacobian_has_no_value_is_kept() {
    // x' = −√|x| a from a's own start: the Jacobian is infinite at x = 0, where the second sample stays.
    let system =
        System::record(&["x"], &["x_0"], |_, x, _| vec![-x[0].abs().sqrt()], 0.0, |p| vec![p[0]])
            .unwrap();
    let points = Batch::from_points(1, &[[1.0], [4.0]]);
    let found = solve(&system, &stiff(1e-6, 1e-9), &points, &[0.0, 0.5, 1.0]).unwrap();
    assert_eq!(found.lost, [false, false]);
    for (sample, root) in [1.0_f64, 2.0].into_iter().enumerate() {
        let x = found.states[2].row(0)[sample];
        assert!((x - (root - 0.5).powi(2)).abs() < 1e-5, "{x}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |solver: Solver| {
        solve(&robertson(), &solver, &Batch::from_points(3, &[log_rates()]), &[1.0])
            .unwrap_err()
            .to_string()
    };
    assert!(refused(stiff(2.0, 1e-9)).contains("relative"));
    assert!(refused(stiff(1e-6, 0.0)).contains("absolute"));
    let none = Solver::Auto { relative: 1e-6, absolute: 1e-9, most_steps: 0 };
    assert!(refused(none).contains("most-steps"));
}

/// All states coupled, or each only to its neighbours.
fn many(states: usize, all: bool) -> System {
    let names: Vec<String> = (0..states).map(|i| format!("x{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    System::record(
        &names,
        &["k"],
        |_, x, p| {
            let sum: adaann::Expr<'_> = x.iter().copied().sum();
            let of = |i: usize| if all { sum * x[i] } else { x[(i + 1) % states] };
            (0..states).map(|i| -p[0] * x[i] + 0.1 * of(i)).collect()
        },
        0.0,
        |_| vec![1.0.into(); states],
    )
    .unwrap()
}

#[test]
fn systems_that_are_too_large_are_refused_or_stay_explicit() {
    let p = Batch::from_points(1, &[[1.0]]);
    let refused = solve(&many(60, true), &stiff(1e-6, 1e-9), &p, &[1.0]).unwrap_err().to_string();
    assert!(refused.contains("60 states") && refused.contains("dopri5"), "{refused}");
    assert!(solve(&many(400, false), &stiff(1e-6, 1e-9), &p, &[1.0]).is_err());
    // Sparse coupling is efficient.
    let sparse = solve(&many(60, false), &stiff(1e-8, 1e-10), &p, &[1.0]).unwrap();
    assert!((sparse.states[0].row(7)[0] - (-0.9_f64).exp()).abs() < 1e-6);
    let [auto, pair] = [Solver::AUTO, Solver::ADAPTIVE]
        .map(|solver| solve(&many(60, true), &solver, &p, &[0.1]).unwrap().states[0].point(0));
    assert_eq!(auto, pair);
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let data = Observations::of_states(&many(60, true), &["x0"], noise, &[0.1], &[1.0]).unwrap();
    let priors = [Prior::Normal { mean: 1.0, sd: 1.0 }];
    let posterior = OdePosterior::new(&many(60, true), Solver::AUTO, data, &priors).unwrap();
    assert!(posterior.notes().concat().contains("too large"), "{:?}", posterior.notes());
}

#[test]
fn a_step_whose_equations_have_no_solution_is_not_taken() {
    // x' = x with a tolerance that accepts everything: after a few steps that grow fivefold, each step
    // goes from one time to the next, and there 1 − γh is 0 up to rounding. A step of that length would
    // multiply x by about 10¹⁶ in each of its eight stages.
    let system =
        System::record(&["x"], &["a"], |_, x, p| vec![p[0] * x[0]], 0.0, |_| vec![1.0.into()]);
    let loose = Solver::Rosenbrock { relative: 0.5, absolute: 1e300, most_steps: 10_000 };
    let pole = 1.0 / 0.211_937_563_194_290_14;
    let times: Vec<f64> = (1..=8).map(|i| pole * i as f64).collect();
    let found = solution(&system.unwrap(), &loose, &[1.0], &times);
    let x = found.states[7].row(0)[0];
    assert!(!found.lost[0] && x.abs() < 1e40, "{x:e} for {:e}", times[7].exp());
}
