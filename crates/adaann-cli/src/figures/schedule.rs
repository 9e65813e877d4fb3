//! How t grew, and by which steps.

use super::{Figure, style};
use adaann::{fit::StepRecord, schedule::Reason};
use kuva::{
    plot::LinePlot,
    render::{figure::Figure as Panels, plots::Plot},
};

/// Points of a line; a thousand is what a screen shows.
const MOST_POINTS: usize = 1_000;

/// Nothing to draw if t took only one value.
pub(super) fn draw(steps: &[StepRecord]) -> Option<Figure> {
    // The last step is cut to end at 1: its size says nothing about the rule.
    let taken: Vec<_> =
        steps.iter().filter(|s| s.epsilon > 0.0 && s.reason != Some(Reason::End)).collect();
    if taken.len() < 2 {
        return None;
    }
    let every = steps.len().div_ceil(MOST_POINTS);
    // A logarithm has no place for t = 0.
    let rise = thinned(steps.iter().map(|s| (s.step as f64, s.t)).collect(), every);
    let sizes = thinned(taken.iter().map(|s| (s.t, s.epsilon)).collect(), every);
    let line = |points: Vec<(f64, f64)>| {
        let points = points.into_iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect::<Vec<_>>();
        vec![Plot::from(
            LinePlot::new().with_data(points).with_color(style::BLUE).with_stroke_width(2.0),
        )]
    };
    let plots = vec![line(rise), line(sizes)];
    let layouts = vec![
        style::layout(&plots[0])
            .with_x_label("step")
            .with_y_label("t")
            .with_log_y()
            .with_y_tick_format(style::logarithmic()),
        style::layout(&plots[1])
            .with_x_label("t")
            .with_y_label("epsilon")
            .with_log_scale()
            .with_tick_format(style::logarithmic()),
    ];
    let panels =
        Panels::new(1, 2).with_plots(plots).with_layouts(layouts).with_cell_size(380.0, 320.0);
    Some(Figure {
        name: "schedule",
        caption: format!(
            "The inverse temperature t over {} steps, and how far each step went.",
            steps.len()
        ),
        svg: style::panels(panels),
    })
}

/// Every so many points, and the last one.
fn thinned(points: Vec<(f64, f64)>, every: usize) -> Vec<(f64, f64)> {
    let last = points.len().saturating_sub(1);
    let keep = |i: usize| i.is_multiple_of(every) || i == last;
    points.into_iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_last_point() {
        let points: Vec<_> = (0..8).map(|i| (i as f64, 0.0)).collect();
        let kept: Vec<f64> = thinned(points, 3).iter().map(|p| p.0).collect();
        assert_eq!(kept, [0.0, 3.0, 6.0, 7.0]);
    }
}
