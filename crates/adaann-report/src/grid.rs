//! Panels side by side, with aligned axes.

use crate::{
    figure::{Cell, Drawing},
    ink::Rect,
    legend::{self, Entry},
    mark::{Panel, Shape},
    panel::{Chart, Margins},
};

/// Width of all figures.
pub(crate) const WIDTH: f64 = 760.0;

/// Height of a cell of this width.
fn height(panels: &[Panel], columns: usize, width: f64) -> f64 {
    let is_contour =
        |panel: &Panel| panel.marks.iter().any(|mark| matches!(mark.shape, Shape::Contours { .. }));
    match (panels.iter().any(is_contour), columns) {
        (true, 1) => 520.0,
        (true, _) => width + 10.0,
        (false, 1) => {
            if panels.len() == 1 {
                400.0
            } else {
                260.0
            }
        }
        (false, _) => 90.0 + 0.55 * width,
    }
}

/// The panels in rows of `columns`.
pub(crate) fn draw(columns: usize, panels: &[Panel]) -> Drawing {
    let columns = columns.clamp(1, panels.len().max(1));
    let width = WIDTH / columns as f64;
    let height = height(panels, columns, width);
    let cell = Rect { left: 0.0, top: 0.0, width, height };
    let charts: Vec<Chart> = panels.iter().map(Chart::new).collect();
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
