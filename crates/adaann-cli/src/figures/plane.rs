//! Two dimensions: contours of the target beside those of the approximation, at the same levels.

use super::{
    Figure,
    merge::merge_cells,
    range::{midpoints, range},
    style,
};
use crate::density::evaluate;
use adaann::{
    Batch,
    fit::{Approximation, Sample},
    registry::Problem,
};
use anyhow::Result;
use kuva::{
    plot::{ColorMap, ContourPlot},
    render::{figure::Figure as Panels, plots::Plot},
};
use std::sync::Arc;

/// Points along each axis: more for a density with sharp peaks, until enough of them are high.
const COARSEST: usize = 80;
const FINEST: usize = 320;
const ENOUGH: usize = 250;

/// Levels, as shares of the target's peak.
const LEVELS: [f64; 6] = [0.02, 0.1, 0.25, 0.45, 0.65, 0.85];

pub(super) fn draw(
    problem: &Problem,
    approximation: &Approximation,
    sample: &Sample,
) -> Result<Figure> {
    let target = &*problem.target;
    let axis = |d: usize| {
        let marks = problem.known.modes.iter().map(|mode| mode.location[d]);
        range(sample.points.row(d), marks, target.support(d))
    };
    let shown = [axis(0), axis(1)];
    let (count, points) = points(approximation, shown)?;
    let grid = shown.map(|range| midpoints(range, count));
    let values = evaluate(approximation, target, points)?;
    let cell = shown.map(|[low, high]| (high - low) / count as f64);
    let peak = highest(&values.log_p);
    let log_z = problem.known.log_z.unwrap_or_else(|| {
        let sum: f64 = values.log_p.iter().map(|log_p| (log_p - peak).exp()).sum();
        peak + (sum * cell[0] * cell[1]).ln()
    });
    // Shares of the target's peak on both sides, so that levels and colours agree.
    let shifts = [peak, peak - log_z];
    let names = target.names();
    let panel = |logs: &[f64], shift: f64| {
        let heights: Vec<Vec<f64>> = logs
            .chunks(count)
            .map(|row| row.iter().map(|log| finite((log - shift).exp())).collect())
            .collect();
        let highest = heights.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
        let contour = ContourPlot::new()
            .with_grid(heights, grid[0].clone(), grid[1].clone())
            .with_levels(&LEVELS)
            .with_filled()
            .with_colormap(ColorMap::Custom(Arc::new(move |share| blues(share * highest))))
            .with_line_color("#1d3557")
            .with_line_width(0.5);
        vec![Plot::from(contour)]
    };
    let plots = vec![panel(&values.log_p, shifts[0]), panel(&values.log_q, shifts[1])];
    let layouts = ["target", "approximation"].into_iter().zip(&plots).map(|(title, plots)| {
        let mut layout = style::layout(plots);
        layout.show_colorbar = false;
        // Shapes as they are, unless that would leave most of the panel empty.
        layout.equal_aspect = (0.25..=4.0).contains(&(cell[0] / cell[1]));
        layout
            .with_title(title)
            .with_show_grid(false)
            .with_x_label(names[0].clone())
            .with_y_label(names[1].clone())
            .with_x_axis_min(shown[0][0])
            .with_x_axis_max(shown[0][1])
            .with_y_axis_min(shown[1][0])
            .with_y_axis_max(shown[1][1])
    });
    let panels = Panels::new(1, 2)
        .with_layouts(layouts.collect())
        .with_plots(plots)
        .with_cell_size(360.0, 360.0);
    Ok(Figure {
        name: "density",
        caption: format!(
            "Contours of the target and of the approximation, at the same levels: {} of the \
             target's peak.",
            LEVELS.map(|level| level.to_string()).join(", ")
        ),
        svg: merge_cells(&style::panels(panels)),
    })
}

/// A grid that is fine enough to show the target's peaks, row by row.
fn points(approximation: &Approximation, shown: [[f64; 2]; 2]) -> Result<(usize, Batch)> {
    let grid = |count: usize| {
        let [xs, ys] = shown.map(|range| midpoints(range, count));
        let points: Vec<_> = ys.iter().flat_map(|&y| xs.iter().map(move |&x| [x, y])).collect();
        Batch::from_points(2, &points)
    };
    let mut count = COARSEST;
    loop {
        let points = grid(count);
        let log_p = approximation.log_p(&points)?;
        let low = highest(&log_p) + LEVELS[0].ln();
        let enough = log_p.iter().filter(|log_p| **log_p > low).count() >= ENOUGH;
        if enough || count >= FINEST {
            return Ok((count, points));
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

/// White to dark blue: light rises evenly, so it survives a grey printer.
fn blues(share: f64) -> String {
    let share = share.clamp(0.0, 1.0).sqrt();
    let mix = |from: f64, to: f64| (from + (to - from) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(255.0, 8.0), mix(255.0, 64.0), mix(255.0, 129.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_white_to_blue() {
        assert_eq!(
            (blues(0.0), blues(1.0), blues(9.0)),
            ("#ffffff".into(), "#084081".into(), "#084081".into())
        );
    }
}
