//! Figures of a run: the target against its approximation, trajectories, schedule, loss.

mod corner;
mod curve;
mod loss;
mod plane;
mod predictions;
mod schedule;
mod trajectories;

pub(crate) use predictions::draw as predictions;

use crate::{
    folder::{finished::Finished, predicted::predicted},
    text::layout::thousands,
};
use adaann_report::Figure;
use anyhow::Result;

/// Number of draws for the predictions in a page.
const PREDICTING: usize = 200;

/// Maximum number of rows for a figure of predictions, since each row is a dot in the page.
const MOST_ROWS: usize = 50_000;

/// All figures of a run. A stopped run has fewer.
pub(crate) fn draw(finished: &Finished) -> Result<Vec<Figure>> {
    let mut figures = match finished.subject.problem.target.dim() {
        1 => vec![curve::draw(finished)?],
        2 => vec![plane::draw(finished)?],
        _ => corner::draw(finished),
    };
    figures.extend(trajectories::draw(finished)?);
    if finished.subject.model.as_ref().is_some_and(|model| model.rows() <= MOST_ROWS) {
        figures.extend(predicted(finished, None, PREDICTING, 1)?.as_ref().and_then(predictions));
    }
    figures.extend(schedule::draw(&finished.steps));
    figures.extend(loss::draw(&finished.trace));
    Ok(figures)
}

/// Why the target's density is not shown, if it is not, where showing it needs `values` evaluations. It may need
/// a program that must not be started, be unavailable, or take too long.
fn unseen(finished: &Finished, values: usize) -> Option<String> {
    let why = finished.subject.unseen().or_else(|| {
        let is_dear = !finished.takes_values(values);
        is_dear.then(|| {
            format!(
                "The target's density would take {} evaluations; `adaann report` draws it.",
                thousands(values)
            )
        })
    });
    if why.is_none() {
        finished.subject.announce();
    }
    why
}

/// The part of an axis with the draws and the known modes.
fn shown(finished: &Finished, d: usize) -> [f64; 2] {
    let Finished { subject, chosen, .. } = finished;
    let problem = &subject.problem;
    let modes: Vec<f64> = problem.known.modes.iter().map(|mode| mode.location[d]).collect();
    adaann_report::bins::range(chosen.x.row(d), &modes, problem.target.support(d).bounds())
}
