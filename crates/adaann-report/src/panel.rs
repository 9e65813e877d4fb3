//! One chart with two axes, laid out inside a rectangle.

use crate::{
    ink::{Anchor, Group, Ink, Point, Rect, Stroke, Text},
    mark::{Axis, Panel, Shape},
    scale::{Scale, fit},
    series,
    svg::value,
    text,
    ticks::{self, Tick},
};

/// Sizes of numbers, axis labels and titles.
pub(crate) const NUMBER: f64 = 11.0;
const LABEL: f64 = 12.0;
const TITLE: f64 = 12.5;

pub(crate) const DARK: &str = "#222222";
const AXIS: &str = "#555555";
const GRID: &str = "#e4e4e4";
const FAINT: &str = "#f2f2f2";

/// Room between the numbers of an axis, across and upwards.
const ACROSS: f64 = 56.0;
const UPWARDS: f64 = 32.0;

/// Room around the axes of a panel.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Margins {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Margins {
    /// Margins large enough for both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// The area of a cell inside the margins.
    pub(crate) fn inside(self, cell: Rect) -> Rect {
        Rect {
            left: cell.left + self.left,
            top: cell.top + self.top,
            width: (cell.width - self.left - self.right).max(20.0),
            height: (cell.height - self.top - self.bottom).max(20.0),
        }
    }
}

/// A panel with its ranges, ready for layout.
pub(crate) struct Chart<'a> {
    panel: &'a Panel,
    x: [f64; 2],
    y: [f64; 2],
    /// Are numbers written along the axes?
    pub(crate) numbers: [bool; 2],
}

impl<'a> Chart<'a> {
    pub(crate) fn new(panel: &'a Panel) -> Self {
        let all = || panel.marks.iter().flat_map(|mark| series::extent(&mark.shape));
        let both_shown = |(x, y): &Point| {
            let shown = |value: f64, axis: &Axis| !value.is_nan() && (!axis.log || value > 0.0);
            shown(*x, &panel.x) && shown(*y, &panel.y)
        };
        let any = |of: fn(&Shape) -> bool| panel.marks.iter().any(|mark| of(&mark.shape));
        // Contours fill their grid. White space around it would look like a cut-off drawing.
        let contours = any(|shape| matches!(shape, Shape::Contours { .. }));
        // A dot on an axis would be cut in half.
        let dots = any(|shape| matches!(shape, Shape::Markers { .. } | Shape::LineMarkers { .. }));
        let [x_margin, y_margin] = match (contours, dots) {
            (true, _) => [0.0, 0.0],
            (false, true) => [0.04, 0.06],
            (false, false) => [0.02, 0.05],
        };
        let x_values = all().filter(both_shown).map(|point| point.0);
        let rules_x = panel.marks.iter().filter_map(|mark| match mark.shape {
            Shape::VerticalRule { x } => Some(x),
            _ => None,
        });
        let rules_y = panel.marks.iter().filter_map(|mark| match mark.shape {
            Shape::HorizontalRule { y } => Some(y),
            _ => None,
        });
        let x = fit(panel.x.range, panel.x.log, x_values.chain(rules_x), x_margin, !dots);
        // Points outside the horizontal range do not affect the vertical one.
        let y_values = all()
            .filter(both_shown)
            .filter(|point| (x[0]..=x[1]).contains(&point.0))
            .map(|point| point.1);
        let y = fit(panel.y.range, panel.y.log, y_values.chain(rules_y), y_margin, !dots);
        Self { panel, x, y, numbers: [true, true] }
    }

    /// Gives all charts the union of their horizontal ranges.
    pub(crate) fn share_across(charts: &mut dyn Iterator<Item = &mut Self>) {
        let charts: Vec<&mut Self> = charts.collect();
        let all = hull(charts.iter().map(|chart| chart.x));
        charts.into_iter().for_each(|chart| chart.x = all);
    }

    /// Gives all charts the union of their vertical ranges.
    pub(crate) fn share_upwards(charts: &mut dyn Iterator<Item = &mut Self>) {
        let charts: Vec<&mut Self> = charts.collect();
        let all = hull(charts.iter().map(|chart| chart.y));
        charts.into_iter().for_each(|chart| chart.y = all);
    }

    /// The aspect ratio (height over width) of a panel with contours, whose shapes should not be distorted.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let contours =
            self.panel.marks.iter().any(|mark| matches!(mark.shape, Shape::Contours { .. }));
        let ratio = (self.y[1] - self.y[0]) / (self.x[1] - self.x[0]);
        let linear = !self.panel.x.log && !self.panel.y.log;
        (contours && linear && (0.25..=4.0).contains(&ratio)).then_some(ratio)
    }

    fn scales(&self, area: Rect) -> (Scale, Scale) {
        let ([x_low, x_high], [y_low, y_high]) = (self.x, self.y);
        let (x_log, y_log) = (self.panel.x.log, self.panel.y.log);
        (
            Scale { low: x_low, high: x_high, log: x_log, from: area.left, to: area.right() },
            Scale { low: y_low, high: y_high, log: y_log, from: area.bottom(), to: area.top },
        )
    }

    fn ticks(&self, area: Rect) -> (Vec<Tick>, Vec<Tick>) {
        let (x, y) = self.scales(area);
        let most = |room: f64, each: f64| ((room / each) as usize).clamp(4, 10);
        let mut count = most(area.width, ACROSS);
        let mut across = ticks::ticks(&x, count);
        // Long numbers need more room than short ones.
        while count > 2 && across.iter().map(|t| breadth(t) + 12.0).sum::<f64>() > area.width {
            count -= 1;
            across = ticks::ticks(&x, count);
        }
        (across, ticks::ticks(&y, most(area.height, UPWARDS)))
    }

    /// Room for numbers, labels and title around the axes, in a cell of this size.
    pub(crate) fn margins(&self, cell: Rect) -> Margins {
        let guess = Margins { left: 50.0, right: 14.0, top: 20.0, bottom: 40.0 }.inside(cell);
        let (x, y) = self.ticks(guess);
        let wide = |ticks: &[Tick]| ticks.iter().map(breadth).fold(0.0, f64::max);
        let label = |axis: &Axis| if axis.label.is_empty() { 0.0 } else { LABEL + 6.0 };
        let titled = self.panel.title.is_some();
        Margins {
            left: label(&self.panel.y) + if self.numbers[1] { wide(&y) + 9.0 } else { 6.0 } + 4.0,
            right: if self.numbers[0] { (wide(&x) / 2.0).max(10.0) } else { 8.0 },
            top: if titled { TITLE + 12.0 } else { 10.0 },
            bottom: label(&self.panel.x) + if self.numbers[0] { NUMBER + 9.0 } else { 6.0 },
        }
    }

    /// The panel with its axes in this area.
    pub(crate) fn draw(&self, area: Rect) -> Ink {
        let area = self.ratio().map_or(area, |ratio| with_ratio(area, ratio));
        let (x, y) = self.scales(area);
        let (across, upwards) = self.ticks(area);
        let mut axes = grid_lines(area, &x, &y, &across, &upwards);
        if self.numbers[0] {
            axes.extend(across.iter().filter_map(|tick| {
                let at = (x.at(tick.value)?, area.bottom() + NUMBER + 5.0);
                Some(number(tick, at, Anchor::Middle))
            }));
        }
        if self.numbers[1] {
            axes.extend(upwards.iter().filter_map(|tick| {
                let at = (area.left - 6.0, y.at(tick.value)? + 0.36 * NUMBER);
                Some(number(tick, at, Anchor::End))
            }));
        }
        let marks = self.panel.marks.iter().map(|mark| series::draw(mark, &x, &y, area));
        let window =
            Group { class: "marks", window: Some(area), inks: marks.collect(), ..Group::default() };
        let frame = Stroke { color: AXIS, width: 1.0, dashed: false };
        let mut inks = vec![
            Ink::Group(Group { class: "axes", inks: axes, ..Group::default() }),
            Ink::Group(window),
            Ink::line(
                vec![
                    (area.left, area.top),
                    (area.left, area.bottom()),
                    (area.right(), area.bottom()),
                ],
                frame,
            ),
        ];
        inks.extend(self.words(area, &upwards));
        Ink::Group(Group { class: "panel", data: self.data(area), window: None, inks })
    }

    fn words(&self, area: Rect, upwards: &[Tick]) -> Vec<Ink> {
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        let text = |words: &str, at: Point, size: f64, room: f64| Text {
            at,
            words: text::cut(words, size, room),
            power: String::new(),
            size,
            anchor: Anchor::Middle,
            color: DARK,
            upright: false,
        };
        let mut inks = Vec::new();
        if let Some(title) = &self.panel.title {
            let room = area.width + 30.0;
            inks.push(Ink::Text(text(title, (middle.0, area.top - 7.0), TITLE, room)));
        }
        if !self.panel.x.label.is_empty() {
            let below = if self.numbers[0] { NUMBER + 9.0 } else { 6.0 };
            let at = (middle.0, area.bottom() + below + LABEL);
            inks.push(Ink::Text(text(&self.panel.x.label, at, LABEL, area.width + 30.0)));
        }
        if !self.panel.y.label.is_empty() {
            let wide = upwards.iter().map(breadth).fold(0.0, f64::max);
            let beside = if self.numbers[1] { wide + 9.0 } else { 6.0 };
            let at = (area.left - beside - 5.0, middle.1);
            let room = area.height + 20.0;
            let label = text(&self.panel.y.label, at, LABEL, room);
            inks.push(Ink::Text(Text { upright: true, ..label }));
        }
        inks
    }

    /// Data for the script of the page: the area, and the ranges of both axes.
    fn data(&self, area: Rect) -> Vec<(&'static str, String)> {
        let area = [area.left, area.top, area.width, area.height].map(value);
        let axis = |[low, high]: [f64; 2], axis: &Axis| {
            let exact = |x: f64| format!("{x:e}");
            format!("{} {} {}", exact(low), exact(high), if axis.log { "log" } else { "linear" })
        };
        let mut data = vec![
            ("area", area.join(" ")),
            ("x", axis(self.x, &self.panel.x)),
            ("y", axis(self.y, &self.panel.y)),
            ("x-label", self.panel.x.label.clone()),
            ("y-label", self.panel.y.label.clone()),
        ];
        let shown = self.numbers.map(|shown| if shown { "1" } else { "0" });
        data.push(("numbers", shown.join(" ")));
        data
    }
}

/// The smallest range that contains all of them.
fn hull(ranges: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    let ends = [f64::INFINITY, f64::NEG_INFINITY];
    ranges.fold(ends, |[low, high], [from, to]| [low.min(from), high.max(to)])
}

/// The largest part of the area with this ratio of height to width.
fn with_ratio(area: Rect, ratio: f64) -> Rect {
    let width = area.width.min(area.height / ratio);
    let height = area.height.min(area.width * ratio);
    let left = area.left + (area.width - width) / 2.0;
    Rect { left, top: area.top + (area.height - height) / 2.0, width, height }
}

/// Width of a number.
fn breadth(tick: &Tick) -> f64 {
    text::width(&tick.words, NUMBER) + text::width(&tick.power, NUMBER * text::POWER_SIZE)
}

fn number(tick: &Tick, at: Point, anchor: Anchor) -> Ink {
    let (words, power) = (tick.words.clone(), tick.power.clone());
    Ink::Text(Text { at, words, power, size: NUMBER, anchor, color: AXIS, upright: false })
}

fn grid_lines(area: Rect, x: &Scale, y: &Scale, across: &[Tick], upwards: &[Tick]) -> Vec<Ink> {
    let up = |x: f64| vec![(x, area.top), (x, area.bottom())];
    let along = |y: f64| vec![(area.left, y), (area.right(), y)];
    let minor = ticks::between(x)
        .into_iter()
        .filter_map(|value| x.at(value).map(up))
        .chain(ticks::between(y).into_iter().filter_map(|value| y.at(value).map(along)));
    let major = across
        .iter()
        .filter_map(|tick| x.at(tick.value).map(up))
        .chain(upwards.iter().filter_map(|tick| y.at(tick.value).map(along)));
    let path = |lines: Vec<Vec<Point>>, color| {
        let stroke = Some(Stroke { color, width: 0.8, dashed: false });
        (!lines.is_empty()).then_some(Ink::Path { lines, closed: false, fill: None, stroke })
    };
    [path(minor.collect(), FAINT), path(major.collect(), GRID)].into_iter().flatten().collect()
}
