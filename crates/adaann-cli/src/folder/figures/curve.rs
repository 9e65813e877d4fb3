//! The figure for one dimension: curves of target and approximation, and a histogram of the draws.

use crate::folder::{evaluate, finished::Finished};
use adaann::Batch;
use adaann_report::{
    Axis, Color, Figure, Mark, Panel,
    bins::{histogram, midpoints},
};
use anyhow::Result;

const POINTS: usize = 400;
const BINS: usize = 80;

pub(super) fn draw(finished: &Finished) -> Result<Figure> {
    let (target, known) = (&*finished.subject.problem.target, &finished.subject.problem.known);
    let shown = super::shown(finished, 0);
    let grid = midpoints(shown, POINTS);
    let points: Vec<_> = grid.iter().map(|&x| [x]).collect();
    let (approximation, points) = (finished.approximation()?, Batch::from_points(1, &points));
    let log_q = evaluate::log_q(&approximation, &points)?;
    let cell = (shown[1] - shown[0]) / POINTS as f64;
    let curve = |logs: &[f64], shift: f64| -> Vec<(f64, f64)> {
        grid.iter().zip(logs).map(|(&x, log)| (x, (log - shift).exp())).collect()
    };
    let mut marks = Vec::new();
    let unseen = super::unseen(finished, POINTS);
    if unseen.is_none() {
        let log_p = evaluate::log_p(&approximation, &points)?;
        let peak = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_z = known.log_z.unwrap_or_else(|| {
            let sum: f64 = log_p.iter().map(|log_p| (log_p - peak).exp()).sum();
            peak + (sum * cell).ln()
        });
        marks.push(Mark::line(curve(&log_p, log_z), Color::Vermillion).label("target"));
    }
    marks.push(Mark::dashed(curve(&log_q, 0.0), Color::Blue).label("approximation"));
    let outline = histogram(finished.chosen.x.row(0), shown, BINS);
    marks.insert(0, Mark::columns(outline, Color::Sky).label("draws"));
    let panel = Panel {
        title: None,
        x: Axis::new(target.names()[0].clone()).between(shown[0], shown[1]),
        y: Axis::new("density"),
        marks,
    };
    let draws = finished.whose.draws();
    let caption = match unseen {
        None => format!(
            "The target's density (line), the approximation's (dashed), and {draws} (columns)."
        ),
        Some(why) => {
            format!("The approximation's density (dashed), and {draws} (columns). {why}")
        }
    };
    Ok(Figure::grid("density", caption, 1, vec![panel]))
}
