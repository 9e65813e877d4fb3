//! The loss: neg-ELBO of p_t over the updates, as the middle and the range of neighbouring ones.

use super::{Figure, style};
use adaann::fit::UpdateRecord;
use kuva::plot::{BandPlot, LinePlot};

/// Groups of neighbouring updates; more than a screen can show tells nothing.
const GROUPS: usize = 300;

/// Nothing to draw without updates.
pub(super) fn draw(trace: &[UpdateRecord]) -> Option<Figure> {
    let size = trace.len().div_ceil(GROUPS).max(1);
    let groups: Vec<Group> = trace.chunks(size).filter_map(Group::new).collect();
    if groups.len() < 2 {
        return None;
    }
    let mut plots = vec![
        BandPlot::new(
            groups.iter().map(|g| g.update),
            groups.iter().map(|g| g.low),
            groups.iter().map(|g| g.high),
        )
        .with_color(style::SKY)
        .with_opacity(0.4)
        .into(),
        LinePlot::new()
            .with_data(groups.iter().map(|g| (g.update, g.middle)).collect::<Vec<_>>())
            .with_color(style::BLUE)
            .with_stroke_width(2.0)
            .into(),
    ];
    let mut legend = vec![
        style::line("median", style::BLUE),
        style::area("80 per cent of the updates", style::PALE_SKY),
    ];
    // The first updates may be orders of magnitude off: what happens later is what matters.
    let (low, high) = window(&groups);
    if let Some(arrival) = trace.iter().find(|record| record.t >= 1.0).map(|r| r.update)
        && arrival > 1
    {
        legend.push(style::dashed("arrival at t = 1", style::VERMILLION));
        plots.push(
            LinePlot::new()
                .with_data([(arrival as f64, low), (arrival as f64, high)])
                .with_color(style::VERMILLION)
                .with_stroke_width(1.5)
                .with_dashed()
                .into(),
        );
    }
    let layout = style::with_legend(style::layout(&plots), legend)
        .with_x_label("update")
        .with_y_label("neg-ELBO of p_t")
        .with_y_axis_min(low)
        .with_y_axis_max(high)
        .with_x_axis_min(0.0)
        .with_x_axis_max(trace.len() as f64);
    Some(Figure {
        name: "loss",
        caption: "The loss E_q[log q - log p_t] of each update; before t = 1 it is that of \
                  another density at every step."
            .into(),
        svg: style::single(plots, layout),
    })
}

/// Neighbouring updates.
struct Group {
    update: f64,
    low: f64,
    middle: f64,
    high: f64,
}

impl Group {
    /// Absent if none of the updates has a finite loss.
    fn new(records: &[UpdateRecord]) -> Option<Self> {
        let mut losses: Vec<f64> =
            records.iter().map(|r| r.neg_elbo).filter(|loss| loss.is_finite()).collect();
        losses.sort_by(f64::total_cmp);
        let at = |share: f64| losses[((losses.len() - 1) as f64 * share).round() as usize];
        (!losses.is_empty()).then(|| Self {
            update: records[records.len() / 2].update as f64,
            low: at(0.1),
            middle: at(0.5),
            high: at(0.9),
        })
    }
}

/// The part of the vertical axis where all but the most extreme groups are.
fn window(groups: &[Group]) -> (f64, f64) {
    let mut low: Vec<f64> = groups.iter().map(|g| g.low).collect();
    let mut high: Vec<f64> = groups.iter().map(|g| g.high).collect();
    low.sort_by(f64::total_cmp);
    high.sort_by(f64::total_cmp);
    let cut = groups.len() / 50;
    let (low, high) = (low[cut], high[high.len() - 1 - cut]);
    let margin = (0.08 * (high - low)).max(1e-9);
    (low - margin, high + margin)
}
