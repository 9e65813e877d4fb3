//! One look for all figures: Okabe and Ito's colours, which everyone can tell apart.

use kuva::{
    backend::svg::SvgBackend,
    plot::legend::{LegendEntry, LegendPosition, LegendShape},
    render::{
        figure::Figure as Panels,
        layout::{Layout, TickFormat},
        plots::Plot,
        render::Scene,
        theme::Theme,
    },
};
use std::sync::Arc;

pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const SKY: &str = "#56B4E9";
/// What [`SKY`] looks like at the opacity of areas.
pub(super) const PALE_SKY: &str = "#bfe2f7";

/// Size of a figure with one panel.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;

/// A layout for the plots, in the common look.
pub(super) fn layout(plots: &[Plot]) -> Layout {
    let theme = Theme {
        axis_color: "#444".into(),
        grid_color: "#e6e6e6".into(),
        tick_color: "#444".into(),
        text_color: "#222".into(),
        legend_border: "none".into(),
        ..Theme::light()
    };
    Layout::auto_from_plots(plots)
        .with_theme(theme)
        .with_font_family("system-ui, Helvetica, Arial, sans-serif")
}

/// A legend above the plot, where it covers nothing.
pub(super) fn with_legend(layout: Layout, entries: Vec<LegendEntry>) -> Layout {
    layout
        .with_legend_entries(entries)
        .with_legend_position(LegendPosition::OutsideTopCenter)
        .with_legend_box(false)
}

/// An entry for an area.
pub(super) fn area(label: &str, color: &str) -> LegendEntry {
    entry(label, color, LegendShape::Rect, None)
}

/// An entry for a line.
pub(super) fn line(label: &str, color: &str) -> LegendEntry {
    entry(label, color, LegendShape::Line, None)
}

/// An entry for a dashed line.
pub(super) fn dashed(label: &str, color: &str) -> LegendEntry {
    entry(label, color, LegendShape::Line, Some("5 3".to_owned()))
}

fn entry(label: &str, color: &str, shape: LegendShape, dasharray: Option<String>) -> LegendEntry {
    LegendEntry { label: label.to_owned(), color: color.to_owned(), shape, dasharray }
}

/// Numbers along a logarithmic axis: plain where that is short, powers of ten elsewhere.
pub(super) fn logarithmic() -> TickFormat {
    TickFormat::Custom(Arc::new(|x| if x < 1e-3 { format!("{x:.0e}") } else { x.to_string() }))
}

/// One panel.
pub(super) fn single(plots: Vec<Plot>, layout: Layout) -> String {
    let layout = layout.with_width(WIDTH).with_height(HEIGHT);
    svg(&kuva::render::render::render_multiple(plots, layout))
}

/// Several panels.
pub(super) fn panels(panels: Panels) -> String {
    svg(&panels.render())
}

fn svg(scene: &Scene) -> String {
    let text = SvgBackend::new().render_scene(scene);
    // Without a view box a page could not scale it.
    let view = format!("<svg viewBox=\"0 0 {} {}\" ", scene.width, scene.height);
    text.replacen("<svg ", &view, 1)
}
