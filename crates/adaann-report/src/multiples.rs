//! Small multiples: many panels with common axes, and numbers only at the edge.

use crate::{
    figure::{Cell, Drawing},
    grid::WIDTH,
    ink::Rect,
    legend::{self, Entry},
    mark::Panel,
    panel::{Chart, Margins},
};

/// Height over width of a panel's axes.
const SHAPE: f64 = 0.7;

/// Room between panels.
const BETWEEN: f64 = 12.0;

/// Panels in rows of `columns`, where each group begins a row. All have the same horizontal range, and the panels of a
/// group have the same vertical range. They form one cell, because they are only useful together.
pub(crate) fn draw(columns: usize, groups: &[Vec<Panel>]) -> Drawing {
    let most = groups.iter().map(Vec::len).max().unwrap_or(0);
    let columns = columns.clamp(1, most.max(1));
    let bare: Vec<Vec<Panel>> = groups.iter().map(|group| at_the_edge(columns, group)).collect();
    let mut charts: Vec<Vec<Chart>> =
        bare.iter().map(|group| group.iter().map(Chart::new).collect()).collect();
    charts.iter_mut().for_each(|group| Chart::share_upwards(&mut group.iter_mut()));
    Chart::share_across(&mut charts.iter_mut().flatten());
    for group in &mut charts {
        let count = group.len();
        for (i, chart) in group.iter_mut().enumerate() {
            chart.numbers = [is_below(i, columns, count), i % columns == 0];
        }
    }
    let guess = Rect { left: 0.0, top: 0.0, width: WIDTH / columns as f64, height: 200.0 };
    let all = charts.iter().flatten().map(|chart| chart.margins(guess));
    let margins = all.fold(Margins::default(), Margins::and);
    let side = (WIDTH - margins.left - margins.right) / columns as f64;
    let (width, height) = (side - BETWEEN, SHAPE * (side - BETWEEN));
    let (mut inks, mut top) = (Vec::new(), 0.0);
    for group in &charts {
        for (i, chart) in group.iter().enumerate() {
            let left = margins.left + (i % columns) as f64 * side;
            let row = (i / columns) as f64 * (margins.top + height + BETWEEN);
            inks.push(chart.draw(Rect { left, top: top + margins.top + row, width, height }));
        }
        let rows = group.len().div_ceil(columns) as f64;
        top += rows * (margins.top + height + BETWEEN) - BETWEEN + margins.bottom;
    }
    let cell = Cell { size: [WIDTH, top.max(1.0)], title: None, inks };
    let marks = groups.iter().flatten().flat_map(|panel| panel.marks.iter().map(Entry::of));
    Drawing { legend: legend::entries(marks), columns: 1, cells: vec![cell] }
}

/// The panels of a group with axis labels only at its edge.
fn at_the_edge(columns: usize, group: &[Panel]) -> Vec<Panel> {
    let one = |(i, panel): (usize, &Panel)| {
        let mut panel = panel.clone();
        if !is_below(i, columns, group.len()) {
            panel.x.label.clear();
        }
        if i % columns > 0 {
            panel.y.label.clear();
        }
        panel
    };
    group.iter().enumerate().map(one).collect()
}

/// Is there no panel of the group below this one?
fn is_below(i: usize, columns: usize, count: usize) -> bool {
    i + columns >= count
}

#[cfg(test)]
mod tests {
    use crate::{Axis, Color, Figure, Mark, Panel};

    fn panel(height: f64) -> Panel {
        let marks = vec![Mark::line(vec![(1.0, 0.0), (2.0 * height, height)], Color::Blue)];
        let title = Some(format!("up to {height}"));
        Panel { title, x: Axis::new("hours"), y: Axis::new("mg"), marks }
    }

    #[test]
    fn panels_have_one_range_and_numbers_at_the_edge() {
        let panels = [1.0, 2.0, 3.0, 4.0, 5.0].map(panel).to_vec();
        let html = Figure::multiples("m", "Five.", 3, vec![panels]).html();
        let attribute = |name: &str| -> Vec<String> {
            let key = format!("data-{name}=\"");
            let parts = html.split(&key).skip(1);
            parts.map(|part| part[..part.find('"').expect("it ends")].to_owned()).collect()
        };
        for name in ["x", "y"] {
            let ranges = attribute(name);
            assert_eq!(ranges.len(), 5);
            assert!(ranges.iter().all(|range| *range == ranges[0]), "{ranges:?}");
        }
        // Horizontally: no panel is below the third, fourth and fifth. Vertically: the first and the fourth begin a
        // row.
        assert_eq!(attribute("numbers"), ["0 1", "0 0", "1 0", "1 1", "1 0"]);
        assert_eq!((html.matches(">hours<").count(), html.matches(">mg<").count()), (3, 2));
    }

    #[test]
    fn groups_have_heights_of_their_own_and_begin_rows() {
        let group = |height: f64| vec![panel(height), panel(2.0 * height)];
        let html = Figure::multiples("m", "Two by two.", 2, vec![group(1.0), group(100.0)]).html();
        let heights: Vec<&str> = html.split("data-y=\"").skip(1).collect();
        let same = |a: usize, b: usize| heights[a][..12] == heights[b][..12];
        assert!(same(0, 1) && same(2, 3) && !same(1, 2), "{html}");
        assert_eq!((html.matches(">hours<").count(), html.matches(">mg<").count()), (4, 2));
    }
}
