//! A density with names and bounds for its coordinates.

use crate::{
    Batch, Result,
    target::{Evaluation, Support, Target, Term, Weights},
};

/// A density, the names of its coordinates, and the support that they share.
pub(super) struct Labelled<T> {
    target: T,
    names: Vec<String>,
    support: Support,
}

impl<T: Target> Labelled<T> {
    pub(super) fn new<N: Into<String>>(target: T, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        assert_eq!(names.len(), target.dim(), "a name for each coordinate");
        Self { target, names, support: Support::Real }
    }

    /// With names x1, x2, and so on.
    pub(super) fn numbered(target: T) -> Self {
        let names: Vec<_> = (1..=target.dim()).map(|d| format!("x{d}")).collect();
        Self::new(target, names)
    }

    /// The same density with one support for every coordinate. The density itself must be −∞
    /// elsewhere.
    pub(super) fn on(self, support: Support) -> Self {
        Self { support, ..self }
    }
}

impl<T: Target> Target for Labelled<T> {
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

    fn wants_whole_batch(&self) -> bool {
        self.target.wants_whole_batch()
    }

    fn has_prior(&self) -> bool {
        self.target.has_prior()
    }

    fn support(&self, _: usize) -> Support {
        self.support.clone()
    }

    fn operations(&self) -> Option<f64> {
        self.target.operations()
    }

    fn values_per_gradient(&self, of: Weights) -> usize {
        self.target.values_per_gradient(of)
    }

    fn is_log_concave(&self) -> bool {
        self.target.is_log_concave()
    }

    fn has_formulas(&self) -> bool {
        self.target.has_formulas()
    }

    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        Term::all_of(&self.target, self)
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}
