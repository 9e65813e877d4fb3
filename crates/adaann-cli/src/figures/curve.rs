//! One dimension: the target's curve, the approximation's, and a histogram of the draws.

use super::{
    Figure,
    range::{histogram, midpoints, range},
    style,
};
use crate::density::evaluate;
use adaann::{
    Batch,
    fit::{Approximation, Sample},
    registry::Problem,
};
use anyhow::Result;
use kuva::plot::{BandPlot, LinePlot};

const POINTS: usize = 400;
const BINS: usize = 80;

pub(super) fn draw(
    problem: &Problem,
    approximation: &Approximation,
    sample: &Sample,
) -> Result<Figure> {
    let target = &*problem.target;
    let marks = problem.known.modes.iter().map(|mode| mode.location[0]);
    let shown = range(sample.points.row(0), marks, target.support(0));
    let grid = midpoints(shown, POINTS);
    let points: Vec<_> = grid.iter().map(|&x| [x]).collect();
    let values = evaluate(approximation, target, Batch::from_points(1, &points))?;
    let cell = (shown[1] - shown[0]) / POINTS as f64;
    let peak = values.log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_z = problem.known.log_z.unwrap_or_else(|| {
        let sum: f64 = values.log_p.iter().map(|log_p| (log_p - peak).exp()).sum();
        peak + (sum * cell).ln()
    });
    let curve = |logs: &[f64], shift: f64| -> Vec<(f64, f64)> {
        let finite = grid.iter().zip(logs).map(|(&x, log)| (x, (log - shift).exp()));
        finite.filter(|(_, y)| y.is_finite()).collect()
    };
    let outline = histogram(sample.points.row(0), shown, BINS);
    let plots = vec![
        BandPlot::new(
            outline.iter().map(|p| p.0),
            outline.iter().map(|_| 0.0),
            outline.iter().map(|p| p.1),
        )
        .with_color(style::SKY)
        .with_opacity(0.35)
        .into(),
        LinePlot::new()
            .with_data(curve(&values.log_p, log_z))
            .with_color(style::VERMILLION)
            .with_stroke_width(3.0)
            .into(),
        LinePlot::new()
            .with_data(curve(&values.log_q, 0.0))
            .with_color(style::BLUE)
            .with_stroke_width(2.0)
            .with_dashed()
            .into(),
    ];
    let legend = vec![
        style::line("target", style::VERMILLION),
        style::dashed("approximation", style::BLUE),
        style::area("draws", style::PALE_SKY),
    ];
    let layout = style::with_legend(style::layout(&plots), legend)
        .with_x_label(target.names()[0].clone())
        .with_y_label("density")
        .with_y_axis_min(0.0)
        .with_x_axis_min(shown[0])
        .with_x_axis_max(shown[1]);
    Ok(Figure {
        name: "density",
        caption: "The target's density (line), the flow's (dashed), and its draws (columns)."
            .into(),
        svg: style::single(plots, layout),
    })
}
