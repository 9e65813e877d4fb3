//! Figures of a run: the target against its approximation, trajectories, schedule, loss.

mod corner;
mod curve;
mod loss;
mod plane;
mod predictions;
mod schedule;
mod trajectories;

pub(crate) use predictions::draw as predictions;

use crate::folder::{finished::Finished, predicted::predicted};
use adaann_report::Figure;
use anyhow::Result;

/// Draws that predictions in a page are made from.
const PREDICTING: usize = 200;

/// Rows of data up to which predictions are drawn: every one is a dot in the page.
const MOST_ROWS: usize = 50_000;

/// All figures of a run. A run that was stopped early has fewer.
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

/// Is the target's density shown? It is not if that would start a program that may not be, nor if it is not
/// at hand.
fn shows_target(finished: &Finished) -> bool {
    finished.subject.announce();
    finished.subject.unseen().is_none()
}

/// The part of an axis where the draws and the known modes are.
fn shown(finished: &Finished, d: usize) -> [f64; 2] {
    let Finished { subject, chosen, .. } = finished;
    let problem = &subject.problem;
    let modes: Vec<f64> = problem.known.modes.iter().map(|mode| mode.location[d]).collect();
    adaann_report::bins::range(chosen.x.row(d), &modes, problem.target.support(d).bounds())
}
