//! One look for all figures: Okabe and Ito's colours, which everyone can tell apart.

use kuva::{
    backend::svg::SvgBackend,
    plot::legend::LegendPosition,
    render::{figure::Figure as Panels, layout::Layout, plots::Plot, render::Scene, theme::Theme},
};

pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const SKY: &str = "#56B4E9";

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
        .with_legend_position(LegendPosition::InsideTopRight)
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
