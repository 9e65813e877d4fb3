//! A model file as written: every part with its place, every formula parsed, no names looked up.

mod brief;
mod check;
mod events;
mod fit;
pub(crate) mod keys;
mod names;
mod offsets;
mod parts;
mod read;
mod series;
#[cfg(test)]
mod tests;
mod value;

use super::expression::{Ast, Span};
pub(crate) use fit::Fit;
pub(crate) use read::read;
#[cfg(test)]
pub(crate) use tests::examples;
pub(crate) use value::Name;

/// A formula; a number is treated as the formula of that number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Formula {
    pub text: String,
    pub ast: Ast,
    /// The span of the value in the file, including its quotes.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    Formula(Formula),
    Number(f64),
    Vector(Vec<f64>),
    /// Rows of equal length, with at least one row and one column.
    Matrix(Vec<Vec<f64>>),
    /// A table of numbers, by the name of its file.
    File(Name),
}

/// Everything that could be read, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub title: Option<String>,
    pub parameters: Vec<Parameter>,
    pub constants: Vec<(Name, Constant)>,
    pub data: Option<Data>,
    pub quantities: Vec<(Name, Formula)>,
    /// The quantities that are not reported, by name.
    pub hidden: Vec<String>,
    pub density: Option<Formula>,
    pub log_likelihood: Option<Formula>,
    pub likelihood: Vec<(Name, Formula)>,
    /// For each line of the likelihood, the weight of a row.
    pub weights: Vec<Option<Formula>>,
    pub ode: Option<Ode>,
    pub series: Option<Series>,
    pub command: Option<Command>,
    pub fit: Fit,
    /// Are there only priors: no density, likelihood or command, and none that was intended?
    pub is_prior_alone: bool,
    /// Names whose definition has a mistake, and so is missing above.
    pub unread: Vec<Name>,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub name: Name,
    pub prior: Option<Formula>,
    pub support: Option<(SupportName, Span)>,
    pub lower: Option<Formula>,
    pub upper: Option<Formula>,
    /// The length, or the number of rows and columns. A plain number here is whole, from 1 to 10,000.
    pub size: Vec<Formula>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SupportName {
    Real,
    Positive,
    Unit,
    Ordered,
    PositiveOrdered,
    Simplex,
    Correlation,
    CholeskyCorrelation,
}

impl SupportName {
    /// The name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Positive => "positive",
            Self::Unit => "unit",
            Self::Ordered => "ordered",
            Self::PositiveOrdered => "positive-ordered",
            Self::Simplex => "simplex",
            Self::Correlation => "correlation",
            Self::CholeskyCorrelation => "cholesky-correlation",
        }
    }
}

/// The data: a file, or columns of equal length.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    /// The table's name.
    pub span: Span,
    pub file: Option<Name>,
    /// Missing numbers are NaN.
    pub columns: Vec<(Name, Vec<f64>)>,
    pub missing: Missing,
    /// New name and column of the file.
    pub rename: Vec<(Name, Name)>,
    pub vectors: Vec<(Name, Vec<Name>)>,
    /// Other tables whose columns are looked up.
    pub join: Vec<Join>,
    /// Columns computed from others.
    pub derived: Vec<(Name, Formula)>,
}

/// Another table: a file, and the column that both files have.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    pub file: Name,
    pub by: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Error,
    Skip,
}

#[derive(Debug, Clone)]
pub(crate) struct Ode {
    /// The table's name.
    pub span: Span,
    pub time: Name,
    pub start: Option<Formula>,
    /// How long the system runs before its start.
    pub settle: Option<Formula>,
    /// The column that identifies subjects.
    pub group: Option<Name>,
    pub solver: SolverName,
    /// Present if and only if the solver is rk4.
    pub step: Option<f64>,
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
    pub max_steps: Option<usize>,
    pub events: Events,
    pub inputs: Vec<Input>,
    pub states: Vec<State>,
}

/// The events of a system.
#[derive(Debug, Clone, Default)]
pub(crate) enum Events {
    #[default]
    None,
    /// Rows of the data are doses, in NONMEM's convention.
    Nonmem(Span),
    List(Vec<Event>),
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub at: At,
    pub every: Option<f64>,
    pub count: Option<usize>,
    pub change: Change,
    /// States and formulas, with at least one.
    pub flows: Vec<(Name, Formula)>,
}

impl Event {
    /// All its formulas.
    pub(crate) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let at = match &self.at {
            At::Formula(formula) => Some(formula),
            At::Numbers(..) => None,
        };
        let lasts = match &self.change {
            Change::Infuse(lasts) => Some(lasts),
            Change::Set | Change::Add => None,
        };
        at.into_iter().chain(lasts).chain(self.flows.iter().map(|(_, formula)| formula))
    }
}

#[derive(Debug, Clone)]
pub(crate) enum At {
    Numbers(Vec<f64>, Span),
    Formula(Formula),
}

/// The effect of an event on its states.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Set,
    Add,
    /// For this duration.
    Infuse(Formula),
}

/// A known curve of time.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub name: Name,
    pub knots: Knots,
    pub shape: Shape,
}

#[derive(Debug, Clone)]
pub(crate) enum Knots {
    File {
        file: Name,
        time: Option<Name>,
        value: Option<Name>,
        group: Option<Name>,
    },
    /// One value for each time.
    Numbers {
        times: Vec<f64>,
        values: Vec<f64>,
    },
}

/// The curve between knots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Step,
    Linear,
    Cubic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SolverName {
    Auto,
    Dopri5,
    Rk4,
    Stiff,
}

#[derive(Debug, Clone)]
pub(crate) struct State {
    pub name: Name,
    pub start: Formula,
    pub rate: Formula,
    /// The delay of doses, and the fraction that arrives.
    pub lag: Option<Formula>,
    pub fraction: Option<Formula>,
}

impl State {
    /// Its formulas that concern doses.
    pub(crate) fn of_doses(&self) -> impl Iterator<Item = &Formula> {
        self.lag.iter().chain(&self.fraction)
    }
}

/// States that are updated from row to row.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// The table's name.
    pub span: Span,
    pub order: Option<Name>,
    pub group: Option<Name>,
    /// Number of rows at the start of each group that are left out of the likelihood.
    pub skip: usize,
    pub states: Vec<Carried>,
    /// A term that the last row of a group adds to the log likelihood.
    pub last: Option<Formula>,
}

impl Series {
    /// All its formulas.
    pub(crate) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        self.states.iter().flat_map(|state| [&state.start, &state.next]).chain(&self.last)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Carried {
    pub name: Name,
    pub size: Option<Formula>,
    pub start: Formula,
    pub next: Formula,
}

#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub run: Run,
    pub gradient: GradientName,
    /// In seconds.
    pub timeout: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Run {
    /// One string.
    Line(Name),
    /// The program and its arguments, at least the program.
    Words(Vec<Name>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GradientName {
    Auto,
    Program,
    Differences,
}
