//! Posteriors of dynamical systems: observation models, missing data, non-finite trajectories.

use crate::support::systems;
use adaann::ode::{Differentiation, Noise, Observations, Scatter, Solver, System};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::registry;
use adaann::target::{Evaluation, Support, Target, Weights};
use adaann::{Batch, Expr};
use std::f64::consts::TAU;

const BOTH: Weights = Weights { prior: 1.0, likelihood: 1.0 };

fn evaluate(target: &dyn Target, points: &[Vec<f64>], weights: Option<Weights>) -> Evaluation {
    let points = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(&points, weights, &mut out).unwrap();
    out
}

/// x = x_0 e^(−k t), with an optionally inferred noise scale.
fn decay() -> System {
    System::record(
        &["x"],
        &["k", "x_0", "scale"],
        |_, x, p| vec![-p[0] * x[0]],
        0.0,
        |p| vec![p[1]],
    )
    .unwrap()
}

const TIMES: [f64; 4] = [0.0, 0.31, 1.0, 2.7];
const VALUES: [f64; 4] = [2.2, 1.4, f64::NAN, 0.3];
const POINT: [f64; 3] = [0.9, 1.8, 0.4];

fn posterior(noise: Noise) -> OdePosterior {
    let system = decay();
    let data = Observations::of_states(&system, &["x"], noise, &TIMES, &VALUES).unwrap();
    let priors = [Prior::Flat, Prior::Normal { mean: 1.0, sd: 2.0 }, Prior::HalfNormal { sd: 1.0 }];
    let solver = Solver::DormandPrince { relative: 1e-10, absolute: 1e-12, most_steps: 10_000 };
    OdePosterior::new(&system, solver, data, &priors).unwrap()
}

/// log N(y; m, v)
fn log_normal_density(y: f64, m: f64, v: f64) -> f64 {
    -0.5 * ((y - m).powi(2) / v + (TAU * v).ln())
}

#[test]
fn noise_models_are_what_they_say() {
    let [k, x0, scale] = POINT;
    type LogDensity<'a> = &'a dyn Fn(f64, f64) -> f64;
    let models: [(Noise, LogDensity<'_>); 5] = [
        (Noise::Gaussian(Scatter::Variance(0.09)), &|y, m| log_normal_density(y, m, 0.09)),
        (Noise::Gaussian(Scatter::VarianceParameter(2)), &|y, m| log_normal_density(y, m, scale)),
        (Noise::Gaussian(Scatter::SdParameter(2)), &|y, m| log_normal_density(y, m, scale * scale)),
        (Noise::LogNormal(Scatter::Variance(0.2)), &|y, m| {
            log_normal_density(y.ln(), m.ln(), 0.2) - y.ln()
        }),
        (Noise::LogNormal(Scatter::SdParameter(2)), &|y, m| {
            log_normal_density(y.ln(), m.ln(), scale * scale) - y.ln()
        }),
    ];
    for (noise, log_density) in models {
        let target = posterior(noise);
        let out = evaluate(&target, &[POINT.to_vec()], Some(BOTH));
        let expected: f64 = TIMES
            .iter()
            .zip(VALUES)
            .filter(|(_, y)| !y.is_nan())
            .map(|(t, y)| log_density(y, x0 * (-k * t).exp()))
            .sum();
        let found = out.log_likelihood[0];
        assert!((found - expected).abs() < 1e-8, "{noise:?}: {found} for {expected}");
        let prior =
            log_normal_density(x0, 1.0, 4.0) + log_normal_density(scale, 0.0, 1.0) + 2_f64.ln();
        assert!((out.log_prior[0] - prior).abs() < 1e-12);
        // The gradient, including the noise scale, compared with differences.
        for d in 0..3 {
            let h = 1e-4;
            let moved = [-2.0, -1.0, 1.0, 2.0].map(|k| {
                let mut point = POINT.to_vec();
                point[d] += k * h;
                point
            });
            let at = evaluate(&target, &moved, None);
            let f: Vec<f64> = (0..4).map(|i| at.log_prior[i] + at.log_likelihood[i]).collect();
            let slope = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h);
            let found = out.gradient.row(d)[0];
            assert!(
                (found - slope).abs() < 1e-6 * slope.abs().max(1.0),
                "{noise:?} d {d}: {found} {slope}"
            );
        }
    }
}

#[test]
fn functions_of_time_states_and_parameters_can_be_observed() {
    let system = decay();
    let gaussian = Noise::Gaussian(Scatter::Variance(1.0));
    let quantities = [("sum", gaussian), ("product", Noise::LogNormal(Scatter::Variance(0.5)))];
    let data = Observations::record(&system, &quantities, &[0.7], &[1.1, 2.0], |t, x, p| {
        vec![x[0] + t, p[2] * x[0]]
    });
    let solver = Solver::Rk4 { step: 0.01 };
    let target = OdePosterior::new(&system, solver, data.unwrap(), &[Prior::Flat; 3]).unwrap();
    let x = POINT[1] * (-POINT[0] * 0.7_f64).exp();
    let expected = log_normal_density(1.1, x + 0.7, 1.0)
        + log_normal_density(2.0_f64.ln(), (POINT[2] * x).ln(), 0.5)
        - 2.0_f64.ln();
    let found = evaluate(&target, &[POINT.to_vec()], None).log_likelihood[0];
    assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
}

#[test]
fn missing_measurements_say_nothing() {
    // Dropping a row is the same as marking its only measurement as missing.
    let system = decay();
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let solver = Solver::Rk4 { step: 0.05 };
    let target = |times: &[f64], values: &[f64]| {
        let data = Observations::of_states(&system, &["x"], noise, times, values).unwrap();
        OdePosterior::new(&system, solver, data, &[Prior::Flat; 3]).unwrap()
    };
    let with = target(&[0.5, 1.0, 2.0], &[1.0, f64::NAN, 0.4]);
    let without = target(&[0.5, 2.0], &[1.0, 0.4]);
    let [a, b] = [&with, &without].map(|t| evaluate(t, &[POINT.to_vec()], Some(BOTH)));
    assert!((a.log_likelihood[0] - b.log_likelihood[0]).abs() < 1e-12);
    for d in 0..3 {
        assert!((a.gradient.row(d)[0] - b.gradient.row(d)[0]).abs() < 1e-10);
    }
}

/// x' = a x², which ends at t = 1/a.
fn explosive(priors: Prior) -> OdePosterior {
    let system = systems::explosive();
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let data = Observations::of_states(&system, &["x"], noise, &[0.2, 1.0], &[1.1, 1.5]).unwrap();
    OdePosterior::new(&system, Solver::Rk4 { step: 0.01 }, data, &[priors]).unwrap()
}

#[test]
fn lost_trajectories_cost_their_samples_and_nothing_else() {
    let points: Vec<Vec<f64>> = vec![vec![0.3], vec![4.0], vec![f64::NAN], vec![0.4]];
    for way in [Differentiation::Forward, Differentiation::Adjoint] {
        let target = explosive(Prior::Normal { mean: 0.0, sd: 1.0 }).with_differentiation(way);
        let target = target.unwrap();
        let out = evaluate(&target, &points, Some(BOTH));
        for i in [1, 2] {
            assert_eq!(out.log_likelihood[i], f64::NEG_INFINITY);
            assert_eq!(out.gradient.row(0)[i], 0.0);
        }
        for i in [0, 3] {
            let alone = evaluate(&target, &points[i..=i], Some(BOTH));
            assert_eq!(out.log_likelihood[i], alone.log_likelihood[0]);
            assert_eq!(out.gradient.row(0)[i], alone.gradient.row(0)[0]);
            assert!(alone.gradient.row(0)[0] != 0.0);
        }
        // If the likelihood has weight 0, the prior's gradient remains.
        let out = evaluate(&target, &points, Some(Weights { prior: 1.0, likelihood: 0.0 }));
        assert_eq!(out.gradient.row(0)[1], -4.0);
    }
}

#[test]
fn a_floor_replaces_what_is_below_it() {
    let target = explosive(Prior::Normal { mean: 0.0, sd: 1.0 });
    let free = evaluate(&target, &[vec![0.3], vec![0.7]], Some(BOTH));
    let floor = 0.5 * (free.log_likelihood[0] + free.log_likelihood[1]);
    let out = evaluate(&target.with_floor(floor), &[vec![0.3], vec![0.7], vec![4.0]], Some(BOTH));
    assert!(free.log_likelihood[0] > floor && free.log_likelihood[1] < floor);
    assert_eq!(out.log_likelihood[..3], [free.log_likelihood[0], floor, floor]);
    // Below it only the prior's gradient remains.
    assert_eq!(out.gradient.row(0), [free.gradient.row(0)[0], -0.7, -4.0]);
}

#[test]
fn the_cheaper_gradient_is_chosen() {
    let wide = systems::chain().posterior(Solver::Rk4 { step: 0.1 });
    assert_eq!(wide.differentiation(), Differentiation::Adjoint);
    let (forward, adjoint) = wide.operations_per_step();
    assert!(forward.unwrap() > 2 * adjoint, "{forward:?} and {adjoint}");
    // One parameter of an expensive right-hand side: an adjoint would double the work.
    let system = System::record(
        &["x"],
        &["a"],
        |t, x, p| vec![p[0] + (1..9).map(|k| (x[0] + f64::from(k) * t).sin()).sum::<Expr<'_>>()],
        0.0,
        |_| vec![1.0.into()],
    )
    .unwrap();
    let noise = Noise::Gaussian(Scatter::Variance(1.0));
    let data = Observations::of_states(&system, &["x"], noise, &[1.0], &[1.0]).unwrap();
    let narrow =
        OdePosterior::new(&system, Solver::Rk4 { step: 0.1 }, data, &[Prior::Flat]).unwrap();
    assert_eq!(narrow.differentiation(), Differentiation::Forward);
}

#[test]
fn it_is_a_posterior_with_names_and_supports() {
    let target = posterior(Noise::Gaussian(Scatter::SdParameter(2)));
    assert_eq!(target.names(), ["k", "x_0", "scale"]);
    assert!(target.has_prior() && !target.has_proper_prior());
    let supports: Vec<Support> = (0..3).map(|d| target.support(d)).collect();
    assert_eq!(supports, [Support::Real, Support::Real, Support::Above(0.0)]);
}

#[test]
fn data_that_makes_no_sense_is_refused_with_its_place() {
    let system = decay();
    let gaussian = Noise::Gaussian(Scatter::Variance(0.1));
    let refused = |noise, times: &[f64], values: &[f64]| {
        Observations::of_states(&system, &["x"], noise, times, values).unwrap_err().to_string()
    };
    for (noise, times, values, message) in [
        (gaussian, &[1.0, 0.5][..], &[1.0, 1.0][..], "sort the rows by time (row 2)"),
        (gaussian, &[-1.0], &[1.0], "row 1 of the data has time -1"),
        (gaussian, &[f64::NAN], &[1.0], "row 1 of the data has time NaN"),
        (gaussian, &[1.0], &[f64::INFINITY], "x in row 1 of the data is inf"),
        (gaussian, &[1.0], &[f64::NAN], "every value is missing"),
        (gaussian, &[], &[], "every value is missing"),
        (gaussian, &[1.0], &[1.0, 2.0], "2 values found, 1 expected"),
        (Noise::LogNormal(Scatter::Variance(1.0)), &[1.0, 2.0], &[1.0, 0.0], "x in row 2"),
        (Noise::Gaussian(Scatter::Variance(0.0)), &[1.0], &[1.0], "noise-variance is 0"),
        (Noise::Gaussian(Scatter::SdParameter(3)), &[1.0], &[1.0], "the noise's parameter"),
    ] {
        let said = refused(noise, times, values);
        assert!(said.contains(message), "{said}");
    }
    let unknown = Observations::of_states(&system, &["y"], gaussian, &[1.0], &[1.0]);
    assert!(unknown.unwrap_err().to_string().contains("'y'"));
    let data = Observations::of_states(&system, &["x"], gaussian, &[1.0], &[1.0]).unwrap();
    let few = OdePosterior::new(&system, Solver::ADAPTIVE, data, &[Prior::Flat]);
    assert!(few.unwrap_err().to_string().contains("one for each parameter"));
}

/// A registered posterior solves the same system as its likelihood: data simulated from a seed
/// differs from the solution at the true parameters only by the noise.
#[test]
fn registered_dynamics_give_the_solution_behind_the_data() {
    for (name, observed, variance) in
        [("lorenz", &["x", "y", "z"][..], 0.2), ("hiv", &["x3"], 5e-4)]
    {
        let problem = registry::find(name).unwrap().build(&[]).unwrap();
        let (dynamics, data) = (problem.dynamics.unwrap(), problem.data.unwrap());
        assert_eq!(dynamics.observed(), observed);
        let times: Vec<f64> = data.rows.iter().map(|row| row[0]).collect();
        let solution = dynamics.solve(dynamics.truth(), &times).unwrap();
        let mut squares = Vec::new();
        for (column, state) in dynamics.observed().iter().enumerate() {
            let state = dynamics.states().iter().position(|name| name == state).unwrap();
            let errors = data.rows.iter().zip(&solution[state]).map(|(row, x)| row[column + 1] - x);
            squares.extend(errors.map(|error| error * error / variance));
        }
        // The mean of n squared normals is 1 ± √(2/n); the test allows four of these.
        let n = squares.len() as f64;
        let mean = squares.iter().sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{name}: {mean} of {n}");
        // Other parameters give another solution, and a wrong number of them gives none.
        let moved: Vec<f64> = dynamics.truth().iter().map(|p| 1.1 * p).collect();
        assert_ne!(dynamics.solve(&moved, &times).unwrap(), solution);
        assert!(dynamics.solve(&moved[1..], &times).is_err());
        let lost = dynamics.solve(&[1e200, 1.0, 1e200], &times).unwrap_err();
        assert!(lost.to_string().contains("leaves the finite range"), "{lost}");
    }
    assert!(registry::find("bimodal").unwrap().build(&[]).unwrap().dynamics.is_none());
}
