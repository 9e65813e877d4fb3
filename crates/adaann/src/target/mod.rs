//! Densities, known up to a constant: the trait that every density implements.

mod by_differences;
mod central;
mod defects;
mod differences;
mod edge;
mod forward;
pub(crate) mod hand;
mod integrable;
mod laplace;
mod maps;
mod metered;
mod pointwise;
mod spike;
mod support;
mod term;
mod unconstrained;

pub use by_differences::ByDifferences;
pub(crate) use by_differences::by_differences;
pub(crate) use central::{slope, steps_inside};
pub use defects::{Defects, Noise, NotANumber, WrongSlope, find_defects};
pub use differences::{Disagreement, compare_gradient};
pub use edge::Edge;
pub(crate) use forward::hand_on;
pub use integrable::{Endless, Tails, tails};
pub use laplace::{Laplace, laplace};
pub use metered::{Metered, Values};
pub use pointwise::{Pointwise, pointwise, pointwise_by_differences};
pub(crate) use spike::{is_at_the_end_of_digits, spike};
pub use support::Support;
pub(crate) use term::Term;
pub use unconstrained::{Unconstrained, Workspace};

use crate::{Batch, Result, simd::Buffer};

/// How much of each part enters the density whose gradient is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of the log prior.
    pub prior: f64,
    /// Weight of the log likelihood.
    pub likelihood: f64,
}

impl Weights {
    /// All of the density.
    pub const ALL: Self = Self { prior: 1.0, likelihood: 1.0 };
}

/// What a target fills in for a batch of points; the caller allocates it once.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// log prior of every point (0 for a density without a prior).
    pub log_prior: Buffer,
    /// log likelihood of every point; the whole log density of a target without a prior.
    pub log_likelihood: Buffer,
    /// Gradient of `weights.prior · log prior + weights.likelihood · log likelihood`.
    pub gradient: Batch,
}

impl Evaluation {
    /// Room for `len` points in `dim` dimensions.
    pub fn zeros(dim: usize, len: usize) -> Self {
        let gradient = Batch::zeros(dim, len);
        let values = Buffer::zeros(gradient.padded_len());
        Self { log_prior: values.clone(), log_likelihood: values, gradient }
    }
}

/// A density on R^d or a part of it, known up to a constant.
///
/// A density with data behind it gives its prior and its likelihood apart, so that the likelihood
/// alone can be tempered; any other density is all likelihood. A point outside the support has
/// log density −∞ and gradient 0. Values may be anything at a point that is not in the batch (the
/// padding).
pub trait Target: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Fills the log prior and the log likelihood of each point and, if `gradient` is given, the
    /// gradient of their weighted sum.
    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()>;

    /// Must all points of an update come in one call (a simulator, a Python function)? Such a
    /// target is called once per update, from one thread.
    fn wants_whole_batch(&self) -> bool {
        false
    }

    /// Does it have a prior apart from the likelihood?
    fn has_prior(&self) -> bool {
        false
    }

    /// Does its prior integrate to 1? A power of a density without such a prior may have no
    /// integral.
    fn has_proper_prior(&self) -> bool {
        true
    }

    /// Where coordinate `d` lives.
    fn support(&self, d: usize) -> Support {
        let _ = d;
        Support::Real
    }

    /// How coordinate `d` is standardised: where it is expected on the whole line, once its
    /// [support](Target::support) is mapped there, as a middle m and a spread s > 0.
    ///
    /// Flows see (z − m)/s, so that a prior with a standard deviation of a million is no harder than
    /// one of 1. It changes no density and no answer, only the scale that training works on; a prior's
    /// own mean and standard deviation serve well.
    #[doc(alias = "units")]
    fn standardisation(&self, d: usize) -> (f64, f64) {
        let _ = d;
        (0.0, 1.0)
    }

    /// Points of the density itself, for a density that integrates to 1 and that can be drawn from: a
    /// prior without data. Weights and a search for modes are then not needed.
    fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
        let _ = (count, seed);
        None
    }

    /// The same density computed more accurately, where it is computed approximately: by a solver of
    /// differential equations with tighter tolerances. A check asks it how far the values can be trusted.
    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        None
    }

    /// How it is evaluated, in a few words for those who want to know.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// About how many elementary operations one point takes with its gradient: an addition or a multiplication
    /// counts 1, an elementary function 12 to 20. `None` where nobody knows, as for a closure or a program
    /// outside.
    ///
    /// Effort is planned by this number, so it must follow from the target alone: not from a clock, the
    /// number of threads or the width of the registers. Otherwise a seed would not fix the answer.
    #[doc(alias = "flops")]
    fn operations(&self) -> Option<f64> {
        None
    }

    /// How many values of the density a point costs when it is asked for with the gradient of such a sum: 1, or
    /// 2 dim + 1 where the gradient is found by differences. Budgets and counts are in values.
    fn values_per_gradient(&self, of: Weights) -> usize {
        let _ = of;
        1
    }

    /// Is log prior + log likelihood proved to be a concave function of the coordinates, or of the
    /// coordinates on the whole line with log|J| added?
    ///
    /// Every set {log p ≥ c} is then convex in that frame, and the density there has no second mode. A proof
    /// for the coordinates themselves covers the whole line too: log|J| of every [`Support`] is a concave
    /// function of the coordinates, so that the density on the line has sets that are convex in the
    /// coordinates, hence connected. `false` means that nothing is proved.
    fn is_log_concave(&self) -> bool {
        false
    }

    /// Do formulas define the density, so that a search sees more of it than values and gradients at points? `false`
    /// for a closure, a function in Python and a program outside.
    ///
    /// Where formulas are unknown and one mode was found, nothing tells how narrow another one may be.
    fn has_formulas(&self) -> bool {
        false
    }

    /// The terms of a density that is known to be a sum p = Σ pᵢ, such as a mixture: each is a target with the same
    /// coordinates. Empty where no sum is known.
    ///
    /// A search climbs every term by itself, so that it finds a narrow one beside a wide one however
    /// small its volume is.
    #[doc(alias = "mixture components")]
    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        Vec::new()
    }

    /// The coordinates' names, as they appear in tables and files.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|d| format!("z{d}")).collect()
    }
}
