//! Reads the tables of a file one by one, and checks for what a model needs.

use super::check::Checker;
use super::keys::{CONSTANT, FILE, Form, Keys, LINE, QUANTITY, SERIES};
use super::offsets::Offsets;
use super::value::{Name, Node, Value, parse};
use super::{Constant, File, Formula, names};
use crate::model::diagnostic::{Report, Source};
use crate::model::expression::{self, Ast, Kind, Span};
use crate::model::functions;
use crate::model::names::each_trajectory;

/// Maximum size of a file in bytes.
const LARGEST: usize = 8 << 20;

/// The contents of a file, and all mistakes in it.
pub(crate) fn read(source: &Source) -> (File, Report) {
    let mut report = Report::default();
    if source.text.len() > LARGEST {
        let mebibytes = source.text.len() >> 20;
        let message = format!("the file has {mebibytes} MiB, more than {}", LARGEST >> 20);
        let help = "put data into a file of its own: [data] file = \"points.csv\"".to_owned();
        report.error_of_file(source, message, Some(help));
        return (File::default(), report);
    }
    let Some(root) = parse(source, &mut report) else { return (File::default(), report) };
    let place = Name { text: source.name.clone(), span: 0..0 };
    Checker { source, report: &mut report }.value(&root, &Form::Table(&FILE), &place);
    let mut reader = Reader { source, report, unread: Vec::new() };
    let mut file = reader.file(root.table().unwrap_or_default());
    names::check(&file, source, &mut reader.report);
    file.unread = reader.unread;
    (file, reader.report)
}

/// A key of a table with its value; the name must be in the table of keys.
pub(super) fn find<'v>(
    entries: &'v [(Name, Value)],
    keys: &Keys,
    name: &str,
) -> Option<&'v (Name, Value)> {
    debug_assert!(keys.get(name).is_some(), "{name} is not in the table of keys");
    entries.iter().find(|(key, _)| key.text == name)
}

/// The span of the final term in the table of series.
fn final_term(entries: &[(Name, Value)]) -> Option<Span> {
    find(entries, &SERIES, "final").map(|(name, _)| name.span.clone())
}

/// Reads values whose form has been checked; values of the wrong form have been reported and are left out.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) report: Report,
    pub(super) unread: Vec<Name>,
}

impl Reader<'_> {
    fn file(&mut self, root: &[(Name, Value)]) -> File {
        let find = |name| find(root, &FILE, name);
        let entries = |name| find(name).and_then(|(_, value)| value.table()).unwrap_or_default();
        let title = find("title").and_then(|(_, value)| value.text()).map(|title| title.text);
        let constants = self.each(entries("constants"), Self::constant);
        let mut data = find("data").and_then(|(name, value)| self.data(name, value.table()?));
        let parameters = self.parameters(entries("parameters"));
        let quantities = self.each(entries("quantities"), Self::quantity);
        let hidden = hidden(entries("quantities"));
        let density = find("density").and_then(|(_, value)| self.formula(value));
        let log_likelihood = find("log-likelihood").and_then(|(_, value)| self.formula(value));
        let (likelihood, weights) = self.lines(entries("likelihood"));
        if let Some(data) = &mut data {
            data.derived.extend(self.functions_of_columns(&likelihood));
        }
        let ode = find("ode").and_then(|(name, value)| self.ode(name, value.table()?));
        let series = find("series").and_then(|(name, value)| self.series(name, value.table()?));
        let command = find("command").and_then(|(_, value)| self.command(value));
        let fit =
            find("fit").map(|(name, value)| self.fit(name, value.table().unwrap_or_default()));
        let mut reads_trajectories = false;
        for (_, formula) in &quantities {
            each_trajectory(&formula.ast, &mut |_, _, _| reads_trajectories = true);
        }
        let is_prior_alone = self.missing(root, reads_trajectories);
        let unread = Vec::new();
        File {
            title,
            parameters,
            constants,
            data,
            quantities,
            hidden,
            density,
            log_likelihood,
            likelihood,
            weights,
            ode,
            series,
            command,
            fit: fit.unwrap_or_default(),
            is_prior_alone,
            unread,
        }
    }

    /// Reports missing parts and parts that cannot be combined; `reads_trajectories` tells whether quantities
    /// use trajectories. Returns whether the model consists of priors only.
    fn missing(&mut self, root: &[(Name, Value)], reads_trajectories: bool) -> bool {
        let find = |name| find(root, &FILE, name);
        let place = |name| find(name).map(|(name, _)| name.span.clone());
        let empty = |name| {
            let entries = find(name).and_then(|(_, value)| value.table());
            entries.is_some_and(|entries| entries.is_empty())
        };
        if find("parameters").is_none() || empty("parameters") {
            let help = "list them under [parameters], each with its prior: `a = \"normal(0, 1)\"`";
            self.somewhere(place("parameters"), "the model has no parameters", help);
        }
        let rows = place("likelihood").filter(|_| !empty("likelihood")).or(place("log-likelihood"));
        let rows = rows.or(find("series").and_then(|(_, value)| final_term(value.table()?)));
        if let (Some(rows), None) = (&rows, find("data")) {
            let help = "add a table [data] with `file = \"points.csv\"` or with columns";
            self.error(rows, "a likelihood needs data", Some(help));
        }
        let is_prior_alone = rows.is_none() && place("density").or(place("command")).is_none();
        if rows.is_none()
            && !reads_trajectories
            && let Some(ode) = place("ode")
        {
            let help = "add a line under [likelihood] that measures the states: `y = \"normal(u, sigma)\"`; or \
                        use functions of trajectories in [quantities]";
            self.error(&ode, "differential equations need a likelihood", Some(help));
        }
        if rows.is_none()
            && let Some(series) = place("series")
        {
            let help =
                "add a line under [likelihood] that measures the rows: `y = \"normal(h, sigma)\"`";
            self.error(&series, "a series needs a likelihood", Some(help));
        }
        if let (Some(_), Some(series)) = (find("ode"), place("series")) {
            let message = "[ode] and [series] cannot be combined: states either solve differential equations or are \
                           updated from row to row";
            let help =
                "remove one of them; a series can also take the steps of a solver of your own";
            self.error(&series, message, Some(help));
        }
        if is_prior_alone
            && !self.finds_misplaced(root)
            && let (Some(data), None, None) = (place("data"), place("ode"), place("series"))
        {
            let help = "add the distribution of the data under [likelihood], or remove [data] to draw \
                        from the priors";
            self.error(&data, "the model has data but no likelihood", Some(help));
        }
        if let (Some(command), true) =
            (place("command"), rows.is_some() || find("density").is_some())
        {
            let help = "remove the command or the formulas";
            let message =
                "a command computes the whole likelihood and cannot be combined with formulas";
            self.error(&command, message, Some(help));
        }
        is_prior_alone
    }

    /// Is a density, likelihood or command inside a table, where it is read as a plain name?
    fn finds_misplaced(&mut self, root: &[(Name, Value)]) -> bool {
        for (table, value) in root {
            for (name, _) in value.table().unwrap_or_default() {
                if ["density", "log-likelihood", "command"].contains(&name.text.as_str()) {
                    let message = format!("`{}` is inside [{}]", name.text, table.text);
                    self.error(&name.span, message, Some("move it above the first [table]"));
                    return true;
                }
            }
        }
        false
    }

    /// Reads every entry of a table of names; entries that cannot be read are noted and left out.
    pub(super) fn each<T>(
        &mut self,
        entries: &[(Name, Value)],
        read: impl Fn(&mut Self, &Value) -> Option<T>,
    ) -> Vec<(Name, T)> {
        let mut all = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            match read(self, value) {
                Some(value) => all.push((name.clone(), value)),
                None => self.unread.push(name.clone()),
            }
        }
        all
    }

    /// Lines of the likelihood; the data defines their left sides.
    fn lines(&mut self, entries: &[(Name, Value)]) -> (Vec<(Name, Formula)>, Vec<Option<Formula>>) {
        let (mut lines, mut weights) = (Vec::new(), Vec::new());
        for (name, value) in entries {
            let get = |key| value.table().and_then(|table| find(table, &LINE, key));
            let law =
                if value.table().is_some() { get("law").map(|(_, law)| law) } else { Some(value) };
            let weight = get("weight").and_then(|(_, weight)| self.formula(weight));
            if let Some(law) = law.and_then(|law| self.formula(law)) {
                lines.push((name.clone(), law));
                weights.push(weight);
            }
        }
        (lines, weights)
    }

    /// Left sides that are functions of columns, as derived columns with that name.
    fn functions_of_columns(&mut self, lines: &[(Name, Formula)]) -> Vec<(Name, Formula)> {
        let mut derived = Vec::new();
        for (name, _) in lines.iter().filter(|(name, _)| !expression::is_name(&name.text)) {
            let offsets = Offsets::new(&self.source.text, &name.span, &name.text);
            let Ok(ast) = expression::parse(&name.text, |offset| offsets.at(offset)) else {
                continue;
            };
            if is_function(&ast) {
                let (text, span) = (name.text.clone(), name.span.clone());
                derived.push((name.clone(), Formula { text, ast, span }));
            }
        }
        derived
    }

    /// A formula, or a table that contains one.
    fn quantity(&mut self, value: &Value) -> Option<Formula> {
        let value = match value.table() {
            Some(table) => &find(table, &QUANTITY, "formula")?.1,
            None => value,
        };
        self.formula(value)
    }

    fn constant(&mut self, value: &Value) -> Option<Constant> {
        if let Some(table) = value.table() {
            return find(table, &CONSTANT, "file")?.1.text().map(Constant::File);
        }
        let Some(values) = value.list() else {
            return match value.number() {
                Some(number) => (!number.is_nan()).then_some(Constant::Number(number)),
                None => self.formula(value).map(Constant::Formula),
            };
        };
        if values.is_empty() {
            self.error(&value.span, "the list is empty", None);
            return None;
        }
        if values.iter().all(|value| value.number().is_some()) {
            return numbers(values).map(Constant::Vector);
        }
        let rows: Option<Vec<_>> = values.iter().map(|row| numbers(row.list()?)).collect();
        // A value of another type has been reported, but not numbers beside lists.
        let Some(rows) = rows else {
            let mixed = values.iter().find(|value| value.number().is_some());
            if let (Some(mixed), true) = (mixed, values.iter().any(|row| row.list().is_some())) {
                self.error(
                    &mixed.span,
                    "this is a number, but the other elements are rows",
                    Some("put it in brackets"),
                );
            }
            return None;
        };
        let odd = rows.iter().position(|row| row.is_empty() || row.len() != rows[0].len());
        if let Some(odd) = odd {
            let message = format!(
                "row {} has length {}, but the first row has length {}",
                odd + 1,
                rows[odd].len(),
                rows[0].len()
            );
            self.error(
                &values[odd].span,
                message,
                Some("all rows must have the same length, at least 1"),
            );
            return None;
        }
        Some(Constant::Matrix(rows))
    }

    pub(super) fn formula(&mut self, value: &Value) -> Option<Formula> {
        let span = value.span.clone();
        if let Some(number) = value.number() {
            let ast = Ast { kind: Kind::Number(number), span: span.clone() };
            return (!number.is_nan()).then(|| Formula { text: number.to_string(), ast, span });
        }
        let Node::Text(text) = &value.node else { return None };
        let offsets = Offsets::new(&self.source.text, &span, text);
        match expression::parse(text, |offset| offsets.at(offset)) {
            Ok(ast) => Some(Formula { text: text.clone(), ast, span }),
            Err(faults) => {
                self.report.faults(self.source, faults);
                None
            }
        }
    }

    pub(super) fn error(&mut self, span: &Span, message: impl Into<String>, help: Option<&str>) {
        self.report.error(self.source, span.clone(), message, help.map(str::to_owned));
    }

    fn somewhere(&mut self, span: Option<Span>, message: &str, help: &str) {
        match span {
            Some(span) => self.error(&span, message, Some(help)),
            None => self.report.error_of_file(self.source, message, Some(help.to_owned())),
        }
    }
}

/// The names of the quantities that are not reported.
fn hidden(entries: &[(Name, Value)]) -> Vec<String> {
    let is_hidden = |(_, value): &&(Name, Value)| {
        let hidden = value.table().and_then(|table| find(table, &QUANTITY, "hidden"));
        hidden.is_some_and(|(_, value)| matches!(value.node, Node::Boolean(true)))
    };
    entries.iter().filter(is_hidden).map(|(name, _)| name.text.clone()).collect()
}

/// Is the formula a call of a known function?
fn is_function(ast: &Ast) -> bool {
    matches!(&ast.kind, Kind::Call { name, .. } if functions::find(name).is_some())
}

pub(super) fn numbers(values: &[Value]) -> Option<Vec<f64>> {
    values.iter().map(Value::number).collect()
}
