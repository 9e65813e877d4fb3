//! The solver that detects stiffness: samples switch one by one, and nothing else changes.

use crate::support::stiff::{STATES, TIMES, log_rates, robertson, van_der_pol};
use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Differentiation, Noise, Observations, Scatter, Solver, System, solve};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::target::{Evaluation, Target, Weights};

const WEIGHTS: Weights = Weights { prior: 0.7, likelihood: 1.3 };

fn evaluate(posterior: &OdePosterior, points: &[Vec<f64>]) -> Evaluation {
    let points = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(points.dim(), points.len());
    posterior.evaluate(&points, Some(WEIGHTS), &mut out).unwrap();
    out
}

/// Log likelihoods and gradients, by their bits.
fn bits(out: &Evaluation, i: usize) -> Vec<u64> {
    let gradient = out.gradient.point(i);
    [out.log_likelihood[i]].iter().chain(&gradient).map(|x| x.to_bits()).collect()
}

/// A linear system with one possibly fast rate: x₁ follows cos t, x₂ integrates it.
fn follower() -> System {
    System::record(
        &["x", "y"],
        &["log_rate"],
        |t, x, p| vec![p[0].exp() * (t.cos() - x[0]), x[0] - 0.3 * x[1]],
        0.0,
        |_| vec![1.0.into(), 0.0.into()],
    )
    .unwrap()
}

fn follower_posterior(solver: Solver, way: Differentiation) -> OdePosterior {
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let (times, y) = ([0.5, 3.0, 8.0], [0.4, 0.2, 0.3]);
    let data = Observations::of_states(&follower(), &["y"], noise, &times, &y).unwrap();
    let prior = [Prior::Normal { mean: 0.0, sd: 5.0 }];
    let posterior = OdePosterior::new(&follower(), solver, data, &prior).unwrap();
    posterior.with_differentiation(way).unwrap()
}

#[test]
fn what_is_not_stiff_has_the_bits_of_the_pair() {
    let cases = [systems::lotka_volterra(), systems::lorenz(), systems::hiv(), systems::chain()];
    for case in cases {
        let [pair, auto] = [Solver::ADAPTIVE, Solver::AUTO]
            .map(|solver| evaluate(&case.posterior(solver), &case.points));
        for i in 0..case.points.len() {
            assert_eq!(bits(&auto, i), bits(&pair, i), "{} {i}", case.name);
        }
    }
}

#[test]
fn long_ways_that_are_not_stiff_stay_with_the_pair() {
    // Forty cycles of prey and predators, and a spring: thousands of necessary steps.
    let spring = System::record(
        &["x", "v"],
        &["k"],
        |_, x, p| vec![x[1], -p[0] * x[0]],
        0.0,
        |_| vec![1.0.into(), 0.0.into()],
    )
    .unwrap();
    let prey = systems::lotka_volterra();
    for (system, point) in [(spring, vec![4.0]), (prey.system, prey.points[0].clone())] {
        let point = Batch::from_points(point.len(), &[point]);
        let [pair, auto] = [Solver::ADAPTIVE, Solver::AUTO]
            .map(|solver| solve(&system, &solver, &point, &[300.0]).unwrap());
        assert!(!pair.lost[0]);
        assert_eq!(auto.states[0].point(0), pair.states[0].point(0));
    }
}

#[test]
fn what_is_stiff_is_solved() {
    let auto = Solver::Auto { relative: 1e-8, absolute: 1e-14, most_steps: 2_000 };
    let found =
        solve(&robertson(), &auto, &Batch::from_points(3, &[log_rates()]), &TIMES[..4]).unwrap();
    assert!(!found.lost[0]);
    for (states, reference) in found.states.iter().zip(STATES) {
        for (x, reference) in states.point(0).iter().zip(reference) {
            assert!((x / reference - 1.0).abs() < 1e-5, "{x} for {reference}");
        }
    }
    let auto = Solver::Auto { relative: 1e-8, absolute: 1e-11, most_steps: 4_000 };
    let found = solve(&van_der_pol(), &auto, &Batch::from_points(1, &[[1e3]]), &[2e3]).unwrap();
    let x = found.states[0].row(0)[0];
    assert!(!found.lost[0] && (x / 1.706_167_732_170_483 - 1.0).abs() < 1e-5, "{x}");
}

#[test]
fn gradients_of_samples_that_go_over_agree_with_central_differences() {
    let auto = Solver::Auto { relative: 1e-10, absolute: 1e-12, most_steps: 10_000 };
    for way in [Differentiation::Forward, Differentiation::Adjoint] {
        let posterior = follower_posterior(auto, way);
        let points: Vec<Vec<f64>> = vec![vec![0.5], vec![8.0], vec![12.0]];
        let out = evaluate(&posterior, &points);
        for (i, point) in points.iter().enumerate() {
            let h = 1e-2;
            let moved = [-2.0, -1.0, 1.0, 2.0].map(|k| vec![point[0] + k * h]);
            let at = evaluate(&posterior, &moved);
            let f = |k: usize| 0.7 * at.log_prior[k] + 1.3 * at.log_likelihood[k];
            let difference = (f(0) - 8.0 * f(1) + 8.0 * f(2) - f(3)) / (12.0 * h);
            let found = out.gradient.point(i)[0];
            let error = (found - difference).abs() / difference.abs().max(0.1);
            assert!(error < 1e-5, "{way:?} {point:?}: {found} and {difference}");
        }
    }
}

/// Samples that switch, samples that do not, and non-finite ones in the same blocks; one and two
/// threads.
#[test]
fn a_sample_has_its_bits_whatever_its_companions_and_the_threads() {
    let points: Vec<Vec<f64>> = (0..150)
        .map(|i| vec![if i == 40 { f64::NAN } else { (i * 37 % 150) as f64 * 0.1 - 2.0 }])
        .collect();
    let auto = Solver::AUTO;
    for way in [Differentiation::Forward, Differentiation::Adjoint] {
        let posterior = follower_posterior(auto, way);
        let together = evaluate(&posterior, &points);
        assert_eq!(together.log_likelihood[40], f64::NEG_INFINITY);
        for i in (0..points.len()).step_by(7).filter(|i| *i != 40) {
            let alone = evaluate(&posterior, &points[i..=i]);
            assert!(alone.log_likelihood[0].is_finite(), "{way:?} {:?}", points[i]);
            assert_eq!(bits(&alone, 0), bits(&together, i), "{way:?} {:?}", points[i]);
        }
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| evaluate(&follower_posterior(auto, way), &points));
            for i in 0..points.len() {
                assert_eq!(bits(&found, i), bits(&together, i), "{threads} threads, {i}");
            }
        }
    }
}

#[test]
fn a_system_that_starts_from_nothing_is_solved() {
    // x' = a − b x from 0, followed by a chain of any length.
    let system = System::record(
        &["x", "y"],
        &["a", "b"],
        |_, x, p| vec![p[0] - p[1] * x[0], x[0] - x[1]],
        0.0,
        |_| vec![0.0.into(), 0.0.into()],
    )
    .unwrap();
    let scales = [1e-6, 1.0, 1e9];
    let points: Vec<Vec<f64>> = scales.iter().map(|&a| vec![a, 0.5]).collect();
    let (relative, absolute, most_steps) = (1e-6, 1e-9, 200);
    for solver in [
        Solver::DormandPrince { relative, absolute, most_steps },
        Solver::Rosenbrock { relative, absolute, most_steps },
        Solver::Auto { relative, absolute, most_steps },
    ] {
        let found = solve(&system, &solver, &Batch::from_points(2, &points), &[1e-3, 4.0]).unwrap();
        assert_eq!(found.lost, [false; 3], "{solver:?}");
        for (i, a) in scales.into_iter().enumerate() {
            for (states, t) in found.states.iter().zip([1e-3_f64, 4.0]) {
                let (x, exact) = (states.row(0)[i], a / 0.5 * -(-0.5 * t).exp_m1());
                assert!((x - exact).abs() < 1e-5 * exact + 1e-9, "{solver:?}: {x} for {exact}");
            }
        }
    }
    // A state that stays at zero.
    let still = Batch::from_points(2, &[[0.0, 0.5]]);
    let found = solve(&system, &Solver::ADAPTIVE, &still, &[4.0]).unwrap();
    assert!(!found.lost[0] && found.states[0].point(0) == [0.0, 0.0]);
}

/// A fast rate that is not yet limited by stability, but reduces the accuracy of explicit stages.
#[test]
fn what_is_stiff_is_noticed_before_stability_is_at_stake() {
    let auto = Solver::Auto { relative: 1e-10, absolute: 1e-12, most_steps: 4_000 };
    let pair = Solver::DormandPrince { relative: 1e-10, absolute: 1e-12, most_steps: 10_000 };
    let point = Batch::from_points(1, &[[8.0]]);
    assert!(solve(&follower(), &pair, &point, &[8.0]).unwrap().lost[0]);
    assert!(!solve(&follower(), &auto, &point, &[8.0]).unwrap().lost[0]);
}
