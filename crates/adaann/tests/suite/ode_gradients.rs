//! Gradients through the solvers: forward and adjoint modes agree with each other and with
//! differences.

use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Differentiation, Solver};
use adaann::posterior::OdePosterior;
use adaann::target::{Evaluation, Target, Weights};
use systems::Case;

const TIGHT: Solver =
    Solver::DormandPrince { relative: 1e-11, absolute: 1e-12, most_steps: 100_000 };

fn evaluate(posterior: &OdePosterior, points: &[Vec<f64>]) -> Evaluation {
    let points = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(points.dim(), points.len());
    let weights = Weights { prior: 0.7, likelihood: 1.3 };
    posterior.evaluate(&points, Some(weights), &mut out).unwrap();
    out
}

fn weighted(out: &Evaluation, i: usize) -> f64 {
    0.7 * out.log_prior[i] + 1.3 * out.log_likelihood[i]
}

fn cases() -> [Case; 4] {
    [systems::lotka_volterra(), systems::lorenz(), systems::hiv(), systems::chain()]
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

#[test]
fn forward_and_adjoint_agree() {
    for case in cases() {
        for solver in [Solver::Rk4 { step: case.step }, TIGHT] {
            let both = [Differentiation::Forward, Differentiation::Adjoint].map(|way| {
                let posterior = case.posterior(solver).with_differentiation(way).unwrap();
                evaluate(&posterior, &case.points)
            });
            for i in 0..case.points.len() {
                let [forward, adjoint] = [&both[0], &both[1]].map(|out| out.gradient.point(i));
                for (f, a) in forward.iter().zip(&adjoint) {
                    let error = (f - a).abs() / size(&forward);
                    assert!(error < 1e-10, "{} {solver:?}: {f} and {a}", case.name);
                }
                let (f, a) = (weighted(&both[0], i), weighted(&both[1], i));
                assert!((f - a).abs() < 1e-10 * f.abs().max(1.0), "{}: {f} and {a}", case.name);
            }
        }
    }
}

#[test]
fn gradients_agree_with_central_differences() {
    for case in cases() {
        for solver in [Solver::Rk4 { step: case.step }, TIGHT] {
            let posterior = case.posterior(solver);
            let out = evaluate(&posterior, &case.points);
            for (i, point) in case.points.iter().enumerate() {
                let gradient = out.gradient.point(i);
                for d in 0..point.len() {
                    // Fourth-order differences, so that a step suits both the rounding of the sum
                    // and the truncation error.
                    let h = 1e-3 * point[d].abs();
                    let moved: Vec<Vec<f64>> = [-2.0, -1.0, 1.0, 2.0]
                        .map(|k| {
                            let mut moved = point.clone();
                            moved[d] += k * h;
                            moved
                        })
                        .to_vec();
                    let at = evaluate(&posterior, &moved);
                    let f: Vec<f64> = (0..4).map(|k| weighted(&at, k)).collect();
                    let difference = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h);
                    let error = (gradient[d] - difference).abs() / size(&gradient);
                    assert!(
                        error < 1e-6,
                        "{} {solver:?} point {i} d {d}: {} and {difference}, off by {error:e}",
                        case.name,
                        gradient[d]
                    );
                }
            }
        }
    }
}
