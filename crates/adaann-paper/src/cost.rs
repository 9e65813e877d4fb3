//! Estimates the cost of a trial in arbitrary units, to predict the remaining time.

use crate::experiments::Point;
use adaann::{
    flow::{Base, Flow},
    schedule::{AdaAnn, Guarded, Rule, Schedule},
};

/// The relative cost of solving a dynamical system with a flow of 250 layers.
const OF_DYNAMICS: f64 = 2.0;

/// The number of points times the number of parameters, each of which is used about once per point.
pub(crate) fn of_trial(point: &Point) -> f64 {
    let settings = &point.settings;
    let dim = point.problem().target.dim();
    let parameters = Flow::new(&settings.flow, Base::standard(dim))
        .map_or(1.0, |flow| flow.parameters().len() as f64);
    let steps = steps(&settings.schedule, dim) - 1.0;
    let work = &settings.work;
    let before = if steps > 0.0 { work.warmup as f64 } else { 0.0 };
    let trained = (before + steps * work.anneal as f64) * settings.samples as f64
        + work.refine as f64 * settings.refine_samples as f64;
    // Draws for the schedule need only forward passes.
    let drawn = match settings.schedule {
        Schedule::AdaAnn(_) | Schedule::Guarded(_) => {
            steps * settings.variance_samples as f64 / 3.0
        }
        _ => 0.0,
    };
    // A network parameter takes a fifth of the time of a parameter of a planar layer.
    let networks = if settings.flow.has_networks() { 0.2 } else { 1.0 };
    let dynamics = if point.problem().data.is_some() { OF_DYNAMICS } else { 1.0 };
    (trained + drawn) * parameters * networks * dynamics
}

/// The number of values of t: exact, or that of a Gaussian, for which a step multiplies t by 1 + τ √(2/d).
fn steps(schedule: &Schedule, dim: usize) -> f64 {
    match schedule {
        Schedule::AdaAnn(AdaAnn { t0, tau }) | Schedule::Guarded(Guarded { t0, tau, .. }) => {
            let factor = tau * (2.0 / dim as f64).sqrt();
            -t0.max(1e-5).ln() / factor.ln_1p()
        }
        other => other.count().unwrap_or(1) as f64,
    }
}
