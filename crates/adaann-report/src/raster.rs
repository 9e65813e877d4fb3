//! Paints a drawing as PNG, from the same pieces as the SVG.

use crate::{Error, Result};
use crate::{
    ink::{Anchor, Fill, Ink, Point, Rect, Stroke, Text},
    svg::DASHES,
    text,
};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash,
    Transform,
};
use ttf_parser::OutlineBuilder;

/// Paints a drawing, enlarged by the factor `scale`.
pub(crate) fn png(
    name: &str,
    inks: &[Ink],
    [width, height]: [f64; 2],
    scale: f64,
) -> Result<Vec<u8>> {
    let [w, h] = [width, height].map(|side| (side * scale).ceil() as u32);
    let too_large = || Error::Size { figure: name.to_owned(), width: w, height: h };
    let mut pixels = Pixmap::new(w, h).ok_or_else(too_large)?;
    pixels.fill(Color::WHITE);
    let transform = Transform::from_scale(scale as f32, scale as f32);
    let mut painter = Painter { pixels, transform, window: None };
    for ink in inks {
        painter.paint(ink);
    }
    painter
        .pixels
        .encode_png()
        .map_err(|cause| Error::Png { figure: name.to_owned(), cause: cause.to_string() })
}

struct Painter {
    pixels: Pixmap,
    transform: Transform,
    window: Option<Mask>,
}

impl Painter {
    fn paint(&mut self, ink: &Ink) {
        match ink {
            Ink::Path { lines, closed, fill, stroke } => {
                let Some(path) = outline(lines, *closed) else { return };
                if let Some(fill) = fill {
                    self.fill(&path, *fill, FillRule::EvenOdd);
                }
                if let Some(stroke) = stroke {
                    self.stroke(&path, *stroke);
                }
            }
            Ink::Dots { points, radius, fill } => {
                let mut path = PathBuilder::new();
                for (x, y) in points {
                    path.push_circle(*x as f32, *y as f32, *radius as f32);
                }
                if let Some(path) = path.finish() {
                    self.fill(&path, *fill, FillRule::Winding);
                }
            }
            Ink::Text(words) => self.text(words),
            Ink::Group(group) => {
                let outside = self.window.clone();
                if let Some(window) = group.window {
                    self.look_through(window);
                }
                for ink in &group.inks {
                    self.paint(ink);
                }
                self.window = outside;
            }
        }
    }

    fn look_through(&mut self, window: Rect) {
        let path = outline(&[window.corners()], true);
        let mask = Mask::new(self.pixels.width(), self.pixels.height());
        self.window = mask.zip(path).map(|(mut mask, path)| {
            mask.fill_path(&path, FillRule::Winding, true, self.transform);
            mask
        });
    }

    fn fill(&mut self, path: &Path, fill: Fill, rule: FillRule) {
        let paint = paint(fill);
        self.pixels.fill_path(path, &paint, rule, self.transform, self.window.as_ref());
    }

    fn stroke(&mut self, path: &Path, Stroke { color, width, dashed }: Stroke) {
        let dash = StrokeDash::new(DASHES.map(|length| length as f32).to_vec(), 0.0);
        let stroke = tiny_skia::Stroke {
            width: width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            dash: dash.filter(|_| dashed),
            ..tiny_skia::Stroke::default()
        };
        let paint = paint(Fill { color, opacity: 1.0 });
        self.pixels.stroke_path(path, &paint, &stroke, self.transform, self.window.as_ref());
    }

    fn text(&mut self, words: &Text) {
        let small = text::POWER_SIZE * words.size;
        let width = text::width(&words.words, words.size) + text::width(&words.power, small);
        let start = match words.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut letters = Letters { path: PathBuilder::new(), at: (start, 0.0), scale: 1.0 };
        letters.write(&words.words, words.size);
        letters.at.1 = -text::POWER_RISE * words.size;
        letters.write(&words.power, small);
        let Some(path) = letters.path.finish() else { return };
        let (x, y) = (words.at.0 as f32, words.at.1 as f32);
        let turn = if words.upright { -90.0 } else { 0.0 };
        let place = Transform::from_rotate(turn).post_translate(x, y);
        if let Some(path) = path.transform(place) {
            self.fill(&path, Fill { color: words.color, opacity: 1.0 }, FillRule::Winding);
        }
    }
}

fn outline(lines: &[Vec<Point>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (i, &(x, y)) in line.iter().enumerate() {
            let (x, y) = (x as f32, y as f32);
            if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

fn paint(Fill { color, opacity }: Fill) -> Paint<'static> {
    let part = |from: usize| {
        u8::from_str_radix(&color[from..from + 2], 16).expect("colours are written #rrggbb")
    };
    let mut paint = Paint::default();
    paint.set_color_rgba8(part(1), part(3), part(5), (opacity * 255.0).round() as u8);
    paint
}

/// Collects the outlines of letters. In fonts y points upwards.
struct Letters {
    path: PathBuilder,
    at: Point,
    scale: f64,
}

impl Letters {
    fn write(&mut self, words: &str, size: f64) {
        self.scale = size / text::units();
        for character in words.chars() {
            let (glyph, advance) = text::glyph(character);
            text::face().outline_glyph(glyph, self);
            self.at.0 += advance * self.scale;
        }
    }

    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let x = self.at.0 + f64::from(x) * self.scale;
        let y = self.at.1 - f64::from(y) * self.scale;
        (x as f32, y as f32)
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
