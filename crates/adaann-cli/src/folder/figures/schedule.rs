//! The figure of the schedule: t over the steps, and the step sizes.

use crate::folder::finished::Step;
use adaann_report::{Axis, Color, Figure, Mark, Panel};

/// Maximum number of points of a line; a screen cannot show more.
const MOST_POINTS: usize = 1_000;

/// `None` if t took only one value.
pub(super) fn draw(steps: &[Step]) -> Option<Figure> {
    // The last step is cut to end at 1, so that its size does not reflect the rule.
    let is_free = |s: &&Step| s.epsilon > 0.0 && s.t + s.epsilon < 1.0;
    let taken: Vec<_> = steps.iter().filter(is_free).collect();
    if taken.len() < 2 {
        return None;
    }
    let every = steps.len().div_ceil(MOST_POINTS);
    let rise = thinned(steps.iter().map(|s| (s.step, s.t)).collect(), every);
    let sizes = thinned(taken.iter().map(|s| (s.t, s.epsilon)).collect(), every);
    let panel = |x: Axis, y: Axis, points: Vec<(f64, f64)>| Panel {
        title: None,
        x,
        y,
        marks: vec![Mark::line(points, Color::Blue)],
    };
    let panels = vec![
        panel(Axis::new("step"), Axis::new("t").log(), rise),
        panel(Axis::new("t").log(), Axis::new("epsilon").log(), sizes),
    ];
    let caption =
        format!("The inverse temperature t over {} steps, and the size of each step.", steps.len());
    Some(Figure::grid("schedule", caption, 2, panels))
}

/// Every `every`th point, and the last one.
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
