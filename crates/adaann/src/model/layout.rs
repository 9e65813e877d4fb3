//! The layout of a model's parameters among the coordinates, and the solver of its system.

use super::diagnostic::Report;
use super::dims::Dims;
use super::expression::{Kind, Span};
use super::file::{SolverName, SupportName};
use super::outline::Outline;
use super::parameter::{Parameter, Shape};
use crate::ode::Solver;
use crate::target::Edge;

/// Maximum number of rows of a correlation matrix.
const MOST_CORRELATED: usize = 50;

/// Maximum number of coordinates of a model.
const MOST_COORDINATES: usize = 10_000;

impl Outline {
    pub(super) fn lay_out_parameters(&mut self, report: &mut Report) {
        let mut parameters = Vec::new();
        for entry in &self.file.parameters {
            let error = |report: &mut Report, span: &Span, message: String| {
                report.error(&self.source, span.clone(), message, None);
            };
            let [mut low, mut high] =
                [&entry.lower, &entry.upper].map(|given| self.edge(given, &parameters, report));
            if let Some((from, to)) = crossed(&low, &high) {
                let message = format!("lower = {from} and upper = {to} leave no room between them");
                error(report, &entry.name.span, message);
                (low, high) = (Edge::Open, Edge::Open);
            }
            let mut sizes = entry.size.iter().map(|size| {
                let value = self.plain_number(size, report)?;
                if value.fract() == 0.0 && (1.0..=MOST_COORDINATES as f64).contains(&value) {
                    return Some(value as usize);
                }
                // A plain number was checked when the file was read.
                if entry.size.len() > 1 || !matches!(size.ast.kind, Kind::Number(_)) {
                    let message =
                        format!("the size is {value}, but must be a whole number from 1 to 10,000");
                    error(report, &size.span, message);
                }
                None
            });
            let mut dims = match (sizes.next().flatten(), sizes.next()) {
                (Some(rows), Some(Some(columns))) => Dims::Matrix(rows, columns),
                (Some(size), None) => Dims::Vector(size),
                _ => Dims::Number,
            };
            drop(sizes);
            let mut shape = Shape::Free;
            if let Some((support, span)) = &entry.support {
                match support {
                    SupportName::Real => {}
                    SupportName::Positive => low = at_least(low, 0.0),
                    SupportName::Unit => (low, high) = (at_least(low, 0.0), at_most(high, 1.0)),
                    SupportName::Ordered => shape = Shape::Ordered,
                    SupportName::PositiveOrdered => {
                        (shape, low) = (Shape::Ordered, at_least(low, 0.0));
                    }
                    SupportName::Simplex => shape = Shape::Simplex,
                    SupportName::Correlation => shape = Shape::Correlation,
                    SupportName::CholeskyCorrelation => shape = Shape::CorrelationFactor,
                }
                let is_bounded = entry.lower.is_some() || entry.upper.is_some();
                if shape != Shape::Free
                    && (high != Edge::Open || (shape != Shape::Ordered && is_bounded))
                {
                    let message = "an ordered vector can have a lower bound but no upper bound; a simplex or a \
                         correlation matrix can have no bounds";
                    error(report, span, message.to_owned());
                    shape = Shape::Free;
                }
                if shape != Shape::Free && dims.width() < 2 {
                    let message =
                        "this support needs a vector: set its size to 2 or more".to_owned();
                    error(report, span, message);
                    shape = Shape::Free;
                }
                if let Shape::Correlation | Shape::CorrelationFactor = shape {
                    match dims {
                        Dims::Vector(n) | Dims::Matrix(n, _)
                            if n == dims.width() && n <= MOST_CORRELATED =>
                        {
                            dims = Dims::Matrix(n, n);
                        }
                        _ => {
                            let message = format!(
                                "a correlation matrix must be square, with at most {MOST_CORRELATED} rows: \
                                 size = 3 means 3 × 3"
                            );
                            error(report, span, message);
                            (shape, dims) = (Shape::Free, Dims::Number);
                        }
                    }
                }
            }
            let name = entry.name.text.clone();
            let parameter = Parameter { name, dims, shape, low, high, first: self.dim };
            self.dim = self.dim.saturating_add(parameter.coordinates());
            if self.dim > MOST_COORDINATES {
                let message = "the parameters have more than 10,000 coordinates".to_owned();
                error(report, &entry.name.span, message);
                break;
            }
            parameters.push(parameter);
        }
        self.parameters = parameters;
    }

    pub(super) fn choose_solver(&mut self, report: &mut Report) {
        let Some(ode) = &self.file.ode else { return };
        if let Some(start) = &ode.start {
            self.start = self.plain_number(start, report).unwrap_or(0.0);
        }
        if !self.start.is_finite() {
            let message = format!("the start of the system is {}, but must be finite", self.start);
            report.error(&self.source, ode.span.clone(), message, None);
            self.start = 0.0;
        }
        if let Some(settle) = &ode.settle {
            let time = self.plain_number(settle, report).unwrap_or(0.0);
            if (0.0..f64::INFINITY).contains(&time) {
                self.settle = time;
            } else {
                let message = format!("`settle` is {time}, but must be at least 0 and finite");
                let help = "`settle` is how long the system runs before its start, for example ten \
                            times its slowest time scale";
                report.error(&self.source, settle.span.clone(), message, Some(help.to_owned()));
            }
        }
        let relative = ode.rtol.unwrap_or(1e-6);
        let absolute = ode.atol.unwrap_or(1e-9);
        let most_steps = ode.max_steps.unwrap_or(10_000);
        self.solver = match ode.solver {
            SolverName::Rk4 => ode.step.map(|step| Solver::Rk4 { step }),
            SolverName::Dopri5 => Some(Solver::DormandPrince { relative, absolute, most_steps }),
            SolverName::Stiff => Some(Solver::Rosenbrock { relative, absolute, most_steps }),
            SolverName::Auto => Some(Solver::Auto { relative, absolute, most_steps }),
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
}

/// Two constant bounds that leave nothing between them.
fn crossed(low: &Edge, high: &Edge) -> Option<(f64, f64)> {
    if low.is_moving() || high.is_moving() {
        return None;
    }
    let (low, high) = (low.at(&[], f64::NEG_INFINITY), high.at(&[], f64::INFINITY));
    (low.is_nan() || high.is_nan() || low >= high).then_some((low, high))
}

/// A lower bound raised to at least `least`; a bound that depends on parameters is left as it is.
fn at_least(low: Edge, least: f64) -> Edge {
    if low.is_moving() { low } else { Edge::At(low.at(&[], f64::NEG_INFINITY).max(least)) }
}

/// An upper bound lowered to at most `most`; a bound that depends on parameters is left as it is.
fn at_most(high: Edge, most: f64) -> Edge {
    if high.is_moving() { high } else { Edge::At(high.at(&[], f64::INFINITY).min(most)) }
}
