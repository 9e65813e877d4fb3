//! Figures of a run: schedule, loss, and the target against its approximation.

mod corner;
mod curve;
mod loss;
mod merge;
mod plane;
mod range;
mod schedule;
mod style;

use adaann::{
    fit::{Outcome, Sample},
    registry::Problem,
};
use anyhow::Result;

/// A drawing with its words.
#[derive(Debug)]
pub(crate) struct Figure {
    /// File name, without its ending.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) caption: String,
    /// The drawing.
    pub(crate) svg: String,
}

/// All figures of a run. A run that was stopped early has fewer.
pub(crate) fn draw(problem: &Problem, outcome: &Outcome, sample: &Sample) -> Result<Vec<Figure>> {
    let approximation = outcome.approximation(&*problem.target)?;
    let mut figures = match problem.target.dim() {
        1 => vec![curve::draw(problem, &approximation, sample)?],
        2 => vec![plane::draw(problem, &approximation, sample)?],
        _ => corner::draw(&problem.target.names(), sample),
    };
    figures.extend(schedule::draw(&outcome.steps));
    figures.extend(loss::draw(&outcome.trace));
    Ok(figures)
}
