//! What a model file says, understood: names, constants, data, and the parameters' coordinates.

use super::data::Data;
use super::diagnostic::{Report, Source};
use super::evaluate::{Evaluator, MOST_NUMBERS, nearest};
use super::expression::{Ast, Fault, Kind, Span};
use super::file::{self, Constant, File, Formula, Name, SolverName, SupportName};
use super::names::{Meaning, Names, each_name, in_order};
use super::parameter::{Parameter, Shape};
use super::scope::{Place, Scope};
use super::value::{Value, constants};
use crate::ode::Solver;
use crate::program::Expr;
use std::path::Path;

/// Bytes of a data file.
const MOST_BYTES: u64 = 1 << 31;

/// Coordinates that a model may have.
const MOST_COORDINATES: usize = 10_000;

/// A model file, understood.
pub(super) struct Outline {
    pub(super) source: Source,
    pub(super) file: File,
    /// In the order of time if there is a system.
    pub(super) data: Data,
    pub(super) names: Names,
    pub(super) parameters: Vec<Parameter>,
    /// How many coordinates the parameters have.
    pub(super) dim: usize,
    /// The column with the times of a system.
    pub(super) time: Option<usize>,
    /// When a system starts, and what solves it.
    pub(super) start: f64,
    pub(super) solver: Option<Solver>,
    groups: Vec<Vec<usize>>,
    constants: Vec<Plain>,
}

/// A value that is known.
#[derive(Debug, Clone)]
enum Plain {
    Number(f64),
    Vector(Vec<f64>),
    Matrix(Vec<Vec<f64>>),
    Unknown,
}

impl Outline {
    /// Understands a file whose other files are in `folder`; `data` is read in place of the data
    /// file that it names.
    pub(super) fn new(source: Source, folder: &Path, data: Option<&Path>) -> (Self, Report) {
        let (file, mut report) = file::read(&source);
        let mut outline = Self {
            data: load(&file, &source, folder, data, &mut report),
            file,
            names: Names::default(),
            parameters: Vec::new(),
            dim: 0,
            time: None,
            start: 0.0,
            solver: None,
            groups: Vec::new(),
            constants: Vec::new(),
            source,
        };
        // What is not there cannot be known: that it is missing was said.
        outline.names.is_partial = outline.file.parameters.is_empty()
            || outline.data.names.is_empty() && outline.file.data.is_some();
        outline.name_everything(&mut report);
        outline.evaluate_constants(&mut report);
        outline.lay_out_parameters(&mut report);
        outline.check_priors(&mut report);
        outline.choose_solver(&mut report);
        (outline, report)
    }

    /// Says what is wrong with formulas.
    pub(super) fn say(&self, faults: Vec<Fault>, report: &mut Report) {
        for Fault { span, message, help } in faults {
            report.error(&self.source, span, message, help);
        }
    }

    fn name_everything(&mut self, report: &mut Report) {
        let (file, names) = (&self.file, &mut self.names);
        for (i, parameter) in file.parameters.iter().enumerate() {
            names.add(&parameter.name.text, Meaning::Parameter(i));
        }
        for (i, (name, _)) in file.constants.iter().enumerate() {
            names.add(&name.text, Meaning::Constant(i));
        }
        for (i, (name, _)) in file.quantities.iter().enumerate() {
            names.add(&name.text, Meaning::Quantity(i));
        }
        if let Some(ode) = &file.ode {
            for (i, state) in ode.states.iter().enumerate() {
                names.add(&state.name.text, Meaning::State(i));
            }
            let time = &ode.time;
            names.add(&time.text, Meaning::Time);
            self.time = self.data.find(&time.text);
            match self.time {
                Some(column) => self.data = self.data.sorted_by(column),
                None if !self.data.names.is_empty() => {
                    let message = format!("the data has no column `{}` of times", time.text);
                    let known = self.data.names.iter().map(String::as_str);
                    let help = nearest(&time.text, known).unwrap_or_else(|| {
                        format!("its columns are {}; name one by time = \"...\"", self.columns())
                    });
                    report.error(&self.source, time.span.clone(), message, Some(help));
                }
                None => {}
            }
        }
        let (file, names) = (&self.file, &mut self.names);
        for (name, members) in file.data.iter().flat_map(|data| &data.vectors) {
            let mut group = Vec::new();
            for member in members {
                match self.data.find(&member.text) {
                    Some(column) => group.push(column),
                    None => {
                        let message = format!("the data has no column `{}`", member.text);
                        let known = self.data.names.iter().map(String::as_str);
                        let help = nearest(&member.text, known);
                        report.error(&self.source, member.span.clone(), message, help);
                    }
                }
            }
            names.add(&name.text, Meaning::Columns(self.groups.len()));
            self.groups.push(group);
        }
        for (i, name) in self.data.names.iter().enumerate() {
            names.add(name, Meaning::Column(i));
        }
        for name in &file.unread {
            names.add(&name.text, Meaning::Unread);
        }
        let formulas: Vec<&Ast> = file.quantities.iter().map(|(_, formula)| &formula.ast).collect();
        if let Some(cycle) = names.order_quantities(&formulas) {
            let (name, formula) = &file.quantities[cycle[0]];
            let way: Vec<&str> =
                cycle.iter().chain(&cycle[..1]).map(|&q| &file.quantities[q].0.text[..]).collect();
            let message = format!("`{}` depends on itself: {}", name.text, way.join(" -> "));
            report.error(&self.source, formula.span.clone(), message, None);
        }
    }

    /// The names of the data's columns, for messages.
    pub(super) fn columns(&self) -> String {
        self.data.names.join(", ")
    }

    fn evaluate_constants(&mut self, report: &mut Report) {
        let nothing = Ast { kind: Kind::Number(0.0), span: 0..0 };
        let formulas: Vec<&Ast> = self
            .file
            .constants
            .iter()
            .map(|(_, constant)| match constant {
                Constant::Formula(formula) => &formula.ast,
                _ => &nothing,
            })
            .collect();
        let needs = |ast: &&Ast| {
            let mut needed = Vec::new();
            each_name(ast, &mut |name| {
                if let Some(Meaning::Constant(i)) = self.names.find(name) {
                    needed.push(i);
                }
            });
            needed
        };
        let (order, cycle) = in_order(&formulas.iter().map(needs).collect::<Vec<_>>());
        if let Some(cycle) = cycle {
            let name = &self.file.constants[cycle[0]].0;
            let message = format!("the constant `{}` depends on itself", name.text);
            report.error(&self.source, name.span.clone(), message, None);
        }
        self.constants = vec![Plain::Unknown; formulas.len()];
        let mut faults = Vec::new();
        for &i in &order {
            let plain = match &self.file.constants[i].1 {
                Constant::Number(x) => Plain::Number(*x),
                Constant::Vector(x) => Plain::Vector(x.clone()),
                Constant::Matrix(x) => Plain::Matrix(x.clone()),
                Constant::Formula(formula) => self.constant(&formula.ast, &mut faults),
            };
            self.constants[i] = plain;
        }
        self.say(faults, report);
    }

    /// The value of a formula of constants.
    fn constant(&self, ast: &Ast, faults: &mut Vec<Fault>) -> Plain {
        let mut scope = self.scope(&[]);
        scope.budget = Some(MOST_NUMBERS.max(10 * self.data.len()));
        let mut used = Vec::new();
        each_name(ast, &mut |name| {
            if let Some(Meaning::Column(column)) = self.names.find(name) {
                used.push(column);
            }
        });
        scope.columns = vec![Value::Unknown; self.data.columns.len()];
        for column in used {
            let values = self.data.columns[column].iter();
            // What is missing does not enter sums and means.
            let present = values.filter(|x| !x.is_nan()).map(|&x| x.into()).collect();
            scope.columns[column] = Value::Vector(present);
        }
        scope.time = self.time.map(|column| {
            Value::Vector(self.data.columns[column].iter().map(|&x| x.into()).collect())
        });
        let (names, place, gather) = (&self.names, Place::Constant, None);
        let value = Evaluator { names, scope: &mut scope, place, faults, gather }.evaluate(ast);
        let plain = |x: &[Expr<'_>]| constants(x).unwrap_or_default();
        match value {
            Value::Number(x) => x.as_constant().map_or(Plain::Unknown, Plain::Number),
            Value::Vector(x) => Plain::Vector(plain(&x)),
            Value::Matrix(rows) => Plain::Matrix(rows.iter().map(|row| plain(row)).collect()),
            Value::Unknown => Plain::Unknown,
            other => {
                let message = format!("expected a number, found {}", other.kind());
                faults.push(Fault { span: ast.span.clone(), message, help: None });
                Plain::Unknown
            }
        }
    }

    /// A number that is given by a formula of constants.
    fn plain_number(&self, formula: &Formula, report: &mut Report) -> Option<f64> {
        let mut faults = Vec::new();
        let value = self.constant(&formula.ast, &mut faults);
        self.say(faults, report);
        match value {
            Plain::Number(x) => Some(x),
            Plain::Unknown => None,
            _ => {
                let message = "expected a number, found a vector";
                report.error(&self.source, formula.span.clone(), message, None);
                None
            }
        }
    }

    fn choose_solver(&mut self, report: &mut Report) {
        let Some(ode) = &self.file.ode else { return };
        if let Some(start) = &ode.start {
            self.start = self.plain_number(start, report).unwrap_or(0.0);
        }
        let relative = ode.rtol.unwrap_or(1e-6);
        let absolute = ode.atol.unwrap_or(1e-9);
        let most_steps = ode.max_steps.unwrap_or(10_000);
        self.solver = match ode.solver {
            SolverName::Rk4 => ode.step.map(|step| Solver::Rk4 { step }),
            SolverName::Dopri5 => Some(Solver::DormandPrince { relative, absolute, most_steps }),
            #[cfg(feature = "stiff")]
            SolverName::Stiff => Some(Solver::Stiff { relative, absolute, most_steps }),
            #[cfg(not(feature = "stiff"))]
            SolverName::Stiff => {
                let message = "this build has no solver for stiff systems";
                let help = "build adaann with `--features stiff`, or use dopri5".to_owned();
                report.error(&self.source, ode.span.clone(), message, Some(help));
                None
            }
        };
        let Some(time) = self.time else { return };
        let early = self.data.columns[time].iter().position(|t| *t < self.start);
        if let Some(row) = early {
            let t = self.data.columns[time][row];
            let message = format!(
                "time {t} is before the start of the system at {}; set start in [ode]",
                self.start
            );
            self.error_at_cell(row, time, message, None, report);
        }
    }

    fn lay_out_parameters(&mut self, report: &mut Report) {
        let mut parameters = Vec::new();
        for entry in &self.file.parameters {
            let error = |report: &mut Report, span: &Span, message: String| {
                report.error(&self.source, span.clone(), message, None);
            };
            let mut bound = |given: &Option<Formula>, default: f64| match given {
                Some(formula) => self.plain_number(formula, report).unwrap_or(default),
                None => default,
            };
            let (mut low, mut high) =
                (bound(&entry.lower, f64::NEG_INFINITY), bound(&entry.upper, f64::INFINITY));
            if low.is_nan() || high.is_nan() || low >= high {
                let message =
                    format!("lower = {low} and upper = {high} leave no room between them");
                error(report, &entry.name.span, message);
                (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
            }
            let size = entry.size.as_ref().and_then(|size| {
                let value = self.plain_number(size, report)?;
                if value.fract() == 0.0 && (1.0..=MOST_COORDINATES as f64).contains(&value) {
                    return Some(value as usize);
                }
                // A number was looked at when the file was read.
                if !matches!(size.ast.kind, Kind::Number(_)) {
                    let message =
                        format!("the size is {value}, but must be a whole number from 1 to 10,000");
                    error(report, &size.span, message);
                }
                None
            });
            let mut shape = Shape::Free;
            if let Some((support, span)) = &entry.support {
                match support {
                    SupportName::Real => {}
                    SupportName::Positive => low = low.max(0.0),
                    SupportName::Unit => (low, high) = (low.max(0.0), high.min(1.0)),
                    SupportName::Ordered => shape = Shape::Ordered,
                    SupportName::PositiveOrdered => {
                        (shape, low) = (Shape::Ordered, low.max(0.0));
                    }
                    SupportName::Simplex => shape = Shape::Simplex,
                }
                let is_bounded = entry.lower.is_some() || entry.upper.is_some();
                if shape != Shape::Free
                    && (high.is_finite() || (shape == Shape::Simplex && is_bounded))
                {
                    let message =
                        "an ordered vector can have a lower bound and no upper one, a simplex none";
                    error(report, span, message.to_owned());
                    shape = Shape::Free;
                }
                if shape != Shape::Free && size.is_none_or(|size| size < 2) {
                    let message = "such a vector needs its size: size = 2 or more".to_owned();
                    error(report, span, message);
                    shape = Shape::Free;
                }
            }
            let name = entry.name.text.clone();
            let parameter = Parameter { name, size, shape, low, high, first: self.dim };
            self.dim += parameter.coordinates();
            if self.dim > MOST_COORDINATES {
                let message = "the parameters have more than 10,000 coordinates".to_owned();
                error(report, &entry.name.span, message);
                break;
            }
            parameters.push(parameter);
        }
        self.parameters = parameters;
    }

    /// Constants and parameters; columns, states and quantities are not there yet.
    pub(super) fn scope<'g>(&self, theta: &[Expr<'g>]) -> Scope<'g> {
        let constant = |plain: &Plain| match plain {
            Plain::Number(x) => Value::Number((*x).into()),
            Plain::Vector(x) => Value::Vector(expressions(x)),
            Plain::Matrix(rows) => Value::Matrix(rows.iter().map(|row| expressions(row)).collect()),
            Plain::Unknown => Value::Unknown,
        };
        let parameters = if theta.is_empty() {
            Vec::new()
        } else {
            self.parameters.iter().map(|parameter| parameter.value(theta)).collect()
        };
        Scope {
            budget: None,
            constants: self.constants.iter().map(constant).collect(),
            groups: self.groups.clone(),
            parameters,
            quantities: vec![None; self.file.quantities.len()],
            ..Scope::default()
        }
    }

    /// The columns that a formula depends on, by itself or through quantities.
    pub(super) fn columns_of(&self, ast: &Ast) -> Vec<usize> {
        let mut columns = Vec::new();
        self.each_meaning(ast, &mut |meaning| match meaning {
            Meaning::Column(column) => columns.push(column),
            Meaning::Columns(group) => columns.extend(&self.groups[group]),
            _ => {}
        });
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Calls `see` with all that a formula depends on, by itself or through quantities.
    fn each_meaning(&self, ast: &Ast, see: &mut impl FnMut(Meaning)) {
        let (mut left, mut seen) = (vec![ast], Vec::new());
        while let Some(ast) = left.pop() {
            each_name(ast, &mut |name| match self.names.find(name) {
                Some(Meaning::Quantity(q)) if !seen.contains(&q) => {
                    seen.push(q);
                    left.push(&self.file.quantities[q].1.ast);
                }
                Some(meaning) => see(meaning),
                None => {}
            });
        }
    }

    /// For each parameter, those that its prior depends on.
    pub(super) fn prior_needs(&self) -> Vec<Vec<usize>> {
        let needs = |parameter: &file::Parameter| {
            let mut needed = Vec::new();
            if let Some(prior) = &parameter.prior {
                self.each_meaning(&prior.ast, &mut |meaning| {
                    if let Meaning::Parameter(i) = meaning {
                        needed.push(i);
                    }
                });
            }
            needed
        };
        self.file.parameters.iter().map(needs).collect()
    }

    /// Says which priors depend on themselves.
    fn check_priors(&self, report: &mut Report) {
        let parameters = &self.file.parameters;
        let (_, cycle) = in_order(&self.prior_needs());
        if let Some(cycle) = cycle {
            let way: Vec<&str> =
                cycle.iter().chain(&cycle[..1]).map(|&i| &parameters[i].name.text[..]).collect();
            let name = &parameters[cycle[0]].name;
            let message =
                format!("the prior of `{}` depends on itself: {}", name.text, way.join(" -> "));
            report.error(&self.source, name.span.clone(), message, None);
        }
    }
}

/// The bytes of a file. One that a model names must be a file of finite length; one that the user
/// gives may be a pipe.
fn read_file(path: &Path, is_given: bool) -> std::io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    let refuse = |what: &str| Err(std::io::Error::other(what));
    if metadata.is_dir() {
        return refuse("it is a folder");
    }
    if !metadata.is_file() && !is_given {
        return refuse("it is no regular file");
    }
    if metadata.len() > MOST_BYTES {
        return refuse("it has more than 2 GiB");
    }
    std::fs::read(path)
}

fn expressions<'g>(numbers: &[f64]) -> Vec<Expr<'g>> {
    numbers.iter().map(|&x| x.into()).collect()
}

/// The data of a file: from a CSV file, or from its own columns.
fn load(
    file: &File,
    source: &Source,
    folder: &Path,
    instead: Option<&Path>,
    report: &mut Report,
) -> Data {
    let Some(data) = &file.data else { return Data::default() };
    if let (None, Some(path)) = (&data.file, instead) {
        let message =
            format!("{} has no file to replace: the data is written here", path.display());
        report.error(source, data.span.clone(), message, None);
    }
    let Some(path) = &data.file else {
        let len = |(_, values): &(Name, Vec<f64>)| values.len();
        // Columns of different lengths were found when the file was read.
        if data.columns.windows(2).any(|pair| len(&pair[0]) != len(&pair[1])) {
            return Data::default();
        }
        let name = |(name, _): &(Name, Vec<f64>)| name.text.clone();
        let names = data.columns.iter().map(name).collect();
        return Data::new(names, data.columns.iter().map(|(_, values)| values.clone()).collect());
    };
    let place = instead.map_or_else(|| folder.join(&path.text), Path::to_owned);
    let text = match read_file(&place, instead.is_some()) {
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            };
            let message = format!("cannot read {}: {reason}", place.display());
            let help = "the path is relative to the folder of the model file".to_owned();
            report.error(source, path.span.clone(), message, Some(help));
            return Data::default();
        }
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                let message = format!("{} is no text in UTF-8", place.display());
                report.error(source, path.span.clone(), message, None);
                return Data::default();
            }
        },
    };
    let name = instead.map_or_else(|| path.text.clone(), |path| path.display().to_string());
    let csv = Source::new(name, text);
    let mut read = Data::read(&csv, report).unwrap_or_default();
    let old = read.clone();
    for (name, column) in &data.rename {
        match old.find(&column.text) {
            Some(found) => read.names[found] = name.text.clone(),
            None if read.names.is_empty() => {}
            None => {
                let message = format!("the data has no column `{}`", column.text);
                let help = nearest(&column.text, read.names.iter().map(String::as_str));
                report.error(source, column.span.clone(), message, help);
            }
        }
    }
    for (name, _) in &data.rename {
        if read.names.iter().filter(|known| **known == name.text).count() > 1 {
            let message = format!("two columns of the data are then called `{}`", name.text);
            report.error(source, name.span.clone(), message, None);
        }
    }
    read
}
