//! Compares lines that depend on the states of a system with observations written by hand.

use super::*;
use crate::Batch;
use crate::ode::{self, Noise, Observations, Scatter, Solver, System};
use crate::prior::Prior;
use crate::program::{Expr, Function, Gather, Graph, Node, RowInput};
use crate::target::{Evaluation, Target, Weights};
use std::cell::RefCell;
use std::f64::consts::TAU;

const WEIGHTS: Weights = Weights { prior: 0.7, likelihood: 1.3 };
const TIMES: [f64; 7] = [0.0, 0.4, 0.4, 1.0, 1.7, 2.5, 2.5];
const PREY: [f64; 7] = [1.1, 0.9, 1.0, 0.7, 0.8, 1.2, 1.6];
const PREDATORS: [f64; 7] = [0.5, f64::NAN, 0.6, f64::NAN, f64::NAN, 0.9, 1.1];

/// Parameters: ln birth, ln death, scatter, predators at the start. Further inputs: time, the two
/// states, the two columns and a gathered element.
fn recorded(solver: Solver, with_gather: bool) -> Recorded {
    let cell = RefCell::new(Graph::new());
    let z: Vec<Expr<'_>> = (0..10).map(|input| Expr::input(&cell, input)).collect();
    let (birth, death, sd) = (z[0].exp(), z[1].exp(), z[2]);
    let (t, x, y) = (z[4], z[5], z[6]);
    let rates = [birth * x - x * y + 0.1 * t.sin(), x * y - death * y];
    let shift = if with_gather { z[9] } else { 0.0.into() };
    let log_y = z[8].ln() - y.ln();
    let lines = [
        -0.5 * sd.recip().square() * (z[7] - x - shift).square() - sd.ln() - 0.5 * TAU.ln(),
        -0.5 * log_y.square() / 0.04 - 0.5 * (TAU * 0.04).ln() - z[8].ln(),
    ];
    let rows = |column: [f64; 7]| (0..7).filter(|row| !column[*row as usize].is_nan()).collect();
    let lines = vec![
        Line { log_density: lines[0].node(&cell), rows: rows(PREY) },
        Line { log_density: lines[1].node(&cell), rows: rows(PREDATORS) },
    ];
    let rates = rates.iter().map(|rate| rate.node(&cell)).collect();
    let initial = vec![Expr::from(1.0).node(&cell), z[3].node(&cell)];
    let gathers = vec![Gather {
        vector: vec![z[3].node(&cell), (0.1 * z[0]).node(&cell)],
        index: vec![0, 1, 1, 0, 1, 0, 1],
    }];
    let zero = Expr::from(0.0).node(&cell);
    Recorded {
        parameters: 4,
        row_inputs: vec![
            RowInput::Time,
            RowInput::State(0),
            RowInput::State(1),
            RowInput::Column(0),
            RowInput::Column(1),
            RowInput::Gather(0),
        ],
        columns: vec![PREY.to_vec(), PREDATORS.to_vec()],
        gathers,
        log_prior: zero,
        direct: zero,
        lines,
        system: Some(RecordedSystem {
            names: vec!["prey".into(), "predators".into()],
            rates,
            readings: Vec::new(),
            initial,
            jumps: Vec::new(),
            moments: Vec::new(),
            solver,
            settle: 0.0,
            times: TIMES.to_vec(),
            subjects: Subjects::one(TIMES.len(), 0.0),
            stretches: Vec::new(),
        }),
        series: None,
        graph: cell.into_inner(),
    }
}

/// The same system with nothing moved out of it.
fn system() -> System {
    System::record(
        &["prey", "predators"],
        &["ln birth", "ln death", "sd", "start"],
        |t, x, p| {
            let growth = p[0].exp() * x[0] - x[0] * x[1] + 0.1 * t.sin();
            vec![growth, x[0] * x[1] - p[1].exp() * x[1]]
        },
        0.0,
        |p| vec![1.0.into(), p[3]],
    )
    .unwrap()
}

const PRIORS: [Prior; 4] = [
    Prior::Flat,
    Prior::Normal { mean: -0.3, sd: 0.8 },
    Prior::HalfNormal { sd: 1.1 },
    Prior::LogNormal { log_mean: 0.2, log_sd: 0.7 },
];

fn log_prior() -> Function {
    Function::record(4, |z| {
        vec![PRIORS.iter().zip(z).map(|(prior, &z)| prior.log_density(z)).sum::<Expr<'_>>()]
    })
}

fn points(len: usize) -> Batch {
    let point = |i: usize| {
        let wave = |speed: f64| (speed * i as f64 + 0.2).sin();
        [0.3 * wave(1.1), 0.2 * wave(0.7) - 0.2, 0.6 + 0.3 * wave(2.3), 0.8 + 0.4 * wave(1.9)]
    };
    Batch::from_points(4, &(0..len).map(point).collect::<Vec<_>>())
}

fn evaluate(target: &impl Target, points: &Batch, weights: Option<Weights>) -> Evaluation {
    let mut out = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(points, weights, &mut out).unwrap();
    out
}

const SOLVERS: [Solver; 2] = [Solver::Rk4 { step: 0.05 }, Solver::ADAPTIVE];

#[test]
fn lines_are_what_observations_are() {
    let system = system();
    let quantities = [
        ("prey", Noise::Gaussian(Scatter::SdParameter(2))),
        ("predators", Noise::LogNormal(Scatter::Variance(0.04))),
    ];
    let values: Vec<f64> = PREY.iter().zip(PREDATORS).flat_map(|(x, y)| [*x, y]).collect();
    for solver in SOLVERS {
        let data =
            Observations::record(&system, &quantities, &TIMES, &values, |_, x, _| x.to_vec());
        let by_hand = OdePosterior::new(&system, solver, data.unwrap(), &PRIORS).unwrap();
        let mut recorded = recorded(solver, false);
        let theta: Vec<Node> = (0..4).map(|d| recorded.graph.input(d)).collect();
        recorded.log_prior = log_prior().at(&mut recorded.graph, &theta)[0];
        let posterior = Posterior::new(recorded).unwrap();
        let points = points(40);
        let found = evaluate(&posterior, &points, Some(WEIGHTS));
        let expected = evaluate(&by_hand, &points, Some(WEIGHTS));
        let alone = evaluate(&posterior, &points, None);
        for i in 0..40 {
            // Log densities and slopes are sums of a dozen terms of size up to 100 at most.
            let near = |a: f64, b: f64| {
                assert!((a - b).abs() <= 1e-13 * (100.0 + b.abs()), "{solver:?} {i}: {a}, not {b}");
            };
            near(found.log_prior[i], expected.log_prior[i]);
            near(found.log_likelihood[i], expected.log_likelihood[i]);
            near(alone.log_likelihood[i], expected.log_likelihood[i]);
            for (a, b) in found.gradient.point(i).into_iter().zip(expected.gradient.point(i)) {
                near(a, b);
            }
        }
    }
}

#[test]
fn gathered_elements_reach_lines_with_states() {
    for solver in SOLVERS {
        let posterior = Posterior::new(recorded(solver, true)).unwrap();
        let points = points(5);
        let found = evaluate(&posterior, &points, Some(WEIGHTS));
        let h = 1e-3;
        for d in 0..4 {
            let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k: f64| {
                let mut moved = points.clone();
                moved.row_mut(d).iter_mut().for_each(|x| *x += k * h);
                evaluate(&posterior, &moved, None).log_likelihood
            });
            for i in 0..5 {
                let difference = (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * h);
                let slope = found.gradient.row(d)[i] / WEIGHTS.likelihood;
                // Differences of order 4, and of an adaptive solution, whose steps vary: it is
                // smooth only to the tolerance over h.
                let tolerance = if solver == Solver::ADAPTIVE { 1e-3 } else { 1e-7 };
                let size = 1.0 + slope.abs() + a[i].abs();
                assert!(
                    (slope - difference).abs() < tolerance * size,
                    "{solver:?}, coordinate {d}: {slope}, not {difference}"
                );
            }
        }
        let plain = Posterior::new(recorded(solver, false)).unwrap();
        let without = evaluate(&plain, &points, None).log_likelihood[0];
        assert!((without - found.log_likelihood[0]).abs() > 1e-3, "the element has an effect");
    }
}

#[test]
fn solutions_are_those_of_the_system() {
    let recorded = recorded(Solver::Rk4 { step: 0.05 }, true);
    let points = points(3);
    let states = Dynamics::new(&recorded).unwrap().states(&points).unwrap();
    let expected = ode::solve(&system(), &Solver::Rk4 { step: 0.05 }, &points, &[1.0]).unwrap();
    for i in 0..3 {
        let (x, y) = (states[3].point(i), expected.states[0].point(i));
        assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-14));
    }
}

#[test]
fn lost_trajectories_have_no_gradient() {
    let posterior = Posterior::new(recorded(Solver::Rk4 { step: 0.05 }, false)).unwrap();
    let points = Batch::from_points(4, &[[0.1, 0.1, 0.5, 0.9], [9.0, 0.1, 0.5, 0.9]]);
    let out = evaluate(&posterior, &points, Some(WEIGHTS));
    assert!(out.log_likelihood[0].is_finite());
    assert_eq!(out.log_likelihood[1], f64::NEG_INFINITY);
    assert_eq!(out.gradient.point(1), [0.0; 4]);
    let alone = Batch::from_points(4, &[points.point(0)]);
    assert_eq!(
        evaluate(&posterior, &alone, Some(WEIGHTS)).gradient.point(0),
        out.gradient.point(0)
    );
}

#[test]
fn what_no_system_can_be_is_refused() {
    let mut late = recorded(Solver::ADAPTIVE, false);
    late.system.as_mut().unwrap().times[3] = 0.2;
    let error = Posterior::new(late).unwrap_err().to_string();
    assert!(error.contains("sort the rows by time (row 4)"), "{error}");
    let mut early = recorded(Solver::ADAPTIVE, false);
    early.system.as_mut().unwrap().subjects.starts = vec![0.1];
    let error = Posterior::new(early).unwrap_err().to_string();
    assert!(error.contains("row 1") && error.contains("0.1"), "{error}");
    let mut of_data = recorded(Solver::ADAPTIVE, false);
    of_data.system.as_mut().unwrap().rates[0] = of_data.lines[0].log_density;
    let error = Posterior::new(of_data).unwrap_err().to_string();
    assert!(error.contains("columns of the data"), "{error}");
    let mut without = recorded(Solver::ADAPTIVE, false);
    without.system = None;
    let error = Posterior::new(without).unwrap_err().to_string();
    assert!(error.contains("Time"), "{error}");
}

/// The times end at 2.5: steps of 0.1 and 0.05 are 25 and 50.
#[test]
fn operations_grow_with_the_steps() {
    let cost = |solver| Posterior::new(recorded(solver, false)).unwrap().operations().unwrap();
    let fixed = [0.1, 0.05, 0.025].map(|step| cost(Solver::Rk4 { step }));
    let ratio = (fixed[2] - fixed[1]) / (fixed[1] - fixed[0]);
    assert!((ratio - 2.0).abs() < 1e-9, "{fixed:?}");
    let adaptive = cost(Solver::ADAPTIVE);
    assert!(cost(Solver::ADAPTIVE.tightened()) > 1.5 * adaptive, "{adaptive}");
    assert_eq!(adaptive, cost(Solver::ADAPTIVE));
}
