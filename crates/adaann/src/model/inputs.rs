//! Inputs of a system: known curves of time, from tables.

use super::asked::Asked;
use super::changes::Changes;
use super::curve::{Curves, Pieces, at, pieces, value, width};
use super::data::Data;
use super::diagnostic::{Report, Source};
use super::evaluate::nearest;
use super::events::MOST_ALL;
use super::file::{Input, Knots, Name};
use super::load::{Place, text_of};
use super::outline::Outline;
use super::scan;
use crate::posterior::{Effect, Event};
use crate::program::Expr;
use std::path::Path;

impl Outline {
    /// Reads the curves of all inputs; their files are relative to `folder`, or copied beside the
    /// data.
    pub(super) fn load_inputs(&mut self, place: Place<'_>, folder: &Path, report: &mut Report) {
        let inputs = self.file.ode.iter().flat_map(|ode| &ode.inputs);
        self.curves = inputs.map(|input| self.load_input(input, place, folder, report)).collect();
    }

    fn load_input(
        &self,
        input: &Input,
        place: Place<'_>,
        folder: &Path,
        report: &mut Report,
    ) -> Curves {
        let mut curves = Curves::default();
        let span = &input.name.span;
        match &input.knots {
            Knots::Numbers { times, values } => {
                let knots = times.iter().copied().zip(values.iter().copied()).collect();
                curves.of.extend(self.curve(input, None, knots, report));
            }
            Knots::File { file, time, value, group } => {
                let path = place.input(folder, &input.name, file);
                curves.text = text_of(&path, file, place, &self.source, report);
                let Some(text) = curves.text.clone() else { return curves };
                let source = Source::new(file.text.clone(), text);
                let asked = Asked::of(&self.source, &self.file).whole();
                let Some(data) = scan::read(&source, &asked, report) else { return curves };
                let default = |name: &Option<Name>, text: &str| {
                    name.clone().unwrap_or(Name { text: text.to_owned(), span: span.clone() })
                };
                let of_ode = self.file.ode.as_ref().map_or("t", |ode| &ode.time.text[..]);
                let time = self.column(&data, &default(time, of_ode), report);
                let value = self.column(&data, &default(value, &input.name.text), report);
                let subject = group.as_ref().map(|group| self.column(&data, group, report));
                let (Some(time), Some(value)) = (time, value) else { return curves };
                let rows = || time.iter().copied().zip(value.iter().copied());
                let Some(subject) = subject else {
                    curves.of.extend(self.curve(input, None, rows().collect(), report));
                    return curves;
                };
                let Some(subject) = subject else { return curves };
                if self.subject_column().is_none() {
                    let message = "`group` of an input needs a system with subjects";
                    let help = Some("set `group` in [ode] to the column of subjects".to_owned());
                    report.error(&self.source, span.clone(), message, help);
                    return curves;
                }
                let mut names = subject.clone();
                names.sort_by(f64::total_cmp);
                names.dedup();
                for name in names {
                    let own = rows().zip(&subject).filter(|(_, of)| **of == name);
                    let knots = own.map(|(knot, _)| knot).collect();
                    curves.of.extend(self.curve(input, Some(name), knots, report));
                }
            }
        }
        curves
    }

    /// A column of a table; every cell must be a number.
    fn column(&self, data: &Data, name: &Name, report: &mut Report) -> Option<Vec<f64>> {
        let Some(column) = data.find(&name.text) else {
            let message = format!("the file has no column `{}`", name.text);
            let known = data.shown_names().into_iter();
            let help = nearest(&name.text, known).or_else(|| data.columns_in_words());
            report.error(&self.source, name.span.clone(), message, help);
            return None;
        };
        let values = &data.columns[column];
        if let Some(row) = values.iter().position(|x| x.is_nan()) {
            let message = format!("`{}` is not a number in row {} of the file", name.text, row + 1);
            if !data.error_at((row, column), &message, None, report) {
                report.error(&self.source, name.span.clone(), message, None);
            }
            return None;
        }
        Some(values.clone())
    }

    /// A curve through knots in any order.
    fn curve(
        &self,
        input: &Input,
        subject: Option<f64>,
        mut knots: Vec<(f64, f64)>,
        report: &mut Report,
    ) -> Option<(Option<f64>, Pieces)> {
        knots.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (times, values): (Vec<f64>, Vec<f64>) = knots.into_iter().unzip();
        if let Some(pair) = times.windows(2).find(|pair| pair[0] >= pair[1]) {
            let of = subject.map_or(String::new(), |subject| format!(" for subject {subject}"));
            let name = &input.name.text;
            let message = format!("the input `{name}` has two values at time {}{of}", pair[0]);
            report.error(&self.source, input.name.span.clone(), message, None);
            return None;
        }
        if !times.iter().chain(&values).all(|x| x.is_finite()) {
            let message = format!("the input `{}` has a value that is not finite", input.name.text);
            report.error(&self.source, input.name.span.clone(), message, None);
            return None;
        }
        Some((subject, pieces(input.shape, &times, &values)))
    }

    /// The value of each input at a time, from the numbers of the interval.
    pub(super) fn input_values<'g>(
        &self,
        time: Option<Expr<'g>>,
        number: impl Fn(usize) -> Expr<'g>,
    ) -> Vec<Expr<'g>> {
        let Some(time) = time else { return Vec::new() };
        let inputs = self.file.ode.iter().flat_map(|ode| &ode.inputs);
        let value = |(input, first): (&Input, &usize)| {
            let numbers: Vec<_> = (*first..first + width(input.shape)).map(&number).collect();
            value(&numbers, time)
        };
        inputs.zip(&self.changes.inputs).map(value).collect()
    }

    /// Adds the knots of inputs to the events of each subject.
    pub(super) fn add_inputs(
        &self,
        changes: &mut Changes,
        events: &mut [Vec<Event>],
        stretches: &mut [Vec<f64>],
    ) {
        let inputs = self.file.ode.iter().flat_map(|ode| &ode.inputs);
        for (input, curves) in inputs.zip(&self.curves) {
            let first = changes.numbers;
            changes.inputs.push(first);
            changes.numbers += width(input.shape);
            for (subject, (events, stretch)) in events.iter_mut().zip(&mut *stretches).enumerate() {
                let name = self.subject_names.get(subject).copied();
                let nothing = (vec![f64::NAN; width(input.shape)], Vec::new());
                let start = self.subjects.starts[subject];
                let (before, later) = match curves.find(name) {
                    None => nothing,
                    Some(pieces) => (
                        at(pieces, start).unwrap_or(nothing.0),
                        pieces.iter().filter(|(from, _)| *from > start).cloned().collect(),
                    ),
                };
                stretch.extend(before);
                events.extend(later.into_iter().map(|(time, numbers)| Event {
                    time,
                    before: 0,
                    effect: Effect::Set(first, numbers),
                }));
            }
        }
    }

    /// Reports subjects that have no curve for an input.
    pub(super) fn check_inputs(&self, report: &mut Report) {
        let inputs = self.file.ode.iter().flat_map(|ode| &ode.inputs);
        for (input, curves) in inputs.zip(&self.curves) {
            let knots: usize = curves.of.iter().map(|(_, pieces)| pieces.len()).sum();
            let shared = curves.of.iter().any(|(of, _)| of.is_none());
            let subjects = if shared { self.subjects.starts.len() } else { 1 };
            if knots.saturating_mul(subjects) > MOST_ALL {
                let message = format!(
                    "the input `{}` has {knots} times, more than {MOST_ALL} for all subjects together",
                    input.name.text
                );
                report.error(&self.source, input.name.span.clone(), message, None);
            }
            let mut names = self.subject_names.iter();
            if let Some(name) = names.find(|name| curves.find(Some(**name)).is_none())
                && !curves.of.is_empty()
            {
                let message =
                    format!("the input `{}` has no values for subject {name}", input.name.text);
                report.error(&self.source, input.name.span.clone(), message, None);
            }
        }
    }
}
