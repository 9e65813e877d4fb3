//! A schedule that is a Python function of t and the draws.

use crate::target::Raised;
use adaann::schedule::{Draws, Position, Reason, Rule, ScheduleError, Step, spread};
use numpy::PyArray1;
use pyo3::prelude::*;

/// A function `(t, log_density, weights) -> next t`, and the t that it starts from.
pub(crate) struct PythonRule {
    pub(crate) first: f64,
    pub(crate) next: Py<PyAny>,
    pub(crate) raised: Raised,
}

impl Rule for PythonRule {
    fn first(&self) -> f64 {
        self.first
    }

    fn needs_draws(&self) -> bool {
        true
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        let asked = Python::attach(|py| {
            let weights = draws.weights.map(|weights| PyArray1::from_slice(py, weights));
            let asked = (at.t, PyArray1::from_slice(py, draws.b), weights);
            self.next.call1(py, asked)?.extract::<f64>(py)
        });
        // NaN makes the step below fail. The stored exception takes precedence over that error.
        let t = asked.unwrap_or_else(|error| {
            self.raised.keep(error);
            f64::NAN
        });
        let step = Step::new(at, t, Reason::Planned)?;
        Ok(match spread(at.t, draws) {
            Ok(found) => step.with_spread(found),
            Err(_) => step,
        })
    }

    fn check(&self, _allow_zero: bool) -> adaann::Result<()> {
        Ok(())
    }
}
