//! The figure for two dimensions: contours of target and approximation at the same levels.

use crate::folder::{evaluate, finished::Finished};
use adaann::Batch;
use adaann_report::{Axis, Color, Figure, Mark, Panel, bins::midpoints};
use anyhow::Result;

/// Smallest number of points along each axis. Sharp peaks need more, until enough points are high.
const COARSEST: usize = 80;
const FINEST: usize = 320;
const ENOUGH: usize = 250;

/// Levels, as shares of the target's peak.
const LEVELS: [f64; 6] = [0.02, 0.1, 0.25, 0.45, 0.65, 0.85];

pub(super) fn draw(finished: &Finished) -> Result<Figure> {
    let (target, known) = (&*finished.subject.problem.target, &finished.subject.problem.known);
    let approximation = finished.approximation()?;
    let shown = [super::shown(finished, 0), super::shown(finished, 1)];
    let unseen = super::unseen(finished, COARSEST * COARSEST);
    let main = |points: &Batch| match &unseen {
        None => evaluate::log_p(&approximation, points),
        Some(_) => evaluate::log_q(&approximation, points),
    };
    let may_take = |values: usize| unseen.is_some() || finished.takes_values(values);
    let Look { count, points, heights } = look(main, may_take, shown)?;
    let grid = shown.map(|range| midpoints(range, count));
    let log_q = evaluate::log_q(&approximation, &points)?;
    let cell = shown.map(|[low, high]| (high - low) / count as f64);
    let names = target.names();
    // Both panels show shares of the target's peak, so that levels and colours agree.
    let panel = |title: &str, logs: &[f64], shift: f64| {
        let heights: Vec<f64> = logs.iter().map(|log| finite((log - shift).exp())).collect();
        let [x, y] = grid.clone();
        let axis = |d: usize| Axis::new(names[d].clone()).between(shown[d][0], shown[d][1]);
        Panel {
            title: Some(title.to_owned()),
            x: axis(0),
            y: axis(1),
            marks: vec![Mark::contours(x, y, heights, LEVELS, Color::Blue)],
        }
    };
    let levels = LEVELS.map(|level| level.to_string()).join(", ");
    if let Some(why) = unseen {
        let caption = format!("Contours of the approximation at {levels} of its peak. {why}");
        let panels = vec![panel("approximation", &log_q, highest(&log_q))];
        return Ok(Figure::grid("density", caption, 1, panels));
    }
    let log_p = heights;
    let peak = highest(&log_p);
    let log_z = known.log_z.unwrap_or_else(|| {
        let sum: f64 = log_p.iter().map(|log_p| (log_p - peak).exp()).sum();
        peak + (sum * cell[0] * cell[1]).ln()
    });
    let caption = format!(
        "Contours of the target and of the approximation, at the same levels: {levels} of the \
         target's peak."
    );
    let panels = vec![panel("target", &log_p, peak), panel("approximation", &log_q, peak - log_z)];
    Ok(Figure::grid("density", caption, 2, panels))
}

/// A square grid of points, row by row, and a log density there.
struct Look {
    count: usize,
    points: Batch,
    heights: Vec<f64>,
}

/// A grid fine enough to show the peaks of a density, or of the maximum size.
fn look(
    log_density: impl Fn(&Batch) -> adaann::Result<Vec<f64>>,
    may_take: impl Fn(usize) -> bool,
    shown: [[f64; 2]; 2],
) -> Result<Look> {
    let grid = |count: usize| {
        let [xs, ys] = shown.map(|range| midpoints(range, count));
        let points: Vec<_> = ys.iter().flat_map(|&y| xs.iter().map(move |&x| [x, y])).collect();
        Batch::from_points(2, &points)
    };
    let mut count = COARSEST;
    loop {
        let points = grid(count);
        let heights = log_density(&points)?;
        let low = highest(&heights) + LEVELS[0].ln();
        let enough = heights.iter().filter(|height| **height > low).count() >= ENOUGH;
        if enough || count >= FINEST || !may_take(4 * count * count) {
            return Ok(Look { count, points, heights });
        }
        count *= 2;
    }
}

fn highest(logs: &[f64]) -> f64 {
    logs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
