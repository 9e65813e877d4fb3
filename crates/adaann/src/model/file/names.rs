//! Checks that every name is valid, not reserved, and defined once.

use super::brief::brief;
use super::{File, Name};
use crate::model::diagnostic::{Report, Source};
use crate::model::expression::is_name;
use crate::model::words::reserved;
use std::collections::HashMap;

pub(super) fn check(file: &File, source: &Source, report: &mut Report) {
    let mut names = Names { given: HashMap::new(), source, report };
    let mut given: Vec<(&Name, &'static str)> = Vec::new();
    given.extend(file.parameters.iter().map(|parameter| (&parameter.name, "a parameter")));
    given.extend(file.constants.iter().map(|(name, _)| (name, "a constant")));
    given.extend(file.quantities.iter().map(|(name, _)| (name, "a quantity")));
    if let Some(data) = &file.data {
        given.extend(data.columns.iter().map(|(name, _)| (name, "a column")));
        given.extend(data.rename.iter().map(|(name, _)| (name, "a column")));
        let derived = data.derived.iter().map(|(name, _)| name);
        given.extend(derived.filter(|name| is_name(&name.text)).map(|name| (name, "a column")));
        given.extend(data.vectors.iter().map(|(name, _)| (name, "a vector of columns")));
    }
    if let Some(ode) = &file.ode {
        given.extend(ode.states.iter().map(|state| (&state.name, "a state")));
        given.extend(ode.inputs.iter().map(|input| (&input.name, "an input")));
    }
    if let Some(series) = &file.series {
        given.extend(series.states.iter().map(|state| (&state.name, "a state")));
    }
    given.sort_by_key(|(name, _)| name.span.start);
    given.into_iter().for_each(|(name, kind)| names.give(name, kind));
    if let Some(ode) = &file.ode {
        names.time(&ode.time);
    }
    let is_derived = |name: &Name| {
        file.data.iter().flat_map(|data| &data.derived).any(|(known, _)| known.text == name.text)
    };
    for (name, _) in file.likelihood.iter().filter(|(name, _)| !is_derived(name)) {
        names.name(name, "give the column a name: [data] rename = { y = \"...\" }");
    }
}

struct Names<'a> {
    given: HashMap<&'a str, &'static str>,
    source: &'a Source,
    report: &'a mut Report,
}

impl<'a> Names<'a> {
    fn give(&mut self, name: &'a Name, kind: &'static str) {
        if !self
            .name(name, "a name consists of letters, digits and _, and does not begin with a digit")
        {
            return;
        }
        let text = name.text.as_str();
        if let Some(meaning) = reserved(text) {
            let message = format!("`{text}` is {meaning} in formulas");
            return self.error(name, message, "choose another name");
        }
        if let Some(other) = self.given.insert(text, kind) {
            let message = format!("`{}` is already {other}", brief(text));
            self.error(name, message, "choose a different name");
        }
    }

    /// The name of time must be a column of the data, and nothing else.
    fn time(&mut self, time: &Name) {
        if !self
            .name(time, "a name consists of letters, digits and _, and does not begin with a digit")
        {
            return;
        }
        if let Some(other) = self.given.get(time.text.as_str()).filter(|kind| **kind != "a column")
        {
            let message = format!("`{}` is both the time of [ode] and {other}", brief(&time.text));
            self.error(time, message, "rename one of them; `time = \"...\"` names the time");
        } else if let Some(meaning) = reserved(&time.text) {
            let message = format!("`{}` is {meaning} in formulas", time.text);
            self.error(time, message, "choose another name");
        }
    }

    fn name(&mut self, name: &Name, help: &str) -> bool {
        let fine = is_name(&name.text);
        if !fine && ["and", "or", "not"].contains(&name.text.as_str()) {
            let message = format!("`{}` is a keyword in formulas", name.text);
            self.error(name, message, "choose another name");
        } else if !fine {
            self.error(name, format!("`{}` is not a name", brief(&name.text)), help);
        }
        fine
    }

    fn error(&mut self, name: &Name, message: String, help: &str) {
        self.report.error(self.source, name.span.clone(), message, Some(help.to_owned()));
    }
}
