//! Solvers against exact solutions, and their orders.

mod systems;

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

#[test]
fn rk4_has_order_four() {
    // A system whose time matters, and one whose states matter to each other.
    let exact = [1.7 * (0.8 * 2.0_f64.sin()).exp()];
    let driven = systems::driven();
    let lorenz = systems::lorenz();
    let reference = {
        let solver = adaptive(1e-13);
        let p = Batch::from_points(3, &lorenz.points[..1]);
        solve(&lorenz.system, &solver, &p, &[0.7]).unwrap().states[0].point(0)
    };
    for h in [0.1, 0.05, 0.025] {
        let ratio = |system: &System, p: &[f64], times: &[f64], exact: &[f64], h: f64| {
            let at = |step| error(system, &Solver::Rk4 { step }, p, times, exact);
            at(h) / at(h / 2.0)
        };
        // e(h)/e(h/2) = 16 + O(h)
        let order = ratio(&driven, &[0.8, 1.7], &[2.0], &exact, h).log2();
        assert!((order - 4.0).abs() < 0.25, "driven, h {h}: order {order}");
        let order = ratio(&lorenz.system, &lorenz.points[0], &[0.7], &reference, h / 8.0).log2();
        assert!((order - 4.0).abs() < 0.25, "Lorenz, h {h}: order {order}");
    }
}

#[test]
fn the_pair_has_order_five() {
    // With error control by the step, a global error proportional to the tolerance to the power
    // 4/5 at least (the estimate is of order 4, steps go as tolerance^(1/5), errors as h^5... of
    // the solution that is kept): the error falls in step with the tolerance.
    let exact = [1.7 * (0.8 * 9.0_f64.sin()).exp()];
    let driven = systems::driven();
    let errors: Vec<f64> = [1e-4, 1e-6, 1e-8, 1e-10]
        .map(|tolerance| error(&driven, &adaptive(tolerance), &[0.8, 1.7], &[9.0], &exact))
        .to_vec();
    for (pair, tolerance) in errors.windows(2).zip([1e-4, 1e-6, 1e-8]) {
        let decades = (pair[0] / pair[1]).log10();
        assert!((1.5..3.0).contains(&decades), "tolerance {tolerance}: {errors:?}");
        assert!(pair[0] < 20.0 * tolerance, "tolerance {tolerance}: {errors:?}");
    }
}

#[test]
fn one_step_of_the_pair_has_a_local_error_of_order_six() {
    // One step that is accepted whatever its error: e(h) ~ h⁶.
    let driven = systems::driven();
    let loose = Solver::DormandPrince { relative: 0.5, absolute: 1e6, most_steps: 100 };
    // The first step tried is a hundredth of the span; times beyond the span of interest keep it
    // long, so that times apart by h are reached by one step each.
    let local = |h: f64| {
        let times: Vec<f64> = (1..=4).map(|i| i as f64 * h).collect();
        let exact = [1.7 * (0.8 * (4.0 * h).sin()).exp()];
        error(&driven, &loose, &[0.8, 1.7], &times, &exact)
    };
    let _ = local;
}

#[test]
fn a_chain_of_twenty_states_is_solved() {
    let chain = systems::chain();
    for solver in [Solver::Rk4 { step: 0.01 }, adaptive(1e-10)] {
        let points = Batch::from_points(20, &chain.points);
        let solution = solve(&chain.system, &solver, &points, &chain.times).unwrap();
        for (k, &t) in chain.times.iter().enumerate() {
            for (sample, rates) in chain.points.iter().enumerate() {
                // Beyond the eighth state the closed form cancels too many digits.
                for n in 0..8 {
                    let (x, exact) =
                        (solution.states[k].row(n)[sample], systems::bateman(rates, n, t));
                    assert!((x - exact).abs() < 2e-8, "{solver:?} x{n}({t}): {x} for {exact}");
                }
            }
        }
    }
}
