//! Figures for three and more dimensions: histograms of the coordinates, and draws of each pair.

use crate::folder::finished::Finished;
use adaann_report::{Axis, Color, Figure, Mark, Panel, bins::histogram};

/// Coordinates in the corner plot.
const PAIRED: usize = 4;
/// Coordinates with a histogram of their own.
const MARGINALS: usize = 12;
const BINS: usize = 40;

pub(super) fn draw(finished: &Finished) -> Vec<Figure> {
    let names = finished.subject.problem.target.names();
    let count = names.len().min(PAIRED);
    let truth = finished.truth();
    let draws = finished.whose.draws();
    let mut caption = format!("Each coordinate of {draws}, and each pair.");
    if truth.is_some() {
        caption += " Dashed: the true parameters.";
    }
    if count < names.len() {
        caption += &format!(" The first {count} coordinates.");
    }
    let draws: Vec<_> = (0..count).map(|d| finished.chosen.x.row(d).to_vec()).collect();
    let corner = Figure::corner("corner", caption, &names[..count], &draws, truth);
    if names.len() > PAIRED { vec![corner, marginals(finished, &names)] } else { vec![corner] }
}

fn marginals(finished: &Finished, names: &[String]) -> Figure {
    let count = names.len().min(MARGINALS);
    let panel = |d: usize| {
        let range = super::shown(finished, d);
        Panel {
            title: None,
            x: Axis::new(names[d].clone()).between(range[0], range[1]),
            y: Axis::new(if d.is_multiple_of(4) { "density" } else { "" }),
            marks: vec![Mark::columns(
                histogram(finished.chosen.x.row(d), range, BINS),
                Color::Blue,
            )],
        }
    };
    let draws = finished.whose.draws();
    let caption = format!("Densities of {draws}, coordinates 1 to {count}.");
    Figure::grid("marginals", caption, 4, (0..count).map(panel).collect())
}
