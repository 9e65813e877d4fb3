//! Models written as text: parameters, data and formulas in one file, compiled to a posterior.
//!
//! ```
//! use adaann::model::Model;
//! use adaann::target::Target;
//!
//! let model = Model::parse("line.toml", r#"
//!     [data]
//!     x = [1, 2, 3, 4]
//!     y = [2.1, 3.9, 6.2, 7.8]
//!
//!     [parameters]
//!     a = "normal(0, 10)"
//!     b = "normal(0, 10)"
//!     sigma = "half_normal(5)"
//!
//!     [likelihood]
//!     y = "normal(a + b*x, sigma)"
//! "#)?;
//! assert_eq!(model.target().names(), ["a", "b", "sigma"]);
//! # Ok::<(), adaann::model::Diagnostics>(())
//! ```
//!
//! # From text to a posterior
//!
//! `file/` reads the TOML with the position of every element, `expression/` the formulas; neither
//! resolves names. `outline.rs` does: it gives every name a `Meaning`, evaluates constants, loads
//! the data and lays out the parameters' coordinates. `evaluate.rs` and `calls.rs` evaluate a
//! formula to its `Value` in a `Scope`. Numbers there are recorded expressions, which fold to plain
//! numbers if all their inputs are constant: the same code compiles a likelihood (`record.rs`),
//! computes a constant, draws from a prior (`simulate.rs`) and predicts a measurement
//! (`predict.rs`). Errors go to a `Report`, and evaluation continues with the value `Unknown`, so
//! that every mistake of a file is reported exactly once.
//!
//! The graph's inputs are the coordinates, then time, states, columns of the data, numbers of
//! segments and events, and elements that a row takes from a vector by its own index. Rows whose
//! density depends on what was measured, such as censored rows or those of a category, become
//! separate lines (`kinds.rs`). [`crate::posterior`] splits and compiles the graph.
//!
//! Flows see a model's coordinates in units of its prior (`Target::standardisation`): location and
//! scale of draws from it on the whole line.
//!
//! `before(column, k)` is a column like any other, built when the model is compiled (`series.rs`,
//! `walk.rs`). Predictions and simulated data carry the states of a series in plain numbers, row by
//! row (`carry.rs`).
//!
//! `given.rs` turns a file's `[fit]` and the flags into a plan: the ladder's settings or those of
//! Algorithm 1, which any setting that only Algorithm 1 uses selects.

mod asked;
mod before;
mod calls;
mod carried_lines;
mod carry;
mod cells;
mod chances;
mod changes;
mod command;
mod compound;
mod constants;
mod covariances;
mod curve;
mod cut;
mod data;
mod defaults;
mod derived;
mod diagnostic;
mod dims;
mod drawing_order;
mod edges;
mod elements;
mod evaluate;
mod events;
mod excerpt;
mod exercise;
mod expression;
mod file;
mod functions;
mod given;
mod happenings;
mod inputs;
mod join;
mod kinds;
mod law;
mod layout;
mod load;
mod mathematics;
mod matrices;
mod matrix_functions;
mod misfits;
mod names;
mod nonmem;
mod outline;
mod output;
mod parameter;
mod pointwise;
mod predict;
mod print;
mod priors;
mod record;
mod record_changes;
mod replicate;
mod rows;
mod scan;
mod schema;
mod scope;
mod series;
mod settings;
mod settled;
mod simulate;
mod subjects;
mod system;
mod tables;
mod target;
mod trajectories;
mod trajectory_functions;
mod value;
mod visit;
mod walk;
mod weights;
mod words;

pub use defaults::suiting;
pub use diagnostic::{Diagnostic, Diagnostics, Place, Source};
#[doc(hidden)]
pub use exercise::exercise;
pub use given::Given;
pub use mathematics::Notation;
pub use misfits::Misfit;
pub use output::Output;
pub use pointwise::RowTerm;
pub use predict::Prediction;
pub use replicate::Replicate;
pub use schema::schema;
pub use settled::Unsettled;

use crate::answer::Plan;
use crate::distribution::Family;
use crate::external;
use crate::file::read_regular;
use crate::ode::Solver;
use crate::posterior::{Quantities, Trajectories};
use crate::table::Table;
use crate::target::{Edge, Target, Unconstrained};
use crate::{Batch, Result, Settings};
use asked::Asked;
use command::Outside;
use data::Data;
use diagnostic::Report;
use outline::Outline;
use std::path::Path;
use std::sync::Arc;
use target::ModelTarget;

/// The functions in formulas: the syntax of each and a one-line description.
pub fn functions() -> Vec<(String, &'static str)> {
    functions::in_words()
}

/// The distributions in formulas: the syntax of each and the meaning of its arguments.
pub fn distributions() -> Vec<(String, String)> {
    let one = |family: &Family| {
        let arguments = family.arguments();
        let names: Vec<&str> = arguments.iter().map(|argument| argument.name).collect();
        let meanings: Vec<String> =
            arguments.iter().map(|a| format!("{}: {}", a.name, a.meaning)).collect();
        (format!("{}({})", family.name(), names.join(", ")), meanings.join("; "))
    };
    let joint = [
        ("multi_normal(mean, covariance)", "a vector and a matrix; a mean of 0 stands for zeros"),
        ("multi_normal_cholesky(mean, L)", "with covariance L @ transpose(L)"),
        ("dirichlet(concentrations)", "of the parts of a simplex"),
        ("lkj(eta)", "of correlation matrices, density det(R)^(eta - 1)"),
        ("lkj_cholesky(eta)", "of the Cholesky factors of such matrices"),
        ("mixture(weight, distribution, ...)", "weights sum to 1; or mixture([weights], ...)"),
    ];
    let joint = joint.map(|(usage, meaning)| (usage.to_owned(), meaning.to_owned()));
    let compound =
        compound::COMPOUND.map(|(usage, meaning)| (usage.to_owned(), meaning.to_owned()));
    Family::ALL.iter().map(one).chain(joint).chain(compound).collect()
}

/// Number of prior draws that determine the units in which flows see the coordinates, and maximum number of values
/// in these draws.
const PRIOR_DRAWS: usize = 2_000;
const PRIOR_NUMBERS: usize = 1_000_000;

/// A model: its posterior, and everything else that its file specifies.
pub struct Model {
    outline: Arc<Outline>,
    target: Arc<ModelTarget>,
    /// The bounds of each parameter's elements.
    bounds: Vec<[Edge; 2]>,
    /// For each parameter, whether its prior integrates to 1.
    are_proper: Vec<bool>,
    quantity_names: Vec<String>,
    quantities: Quantities,
    /// The quantities' values that need whole trajectories.
    trajectories: Option<Trajectories>,
    /// The settings of Algorithm 1: the defaults for the target with the file's settings applied.
    settings: Settings,
    /// The run that the file requests.
    plan: Plan,
}

impl Model {
    /// Reads a model file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        Self::read_with_data(path, None)
    }

    /// Reads a model file, with `data` in place of the data file that it names.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn read_with_data(path: &Path, data: Option<&Path>) -> Result<Self, Diagnostics> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let given = |path| load::Place::Given { path, folder };
        Self::read_at(path, folder, data.map_or(load::Place::Named(folder), given))
    }

    /// Reads a copy of a model file. If the model names a data file, `data` is a copy of that, with copies of the
    /// files of inputs beside it. A program that the model names is relative to `folder`.
    ///
    /// # Errors All mistakes, each with its place.
    pub fn read_copy(path: &Path, folder: &Path, data: &Path) -> Result<Self, Diagnostics> {
        Self::read_at(path, folder, load::Place::Copied(data))
    }

    /// Builds a model from the texts of its files. The files are named like the copies in a run folder: `data.csv`
    /// for the data, and the names of [`Model::input_files`] for inputs. A program that the model names is
    /// relative to `folder`.
    ///
    /// # Errors All mistakes, each with its place.
    pub fn of_files(
        name: &str,
        text: &str,
        folder: &Path,
        files: &[(String, String)],
    ) -> Result<Self, Diagnostics> {
        Self::build(Source::new(name, text), folder, load::Place::Held(files))
    }

    fn read_at(path: &Path, folder: &Path, data: load::Place<'_>) -> Result<Self, Diagnostics> {
        let name = path.display().to_string();
        let mut report = Report::default();
        match read_regular(path, load::MOST_BYTES).map(String::from_utf8) {
            Ok(Ok(text)) => {
                return Self::build(Source::new(name, text), folder, data);
            }
            Ok(Err(_)) => {
                report.error_of_file(
                    &Source::new(name, ""),
                    "a model file must be UTF-8 text",
                    None,
                );
            }
            Err(error) => {
                let message = format!("cannot be read: {error}");
                report.error_of_file(&Source::new(name, ""), message, None);
            }
        }
        Err(report.into_result().expect_err("an error was reported"))
    }

    /// Builds a model from its text; `name` is used in messages.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostics> {
        let folder = Path::new("");
        Self::build(Source::new(name, text), folder, load::Place::Named(folder))
    }

    fn build(source: Source, folder: &Path, data: load::Place<'_>) -> Result<Self, Diagnostics> {
        let (outline, report) = Outline::new(source, data, folder);
        let (fit, source) = (outline.file.fit.clone(), outline.source.clone());
        let mut model = Self::assemble(outline, report, folder).map_err(|mut report| {
            defaults::check_those_of_the_file(&fit, &source, &mut report);
            report.into_result().expect_err("an error was reported")
        })?;
        if let Some(units) = model.prior_units() {
            Arc::get_mut(&mut model.target).expect("no one else has it yet").units = units;
        }
        let mut report = Report::default();
        let (target, has_program) = (&*model.target, model.program().is_some());
        (model.settings, model.plan) =
            defaults::with_those_of_the_file(&fit, target, has_program, &source, &mut report);
        model.set_retry_policy(&fit.settings.output);
        report.into_result().map(|()| model)
    }

    /// Builds a model from its outline, with the units of the unbounded real line and the default settings for the
    /// target.
    fn assemble(outline: Outline, mut report: Report, folder: &Path) -> Result<Self, Report> {
        let recording = record::record(&outline, &mut report);
        if !report.is_empty() {
            return Err(report);
        }
        let (bounds, are_proper) = (recording.bounds.clone(), recording.are_proper.clone());
        let (quantity_names, nodes): (Vec<String>, Vec<_>) =
            recording.quantities.iter().cloned().unzip();
        let behind = recording.trajectories.clone();
        let quantities = Quantities::with(&recording.graph, outline.dim, behind, &nodes);
        let trajectories = match &recording.readings[..] {
            [] => None,
            readings => {
                let recorded = system::recorded(&outline, recording.clone());
                match Trajectories::new(&recorded, readings) {
                    Ok(trajectories) => Some(trajectories),
                    Err(error) => {
                        report.error_of_file(&outline.source, error.to_string(), None);
                        return Err(report);
                    }
                }
            }
        };
        let outline = Arc::new(outline);
        let target = match ModelTarget::new(&outline, recording, folder) {
            Ok(target) => Arc::new(target),
            Err(error) => {
                report.error_of_file(&outline.source, error.to_string(), None);
                return Err(report);
            }
        };
        let settings = defaults::suiting(&*target);
        let plan = Plan::Adaann(Box::new(settings.clone()));
        Ok(Self {
            outline,
            target,
            bounds,
            are_proper,
            quantity_names,
            quantities,
            trajectories,
            settings,
            plan,
        })
    }

    /// The title, if the file has one.
    pub fn title(&self) -> Option<&str> {
        self.outline.file.title.as_deref()
    }

    /// The text of the model file.
    pub fn text(&self) -> &str {
        &self.outline.source.text
    }

    /// The posterior. Its coordinates are the parameters in their own units; a simplex is without its last part.
    pub fn target(&self) -> Arc<dyn Target> {
        self.target.clone()
    }

    /// The retry and timeout settings of [`Model::set_retry_policy`], in the form of output settings.
    pub fn patience(&self) -> Output {
        self.target.outside.as_deref().map_or_else(Output::default, Outside::patience)
    }

    /// The program that computes the likelihood, if any: how and where it is called.
    pub fn program(&self) -> Option<&external::Command> {
        self.target.outside.as_deref().map(Outside::command)
    }

    /// Sets how often the program is restarted and how long it may take; flags take precedence over the file's
    /// settings. A program that is already running keeps its settings.
    pub fn set_retry_policy(&self, output: &Output) {
        self.target.outside.iter().for_each(|program| program.set_retry_policy(output));
    }

    /// Forbids starting the program: evaluating the likelihood then returns [`Error::Forbidden`].
    ///
    /// A model file from somebody else may name any program, and evaluating its density would run that program. A
    /// program that is already running continues.
    ///
    /// [`Error::Forbidden`]: crate::Error::Forbidden
    pub fn forbid_program(&self) {
        self.target.outside.iter().for_each(|program| program.forbid());
    }

    /// The name of the data file, if any.
    pub fn data_file(&self) -> Option<&str> {
        self.outline.file.data.as_ref()?.file.as_ref().map(|file| &file.text[..])
    }

    /// The number of rows of the data.
    pub fn rows(&self) -> usize {
        self.outline.data.len()
    }

    /// The data of the model, if any; sorted by time for a system of equations.
    pub fn data(&self) -> Option<Table> {
        let data = &self.outline.data;
        let row = |i: usize| data.columns.iter().map(|column| column[i]).collect();
        let rows = (0..data.len()).map(row).collect();
        (!data.names.is_empty()).then(|| Table { names: data.names.clone(), rows })
    }

    /// The kept text of the data file, if any.
    ///
    /// Of a long file with columns that the model does not name, only the named columns are kept.
    pub fn data_text(&self) -> Option<&str> {
        self.outline.data.text().map(|text| &text[..])
    }

    /// The same text, shared without copying; it may be large.
    pub fn shared_data_text(&self) -> Option<Arc<str>> {
        self.outline.data.text().cloned()
    }

    /// The values of a column of the data; NaN where a value is missing.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let data = &self.outline.data;
        data.find(name).map(|column| &data.columns[column][..])
    }

    /// The names and texts of copies of the files of constants and inputs; [`Model::read_copy`] reads them beside
    /// a copy of the data.
    pub fn input_files(&self) -> Vec<(String, &str)> {
        let inputs = self.outline.file.ode.iter().flat_map(|ode| &ode.inputs);
        let copied = inputs.zip(&self.outline.curves).filter_map(|(input, curves)| {
            Some((load::copy_of_input(&input.name.text), curves.text.as_deref()?))
        });
        let tables = self.outline.tables.iter().map(|table| {
            let (name, _) = &self.outline.file.constants[table.constant];
            (load::copy_of_input(&name.text), &table.text[..])
        });
        tables.chain(copied).collect()
    }

    /// The measured columns, in the order of the lines of the likelihood.
    pub fn measured(&self) -> Vec<&str> {
        self.outline.file.likelihood.iter().map(|(name, _)| &name.text[..]).collect()
    }

    /// The columns that line number `line` of the likelihood depends on, except time. If it uses the states of
    /// subjects, this includes the columns that the states depend on.
    pub fn inputs(&self, line: usize) -> Vec<String> {
        let (_, formula) = &self.outline.file.likelihood[line];
        let mut columns = self.outline.columns_of(&formula.ast);
        if self.outline.names.reach(&formula.ast).states {
            let group = self.outline.subject_column();
            columns.extend(group.iter().flat_map(|_| self.outline.columns_of_equations()));
            columns.extend(group);
            columns.sort_unstable();
            columns.dedup();
        }
        columns.into_iter().map(|column| self.outline.data.names[column].clone()).collect()
    }

    /// Does the model solve a system of equations with adaptive steps? Then the density is only as smooth as the
    /// solver's tolerance.
    pub fn has_adaptive_solver(&self) -> bool {
        self.outline.solver.is_some_and(|solver| !matches!(solver, Solver::Rk4 { .. }))
    }

    /// For each coordinate, whether its prior is independent of other parameters: it names no parameter, and no
    /// other prior names this one.
    pub fn independent_priors(&self) -> Vec<bool> {
        let needs = self.outline.prior_needs();
        let is_tied = |i: usize| !needs[i].is_empty() || needs.iter().any(|n| n.contains(&i));
        let parameters = self.outline.parameters.iter().enumerate();
        let coordinates =
            parameters.flat_map(|(i, parameter)| vec![!is_tied(i); parameter.coordinates()]);
        coordinates.collect()
    }

    /// Parameters that can leave the range of a distribution's argument; the density is 0 there.
    pub fn misfits(&self) -> Vec<Misfit> {
        self.outline.misfits(&self.bounds)
    }

    /// The parameters without a proper prior.
    pub fn flat_parameters(&self) -> Vec<&str> {
        let parameters = self.outline.parameters.iter().zip(&self.are_proper);
        parameters
            .filter(|(_, is_proper)| !**is_proper)
            .map(|(parameter, _)| &parameter.name[..])
            .collect()
    }

    /// The name of time in a system of equations, or of the column that orders a single series.
    pub fn time(&self) -> Option<&str> {
        let of_system = self.outline.file.ode.as_ref().map(|ode| &ode.time.text[..]);
        let series = self.outline.file.series.as_ref().filter(|series| series.group.is_none());
        of_system.or(series.and_then(|series| Some(&series.order.as_ref()?.text[..])))
    }

    /// The column that identifies the subjects of a system, if each has its own trajectory.
    pub fn group(&self) -> Option<&str> {
        self.outline.file.ode.as_ref()?.group.as_ref().map(|group| &group.text[..])
    }

    /// The names of the quantities that are reported with the draws.
    pub fn quantity_names(&self) -> &[String] {
        &self.quantity_names
    }

    /// The quantities at some points in the target's coordinates. Quantities of whole trajectories are computed by
    /// solving the system, and are NaN if it cannot be solved.
    ///
    /// # Errors
    /// If the points have another dimension.
    #[doc(alias = "transformed parameters")]
    #[doc(alias = "generated quantities")]
    pub fn quantities(&self, points: &Batch) -> Result<Batch> {
        let Some(trajectories) = &self.trajectories else {
            return self.quantities.evaluate(points);
        };
        self.quantities.evaluate(&points.beside(&trajectories.evaluate(points)?))
    }

    /// Points from the prior, in the target's coordinates; None if a prior is flat.
    pub fn prior_draws(&self, count: usize, seed: u64) -> Option<Batch> {
        self.outline.draw_prior(&self.bounds, count, seed)
    }

    /// Location and scale of each coordinate in prior draws, on the unconstrained scale; None if the prior cannot
    /// be sampled.
    fn prior_units(&self) -> Option<Vec<(f64, f64)>> {
        let count = (PRIOR_NUMBERS / self.outline.dim.max(1)).clamp(100, PRIOR_DRAWS);
        let draws = self.prior_draws(count, 1)?;
        let unconstrained = Unconstrained::new(&*self.target).ok()?;
        let z = unconstrained.unconstrain(&draws).ok()?;
        Some((0..z.dim()).map(|d| defaults::middle_and_spread(z.row(d))).collect())
    }

    /// Reads a table of new inputs for predictions from the text of a CSV file. Its columns have the names that
    /// they have in the data file, or the names that the model gives them.
    ///
    /// # Errors All mistakes, each with its place.
    pub fn read_inputs(&self, name: &str, text: &str) -> Result<Table, Diagnostics> {
        let mut report = Report::default();
        let source = Source::new(name, text);
        let asked = Asked::by_the_user();
        let mut data = scan::read(&source, &asked, &mut report).unwrap_or_default();
        for name in &mut data.names {
            let rename = self.outline.file.data.iter().flat_map(|data| &data.rename);
            if let Some((new, _)) = rename.clone().find(|(_, column)| column.text == *name) {
                name.clone_from(&new.text);
            }
        }
        let lines = 0..self.outline.file.likelihood.len();
        let mut needed: Vec<String> = lines.flat_map(|line| self.inputs(line)).collect();
        needed.extend(self.time().map(str::to_owned));
        let of_series = self.outline.columns_of_series().into_iter();
        needed.extend(of_series.map(|column| self.outline.data.names[column].clone()));
        for (column, name) in data.names.iter().enumerate().filter(|(_, n)| needed.contains(n)) {
            if let Some(row) = data.strange(column) {
                let message = format!("`{name}` is not a number in row {}", data.number_of(row));
                data.error_at((row, column), &message, None, &mut report);
            }
        }
        report.into_result()?;
        let Data { names, columns, .. } = data;
        let rows = columns.first().map_or(0, Vec::len);
        let row = |i: usize| columns.iter().map(|column| column[i]).collect();
        Ok(Table { names, rows: (0..rows).map(row).collect() })
    }

    /// Computes predictions at points in the target's coordinates, for the rows of the data or for new inputs.
    /// `see` is called with each prediction, and returns whether to continue.
    ///
    /// # Errors If the new inputs lack a column that the likelihood depends on, or the model has no likelihood
    /// that can predict.
    pub fn predict(
        &self,
        points: &Batch,
        inputs: Option<&Table>,
        seed: u64,
        see: &mut dyn FnMut(Prediction<'_>) -> bool,
    ) -> Result<()> {
        self.outline.predict(self.target.dynamics.as_ref(), points, inputs, seed, see)
    }
}
