//! Solvers compared with exact solutions, and their orders.

use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Solver, System, solve};

/// Largest error over the states at the last time.
fn error(system: &System, solver: &Solver, p: &[f64], times: &[f64], exact: &[f64]) -> f64 {
    let solution = solve(system, solver, &Batch::from_points(p.len(), &[p]), times).unwrap();
    assert!(!solution.lost[0]);
    let last = solution.states.last().unwrap();
    (0..last.dim()).map(|i| (last.row(i)[0] - exact[i]).abs()).fold(0.0, f64::max)
}

fn adaptive(relative: f64) -> Solver {
    Solver::DormandPrince { relative, absolute: 1e-3 * relative, most_steps: 1_000_000 }
}

/// The Lorenz states at t = 0.3 to twelve digits.
fn lorenz_at_end() -> (systems::Case, Vec<f64>) {
    let lorenz = systems::lorenz();
    let p = Batch::from_points(3, &lorenz.points[..1]);
    let states = solve(&lorenz.system, &adaptive(1e-13), &p, &[0.3]).unwrap().states;
    let exact = states[0].point(0);
    (lorenz, exact)
}

#[test]
fn rk4_has_order_four() {
    // A system that depends on time, and one whose states are coupled.
    let (driven, driven_exact) = (systems::driven(), [1.7 * (0.8 * 2.0_f64.sin()).exp()]);
    let (lorenz, lorenz_exact) = lorenz_at_end();
    let order = |system: &System, p: &[f64], end: f64, exact: &[f64], step: f64| {
        let at = |step| error(system, &Solver::Rk4 { step }, p, &[end], exact);
        (at(step) / at(step / 2.0)).log2()
    };
    for step in [0.1, 0.05, 0.025] {
        let found = order(&driven, &[0.8, 1.7], 2.0, &driven_exact, step);
        assert!((found - 4.0).abs() < 0.25, "driven, step {step}: order {found}");
        // Its fast growth makes the next error term relevant at longer steps.
        let step = step / 40.0;
        let found = order(&lorenz.system, &lorenz.points[0], 0.3, &lorenz_exact, step);
        assert!((found - 4.0).abs() < 0.25, "Lorenz, step {step}: order {found}");
    }
}

#[test]
fn the_pair_has_order_five() {
    // A tolerance that accepts everything: after a few steps that grow fivefold, every step goes
    // from one time to the next, so the distance of the times is the step length.
    let loose = Solver::DormandPrince { relative: 0.5, absolute: 1e9, most_steps: 10_000 };
    let driven = systems::driven();
    let exact = [1.7 * (0.8 * 2.0_f64.sin()).exp()];
    let at = |count: usize| {
        let times: Vec<f64> = (1..=count).map(|i| 2.0 * i as f64 / count as f64).collect();
        error(&driven, &loose, &[0.8, 1.7], &times, &exact)
    };
    for count in [10, 20, 40] {
        let order = (at(count) / at(2 * count)).log2();
        assert!((order - 5.0).abs() < 0.5, "{count} steps: order {order}");
    }
}

#[test]
fn the_error_follows_the_tolerance() {
    let exact = [1.7 * (0.8 * 9.0_f64.sin()).exp()];
    let driven = systems::driven();
    let errors = [1e-4, 1e-6, 1e-8, 1e-10]
        .map(|tolerance| error(&driven, &adaptive(tolerance), &[0.8, 1.7], &[9.0], &exact));
    for (pair, tolerance) in errors.windows(2).zip([1e-4, 1e-6, 1e-8]) {
        let decades = (pair[0] / pair[1]).log10();
        assert!((1.5..3.0).contains(&decades), "tolerance {tolerance}: {errors:?}");
        assert!(pair[0] < 20.0 * tolerance, "tolerance {tolerance}: {errors:?}");
    }
}

#[test]
fn a_chain_of_twenty_states_is_solved() {
    let chain = systems::chain();
    for solver in [Solver::Rk4 { step: 0.01 }, adaptive(1e-10)] {
        let points = Batch::from_points(20, &chain.points);
        let solution = solve(&chain.system, &solver, &points, &chain.times).unwrap();
        for (k, &t) in chain.times.iter().enumerate() {
            for (sample, rates) in chain.points.iter().enumerate() {
                // Beyond the eighth state the closed form loses too many digits to cancellation.
                for n in 0..8 {
                    let (x, exact) =
                        (solution.states[k].row(n)[sample], systems::bateman(rates, n, t));
                    assert!((x - exact).abs() < 2e-8, "{solver:?} x{n}({t}): {x} for {exact}");
                }
            }
        }
    }
}

/// A sample's solution must not depend on the other samples, nor on its place among them.
#[test]
fn samples_do_not_see_each_other() {
    let lorenz = systems::lorenz();
    let points: Vec<Vec<f64>> = (0..45)
        .map(|i| vec![8.0 + 0.1 * f64::from(i), 2.0 + 0.05 * f64::from(i), 20.0 + f64::from(i)])
        .collect();
    for solver in [Solver::Rk4 { step: 0.05 }, Solver::ADAPTIVE] {
        let solve = |points: &[Vec<f64>]| {
            solve(&lorenz.system, &solver, &Batch::from_points(3, points), &lorenz.times).unwrap()
        };
        let together = solve(&points);
        for i in [0, 7, 31, 32, 44] {
            let alone = solve(&points[i..=i]);
            for (a, b) in alone.states.iter().zip(&together.states) {
                assert_eq!(a.point(0), b.point(i), "{solver:?} sample {i}");
            }
        }
    }
}

#[test]
fn a_trajectory_that_explodes_is_lost_and_the_others_are_not() {
    // x' = a x² from 1 ends at t = 1/a.
    let system = systems::explosive();
    let points = Batch::from_points(1, &[[0.5], [2.0], [-1.0], [f64::NAN]]);
    for solver in [Solver::Rk4 { step: 0.01 }, Solver::ADAPTIVE] {
        let solution = solve(&system, &solver, &points, &[0.25, 1.0]).unwrap();
        assert_eq!(solution.lost, [false, true, false, true], "{solver:?}");
        let exact = [1.0 / (1.0 - 0.5), f64::NAN, 1.0 / (1.0 + 1.0)];
        for i in [0, 2] {
            let x = solution.states[1].row(0)[i];
            assert!((x - exact[i]).abs() < 1e-5, "{solver:?}: {x} for {}", exact[i]);
        }
    }
}

#[test]
fn a_sample_that_needs_too_many_steps_is_lost() {
    let driven = systems::driven();
    let points = Batch::from_points(2, &[[0.8, 1.0], [300.0, 1.0]]);
    let solver = Solver::DormandPrince { relative: 1e-6, absolute: 1e-9, most_steps: 60 };
    let solution = solve(&driven, &solver, &points, &[1.0, 9.0]).unwrap();
    assert_eq!(solution.lost, [false, true]);
}

#[test]
fn times_may_lie_anywhere_after_the_start() {
    let driven = systems::driven();
    let times = [0.0, 0.0, 0.013, 0.5, 0.500_000_1, std::f64::consts::PI, 3.2];
    let p = Batch::from_points(2, &[[0.8, 1.7]]);
    for solver in [Solver::Rk4 { step: 0.02 }, adaptive(1e-9)] {
        let solution = solve(&driven, &solver, &p, &times).unwrap();
        for (states, t) in solution.states.iter().zip(times) {
            let exact = 1.7 * (0.8 * t.sin()).exp();
            assert!((states.row(0)[0] - exact).abs() < 1e-7, "{solver:?} at {t}");
        }
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let driven = systems::driven();
    let p = Batch::from_points(2, &[[0.8, 1.7]]);
    let refused = |solver: Solver, p: &Batch, times: &[f64]| {
        solve(&driven, &solver, p, times).unwrap_err().to_string()
    };
    let rk4 = Solver::Rk4 { step: 0.1 };
    for times in [&[][..], &[1.0, 0.5], &[-1.0], &[f64::NAN], &[f64::INFINITY]] {
        assert!(refused(rk4, &p, times).contains("time"), "{times:?}");
    }
    assert!(refused(rk4, &Batch::from_points(1, &[[1.0]]), &[1.0]).contains("2 expected"));
    for (solver, name) in [
        (Solver::Rk4 { step: 0.0 }, "step"),
        (Solver::Rk4 { step: f64::NAN }, "step"),
        (Solver::Rk4 { step: 1e-12 }, "step"),
        (adaptive(0.0), "relative"),
        (Solver::DormandPrince { relative: 1e-6, absolute: -1.0, most_steps: 9 }, "absolute"),
        (Solver::DormandPrince { relative: 1e-6, absolute: 1e-9, most_steps: 0 }, "most-steps"),
    ] {
        assert!(refused(solver, &p, &[1.0]).contains(name), "{solver:?}");
    }
    let bad = System::record(
        &["x", "y"],
        &["a"],
        |_, x, _| vec![x[0]],
        0.0,
        |_| vec![1.0.into(), 2.0.into()],
    );
    assert!(bad.unwrap_err().to_string().contains("the derivative"));
    let twice = System::record(&["x"], &["x"], |_, x, _| vec![x[0]], 0.0, |p| vec![p[0]]);
    assert!(twice.unwrap_err().to_string().contains("x is used twice"));
}
