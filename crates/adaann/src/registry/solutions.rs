//! The dynamical system behind a posterior: its solution at any parameters, and its true
//! parameters.

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

    /// Names of the observed states, in the order of the data's columns.
    pub fn observed(&self) -> &[String] {
        &self.observed
    }

    /// The parameters that simulated data comes from.
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// Time of the initial state.
    pub fn start(&self) -> f64 {
        self.system.start()
    }

    /// Solves the system with the posterior's solver. Returns the values at all times, for each
    /// state.
    ///
    /// # Errors
    /// If the number of parameters is wrong, if `times` is empty, not finite, decreasing or before
    /// the start, or if the trajectory leaves the finite range.
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
