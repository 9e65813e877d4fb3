//! Corner plots: marginals on the diagonal, pairs of coordinates below it.

use crate::{
    Axis, Color, Mark, Panel, Shape, bins,
    figure::{Cell, Drawing},
    grid::WIDTH,
    ink::Rect,
    panel::{Chart, Margins},
};

/// The maximal number of draws shown as dots, which limits the size of the file.
const DOTS: usize = 600;
const BINS: usize = 40;
/// The maximal width of a panel.
const WIDEST: f64 = 250.0;
const FREE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The corner plot. All panels form one cell, because they are only useful together.
pub(crate) fn draw(names: &[String], columns: &[Vec<f64>], truth: Option<&[f64]>) -> Drawing {
    let count = names.len().min(columns.len());
    let known = |d: usize| truth.and_then(|truth| truth.get(d)).copied().filter(|x| x.is_finite());
    let shown: Vec<[f64; 2]> = (0..count)
        .map(|d| bins::range(&columns[d], &known(d).into_iter().collect::<Vec<_>>(), FREE))
        .collect();
    let axis = |d: usize, label: &str| Axis::new(label).between(shown[d][0], shown[d][1]);
    let margins = Margins { left: 62.0, right: 12.0, top: 8.0, bottom: 44.0 };
    let side = ((WIDTH - margins.left - margins.right) / count.max(1) as f64).min(WIDEST);
    let tall = 0.86 * side;
    let mut inks = Vec::new();
    for row in 0..count {
        for column in 0..=row {
            let is_diagonal = row == column;
            let below = if row + 1 == count { names[column].as_str() } else { "" };
            let beside = if column == 0 && row > 0 { names[row].as_str() } else { "" };
            let panel = if is_diagonal {
                marginal(axis(row, below), &columns[row], shown[row], known(row))
            } else {
                let pair = (&columns[column][..], &columns[row][..]);
                let truth = (known(column), known(row));
                scatter(axis(column, below), axis(row, beside), pair, truth)
            };
            let mut chart = Chart::new(&panel);
            chart.numbers = [row + 1 == count, column == 0 && !is_diagonal];
            inks.push(chart.draw(Rect {
                left: margins.left + column as f64 * side,
                top: margins.top + row as f64 * tall,
                width: side - 10.0,
                height: tall - 10.0,
            }));
        }
    }
    let size = [
        margins.left + count as f64 * side + margins.right,
        margins.top + count as f64 * tall + margins.bottom,
    ];
    let cell = Cell { size, title: None, inks };
    Drawing { legend: Vec::new(), columns: 1, cells: vec![cell] }
}

fn marginal(x: Axis, draws: &[f64], shown: [f64; 2], truth: Option<f64>) -> Panel {
    let mut marks = vec![Mark::columns(bins::histogram(draws, shown, BINS), Color::Blue)];
    marks.extend(truth.map(|x| Mark::vertical(x, Color::Vermillion)));
    Panel { title: None, x, y: Axis::new(""), marks }
}

fn scatter(
    x: Axis,
    y: Axis,
    (across, upwards): (&[f64], &[f64]),
    truth: (Option<f64>, Option<f64>),
) -> Panel {
    let every = across.len().div_ceil(DOTS).max(1);
    let points = across.iter().copied().zip(upwards.iter().copied()).step_by(every).collect();
    let shape = Shape::Markers { points, size: 1.6, opacity: 0.4 };
    let mut marks = vec![Mark { shape, color: Color::Blue, label: None }];
    marks.extend(truth.0.map(|x| Mark::vertical(x, Color::Vermillion)));
    marks.extend(truth.1.map(|y| Mark::horizontal(y, Color::Vermillion)));
    Panel { title: None, x, y, marks }
}
