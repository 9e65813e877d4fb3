//! Simulated data sets: parameters from the prior, and simulated measurements in place of the data's.

use super::compound::named;
use super::evaluate::Evaluator;
use super::expression::Kind;
use super::names::in_order;
use super::outline::Outline;
use super::scope::Place;
use super::{Model, Report};
use crate::posterior::Dynamics;
use crate::program::Expr;
use crate::rng::{Purpose, Stream};
use crate::{Batch, Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Maximum number of prior draws until one gives data. Other draws give values that are not finite,
/// mostly because a system explodes; the likelihood is 0 there.
const MOST_TRIES: usize = 20;

/// A model with simulated data, and the parameters that the data was simulated from.
pub struct Replicate {
    /// The same model, with the new data.
    pub model: Model,
    /// The parameters, in the target's coordinates.
    pub truth: Vec<f64>,
}

impl Model {
    /// Can data be simulated from the prior?
    ///
    /// # Errors
    /// If not; the message says what is missing and how to fix it.
    pub fn check_replicable(&self) -> Result<()> {
        self.outline.simulated_lines()?;
        if self.prior_draws(1, 1).is_none() {
            return Err(Error::Data(
                "the prior cannot be drawn from: give every parameter a prior that is not flat, or \
                 both bounds, and leave enough of each prior between its bounds"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Draws parameters from the prior and simulates measurements from them. Inputs are unchanged,
    /// missing measurements stay missing, and constants are those of the original data.
    ///
    /// # Errors Those of [`Model::check_replicable`]; and if the prior repeatedly gives data that is
    /// not finite, or that the likelihood does not accept.
    pub fn replicate(&self, seed: u64) -> Result<Replicate> {
        let lines = self.outline.simulated_lines()?;
        let mut failure = None;
        for attempt in 0..MOST_TRIES {
            let Some(draws) = self.prior_draws(attempt + 1, seed) else { break };
            let truth = draws.point(attempt);
            let dynamics = self.target.dynamics.as_ref();
            let stream = Stream::new(seed.wrapping_add(attempt as u64), Purpose::Data);
            match self.outline.simulate(dynamics, &lines, &truth, stream)? {
                Ok(columns) => {
                    let model = self.with_columns(columns)?;
                    return Ok(Replicate { model, truth });
                }
                Err(place) => failure = Some(place),
            }
        }
        Err(match failure {
            None => return self.check_replicable().and(Err(Error::Data(NO_DRAW.into()))),
            Some(place) => Error::Data(format!(
                "{MOST_TRIES} draws from the prior gave data that is not finite, the last at \
                 {place}; use narrower priors"
            )),
        })
    }

    /// The same model with other values in its columns.
    fn with_columns(&self, columns: Vec<Vec<f64>>) -> Result<Self> {
        let mut outline = Outline::clone(&self.outline);
        outline.data.columns = columns;
        let model = Self::assemble(outline, Report::default(), Path::new(""));
        let mut model = model.map_err(|report| {
            let error = report.into_result().expect_err("an error was reported");
            Error::Data(format!("in the simulated data: {error}"))
        })?;
        model.settings.clone_from(&self.settings);
        model.plan.clone_from(&self.plan);
        let target = Arc::get_mut(&mut model.target).expect("no one else has it yet");
        target.units.clone_from(&self.target.units);
        Ok(model)
    }
}

const NO_DRAW: &str = "no draw from the prior succeeded; wider bounds may help";

/// One step of simulating a row.
enum Turn {
    /// Draws the column of a line of the likelihood.
    Line(usize, usize),
    /// Updates the states of a series.
    States,
}

impl Outline {
    /// The lines of the likelihood with their columns, each after the lines whose columns it depends
    /// on, and between them the update of the states of a series.
    fn simulated_lines(&self) -> Result<Vec<Turn>> {
        let refuse = |why: &str| Err(Error::Data(format!("data cannot be simulated: {why}")));
        if self.file.command.is_some() {
            return refuse("a command computes the likelihood, and cannot simulate data");
        }
        if self.data.len() == 0 {
            return refuse("the model has no data, and so no columns to simulate");
        }
        if self.file.likelihood.is_empty()
            || self.file.log_likelihood.is_some()
            || self.file.density.is_some()
        {
            return refuse(
                "the log density is given by a formula; give each measured column its distribution \
                 under [likelihood]",
            );
        }
        if self.file.weights.iter().any(Option::is_some) {
            return refuse("rows have weights, and weighted rows cannot be simulated");
        }
        let measured = |column: usize| {
            let name = &self.data.names[column];
            self.file.likelihood.iter().any(|(known, _)| known.text == *name)
        };
        for (_, name, formula) in self.derived().iter().filter(|(column, ..)| !measured(*column)) {
            if self.columns_named(&formula.ast).into_iter().any(measured) {
                return refuse(&format!("`{}` is derived from a measured column", name.text));
            }
        }
        let is_by_condition = |(_, formula): &(_, super::file::Formula)| {
            matches!(&formula.ast.kind, Kind::Call { name, arguments, .. } if name == "censored"
                && ["left", "right", "until"].iter().any(|side| named(arguments, side).is_some()))
        };
        if self.file.likelihood.iter().any(is_by_condition) {
            return refuse(
                "conditions tell which measurements are censored, but not the limits of new measurements; \
                 give `censored` the limits, for example upper = a column of limits",
            );
        }
        let column = |(name, _): &(super::file::Name, _)| self.data.find(&name.text);
        let columns: Vec<usize> = self.file.likelihood.iter().filter_map(column).collect();
        let of = |used: &usize| columns.iter().position(|column| column == used);
        let states = columns.len();
        let mut needs: Vec<Vec<usize>> = Vec::new();
        for (_, formula) in &self.file.likelihood {
            let mut needed: Vec<usize> =
                self.columns_of(&formula.ast).iter().filter_map(of).collect();
            needed.extend(self.sees_series(&formula.ast).then_some(states));
            needs.push(needed);
        }
        needs.push(self.columns_of_states().iter().filter_map(of).collect());
        let (order, cycle) = in_order(&needs);
        if let Some(cycle) = &cycle
            && cycle.contains(&states)
        {
            return refuse(
                "a state and a measurement in the same row depend on each other; \
                 use before(column) for the measurement of the previous row",
            );
        }
        if self.file.series.as_ref().is_some_and(|series| series.last.is_some()) {
            return refuse("`final` in [series] adds a log density, which cannot be simulated");
        }
        if cycle.is_some() || self.columns_of_system().iter().any(|column| columns.contains(column))
        {
            return refuse("a measured column depends on itself");
        }
        let turn = |i: usize| match columns.get(i) {
            Some(&column) => Turn::Line(i, column),
            None => Turn::States,
        };
        Ok(order.into_iter().map(turn).collect())
    }

    /// All columns, with simulated measurements where the data has measurements; or, in words, the
    /// place of a value that is not finite.
    fn simulate(
        &self,
        dynamics: Option<&Dynamics>,
        turns: &[Turn],
        point: &[f64],
        stream: Stream,
    ) -> Result<std::result::Result<Vec<Vec<f64>>, String>> {
        let mut columns = self.data.columns.clone();
        let points = Batch::from_points(self.dim, &[point]);
        let states = dynamics.map(|dynamics| dynamics.states(&points)).transpose()?;
        let theta: Vec<Expr<'static>> = point.iter().map(|&x| x.into()).collect();
        let mut scope = self.scope(&theta);
        self.evaluate_quantities(&mut scope, &mut Vec::new(), |reach| !reach.is_of_rows());
        let mut number = 0;
        let mut uniform = || {
            number += 1;
            stream.uniform_at(number - 1)
        };
        let walk = &self.series.walk;
        for &row in &walk.order {
            if let Some(states) = &states {
                let states = &states[row];
                scope.states = (0..states.dim()).map(|state| states.row(state)[0].into()).collect();
            }
            self.enter_lags(&mut scope, walk, row, &|row, column| columns[column][row]);
            for turn in turns {
                let &Turn::Line(line, column) = turn else {
                    self.enter_row(&mut scope, &|column| columns[column][row]);
                    self.carry_on(&mut scope, walk.begins(row));
                    continue;
                };
                if columns[column][row].is_nan() || !self.is_measured(walk, row) {
                    continue;
                }
                self.enter_row(&mut scope, &|column| columns[column][row]);
                self.evaluate_quantities(&mut scope, &mut Vec::new(), |reach| reach.is_of_rows());
                let (name, formula) = &self.file.likelihood[line];
                let (names, place, mut faults) = (&self.names, Place::Row, Vec::new());
                let (scope, faults) = (&mut scope, &mut faults);
                let law = Evaluator { names, scope, place, faults, gather: None }.law(&formula.ast);
                let drawn = law.and_then(|law| law.draw(1, &mut uniform));
                let drawn = drawn.map_or(f64::NAN, |drawn| drawn[0]);
                if !drawn.is_finite() {
                    let number = self.data.number_of(row);
                    return Ok(Err(format!("`{}` in row {number}", name.text)));
                }
                columns[column][row] = drawn;
            }
        }
        Ok(Ok(columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Model {
        Model::parse("m.toml", text).unwrap_or_else(|faults| panic!("{faults}"))
    }

    /// y depends on z, which comes after it and has a gap.
    const TWO: &str = r#"
        [data]
        missing = "skip"
        x = [1, 2, 3, 4]
        y = [0, 0, 0, 0]
        z = [5, nan, 5, 5]
        [constants]
        middle = "mean(z)"
        [parameters]
        a = "normal(0, 1)"
        [likelihood]
        y = "normal(z, 1e-9)"
        z = "normal(100 * a + x + middle, 1e-9)"
    "#;

    #[test]
    fn measurements_are_made_and_inputs_stay() {
        let text = TWO.replace("y = [0, 0, 0, 0]", "y = [0, nan, 0, 0]");
        let model = parse(&text);
        let Replicate { model: made, truth } = model.replicate(3).unwrap();
        let data = made.data().unwrap();
        assert_eq!(data.names, ["x", "y", "z"]);
        for (i, row) in data.rows.iter().enumerate() {
            assert_eq!(row[0], i as f64 + 1.0);
            // The constant is the mean of the file's data, not of the simulated data.
            let expected = 100.0 * truth[0] + row[0] + 5.0;
            if i == 1 {
                assert!(row[1].is_nan() && row[2].is_nan());
            } else {
                // Seven standard deviations each.
                assert!((row[2] - expected).abs() < 7e-9, "{row:?} {expected}");
                assert!((row[1] - row[2]).abs() < 7e-9, "{row:?}");
            }
        }
        assert_eq!(made.target.units, model.target.units);
        let again = model.replicate(3).unwrap();
        assert_eq!(again.truth, truth);
        assert_ne!(model.replicate(4).unwrap().truth, truth);
    }

    #[test]
    fn what_cannot_be_simulated_is_refused_with_the_reason() {
        let head = "[data]\nx = [1, 2]\ny = [3, 4]\n[parameters]\n";
        for (text, words) in [
            ("density = \"-a^2\"\n[parameters]\na = {}\n".to_owned(), "no data"),
            (
                format!("{head}a = {{}}\n[likelihood]\ny = \"normal(a, 1)\"\n"),
                "prior cannot be drawn from",
            ),
            (
                format!("{head}a = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a * y, 1)\"\n"),
                "depends on itself",
            ),
            (
                format!("log-likelihood = \"-(y - a)^2\"\n{head}a = \"normal(0, 1)\"\n"),
                "log density is given by a formula",
            ),
            (
                format!(
                    "{head}a = \"normal(0, 1)\"\n[likelihood]\n\
                     y = \"censored(normal(a, 1), right = x == 2)\"\n"
                ),
                "give `censored` the limits",
            ),
        ] {
            let model = match Model::parse("m.toml", &text) {
                Ok(model) => model,
                Err(faults) => panic!("{text}: {faults}"),
            };
            for error in [model.check_replicable().err(), model.replicate(1).err()] {
                let said = error.expect(&text).to_string();
                assert!(said.contains(words), "{text}: {said}");
            }
        }
    }

    #[test]
    fn data_that_is_no_number_names_its_place() {
        let text = "[data]\ny = [1, 2]\n[parameters]\na = \"normal(800, 1)\"\n\
                    [likelihood]\ny = \"normal(exp(a), 1)\"\n";
        let said = parse(text).replicate(1).err().expect("exp(800) is infinite").to_string();
        assert!(said.contains("`y` in row 1"), "{said}");
    }
}
