//! Panels side by side, with aligned axes.

use crate::{
    figure::{Cell, Drawing},
    ink::Rect,
    legend::{self, Entry},
    mark::Panel,
    panel::{Chart, Margins},
};

/// Width of figures with several panels.
pub(crate) const WIDTH: f64 = 760.0;

/// Width of a single panel: narrower, so that its text is larger on a page.
const SINGLE: f64 = 640.0;

/// The height of a cell of this width: the aspect ratio of contours, or a default.
fn height(charts: &[Chart], columns: usize, width: f64) -> f64 {
    let ratio = charts.iter().filter_map(Chart::ratio).reduce(f64::max);
    match (ratio, columns) {
        (Some(ratio), 1) => (60.0 + ratio * (width - 70.0)).clamp(320.0, 620.0),
        (Some(ratio), _) => (70.0 + ratio * (width - 60.0)).clamp(0.6 * width, 1.3 * width),
        (None, 1) if charts.len() == 1 => 350.0,
        (None, 1) => 230.0,
        (None, _) => 90.0 + 0.55 * width,
    }
}

/// The panels in rows of `columns`.
pub(crate) fn draw(columns: usize, panels: &[Panel]) -> Drawing {
    let columns = columns.clamp(1, panels.len().max(1));
    let width = if columns == 1 { SINGLE } else { WIDTH / columns as f64 };
    let charts: Vec<Chart> = panels.iter().map(Chart::new).collect();
    let height = height(&charts, columns, width);
    let cell = Rect { left: 0.0, top: 0.0, width, height };
    let margins: Vec<Margins> = charts.iter().map(|chart| chart.margins(cell)).collect();
    let shared = |keep: &dyn Fn(usize) -> bool| {
        let kept = margins.iter().enumerate().filter(|(i, _)| keep(*i));
        kept.fold(Margins::default(), |all, (_, margins)| all.and(*margins))
    };
    let cells = charts.iter().zip(panels).enumerate().map(|(i, (chart, panel))| {
        let in_column = shared(&|other| other % columns == i % columns);
        let in_row = shared(&|other| other / columns == i / columns);
        let margins = Margins { top: in_row.top, bottom: in_row.bottom, ..in_column };
        let title = panel.title.clone();
        Cell { size: [width, height], title, inks: vec![chart.draw(margins.inside(cell))] }
    });
    let legend = legend::entries(panels.iter().flat_map(|panel| panel.marks.iter().map(Entry::of)));
    Drawing { legend, columns, cells: cells.collect() }
}
