//! Parameters, data, differential equations and commands: the tables with keys of their own.

use super::keys::{COMMAND, DATA, JOIN, ODE, PARAMETER, STATE};
use super::read::{Reader, find, numbers};
use super::value::{Name, Node, Value};
use super::{
    Command, Data, GradientName, Join, Missing, Ode, Parameter, Run, SolverName, State, SupportName,
};

/// Maximum number of parameters in a model, counting each element of a vector.
const MOST_PARAMETERS: usize = 10_000;
/// Maximum number of values in columns that are written in the model file.
const MOST_NUMBERS: usize = 1_000_000;

type Entries = [(Name, Value)];

impl Reader<'_> {
    pub(super) fn parameters(&mut self, entries: &Entries) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut count = 0;
        for (name, value) in entries {
            let size = value.table().and_then(|table| find(table, &PARAMETER, "size"));
            let size = size.map_or(1.0, |(_, size)| match size.list() {
                Some(sizes) => sizes.iter().filter_map(Value::number).product(),
                None => size.number().unwrap_or(1.0),
            });
            let before = count;
            count =
                if size <= MOST_PARAMETERS as f64 { count + size as usize } else { usize::MAX / 2 };
            if count > MOST_PARAMETERS {
                if before <= MOST_PARAMETERS {
                    let message = format!("the model has more than {MOST_PARAMETERS} parameters");
                    self.error(&name.span, message, Some("each element of a vector counts"));
                }
                count = count.min(MOST_PARAMETERS + 1);
            }
            match self.parameter(name, value) {
                Some(parameter) => parameters.push(parameter),
                None => self.unread.push(name.clone()),
            }
        }
        parameters
    }

    fn parameter(&mut self, name: &Name, value: &Value) -> Option<Parameter> {
        let name = name.clone();
        let (support, lower, upper, size) = (None, None, None, Vec::new());
        let Some(entries) = value.table() else {
            // Only text can be a prior; a number has been reported.
            let prior = Some(value.text().and_then(|_| self.formula(value))?);
            return Some(Parameter { name, prior, support, lower, upper, size });
        };
        let mut whole = true;
        let mut formula = |key| {
            let (_, value) = find(entries, &PARAMETER, key)?;
            let formula = self.formula(value);
            whole &= formula.is_some();
            formula
        };
        let (prior, lower, upper) = (formula("prior"), formula("lower"), formula("upper"));
        let mut size = Vec::new();
        if let Some((_, value)) = find(entries, &PARAMETER, "size") {
            let sizes = value.list().unwrap_or(std::slice::from_ref(value));
            if !(1..=2).contains(&sizes.len()) {
                let message = format!("`size` has {} numbers", sizes.len());
                let help = "write a length, `size = 3`, or rows and columns, `size = [3, 2]`";
                self.error(&value.span, message, Some(help));
                return None;
            }
            for one in sizes {
                let formula = self.formula(one);
                whole &= formula.is_some();
                size.extend(formula);
            }
        }
        let support = find(entries, &PARAMETER, "support").and_then(|(_, value)| {
            let support = match value.text()?.text.replace('_', "-").as_str() {
                "real" => SupportName::Real,
                "positive" => SupportName::Positive,
                "unit" => SupportName::Unit,
                "ordered" => SupportName::Ordered,
                "positive-ordered" => SupportName::PositiveOrdered,
                "simplex" => SupportName::Simplex,
                "correlation" => SupportName::Correlation,
                "cholesky-correlation" => SupportName::CholeskyCorrelation,
                _ => return None,
            };
            Some((support, value.span.clone()))
        });
        whole.then_some(Parameter { name, prior, support, lower, upper, size })
    }

    pub(super) fn data(&mut self, name: &Name, entries: &Entries) -> Option<Data> {
        let get = |key| find(entries, &DATA, key).map(|(_, value)| value);
        let table = |key| get(key).and_then(Value::table).unwrap_or_default();
        let file = get("file").and_then(Value::text);
        let missing = match get("missing").and_then(Value::text) {
            Some(word) if word.text == "skip" => Missing::Skip,
            _ => Missing::Error,
        };
        let rename = table("rename").iter();
        let rename =
            rename.filter_map(|(name, value)| Some((name.clone(), value.text()?))).collect();
        let mut vectors = Vec::new();
        for (name, value) in table("vectors") {
            let columns: Option<Vec<_>> =
                value.list().and_then(|list| list.iter().map(Value::text).collect());
            match columns {
                Some(columns) if columns.is_empty() => {
                    self.error(&value.span, "the vector has no columns", None);
                }
                Some(columns) => vectors.push((name.clone(), columns)),
                None => self.unread.push(name.clone()),
            }
        }
        let joined = get("join").and_then(Value::list).unwrap_or_default();
        let join = joined.iter().filter_map(|value| {
            let text = |key| find(value.table()?, &JOIN, key).and_then(|(_, value)| value.text());
            Some(Join { file: text("file")?, by: text("by")? })
        });
        let join: Vec<Join> = join.collect();
        if let (Some(first), None) = (join.first(), get("file")) {
            let message = "`join` does not apply to columns in the model file";
            self.error(&first.file.span, message, Some("put the columns into a data file"));
        }
        let derived = self.each(table("derived"), Self::formula);
        let given = || entries.iter().filter(|(name, _)| DATA.get(&name.text).is_none());
        let columns = self.columns(&mut given());
        if get("file").is_none() && given().next().is_none() {
            let help = "add `file = \"points.csv\"`, or columns: `x = [1, 2, 3]`";
            self.error(&name.span, "[data] has neither a file nor columns", Some(help));
        }
        if let (Some(_), Some((column, _))) = (get("file"), given().next()) {
            let message = format!(
                "[data] has both a file and the column `{}`",
                super::brief::brief(&column.text)
            );
            let help = "put all columns into the file, or all of them here";
            self.error(&column.span, message, Some(help));
        }
        Some(Data {
            span: name.span.clone(),
            file,
            columns,
            missing,
            rename,
            vectors,
            join,
            derived,
        })
    }

    fn columns(
        &mut self,
        given: &mut dyn Iterator<Item = &(Name, Value)>,
    ) -> Vec<(Name, Vec<f64>)> {
        let mut columns: Vec<(Name, Vec<f64>)> = Vec::new();
        let mut count = 0;
        for (name, value) in given {
            let Some(numbers) = value.list().and_then(numbers) else {
                self.unread.push(name.clone());
                continue;
            };
            let before = count;
            count += numbers.len();
            if before <= MOST_NUMBERS && count > MOST_NUMBERS {
                let message = format!("the columns have more than {MOST_NUMBERS} numbers");
                let help = "put them into a file: [data] file = \"points.csv\"";
                self.error(&name.span, message, Some(help));
            }
            if numbers.is_empty() {
                self.error(&value.span, "the column is empty", None);
            }
            if let Some((first, rows)) =
                columns.first().filter(|(_, rows)| rows.len() != numbers.len())
            {
                let message = format!(
                    "`{}` has {} rows, but `{}` has {}",
                    name.text,
                    numbers.len(),
                    first.text,
                    rows.len()
                );
                self.error(&name.span, message, Some("all columns must have the same length"));
            }
            columns.push((name.clone(), numbers));
        }
        columns
    }

    pub(super) fn ode(&mut self, name: &Name, entries: &Entries) -> Option<Ode> {
        let get = |key| find(entries, &ODE, key).map(|(_, value)| value);
        let number = |key| get(key).and_then(Value::number);
        let span = name.span.clone();
        let default_time = || Name { text: "t".to_owned(), span: span.clone() };
        let time = get("time").and_then(Value::text).unwrap_or_else(default_time);
        let start = get("start").and_then(|value| self.formula(value));
        let settle = get("settle").and_then(|value| self.formula(value));
        let group = get("group").and_then(Value::text);
        let solver = match get("solver").and_then(Value::text) {
            Some(word) if word.text == "rk4" => SolverName::Rk4,
            Some(word) if word.text == "stiff" => SolverName::Stiff,
            Some(word) if word.text == "dopri5" => SolverName::Dopri5,
            _ => SolverName::Auto,
        };
        let fixed = solver == SolverName::Rk4;
        for (key, of_fixed) in
            [("step", true), ("rtol", false), ("atol", false), ("max-steps", false)]
        {
            if let (Some((key, _)), true) = (find(entries, &ODE, key), of_fixed != fixed) {
                let others = if of_fixed { "rk4" } else { "auto, dopri5 or stiff" };
                let message = format!("`{}` applies only to the solver {others}", key.text);
                self.error(&key.span, message, Some("remove it, or choose another solver"));
            }
        }
        if fixed && get("step").is_none() {
            self.error(&span, "the solver rk4 needs a `step`", Some("add `step = 0.05`"));
        }
        let states = self.states(get("states").and_then(Value::table).unwrap_or_default());
        if let (Some(value), true) = (get("states"), states.is_empty() && self.report.is_empty()) {
            self.error(&value.span, "the system has no states", None);
        }
        let events = get("events").map(|value| self.events(value)).unwrap_or_default();
        let inputs = self.inputs(get("inputs").and_then(Value::table).unwrap_or_default());
        let (step, rtol, atol) = (number("step"), number("rtol"), number("atol"));
        let max_steps = get("max-steps").and_then(|value| match value.node {
            Node::Whole(steps) => usize::try_from(steps).ok(),
            _ => None,
        });
        Some(Ode {
            span,
            time,
            start,
            settle,
            group,
            solver,
            step,
            rtol,
            atol,
            max_steps,
            events,
            inputs,
            states,
        })
    }

    fn states(&mut self, entries: &Entries) -> Vec<State> {
        let mut states = Vec::new();
        for (name, value) in entries {
            let table = value.table().unwrap_or_default();
            let mut formula = |key| {
                let (_, value) = find(table, &STATE, key)?;
                self.formula(value)
            };
            let (lag, fraction) = (formula("lag"), formula("fraction"));
            match (formula("start"), formula("rate")) {
                (Some(start), Some(rate)) => {
                    states.push(State { name: name.clone(), start, rate, lag, fraction });
                }
                _ => self.unread.push(name.clone()),
            }
        }
        states
    }

    pub(super) fn command(&mut self, value: &Value) -> Option<Command> {
        let entries = value.table().unwrap_or_default();
        let get = |key| find(entries, &COMMAND, key).map(|(_, value)| value);
        let run = if value.table().is_some() { get("run")? } else { value };
        let words: Option<Vec<_>> =
            run.list().and_then(|list| list.iter().map(Value::text).collect());
        let words = words.map(Run::Words);
        let command = words.or_else(|| run.text().map(Run::Line))?;
        let program = match &command {
            Run::Line(line) => Some(line),
            Run::Words(words) => words.first(),
        };
        if program.is_none_or(|program| program.text.trim().is_empty()) {
            self.error(
                &run.span,
                "the command names no program",
                Some("write `run = \"./simulate\"`"),
            );
            return None;
        }
        let gradient = match get("gradient").and_then(Value::text) {
            Some(word) if word.text == "program" => GradientName::Program,
            Some(word) if word.text == "differences" => GradientName::Differences,
            _ => GradientName::Auto,
        };
        let timeout = get("timeout").and_then(Value::number);
        Some(Command { run: command, gradient, timeout })
    }
}
