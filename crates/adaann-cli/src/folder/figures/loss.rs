//! The figure of the loss: neg-ELBO of p_t over the updates, as median and range of groups of updates.

use crate::folder::finished::Update;
use adaann_report::{Axis, Color, Figure, Mark, Panel};

/// Maximum number of groups of neighbouring updates; a screen cannot show more.
const GROUPS: usize = 300;

/// `None` without updates.
pub(super) fn draw(trace: &[Update]) -> Option<Figure> {
    let size = trace.len().div_ceil(GROUPS).max(1);
    let groups: Vec<Group> = trace.chunks(size).filter_map(Group::new).collect();
    if groups.len() < 2 {
        return None;
    }
    let band: Vec<_> = groups.iter().map(|g| (g.update, g.low, g.high)).collect();
    let line: Vec<_> = groups.iter().map(|g| (g.update, g.middle)).collect();
    let mut marks = vec![
        Mark::band(band, Color::Sky).label("80 per cent of the updates"),
        Mark::line(line, Color::Blue).label("median"),
    ];
    let arrival = trace.iter().find(|record| record.t >= 1.0).map(|record| record.update);
    marks.extend(
        arrival
            .filter(|arrival| *arrival > 1.0)
            .map(|arrival| Mark::vertical(arrival, Color::Vermillion).label("arrival at t = 1")),
    );
    // The first updates may be orders of magnitude off; show the range of the later ones.
    let (low, high) = window(&groups);
    let panel = Panel {
        title: None,
        x: Axis::new("update").between(0.0, trace.len() as f64),
        y: Axis::new("neg-ELBO of p_t").between(low, high),
        marks,
    };
    let caption = "The loss E_q[log q - log p_t] of each update; before t = 1 the density p_t differs at \
                   every step.";
    Some(Figure::grid("loss", caption, 1, vec![panel]))
}

/// Neighbouring updates.
struct Group {
    update: f64,
    low: f64,
    middle: f64,
    high: f64,
}

impl Group {
    /// `None` if no update has a finite loss.
    fn new(records: &[Update]) -> Option<Self> {
        let mut losses: Vec<f64> =
            records.iter().map(|r| r.neg_elbo).filter(|loss| loss.is_finite()).collect();
        losses.sort_by(f64::total_cmp);
        let at = |share: f64| losses[((losses.len() - 1) as f64 * share).round() as usize];
        (!losses.is_empty()).then(|| Self {
            update: records[records.len() / 2].update,
            low: at(0.1),
            middle: at(0.5),
            high: at(0.9),
        })
    }
}

/// The part of the vertical axis with the medians of all but the most extreme groups.
fn window(groups: &[Group]) -> (f64, f64) {
    let mut middles: Vec<f64> = groups.iter().map(|g| g.middle).collect();
    middles.sort_by(f64::total_cmp);
    let cut = groups.len() / 50;
    let (low, high) = (middles[cut], middles[middles.len() - 1 - cut]);
    let margin = (0.12 * (high - low)).max(1e-9);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_groups_far_out_do_not_hide_the_others() {
        let group = |i: usize| {
            let high = if i == 7 { 1e46 } else { 2.0 };
            Group { update: i as f64, low: -1.0, middle: high / 2.0 + (i % 2) as f64, high }
        };
        let groups: Vec<Group> = (0..100).map(group).collect();
        let (low, high) = window(&groups);
        assert!((0.5..1.0).contains(&low) && (2.0..2.5).contains(&high), "{low} {high}");
    }
}
