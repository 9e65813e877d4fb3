//! A term of a density that is a sum, in the coordinates of the whole.

use super::{Evaluation, Support, Target, Weights};
use crate::{Batch, Result};

/// A term pᵢ of p = Σ pᵢ, with its own values but with the names, supports and units of the whole.
pub(crate) struct Term<'a> {
    term: Box<dyn Target + 'a>,
    whole: &'a dyn Target,
}

impl<'a> Term<'a> {
    /// The terms of a density, with names, supports and units from another target.
    pub(crate) fn all_of(
        density: &'a dyn Target,
        whole: &'a dyn Target,
    ) -> Vec<Box<dyn Target + 'a>> {
        let term = |term| -> Box<dyn Target + 'a> { Box::new(Term { term, whole }) };
        density.summands().into_iter().map(term).collect()
    }
}

impl Target for Term<'_> {
    fn dim(&self) -> usize {
        self.whole.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.term.evaluate(points, gradient, out)
    }

    fn wants_whole_batch(&self) -> bool {
        self.term.wants_whole_batch()
    }

    fn has_prior(&self) -> bool {
        self.term.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.whole.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.whole.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.whole.standardisation(d)
    }

    fn operations(&self) -> Option<f64> {
        self.term.operations()
    }

    fn values_per_gradient(&self, of: Weights) -> usize {
        self.term.values_per_gradient(of)
    }

    fn is_log_concave(&self) -> bool {
        self.term.is_log_concave()
    }

    fn has_formulas(&self) -> bool {
        self.term.has_formulas()
    }

    fn names(&self) -> Vec<String> {
        self.whole.names()
    }
}
