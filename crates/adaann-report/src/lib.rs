//! Figures, tables and self-contained HTML pages: all graphics of the project.
//!
//! A figure is laid out once, as a list of strokes and texts. It can be written as SVG or PNG, or put into a
//! page, where it is interactive by pointer, touch and keyboard.
//!
//! ```
//! use adaann_report::{Axis, Block, Color, Figure, Mark, Page, Panel};
//!
//! let squares: Vec<(f64, f64)> = (0..20).map(|i| (i as f64, (i * i) as f64)).collect();
//! let panel = Panel {
//!     title: None,
//!     x: Axis::new("n"),
//!     y: Axis::new("n squared"),
//!     marks: vec![Mark::line(squares, Color::Blue).label("squares")],
//! };
//! let figure = Figure::grid("squares", "Squares of whole numbers.", 1, vec![panel]);
//! assert!(figure.svg().starts_with("<svg "));
//! let page = Page {
//!     title: "Numbers".into(),
//!     lead: "A page with one figure.".into(),
//!     blocks: vec![Block::Figure(figure)],
//!     footer: String::new(),
//!     contents: false,
//! };
//! assert!(page.html().contains("Squares of whole numbers."));
//! ```
//!
//! Texts are measured with the font that the crate contains. `ink.rs` has the list of lines, areas, dots and
//! texts of a figure; `svg.rs` writes that list and `raster.rs` paints it. In a report the same SVG carries the
//! geometry of its panels and the values of its series as data attributes, which one script reads to respond to
//! pointer, touch and keyboard. Zooming rewrites the paths, since every path is pairs of numbers. On a page
//! each panel of a figure is a separate drawing, so that panels wrap on a narrow screen. `tests/browser.rs`
//! tests all this in Chromium.

pub mod bins;
mod color;
mod contour;
mod corner;
mod error;
mod escape;
mod figure;
mod grid;
mod ink;
mod legend;
mod mark;
mod multiples;
mod page;
mod panel;
mod raster;
mod scale;
mod series;
mod space;
mod svg;
mod table;
mod text;
mod ticks;
mod words;

pub use color::Color;
pub use error::{Error, Result};
pub use figure::Figure;
pub use mark::{Axis, Mark, Panel, Shape};
pub use page::{Block, Page, Tone};
pub use space::{Space, SpaceMark};
pub use table::Table;
