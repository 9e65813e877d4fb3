//! A target that hides its formulas, as a function in Python does.

use adaann::{
    Batch, Result,
    target::{Evaluation, Support, Target, Weights},
};
use std::sync::Arc;

/// The same density without what its formulas tell a search: its terms, and whether it is log-concave.
pub(crate) struct Hidden(pub(crate) Arc<dyn Target>);

impl Target for Hidden {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, gradient, out)
    }

    fn has_prior(&self) -> bool {
        self.0.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.0.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.0.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.0.standardisation(d)
    }

    fn operations(&self) -> Option<f64> {
        self.0.operations()
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }
}
