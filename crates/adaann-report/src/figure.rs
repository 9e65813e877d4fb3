//! A drawing with its words, in all the forms in which it is needed.

use crate::{
    Panel, Result, Space, corner,
    escape::escaped,
    grid,
    ink::Ink,
    legend::{self, Entry, SAMPLE},
    multiples, raster, space,
    svg::{Place, number, svg},
};

/// Pixels across a PNG, at least.
const PIXELS: f64 = 1_900.0;

/// What the page's script does at the touch of a button; hidden where no script runs.
const TOOLS: &str = "<div class=\"tools\" hidden><button type=\"button\" value=\"in\" \
    aria-label=\"Zoom in\">+</button><button type=\"button\" value=\"out\" \
    aria-label=\"Zoom out\">−</button><button type=\"button\" value=\"reset\">Reset</button>\
    <button type=\"button\" value=\"enlarge\">Enlarge</button></div>\n";

/// A drawing with its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name of its files, without their ending.
    pub name: String,
    /// What it shows.
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

/// What a page may put at a place of its own; all cells of a figure have one size.
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

    /// Panels in rows of `columns`, with one legend for all; one panel is a wide chart.
    pub fn grid(
        name: impl Into<String>,
        caption: impl Into<String>,
        columns: usize,
        panels: Vec<Panel>,
    ) -> Self {
        Self::new(name, caption, grid::draw(columns, &panels))
    }

    /// Small panels in rows of `columns` with common axes; each group begins a row and has heights of its own.
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

    /// Draws of several coordinates: each alone on the diagonal, each pair below it, and the truth
    /// as dashed lines. `columns` has the draws of each coordinate.
    pub fn corner(
        name: impl Into<String>,
        caption: impl Into<String>,
        names: &[String],
        columns: &[Vec<f64>],
        truth: Option<&[f64]>,
    ) -> Self {
        Self::new(name, caption, corner::draw(names, columns, truth))
    }

    /// All pieces at their places, and the size of the whole.
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

    /// The drawing as a file of its own.
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

    /// The drawing in pixels.
    ///
    /// # Errors
    /// If it is too large to be painted.
    pub fn png(&self) -> Result<Vec<u8>> {
        let (inks, size) = self.assembled();
        raster::png(&self.name, &inks, size, PIXELS / size[0])
    }

    /// The drawing as a part of a page: its cells flow where the screen is narrow.
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
