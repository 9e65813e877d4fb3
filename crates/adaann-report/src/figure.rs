//! Figures: drawings with captions, as SVG, PNG and HTML.

use crate::{
    Panel, Result, Space, corner,
    escape::escaped,
    grid,
    ink::Ink,
    legend::{self, Entry, SAMPLE},
    multiples, raster, space,
    svg::{Place, number, svg},
};

/// The minimal width of a PNG in pixels.
const PIXELS: f64 = 1_900.0;

/// The buttons of a figure, which stay hidden without scripts.
const TOOLS: &str = "<div class=\"tools\" hidden><button type=\"button\" value=\"in\" \
    aria-label=\"Zoom in\">+</button><button type=\"button\" value=\"out\" \
    aria-label=\"Zoom out\">−</button><button type=\"button\" value=\"reset\">Reset</button>\
    <button type=\"button\" value=\"enlarge\">Enlarge</button></div>\n";

/// A drawing with a name and a caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name of its files, without extension.
    pub name: String,
    /// The caption.
    pub caption: String,
    drawing: Drawing,
}

/// Cells in rows, with a legend above them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) legend: Vec<Entry>,
    pub(crate) columns: usize,
    pub(crate) cells: Vec<Cell>,
}

/// A part of a figure that a page can position separately. All cells of a figure have the same size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) size: [f64; 2],
    pub(crate) title: Option<String>,
    pub(crate) inks: Vec<Ink>,
}

impl Figure {
    fn new(name: impl Into<String>, caption: impl Into<String>, drawing: Drawing) -> Self {
        Self { name: name.into(), caption: caption.into(), drawing }
    }

    /// Panels in rows of `columns` with one legend. A single panel is a wide chart.
    pub fn grid(
        name: impl Into<String>,
        caption: impl Into<String>,
        columns: usize,
        panels: Vec<Panel>,
    ) -> Self {
        Self::new(name, caption, grid::draw(columns, &panels))
    }

    /// Small panels in rows of `columns` with common axes. Each group begins a row and has its own vertical range.
    pub fn multiples(
        name: impl Into<String>,
        caption: impl Into<String>,
        columns: usize,
        groups: Vec<Vec<Panel>>,
    ) -> Self {
        Self::new(name, caption, multiples::draw(columns, &groups))
    }

    /// Charts in three dimensions, side by side.
    pub fn spaces(name: impl Into<String>, caption: impl Into<String>, spaces: Vec<Space>) -> Self {
        Self::new(name, caption, space::draw(&spaces))
    }

    /// A corner plot: marginals on the diagonal, pairs of coordinates below it, and true values as dashed
    /// lines. `columns` contains the draws of each coordinate.
    pub fn corner(
        name: impl Into<String>,
        caption: impl Into<String>,
        names: &[String],
        columns: &[Vec<f64>],
        truth: Option<&[f64]>,
    ) -> Self {
        Self::new(name, caption, corner::draw(names, columns, truth))
    }

    /// All pieces in their final positions, and the size of the figure.
    fn assembled(&self) -> (Vec<Ink>, [f64; 2]) {
        let Drawing { legend, columns, cells } = &self.drawing;
        let [width, height] = cells.first().map_or([1.0, 1.0], |cell| cell.size);
        let all = width * *columns as f64;
        let (mut inks, above) = legend::draw(legend, all);
        for (i, cell) in cells.iter().enumerate() {
            let (left, top) = ((i % columns) as f64 * width, (i / columns) as f64 * height + above);
            inks.extend(cell.inks.iter().map(|ink| ink.clone().moved(left, top)));
        }
        (inks, [all, above + cells.len().div_ceil(*columns).max(1) as f64 * height])
    }

    /// The drawing as an SVG file.
    pub fn svg(&self) -> String {
        let (inks, size) = self.assembled();
        let root = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" role=\"img\" \
             aria-label=\"{}\"",
            number(size[0]),
            number(size[1]),
            escaped(&self.caption)
        );
        svg(&inks, size, &root, Place::Alone)
    }

    /// The drawing as a PNG file.
    ///
    /// # Errors
    /// If it is too large to paint.
    pub fn png(&self) -> Result<Vec<u8>> {
        let (inks, size) = self.assembled();
        raster::png(&self.name, &inks, size, PIXELS / size[0])
    }

    /// The drawing as a part of a page. On narrow screens its cells wrap.
    pub(crate) fn html(&self) -> String {
        let Drawing { legend, columns, cells } = &self.drawing;
        let mut html = format!("<figure class=\"figure\" data-name=\"{}\">\n", escaped(&self.name));
        if !legend.is_empty() {
            html += "<ul class=\"legend\">";
            for entry in legend {
                let label = escaped(&entry.label);
                let sample = svg(
                    &entry.sample(),
                    SAMPLE,
                    "class=\"sample\" aria-hidden=\"true\"",
                    Place::Page,
                );
                html += &format!("<li data-label=\"{label}\">{sample}{label}</li>");
            }
            html += "</ul>\n";
        }
        html += &format!("<div class=\"cells columns-{columns}\">\n");
        for cell in cells {
            let title = cell.title.as_ref().map_or(String::new(), |title| format!("{title}. "));
            let label = escaped(&(title + &self.caption));
            let root =
                format!("class=\"chart\" role=\"img\" tabindex=\"0\" aria-label=\"{label}\"");
            html += &svg(&cell.inks, cell.size, &root, Place::Page);
            html.push('\n');
        }
        html += "</div>\n";
        html += TOOLS;
        html += &format!("<figcaption>{}</figcaption>\n</figure>\n", escaped(&self.caption));
        html
    }
}
