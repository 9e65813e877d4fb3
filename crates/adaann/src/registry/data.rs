//! The data of a posterior: simulated from a seed, or given as a table.

use crate::ode::{Noise, Observations, Solver, System, solve};
use crate::rng::{Purpose, Stream};
use crate::{Batch, Error, Result, table::Table};

/// The source of a posterior's data.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Simulated from the true parameters, with noise from this seed.
    Seed(u64),
    /// Given: a column `t` and one column for each observed quantity.
    Table(Table),
}

impl Data {
    /// The seed if none is given.
    pub const DEFAULT_SEED: u64 = 1;
}

/// How data is simulated: the true parameters and the design of a posterior's entry.
pub(super) struct Design<'a> {
    pub(super) system: &'a System,
    pub(super) solver: Solver,
    pub(super) truth: &'a [f64],
    pub(super) times: Vec<f64>,
    /// The states that are observed in simulated data.
    pub(super) observed: &'a [&'a str],
    pub(super) noise_variance: f64,
}

impl Design<'_> {
    /// The table of the data, simulated if needed.
    pub(super) fn table(&self, data: &Data) -> Result<Table> {
        match data {
            Data::Table(table) => Ok(table.clone()),
            Data::Seed(seed) => self.make(*seed),
        }
    }

    fn make(&self, seed: u64) -> Result<Table> {
        let truth = Batch::from_points(self.truth.len(), &[self.truth]);
        let solution = solve(self.system, &self.solver, &truth, &self.times)?;
        let stream = Stream::new(seed, Purpose::Data);
        let sd = self.noise_variance.sqrt();
        let mut errors = (0..).map(|index| sd * stream.normal_at(index));
        let mut rows = Vec::new();
        for (&t, states) in self.times.iter().zip(&solution.states) {
            let mut row = vec![t];
            for name in self.observed {
                let state = self.system.states().iter().position(|state| state == name);
                let x = states.row(state.expect("a state of the system"))[0];
                row.extend(errors.next().map(|error| x + error));
            }
            rows.push(row);
        }
        let columns = ["t"].iter().chain(self.observed);
        Ok(Table { names: columns.map(|&name| name.to_owned()).collect(), rows })
    }

    /// The observations of the system's states in a table.
    pub(super) fn observations(&self, table: &Table, noise: Noise) -> Result<Observations> {
        let states = self.system.states();
        let known = || ["t"].into_iter().chain(states.iter().map(String::as_str));
        for (i, name) in table.names.iter().enumerate() {
            if !known().any(|known| known == name) {
                let known: Vec<&str> = known().collect();
                return Err(Error::Data(format!(
                    "the data has a column '{name}', but only these columns are known: {}",
                    known.join(", ")
                )));
            }
            if table.names[..i].contains(name) {
                return Err(Error::Data(format!("two columns of the data are called {name}")));
            }
        }
        let Some(time) = table.names.iter().position(|name| name == "t") else {
            return Err(Error::Data("the data has no column t with the times".into()));
        };
        let columns: Vec<usize> = (0..table.names.len()).filter(|&c| c != time).collect();
        if columns.is_empty() || table.rows.is_empty() {
            return Err(Error::Data(format!(
                "the data has no measurements; give a column t and one or more of {}",
                states.join(", ")
            )));
        }
        let mut rows: Vec<&Vec<f64>> = table.rows.iter().collect();
        rows.sort_by(|a, b| a[time].total_cmp(&b[time]));
        let times: Vec<f64> = rows.iter().map(|row| row[time]).collect();
        let values: Vec<f64> =
            rows.iter().flat_map(|row| columns.iter().map(|&c| row[c])).collect();
        let observed: Vec<&str> = columns.iter().map(|&c| table.names[c].as_str()).collect();
        Observations::of_states(self.system, &observed, noise, &times, &values)
    }
}
