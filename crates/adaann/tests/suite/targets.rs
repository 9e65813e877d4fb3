//! The laws of every registered density: gradients, peaks, values far out, names and errors.

use crate::support::common;
use adaann::{
    Error, Program,
    program::log_sum_exp,
    registry::{self, Problem},
    schedule::{AdaAnn, Schedule},
    support::hand,
    target::{Support, Target, Weights},
};
use common::{Numbers, WHOLE, assert_close, evaluate, log_p, log_p_at};
use std::{f64::consts::PI, slice};

/// Every entry with its defaults, and some with other parameters.
fn problems() -> Vec<(String, Problem)> {
    let more = [
        ("mixture1d", "mu", 1.0),
        ("mixture1d", "mu", 16.0),
        ("mixture1d-asymmetric", "mu", 8.0),
        ("mixture2d", "mu", 0.0),
        ("mixture2d", "mu", 2.5),
        ("gaussian", "dim", 1.0),
        ("gaussian", "dim", 7.0),
        ("funnel", "dim", 3.0),
        ("many-well", "dim", 2.0),
        ("shells", "dim", 5.0),
        ("shells", "dim", 30.0),
    ];
    let defaults = registry::ALL.iter().map(|entry| (entry.name.to_string(), entry.build(&[])));
    let others = more.iter().map(|(name, parameter, value)| {
        let problem = registry::find(name).unwrap().build(&[(parameter.to_string(), *value)]);
        (format!("{name} with {parameter} = {value}"), problem)
    });
    defaults.chain(others).map(|(name, problem)| (name, problem.unwrap())).collect()
}

/// Points inside the support, where the density has mass and around it.
fn points(problem: &Problem, count: usize, numbers: &mut Numbers) -> Vec<Vec<f64>> {
    let dim = problem.target.dim();
    let (mean, sd) = (problem.known.mean.clone().unwrap(), problem.known.sd.clone().unwrap());
    let coordinate = |d: usize, numbers: &mut Numbers| match problem.target.support(d) {
        Support::Between(low, high) => low + (high - low) * numbers.uniform(),
        _ => mean[d] + 1.5 * sd[d] * numbers.normal(),
    };
    (0..count).map(|_| (0..dim).map(|d| coordinate(d, numbers)).collect()).collect()
}

/// The derivative of f at x: central differences, extrapolated from steps h and h/2.
fn derivative(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-3 * x.abs().max(0.1);
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let (d1, d2, d3) = (central(h), central(h / 2.0), central(h / 4.0));
    let (e1, e2) = ((4.0 * d2 - d1) / 3.0, (4.0 * d3 - d2) / 3.0);
    (16.0 * e2 - e1) / 15.0
}

#[test]
fn gradients_are_those_of_central_differences() {
    let mut numbers = Numbers(1);
    for (name, problem) in problems() {
        let target = &*problem.target;
        let points = points(&problem, 20, &mut numbers);
        for weights in [WHOLE, Weights { prior: 0.7, likelihood: 0.3 }] {
            let out = evaluate(target, &points, weights);
            for (i, point) in points.iter().enumerate() {
                let gradient = out.gradient.point(i);
                if out.log_likelihood[i] == f64::NEG_INFINITY {
                    assert!(gradient.iter().all(|g| *g == 0.0), "{name} at {point:?}: lost");
                    continue;
                }
                let size = gradient.iter().fold(1.0_f64, |most, g| most.max(g.abs()));
                for d in 0..target.dim() {
                    let moved = |x: f64| {
                        let mut moved = point.clone();
                        moved[d] = x;
                        let out = evaluate(target, &[moved], weights);
                        weights.prior * out.log_prior[0]
                            + weights.likelihood * out.log_likelihood[0]
                    };
                    let slope = derivative(moved, point[d]);
                    let error = (gradient[d] - slope).abs();
                    assert!(error < 1e-6 * size, "{name} at {point:?}: {gradient:?}, {slope}");
                }
            }
        }
    }
}

#[test]
fn values_and_gradients_are_the_same_every_time_and_in_any_batch() {
    let mut numbers = Numbers(2);
    for (name, problem) in problems() {
        let points = points(&problem, 33, &mut numbers);
        let (a, b) = (evaluate(&*problem.target, &points, WHOLE), log_p(&*problem.target, &points));
        if let Ok(entry) = registry::find(&name) {
            let again = log_p(&*entry.build(&[]).unwrap().target, &points);
            assert_eq!(b, again, "{name}");
        }
        for i in [0, 7, 32] {
            let alone = evaluate(&*problem.target, &points[i..=i], WHOLE);
            assert_eq!(a.gradient.point(i), alone.gradient.point(0), "{name}");
            assert_close(a.log_prior[i] + a.log_likelihood[i], b[i], 1e-14, &name);
        }
    }
}

/// A mode may be a ridge, so a neighbour may be equally high, but not higher.
#[test]
fn modes_are_local_maxima_and_their_weights_sum_to_one() {
    let mut numbers = Numbers(3);
    for (name, problem) in problems() {
        let modes = &problem.known.modes;
        let total: f64 = modes.iter().map(|mode| mode.weight).sum();
        assert!(modes.is_empty() || (total - 1.0).abs() < 1e-12, "{name}: {total}");
        for (index, mode) in modes.iter().enumerate() {
            let out = evaluate(&*problem.target, slice::from_ref(&mode.location), WHOLE);
            let height = out.log_prior[0] + out.log_likelihood[0];
            let steepest = out.gradient.point(0).iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            // The slope of a neighbouring ring is 1e-8, which moves the peak by less. With data, the
            // mode is that of the unconstrained coordinates, which tests/examples_4_5.rs checks.
            if problem.data.is_some() {
                continue;
            }
            assert!(steepest < 1e-7, "{name} at {:?}: {steepest}", mode.location);
            let mut lower = 0;
            for _ in 0..50 {
                let near = mode.location.iter().map(|x| x + 1e-3 * numbers.normal()).collect();
                let beside = log_p(&*problem.target, &[near])[0];
                assert!(beside <= height + 1e-12 * height.abs(), "{name} at {:?}", mode.location);
                lower += usize::from(beside < height);
            }
            assert!(lower >= 45, "{name}: flat at {:?}", mode.location);
            assert_eq!(problem.known.mode_of(&mode.location), Some(index), "{name}");
        }
    }
}

#[test]
fn far_away_nothing_is_nan() {
    for (name, problem) in problems() {
        let dim = problem.target.dim();
        for far in [0.0, 1e3, 1e6] {
            for pattern in 0..4 {
                let sign = |d: usize| match pattern {
                    0 => 1.0,
                    1 => -1.0,
                    2 => [1.0, -1.0][d % 2],
                    _ => [-1.0, 0.0][d.min(1)],
                };
                let point: Vec<f64> = (0..dim).map(|d| far * sign(d)).collect();
                let out = evaluate(&*problem.target, slice::from_ref(&point), WHOLE);
                let value = out.log_prior[0] + out.log_likelihood[0];
                assert!(value < f64::INFINITY, "{name} at {point:?}: {value}");
                assert!(out.gradient.point(0).iter().all(|g| g.is_finite()), "{name} at {point:?}");
                let inside = (0..dim).all(|d| match problem.target.support(d) {
                    Support::Between(low, high) => low <= point[d] && point[d] <= high,
                    // For a prior, a bound belongs to the support.
                    Support::Above(low) => low <= point[d],
                    support => Support::contain(&[support], &[point[d]]),
                });
                assert!(inside || value == f64::NEG_INFINITY, "{name} at {point:?}: {value}");
            }
        }
    }
}

#[test]
fn outside_the_support_there_is_nothing() {
    for (name, out) in [("shells", 6.0 + 1e-9), ("eggbox", -1e-9), ("eggbox", 10.0 * PI + 1e-9)] {
        let target = registry::find(name).unwrap().build(&[]).unwrap().target;
        for point in [vec![out, 1.0], vec![1.0, out]] {
            let evaluation = evaluate(&*target, &[point], WHOLE);
            assert_eq!(evaluation.log_prior[0], f64::NEG_INFINITY);
            assert_eq!(evaluation.gradient.point(0), [0.0, 0.0]);
        }
        assert!(log_p_at(&*target, &[1.0, 1.0]).is_finite());
    }
}

/// With a floor under p the quadratic would end at about |z − mean| = 1.7.
#[test]
fn mixtures_have_no_floor() {
    let mu = 4.0;
    for (name, right, left) in [("mixture1d", 2.0, -2.0), ("mixture1d-asymmetric", 0.0, -4.0)] {
        let target = registry::find(name).unwrap().build(&[("mu".into(), mu)]).unwrap().target;
        for (z, mean) in [(100.0, right), (-100.0, left)] {
            let exact = -8.0 * (z - mean) * (z - mean) - (2.0 * (PI / 8.0).sqrt()).ln();
            assert_close(log_p_at(&*target, &[z]), exact, 1e-14, name);
            let slope = evaluate(&*target, &[vec![z]], WHOLE).gradient.point(0)[0];
            assert_close(slope, -16.0 * (z - mean), 1e-14, name);
        }
    }
    let target = registry::find("mixture2d").unwrap().build(&[("mu".into(), 0.5)]).unwrap().target;
    for (point, mean) in [([100.0, -70.0], 1.5), ([-100.0, 3.0], -1.5)] {
        let square = f64::powi(point[0] - mean, 2) + f64::powi(point[1] - 0.5, 2);
        let exact = (8.0 / PI).ln() - 16.0 * square;
        assert_close(log_p_at(&*target, &point), exact, 1e-14, "mixture2d");
    }
}

#[test]
fn kernels_by_hand_agree_with_recorded_programs() {
    let bimodal = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    agree(&hand::Bimodal, &bimodal);
    for mu in [0.0, 0.5, 2.5] {
        let mixture = Program::record(2, |z| {
            let mode =
                |u: f64| (8.0 / PI).ln() - 16.0 * ((z[0] - u).square() + (z[1] - mu).square());
            log_sum_exp(&[mode(-mu - 1.0), mode(mu + 1.0)])
        });
        agree(&hand::Mixture2d { mu }, &mixture);
    }
    let moons = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let side = |u: f64| -((x - u) / 0.3).square() / 2.0;
        -(((x * x + y * y).sqrt() - 2.0) / 0.2).square() / 2.0
            + log_sum_exp(&[side(2.0), side(-2.0)])
    });
    agree(&hand::TwoMoons, &moons);
}

fn agree(hand: &dyn Target, program: &Program) {
    let mut numbers = Numbers(4);
    let point = |numbers: &mut Numbers| (0..hand.dim()).map(|_| 3.0 * numbers.normal()).collect();
    let points: Vec<Vec<f64>> = (0..500).map(|_| point(&mut numbers)).collect();
    let weights = Weights { prior: 0.2, likelihood: 0.6 };
    let (a, b) = (evaluate(hand, &points, weights), evaluate(program, &points, weights));
    for i in 0..points.len() {
        assert_close(a.log_likelihood[i], b.log_likelihood[i], 1e-12, "value");
        let (a, b) = (a.gradient.point(i), b.gradient.point(i));
        let size = b.iter().fold(1.0_f64, |most, g| most.max(g.abs()));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-12 * size, "{a} is not {b} at {:?}", points[i]);
        }
    }
}

#[test]
fn every_entry_is_well_formed() {
    for (index, entry) in registry::ALL.iter().enumerate() {
        let problem = entry.build(&[]).unwrap();
        problem.settings.check(&*problem.target).unwrap();
        let dim = problem.target.dim();
        let names = problem.target.names();
        assert!(names.len() == dim && names.iter().all(|name| !name.is_empty()), "{}", entry.name);
        assert!(!entry.summary.is_empty() && !entry.summary.contains('\n'));
        assert!(registry::ALL[..index].iter().all(|other| other.name != entry.name));
        for values in [&problem.known.mean, &problem.known.sd] {
            assert!(values.as_ref().is_none_or(|values| values.len() == dim), "{}", entry.name);
        }
        assert!(problem.known.modes.iter().all(|mode| mode.location.len() == dim));
    }
}

#[test]
fn unknown_names_are_met_with_known_ones() {
    let message = |result: adaann::Result<Problem>| result.err().unwrap().to_string();
    let found = registry::find("rosenbrok").err().unwrap().to_string();
    assert_eq!(found, "there is no target called 'rosenbrok'; did you mean 'rosenbrock'?");
    assert!(matches!(
        registry::find("pendulum"),
        Err(Error::UnknownName { kind: "target", nearest: None, .. })
    ));
    let shells = registry::find("shells").unwrap();
    let bad = |name: &str, value| message(shells.build(&[(name.to_string(), value)]));
    assert_eq!(bad("dims", 5.0), "there is no parameter called 'dims'; did you mean 'dim'?");
    for value in [1.0, 2.5, -3.0, 1e9, f64::NAN] {
        assert!(bad("dim", value).starts_with("dim is "), "{value}");
    }
    let odd = registry::find("many-well").unwrap().build(&[("dim".into(), 3.0)]);
    assert!(message(odd).contains("even"));
    for name in ["mixture1d", "mixture1d-asymmetric", "mixture2d"] {
        let negative = registry::find(name).unwrap().build(&[("mu".into(), -1.0)]);
        assert_eq!(message(negative), "mu is -1, but must be 0 or more");
    }
}

/// The paper's learning rates and tolerances.
#[test]
fn the_papers_examples_have_the_papers_settings() {
    let rate = |name: &str, mu: f64| {
        registry::find(name).unwrap().build(&[("mu".into(), mu)]).unwrap().settings.lr
    };
    let symmetric = [1.0, 2.0, 3.0, 5.0, 6.0, 16.0].map(|mu| rate("mixture1d", mu));
    assert_eq!(symmetric, [0.02, 0.02, 0.001, 0.001, 0.0005, 0.0005]);
    let asymmetric = [1.0, 2.0, 3.0, 4.0, 8.0].map(|mu| rate("mixture1d-asymmetric", mu));
    assert_eq!(asymmetric, [0.01, 0.01, 0.002, 0.001, 0.001]);
    let plane = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5].map(|mu| rate("mixture2d", mu));
    assert_eq!(plane, [0.001, 0.0008, 0.0005, 0.0005, 0.0005, 0.0002]);
    for (name, tau, refine) in
        [("bimodal", 0.01, 8_000), ("mixture1d", 0.005, 5), ("mixture2d", 0.01, 5)]
    {
        let settings = registry::find(name).unwrap().build(&[]).unwrap().settings;
        assert_eq!(settings.schedule, Schedule::AdaAnn(AdaAnn { t0: 0.01, tau }));
        assert_eq!(settings.work.refine, refine);
    }
}
