//! Three dimensions and more: histograms of the coordinates, and draws of each pair.

use super::{
    Figure,
    range::{histogram, range},
    style,
};
use adaann::{fit::Sample, target::Support};
use kuva::{
    plot::{BandPlot, ScatterPlot},
    render::{figure::Figure as Panels, layout::Layout, plots::Plot},
};

/// Coordinates in the corner plot.
const PAIRED: usize = 4;
/// Coordinates with a histogram of their own.
const MARGINALS: usize = 12;
/// Draws shown as dots; more only make the file large.
const DOTS: usize = 600;
const BINS: usize = 40;

pub(super) fn draw(names: &[String], sample: &Sample) -> Vec<Figure> {
    let mut figures = vec![corner(names, sample)];
    if names.len() > PAIRED {
        figures.push(marginals(names, sample));
    }
    figures
}

fn shown(sample: &Sample, d: usize) -> [f64; 2] {
    range(sample.points.row(d), std::iter::empty(), Support::Real)
}

fn marginal(names: &[String], sample: &Sample, d: usize) -> (Vec<Plot>, Layout) {
    let range = shown(sample, d);
    let outline = histogram(sample.points.row(d), range, BINS);
    let band = BandPlot::new(
        outline.iter().map(|p| p.0),
        outline.iter().map(|_| 0.0),
        outline.iter().map(|p| p.1),
    )
    .with_color(style::BLUE)
    .with_opacity(0.6);
    let plots = vec![band.into()];
    let layout = style::layout(&plots)
        .with_x_label(names[d].clone())
        .with_x_axis_min(range[0])
        .with_x_axis_max(range[1])
        .with_y_axis_min(0.0)
        .with_ticks(4);
    (plots, layout)
}

fn pair(names: &[String], sample: &Sample, x: usize, y: usize) -> (Vec<Plot>, Layout) {
    let every = sample.points.len().div_ceil(DOTS);
    let dots = sample.points.row(x).iter().zip(sample.points.row(y)).step_by(every);
    let (x_range, y_range) = (shown(sample, x), shown(sample, y));
    let inside = dots.map(|(&x, &y)| (x, y)).filter(|(x, y)| {
        (x_range[0]..x_range[1]).contains(x) && (y_range[0]..y_range[1]).contains(y)
    });
    let scatter = ScatterPlot::new()
        .with_data(inside.collect::<Vec<_>>())
        .with_color(style::BLUE)
        .with_size(1.6)
        .with_marker_opacity(0.5);
    let plots = vec![scatter.into()];
    let layout = style::layout(&plots)
        .with_x_label(names[x].clone())
        .with_y_label(names[y].clone())
        .with_x_axis_min(x_range[0])
        .with_x_axis_max(x_range[1])
        .with_y_axis_min(y_range[0])
        .with_y_axis_max(y_range[1])
        .with_ticks(4);
    (plots, layout)
}

fn corner(names: &[String], sample: &Sample) -> Figure {
    let size = names.len().min(PAIRED);
    let mut structure = Vec::new();
    let (mut plots, mut layouts) = (Vec::new(), Vec::new());
    for row in 0..size {
        for column in 0..=row {
            let (panel, layout) = if row == column {
                marginal(names, sample, row)
            } else {
                pair(names, sample, column, row)
            };
            structure.push(vec![row * size + column]);
            plots.push(panel);
            layouts.push(layout);
        }
    }
    let panels = Panels::new(size, size)
        .with_structure(structure)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(230.0, 200.0);
    let which =
        if size < names.len() { format!(" The first {size} coordinates.") } else { String::new() };
    Figure {
        name: "corner",
        caption: format!("Draws: each coordinate, and each pair.{which}"),
        svg: style::panels(panels),
    }
}

fn marginals(names: &[String], sample: &Sample) -> Figure {
    let count = names.len().min(MARGINALS);
    let columns = 4;
    let (plots, layouts) = (0..count).map(|d| marginal(names, sample, d)).unzip();
    let panels = Panels::new(count.div_ceil(columns), columns)
        .with_structure((0..count).map(|cell| vec![cell]).collect())
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(230.0, 180.0);
    Figure {
        name: "marginals",
        caption: format!("Densities of the draws, coordinates 1 to {count}."),
        svg: style::panels(panels),
    }
}
