//! A target that hides its formulas, and perhaps its cost.

use adaann::{
    Batch, Result,
    target::{Evaluation, Support, Target, Weights},
};
use std::sync::Arc;

/// What a target hides from the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hiding {
    /// Its terms, and its log-concavity.
    Formulas,
    /// Also the number of its operations, as for a function in Python.
    FormulasAndCost,
}

/// The same density, with some information of its formulas hidden.
pub(crate) struct Hidden {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) hiding: Hiding,
}

impl Target for Hidden {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.target.evaluate(points, gradient, out)
    }

    fn has_prior(&self) -> bool {
        self.target.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.target.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.target.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.target.standardisation(d)
    }

    fn operations(&self) -> Option<f64> {
        match self.hiding {
            Hiding::Formulas => self.target.operations(),
            Hiding::FormulasAndCost => None,
        }
    }

    fn names(&self) -> Vec<String> {
        self.target.names()
    }
}
