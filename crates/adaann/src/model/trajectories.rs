//! `at`, `integral`, `maximum` and similar: values of whole trajectories, computed for draws.

use super::diagnostic::Report;
use super::evaluate::Evaluator;
use super::expression::{Ast, Fault, Kind, Span};
use super::names::each_trajectory;
use super::outline::Outline;
use super::record::Recorder;
use super::scope::Place;
use super::trajectory_functions::TrajectoryFunction;
use super::value::Value;
use crate::posterior::{Reading, What};
use crate::program::Expr;

/// Maximum number of times in all functions of trajectories, counted for each subject; solvers stop at
/// all of them.
const MOST_TIMES: usize = 100_000;

impl<'g> Evaluator<'_, 'g> {
    /// f(formula, time, ...), if its value has been computed.
    pub(super) fn trajectory(
        &mut self,
        whole: &Ast,
        function: TrajectoryFunction,
        arguments: &[Ast],
    ) -> Value<'g> {
        let name = function.name();
        if self.place == Place::Rate && function == TrajectoryFunction::At {
            return self.no_delays(&whole.span);
        }
        if self.place != Place::Quantity {
            let message = format!(
                "`{name}` needs whole trajectories, which are computed only for draws: use it only in \
                 [quantities] on which no other part of the model depends"
            );
            let help = match self.place {
                Place::Row => Some(
                    "in a formula of rows, a state already has its value at the row's time"
                        .to_owned(),
                ),
                Place::Path => Some("functions of trajectories cannot be nested".to_owned()),
                _ => None,
            };
            return self.unknown(&whole.span, message, help);
        }
        if arguments.len() != 1 + function.times() {
            return self.wrong_count(whole, function.usage(), arguments.len());
        }
        let known = &self.scope.trajectories;
        let found = known.iter().find(|(span, _)| *span == whole.span);
        found.map_or(Value::Unknown, |(_, value)| value.clone())
    }
}

impl Outline {
    /// The number of trajectory values in quantities, counted for each subject.
    pub(super) fn trajectory_numbers(&self) -> usize {
        let mut calls = 0_usize;
        for (_, formula) in &self.file.quantities {
            each_trajectory(&formula.ast, &mut |_, _, _| calls += 1);
        }
        calls.saturating_mul(self.subjects.starts.len())
    }
}

impl<'g> Recorder<'_, 'g> {
    /// Records the trajectory values of a quantity, so that its calls can be evaluated.
    pub(super) fn trajectories(&mut self, ast: &Ast, report: &mut Report) {
        let mut calls = Vec::new();
        each_trajectory(ast, &mut |call, function, arguments| {
            calls.push((call, function, arguments));
        });
        for (call, function, arguments) in calls {
            if arguments.len() != 1 + function.times() {
                continue;
            }
            if self.outline.file.ode.is_none() {
                let message =
                    format!("`{}` needs trajectories, but the model has no [ode]", function.name());
                self.fault(&call.span, message, None);
                continue;
            }
            let reading = self.reading(function, arguments, report);
            let subjects = self.outline.subjects.starts.len();
            if (self.readings.len() + 1).saturating_mul(2 * subjects) > MOST_TIMES {
                let message = format!(
                    "functions of trajectories use more than {MOST_TIMES} times, counted for each subject"
                );
                self.fault(&call.span, message, None);
                return;
            }
            let Some(reading) = reading else { continue };
            let first = self.layout.trajectories + self.readings.len() * subjects;
            let mut numbers = (first..first + subjects).map(|i| Expr::input(self.graph, i as u32));
            let value = match self.outline.subjects.are_grouped {
                true => Value::Vector(numbers.collect()),
                false => numbers.next().map_or(Value::Unknown, Value::Number),
            };
            self.readings.push(reading);
            self.scope.trajectories.push((call.span.clone(), value));
        }
    }

    fn reading(
        &mut self,
        function: TrajectoryFunction,
        arguments: &[Ast],
        report: &mut Report,
    ) -> Option<Reading> {
        let outline = self.outline;
        let (formula, times) = arguments.split_first()?;
        let rows: Vec<u32> = (0..outline.data.len() as u32).collect();
        outline.check_present(&outline.columns_of(formula), &rows, None, report);
        let value = self.at(Place::Path, |evaluator| {
            let value = evaluator.evaluate(formula).into_numbers();
            evaluator.as_number(value, &formula.span)
        });
        let found: Vec<Option<f64>> = times.iter().map(|time| self.time(time)).collect();
        let times: Vec<f64> = found.iter().flatten().copied().collect();
        if times.len() != found.len() {
            return None;
        }
        if let [from, to] = times[..]
            && from > to
        {
            let message = format!("the interval begins at {from}, but ends at {to}");
            let help = format!("write {}, the earlier time first", function.usage());
            self.fault(&arguments[1].span, message, Some(help));
            return None;
        }
        let mut of = value?.node(self.graph);
        let (from, to) = (times[0], *times.last()?);
        use TrajectoryFunction::*;
        let is_moment = from == to;
        let what = match function {
            At => What::At(from),
            Integral => What::Integral(from, to),
            // On an interval of length 0, the extreme is the value there.
            Maximum | Minimum if is_moment => What::At(from),
            TimeOfMaximum | TimeOfMinimum if is_moment => {
                of = Expr::from(from).node(self.graph);
                What::At(from)
            }
            Maximum => What::Extreme(1.0, [from, to]),
            Minimum => What::Extreme(-1.0, [from, to]),
            TimeOfMaximum => What::TimeOfExtreme(1.0, [from, to]),
            TimeOfMinimum => What::TimeOfExtreme(-1.0, [from, to]),
        };
        Some(Reading { of, what })
    }

    /// A time at which trajectories are evaluated.
    fn time(&mut self, ast: &Ast) -> Option<f64> {
        let start = self.outline.start;
        let value = self.at(Place::Constant, |evaluator| evaluator.number(ast))?;
        let (message, help) = match value.as_constant() {
            Some(time) if time.is_finite() && time >= start => return Some(time),
            Some(time) if time.is_finite() => (
                format!("time {time} is before the start of the system at {start}"),
                Some("set start in [ode], or write a later time".to_owned()),
            ),
            Some(time) => (
                format!("the time is {time}, but must be finite"),
                Some("write a finite number; a large time can stand for infinity".to_owned()),
            ),
            None => {
                let what = match &ast.kind {
                    Kind::Name(name) => format!("`{name}` differs between rows"),
                    _ => "this differs between rows".to_owned(),
                };
                let message = format!("{what}, but the times of trajectories must be constants");
                (message, Some("write a number, or a constant from [constants]".to_owned()))
            }
        };
        self.fault(&ast.span, message, help);
        None
    }

    fn fault(&mut self, span: &Span, message: String, help: Option<String>) {
        self.faults.push(Fault { span: span.clone(), message, help });
    }
}
