//! The outline of a model: names, constants, data, and the parameters' coordinates.

use super::asked::Asked;
use super::changes::Changes;
use super::curve::Curves;
use super::data::Data;
use super::diagnostic::{Report, Source};
use super::evaluate::nearest;
use super::expression::{Ast, Fault};
use super::file::{self, File, Formula};
use super::load::{Place, load};
use super::names::{Meaning, Names, each_name, in_order};
use super::parameter::Parameter;
use super::scope::Scope;
use super::tables::Table;
use super::value::{Plain, Value};
use super::walk::Series;
use crate::ode::Solver;
use crate::posterior::Subjects;
use crate::program::Expr;
use std::path::Path;

/// A model file after names and data have been resolved.
#[derive(Clone)]
pub(super) struct Outline {
    pub(super) source: Source,
    pub(super) file: File,
    /// Sorted by time if there is a system.
    pub(super) data: Data,
    pub(super) names: Names,
    pub(super) parameters: Vec<Parameter>,
    /// The number of coordinates of the parameters.
    pub(super) dim: usize,
    /// The column with the times of a system.
    pub(super) time: Option<usize>,
    /// The start time and the solver of a system.
    pub(super) start: f64,
    /// How long the system runs before that, at constant time.
    pub(super) settle: f64,
    pub(super) solver: Option<Solver>,
    /// The subject of each row.
    pub(super) subjects: Subjects,
    /// For each subject, its number in the column that identifies subjects.
    pub(super) subject_names: Vec<f64>,
    /// The events and inflows of a system.
    pub(super) changes: Changes,
    /// The curves of each input.
    pub(super) curves: Vec<Curves>,
    groups: Vec<Vec<usize>>,
    pub(super) constants: Vec<Plain>,
    /// The constants that are in files.
    pub(super) tables: Vec<Table>,
    pub(super) series: Series,
}

impl Outline {
    /// Resolves a file with its data at `place`; other tables are relative to `folder`.
    pub(super) fn new(source: Source, place: Place<'_>, folder: &Path) -> (Self, Report) {
        let (file, mut report) = file::read(&source);
        let mut outline = Self {
            data: load(&file, &source, place, &mut report),
            file,
            names: Names::default(),
            parameters: Vec::new(),
            dim: 0,
            time: None,
            start: 0.0,
            settle: 0.0,
            solver: None,
            subjects: Subjects::one(0, 0.0),
            subject_names: Vec::new(),
            changes: Changes::default(),
            curves: Vec::new(),
            groups: Vec::new(),
            constants: Vec::new(),
            tables: Vec::new(),
            series: Series::default(),
            source,
        };
        // If parts are missing, which has been reported, unknown names cannot be recognised.
        outline.names.is_partial = outline.file.parameters.is_empty()
            || outline.data.names.is_empty() && outline.file.data.is_some();
        outline.add_derived(&mut report);
        outline.name_everything(&mut report);
        outline.tables =
            Table::load_all(&outline.file, &outline.source, place, folder, &mut report);
        outline.evaluate_constants(&mut report);
        outline.lay_out_parameters(&mut report);
        outline.lay_out_series(&mut report);
        outline.check_priors(&mut report);
        outline.choose_solver(&mut report);
        outline.load_inputs(place, folder, &mut report);
        outline.find_subjects(&mut report);
        (outline, report)
    }

    /// Reports mistakes in formulas.
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
            for (i, input) in ode.inputs.iter().enumerate() {
                names.add(&input.name.text, Meaning::Input(i));
            }
            let time = &ode.time;
            names.add(&time.text, Meaning::Time);
            self.time = self.data.find(&time.text);
            match self.time {
                Some(column) => self.data = self.data.sorted_by(column),
                None if !self.data.names.is_empty() => {
                    let message = format!("the data has no time column `{}`", time.text);
                    let known = self.data.shown_names().into_iter();
                    let help = nearest(&time.text, known).or_else(|| {
                        let columns = self.data.columns_in_words()?;
                        Some(format!("{columns}; name one by time = \"...\""))
                    });
                    report.error(&self.source, time.span.clone(), message, help);
                }
                None => {}
            }
        }
        self.name_series(report);
        let asked = Asked::of(&self.source, &self.file);
        let (file, names) = (&self.file, &mut self.names);
        let carried = file.series.iter().flat_map(|series| &series.states);
        for (i, state) in carried.enumerate() {
            names.add(&state.name.text, Meaning::Carried(i));
        }
        for (name, members) in file.data.iter().flat_map(|data| &data.vectors) {
            let mut group = Vec::new();
            for member in members {
                match self.data.find(&member.text) {
                    Some(column) => group.push(column),
                    None => {
                        let message = format!("the data has no column `{}`", member.text);
                        let known = self.data.shown_names().into_iter();
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
        // A misspelt name may refer to a column that nothing else names.
        names.others = self.data.others().to_vec();
        let shown = self.data.shown_names();
        let is_secret = |name: &&String| !shown.contains(&&name[..]) && !asked.names(name);
        names.secret = self.data.names.iter().filter(is_secret).cloned().collect();
        for name in &file.unread {
            names.add(&name.text, Meaning::Unread);
        }
        self.order_names(report);
    }

    /// Finds the columns that are constant within subjects, and the dependencies of quantities.
    pub(super) fn order_names(&mut self, report: &mut Report) {
        self.names.differences = self.differences(report);
        let (file, names) = (&self.file, &mut self.names);
        let formulas: Vec<&Ast> = file.quantities.iter().map(|(_, formula)| &formula.ast).collect();
        if let Some(cycle) = names.order_quantities(&formulas) {
            let (name, formula) = &file.quantities[cycle[0]];
            let way = way(cycle.iter().map(|&q| &file.quantities[q].0.text[..]).collect());
            let message = format!("`{}` depends on itself: {way}", name.text);
            report.error(&self.source, formula.span.clone(), message, None);
        }
    }

    /// A help text: the column that was probably meant, or the names of all columns.
    pub(super) fn column_meant(&self, name: &str) -> Option<String> {
        let known = self.data.shown_names().into_iter();
        nearest(name, known).or_else(|| self.data.columns_in_words())
    }

    /// A scope with constants and parameters; columns, states and quantities are added later.
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

    /// The columns that a formula depends on, directly or through quantities.
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

    /// The columns of a group.
    pub(super) fn group(&self, group: usize) -> &[usize] {
        &self.groups[group]
    }

    /// Calls `see` with everything that a formula depends on, directly or through quantities.
    pub(super) fn each_meaning(&self, ast: &Ast, see: &mut impl FnMut(Meaning)) {
        self.each_formula(ast, &mut |ast| {
            each_name(ast, &mut |name| self.names.find(name).into_iter().for_each(&mut *see));
        });
    }

    /// Calls `see` with a formula, then with the quantities that it depends on.
    pub(super) fn each_formula<'a>(&'a self, ast: &'a Ast, see: &mut impl FnMut(&'a Ast)) {
        let (mut left, mut seen) = (vec![ast], Vec::new());
        while let Some(ast) = left.pop() {
            see(ast);
            each_name(ast, &mut |name| {
                if let Some(Meaning::Quantity(q)) = self.names.find(name)
                    && !seen.contains(&q)
                {
                    seen.push(q);
                    left.push(&self.file.quantities[q].1.ast);
                }
            });
        }
    }

    /// For each parameter, the parameters that its prior and its bounds depend on.
    pub(super) fn prior_needs(&self) -> Vec<Vec<usize>> {
        let needs = |(own, parameter): (usize, &file::Parameter)| {
            let mut needed = Vec::new();
            let mut add = |formula: &Option<Formula>, is_bound: bool| {
                let Some(formula) = formula else { return };
                self.each_meaning(&formula.ast, &mut |meaning| match meaning {
                    // A bound that names a later parameter is reported elsewhere.
                    Meaning::Parameter(i) if i < own || !is_bound => needed.push(i),
                    _ => {}
                });
            };
            add(&parameter.prior, false);
            add(&parameter.lower, true);
            add(&parameter.upper, true);
            needed
        };
        self.file.parameters.iter().enumerate().map(needs).collect()
    }

    /// Reports priors that depend on themselves.
    fn check_priors(&self, report: &mut Report) {
        let parameters = &self.file.parameters;
        let (_, cycle) = in_order(&self.prior_needs());
        if let Some(cycle) = cycle {
            let way = way(cycle.iter().map(|&i| &parameters[i].name.text[..]).collect());
            let name = &parameters[cycle[0]].name;
            let message = format!("the prior of `{}` depends on itself: {way}", name.text);
            report.error(&self.source, name.span.clone(), message, None);
        }
    }
}

/// The names along a cycle, from the first back to it; long cycles are shortened.
fn way(mut names: Vec<&str>) -> String {
    const MOST: usize = 8;
    let (first, count) = (names[0], names.len());
    names.truncate(MOST);
    let left_out = if count > MOST { format!(" -> ... ({count} in all)") } else { String::new() };
    format!("{}{left_out} -> {first}", names.join(" -> "))
}

fn expressions<'g>(numbers: &[f64]) -> Vec<Expr<'g>> {
    numbers.iter().map(|&x| x.into()).collect()
}
