//! The dynamical system behind a posterior: its solution at any parameters, and what made its data.

use super::data::Design;
use crate::ode::{Solver, System, solve};
use crate::{Batch, Error, Result};

/// The dynamical system behind a posterior.
///
/// ```
/// let problem = adaann::registry::find("hiv")?.build(&[])?;
/// let dynamics = problem.dynamics.expect("a posterior of a dynamical system");
/// let virus = &dynamics.solve(dynamics.truth(), &[0.0, 0.5, 2.0])?[2];
/// assert_eq!((virus.len(), virus[0]), (3, 1.0));
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dynamics {
    system: System,
    solver: Solver,
    truth: Vec<f64>,
    observed: Vec<String>,
}

impl Dynamics {
    pub(super) fn new(design: &Design, columns: &[String]) -> Self {
        Self {
            system: design.system.clone(),
            solver: design.solver,
            truth: design.truth.to_vec(),
            observed: columns.iter().filter(|&name| name != "t").cloned().collect(),
        }
    }

    /// Names of the states.
    pub fn states(&self) -> &[String] {
        self.system.states()
    }

    /// Names of the states that the data has, in the order of its columns.
    pub fn observed(&self) -> &[String] {
        &self.observed
    }

    /// The parameters that data is made from.
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// Time of the initial state.
    pub fn start(&self) -> f64 {
        self.system.start()
    }

    /// The solution by the solver of the posterior: for each state, its values at all the times.
    ///
    /// # Errors
    /// If there is another number of parameters, times fall, come before the start or are not
    /// finite, there are none, or the trajectory leaves the finite range.
    pub fn solve(&self, parameters: &[f64], times: &[f64]) -> Result<Vec<Vec<f64>>> {
        let point = Batch::from_points(parameters.len(), &[parameters]);
        let solution = solve(&self.system, &self.solver, &point, times)?;
        if solution.lost[0] {
            return Err(Error::Target(format!(
                "the trajectory of the parameters {parameters:?} leaves the finite range"
            )));
        }
        let values = |state| solution.states.iter().map(|at| at.row(state)[0]).collect();
        Ok((0..self.states().len()).map(values).collect())
    }
}
