//! Records a model as one graph: prior, likelihood, rates and quantities.

use super::diagnostic::Report;
use super::evaluate::{Evaluator, Gathering, Index, MOST_NUMBERS};
use super::expression::{Ast, Fault, Kind};
use super::file::{Formula, Name};
use super::kinds::Measured;
use super::outline::Outline;
use super::priors;
use super::scope::{Lagged, Place, Scope};
use super::value::Value;
use crate::distribution::Family;
use crate::posterior::Reading;
use crate::program::{Expr, Graph, Node};
use crate::target::{Edge, Support};
use std::cell::RefCell;
use std::ops::Range;

/// A model as a graph. Its inputs are the coordinates of the parameters, then time, the states, the columns
/// of the data, the numbers of intervals and events, those of whole trajectories, and an element for each
/// gather.
#[derive(Clone)]
pub(super) struct Recording {
    pub(super) graph: Graph,
    pub(super) supports: Vec<Support>,
    /// The bounds of each parameter's elements.
    pub(super) bounds: Vec<[Edge; 2]>,
    /// For each parameter, whether its prior integrates to 1.
    pub(super) are_proper: Vec<bool>,
    /// Is the prior's integral known to be 1?
    pub(super) is_normalised: bool,
    pub(super) log_prior: Node,
    /// The part of the log likelihood that does not depend on rows.
    pub(super) density: Option<Node>,
    pub(super) lines: Vec<Line>,
    pub(super) gathers: Vec<Gather>,
    /// Rates and start values of the states.
    pub(super) rates: Vec<Node>,
    pub(super) initial: Vec<Node>,
    pub(super) series: Option<Carried>,
    /// The states after each kind of jump.
    pub(super) jumps: Vec<Vec<Node>>,
    /// Times of events that depend on parameters.
    pub(super) moments: Vec<Node>,
    /// What is reported with the draws, by name.
    pub(super) quantities: Vec<(String, Node)>,
    /// The values that quantities need from whole trajectories, and the inputs that stand for them.
    pub(super) readings: Vec<Reading>,
    pub(super) trajectories: Range<usize>,
}

/// A line of the likelihood: the log density of a row, and the rows over which it is summed.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) log_density: Node,
    pub(super) rows: Vec<u32>,
}

/// The states of a series at the first row of a group and at later rows, and the final term.
#[derive(Clone)]
pub(super) struct Carried {
    pub(super) start: Vec<Node>,
    pub(super) next: Vec<Node>,
    pub(super) last: Option<Node>,
}

/// An input that each row selects from a vector by its own index, from 0.
#[derive(Clone)]
pub(super) struct Gather {
    pub(super) vector: Vec<Node>,
    pub(super) index: Vec<u32>,
}

/// The index of the first input of each kind, after the coordinates.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Only for a system.
    pub(super) time: Option<usize>,
    pub(super) states: usize,
    /// States of a series.
    pub(super) carried: usize,
    pub(super) columns: usize,
    /// Columns at earlier rows: two inputs each, the value and whether it exists.
    pub(super) lags: usize,
    /// Numbers of an interval, and that of an event.
    pub(super) stretch: usize,
    pub(super) event: usize,
    /// Values from whole trajectories.
    pub(super) trajectories: usize,
    pub(super) gathers: usize,
}

impl Recording {
    /// Does every prior integrate to 1?
    pub(super) fn has_proper_prior(&self) -> bool {
        self.are_proper.iter().all(|is_proper| *is_proper)
    }
}

impl Layout {
    pub(super) fn new(outline: &Outline) -> Self {
        let ode = outline.file.ode.as_ref();
        let time = ode.map(|_| outline.dim);
        let states = outline.dim + usize::from(time.is_some());
        let carried = states + ode.map_or(0, |ode| ode.states.len());
        let columns = carried + outline.carried();
        let lags = columns + outline.data.columns.len();
        let stretch = lags + 2 * outline.series.lags.len();
        let event = stretch + outline.changes.numbers;
        let trajectories = event + usize::from(time.is_some());
        let gathers = trajectories + outline.trajectory_numbers();
        Self { time, states, carried, columns, lags, stretch, event, trajectories, gathers }
    }
}

/// Records a model; mistakes go to the report.
pub(super) fn record(outline: &Outline, report: &mut Report) -> Recording {
    record_parts(outline, true, report)
}

/// Records a model without its likelihood.
pub(super) fn record_system(outline: &Outline, report: &mut Report) -> Recording {
    record_parts(outline, false, report)
}

fn record_parts(outline: &Outline, with_likelihood: bool, report: &mut Report) -> Recording {
    let graph = RefCell::new(Graph::new());
    let input = |i: usize| Expr::input(&graph, i as u32);
    let layout = Layout::new(outline);
    let theta: Vec<Expr<'_>> = (0..outline.dim).map(input).collect();
    let mut scope = outline.scope(&theta);
    scope.budget = Some(MOST_NUMBERS);
    scope.time = layout.time.map(|i| Value::Number(input(i)));
    scope.states = (layout.states..layout.carried).map(input).collect();
    scope.columns = (layout.columns..layout.lags).map(|i| Value::Number(input(i))).collect();
    scope.inputs = outline.input_values(layout.time.map(input), |i| input(layout.stretch + i));
    enter_series(&mut scope, outline, layout, input);
    let (faults, gathers, readings) = (Vec::new(), Vec::new(), Vec::new());
    let mut recorder =
        Recorder { outline, graph: &graph, layout, scope, faults, gathers, readings };
    let quantities = recorder.quantities(with_likelihood, report);
    let Priors { log_density: log_prior, supports, bounds, are_proper, are_normalised } =
        recorder.priors();
    let density = outline.file.density.as_ref();
    let density = density.and_then(|formula| recorder.number(formula, Place::Shared));
    let (rates, initial) = recorder.system(report);
    let (rates, jumps) = recorder.changes(rates, &initial);
    let moments = recorder.moments();
    let series = recorder.series(report);
    let lines = if with_likelihood { recorder.lines(report) } else { Vec::new() };
    let Recorder { faults, gathers, readings, .. } = recorder;
    outline.say(faults, report);
    let node = |x: Expr<'_>| x.node(&graph);
    let nodes = |list: Vec<Expr<'_>>| -> Vec<Node> { list.into_iter().map(node).collect() };
    let (log_prior, density) = (node(log_prior), density.map(node));
    let (rates, initial) = (nodes(rates), nodes(initial));
    let series = series.map(|(start, next, last)| Carried {
        start: nodes(start),
        next: nodes(next),
        last: last.map(node),
    });
    let jumps = jumps.into_iter().map(nodes).collect();
    let moments = nodes(moments);
    let lines = lines
        .into_iter()
        .map(|(log_density, rows)| Line { log_density: node(log_density), rows })
        .collect();
    let quantities = quantities.into_iter().map(|(name, x)| (name, node(x))).collect();
    let gathers = gathers.into_iter().map(|(vector, index)| Gather { vector, index }).collect();
    Recording {
        supports,
        bounds,
        are_proper,
        is_normalised: are_normalised,
        log_prior,
        density,
        lines,
        gathers,
        rates,
        initial,
        series,
        jumps,
        moments,
        quantities,
        readings,
        trajectories: layout.trajectories..layout.gathers,
        graph: graph.into_inner(),
    }
}

/// The priors of all parameters.
struct Priors<'g> {
    log_density: Expr<'g>,
    supports: Vec<Support>,
    bounds: Vec<[Edge; 2]>,
    are_proper: Vec<bool>,
    are_normalised: bool,
}

pub(super) struct Recorder<'o, 'g> {
    pub(super) outline: &'o Outline,
    pub(super) graph: &'g RefCell<Graph>,
    pub(super) layout: Layout,
    pub(super) scope: Scope<'g>,
    pub(super) faults: Vec<Fault>,
    gathers: Vec<(Vec<Node>, Vec<u32>)>,
    pub(super) readings: Vec<Reading>,
}

impl<'g> Recorder<'_, 'g> {
    /// Calls `work` with an evaluator for formulas at this place.
    pub(super) fn at<T>(
        &mut self,
        place: Place,
        work: impl FnOnce(&mut Evaluator<'_, 'g>) -> T,
    ) -> T {
        let Self { outline, graph, layout, scope, faults, gathers, .. } = self;
        let mut gather = |vector: &[Expr<'g>], indices: &[Index<'_>]| {
            let index = outline.indices(indices)?;
            let vector: Vec<Node> = vector.iter().map(|x| x.node(graph)).collect();
            let new = (vector, index);
            let known = gathers.iter().position(|known| *known == new);
            let number = known.unwrap_or_else(|| {
                gathers.push(new);
                gathers.len() - 1
            });
            Ok(Expr::input(graph, (layout.gathers + number) as u32))
        };
        let gather: &mut Gathering<'_, 'g> = &mut gather;
        let names = &outline.names;
        work(&mut Evaluator { names, scope, place, faults, gather: Some(gather) })
    }

    pub(super) fn number(&mut self, formula: &Formula, place: Place) -> Option<Expr<'g>> {
        self.at(place, |evaluator| evaluator.number(&formula.ast))
    }

    /// Evaluates all quantities and returns those that are reported: quantities that do not differ by row,
    /// and the last parts of simplexes. Quantities of trajectories are included only on request.
    fn quantities(
        &mut self,
        with_trajectories: bool,
        report: &mut Report,
    ) -> Vec<(String, Expr<'g>)> {
        let outline = self.outline;
        let mut reported = Vec::new();
        for (parameter, value) in outline.parameters.iter().zip(&self.scope.parameters) {
            reported.extend(parameter.behind(value));
        }
        let mut found: Vec<Option<Value<'g>>> = vec![None; outline.file.quantities.len()];
        for &q in outline.names.order() {
            let (name, formula) = &outline.file.quantities[q];
            let reach = outline.names.reach(&formula.ast);
            if reach.trajectories && !with_trajectories {
                continue;
            }
            let is_of_rows = reach.is_of_rows();
            let place = if is_of_rows { Place::Row } else { Place::Quantity };
            if !is_of_rows {
                self.trajectories(&formula.ast, report);
            }
            let value = self.at(place, |evaluator| evaluator.evaluate(&formula.ast));
            if let Value::Law(_) | Value::Truth(_) = value {
                let message = format!("`{}` is {}, not a number", name.text, value.kind());
                self.faults.push(Fault { span: formula.span.clone(), message, help: None });
            }
            found[q] = (!is_of_rows).then(|| value.clone());
            self.scope.quantities[q] = Some(value);
        }
        for ((name, _), value) in outline.file.quantities.iter().zip(found) {
            if let Some(value) = value.filter(|_| !outline.file.hidden.contains(&name.text)) {
                reported.extend(value.dims().names(&name.text).into_iter().zip(value.numbers()));
            }
        }
        reported
    }

    fn priors(&mut self) -> Priors<'g> {
        let outline = self.outline;
        let (supports, bounds) = (Vec::new(), Vec::new());
        let mut all = Priors {
            log_density: 0.0.into(),
            supports,
            bounds,
            are_proper: Vec::new(),
            are_normalised: true,
        };
        let theta: Vec<Expr<'g>> =
            (0..outline.dim).map(|d| Expr::input(self.graph, d as u32)).collect();
        let entries = outline.file.parameters.iter().zip(&outline.parameters);
        for (entry, parameter) in entries {
            let known = self.faults.len();
            let mut prior = priors::without_law(parameter, &theta);
            if let Some(formula) = &entry.prior
                && let Some(law) = self.at(Place::Shared, |evaluator| evaluator.law(&formula.ast))
            {
                let reach = outline.reach_of_bounds(parameter, &all.supports);
                match priors::with_law(parameter, &theta, &law, reach) {
                    Ok(own) => prior = own,
                    Err(message) => {
                        let span = formula.span.clone();
                        self.faults.push(Fault { span, message, help: None });
                    }
                }
            }
            all.log_density += prior.log_density;
            if outline.file.is_prior_alone && !prior.is_proper && self.faults.len() == known {
                self.faults.push(nothing_holds(&entry.name));
            }
            all.are_proper.push(prior.is_proper);
            all.are_normalised &= prior.is_normalised;
            if let Some(message) = outline.no_room(&prior.low, &prior.high, &all.supports) {
                let help =
                    "bound the parameters that they depend on, so that lower stays below upper"
                        .into();
                self.faults.push(Fault {
                    span: entry.name.span.clone(),
                    message,
                    help: Some(help),
                });
            }
            all.supports.extend(parameter.supports(&prior.low, &prior.high));
            all.bounds.push([prior.low, prior.high]);
        }
        all
    }

    /// Rates and start values.
    fn system(&mut self, report: &mut Report) -> (Vec<Expr<'g>>, Vec<Expr<'g>>) {
        let rows: Vec<u32> = (0..self.outline.data.len() as u32).collect();
        let columns = self.outline.columns_of_equations();
        self.outline.check_present(&columns, &rows, None, report);
        let (mut rates, mut initial) = (Vec::new(), Vec::new());
        for state in self.outline.file.ode.iter().flat_map(|ode| &ode.states) {
            rates.extend(self.number(&state.rate, Place::Rate));
            initial.extend(self.number(&state.start, Place::Start));
        }
        (rates, initial)
    }

    /// The states of a series at the first row and at later rows, and the final term.
    fn series(
        &mut self,
        report: &mut Report,
    ) -> Option<(Numbers<'g>, Numbers<'g>, Option<Expr<'g>>)> {
        let outline = self.outline;
        let series = outline.file.series.as_ref()?;
        outline.check_series(report);
        let (mut start, mut next) = (Vec::new(), Vec::new());
        for (state, &size) in series.states.iter().zip(&outline.series.sizes) {
            start.extend(self.state(&state.name, &state.start, Place::First, size));
            next.extend(self.state(&state.name, &state.next, Place::Row, size));
        }
        let last = series.last.as_ref().and_then(|formula| self.number(formula, Place::Row));
        Some((start, next, last))
    }

    /// The elements of a state; a number stands for every element.
    fn state(
        &mut self,
        name: &Name,
        formula: &Formula,
        place: Place,
        size: Option<usize>,
    ) -> Numbers<'g> {
        let value = self.at(place, |evaluator| evaluator.evaluate(&formula.ast));
        let numbers = match (&value, size) {
            (Value::Number(x), size) => vec![*x; size.unwrap_or(1)],
            (Value::Vector(elements), Some(size)) if elements.len() == size => elements.clone(),
            _ => Vec::new(),
        };
        if numbers.is_empty() && !value.is_unknown() {
            let is = size.map_or("a number".to_owned(), |size| format!("a vector of {size}"));
            let message =
                format!("the state `{}` is {is}, but this is {}", name.text, value.kind());
            let help = match (&value, size) {
                (Value::Vector(elements), None) => {
                    Some(format!("give the state its size: size = {}", elements.len()))
                }
                _ => None,
            };
            self.faults.push(Fault { span: formula.span.clone(), message, help });
        }
        numbers
    }

    /// The lines of the likelihood, each with its rows.
    fn lines(&mut self, report: &mut Report) -> Vec<(Expr<'g>, Vec<u32>)> {
        let outline = self.outline;
        let mut lines = Vec::new();
        for ((name, formula), weight) in outline.file.likelihood.iter().zip(&outline.file.weights) {
            let weight = weight.as_ref().map(|weight| (weight, self.number(weight, Place::Row)));
            let law = self.at(Place::Row, |evaluator| evaluator.law(&formula.ast));
            let column = outline.measured(name, report);
            let (Some(law), Some(column)) = (law, column) else { continue };
            if law.is_joint() || law.size().is_some() {
                let message = "expected a distribution of numbers, found a distribution of vectors";
                let (span, message) = (formula.span.clone(), message.to_owned());
                self.faults.push(Fault { span, message, help: None });
                continue;
            }
            let mut rows = outline.rows_of(name, column, formula, report);
            if let Some((weight, _)) = &weight {
                rows = outline.weighted_rows(weight, &rows, report);
            }
            let Value::Number(y) = self.scope.columns[column] else { continue };
            let line = Measured { name, column, formula };
            let kinds = outline.kinds(line, &law, y, &rows, report);
            lines.extend(kinds.into_iter().map(|(log_density, rows)| match &weight {
                None => (log_density, rows),
                Some((_, weight)) => (weight.unwrap_or(1.0.into()) * log_density, rows),
            }));
        }
        if let Some(formula) = &outline.file.log_likelihood {
            let rows = outline.measured_rows();
            outline.check_lags(formula, &rows, report);
            outline.check_present(&outline.columns_of(&formula.ast), &rows, None, report);
            if let Some(log_density) = self.number(formula, Place::Row) {
                lines.push((log_density, rows));
            }
        }
        lines
    }
}

/// The elements of a state.
type Numbers<'g> = Vec<Expr<'g>>;

/// Makes inputs for states of a series and for columns at earlier rows.
fn enter_series<'g>(
    scope: &mut Scope<'g>,
    outline: &Outline,
    layout: Layout,
    input: impl Fn(usize) -> Expr<'g>,
) {
    let mut first = layout.carried;
    for size in &outline.series.sizes {
        let own = first..first + size.unwrap_or(1);
        first = own.end;
        scope.carried.push(match size {
            Some(_) => Value::Vector(own.map(&input).collect()),
            None => Value::Number(input(own.start)),
        });
    }
    for (i, &lag) in outline.series.lags.iter().enumerate() {
        let [value, is_there] = [0, 1].map(|k| input(layout.lags + 2 * i + k));
        scope.lags.push(Lagged { lag, value, is_there });
    }
}

/// The error for a flat prior without data.
fn nothing_holds(parameter: &Name) -> Fault {
    let name = &parameter.text;
    let message = format!("nothing constrains `{name}`: its prior is flat, and there is no data");
    let help =
        format!("give it a prior, `{name} = \"normal(0, 10)\"`, or add [data] and [likelihood]");
    Fault { span: parameter.span.clone(), message, help: Some(help) }
}

/// The family and arguments of a formula that calls a distribution, or one built from it.
pub(super) fn as_family(ast: &Ast) -> Option<(Family, &[Ast])> {
    match &ast.kind {
        Kind::Call { name, arguments, .. } => match &name[..] {
            "censored" | "truncated" => as_family(arguments.first()?),
            "zero_inflated" | "hurdle" => as_family(arguments.get(1)?),
            _ => Some((Family::named(name)?, arguments)),
        },
        _ => None,
    }
}
