//! Densities known up to a constant, and the trait that they implement.
//!
//! One call fills the log prior, the log likelihood and, if requested, the gradient of their
//! weighted sum; the path chooses the weights. log|J| of the map from a bounded coordinate to the
//! whole line stays apart from both.

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

/// The weight of each part in the density whose gradient is requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of the log prior.
    pub prior: f64,
    /// Weight of the log likelihood.
    pub likelihood: f64,
}

impl Weights {
    /// The whole density.
    pub const ALL: Self = Self { prior: 1.0, likelihood: 1.0 };
}

/// The output of a target for a batch of points; the caller allocates it once.
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
    /// Storage for `len` points in `dim` dimensions.
    pub fn zeros(dim: usize, len: usize) -> Self {
        let gradient = Batch::zeros(dim, len);
        let values = Buffer::zeros(gradient.padded_len());
        Self { log_prior: values.clone(), log_likelihood: values, gradient }
    }
}

/// A density on R^d or a part of it, known up to a constant.
///
/// A density with data gives its prior and its likelihood separately, so that the likelihood alone
/// can be tempered; any other density is all likelihood. A point outside the support has log
/// density −∞ and gradient 0. Values in the padding, beyond the points of the batch, are
/// unspecified.
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

    /// Whether all points of an update must come in one call (a simulator, a Python function). Such
    /// a target is called once per update, from one thread.
    fn wants_whole_batch(&self) -> bool {
        false
    }

    /// Whether it has a prior separate from the likelihood.
    fn has_prior(&self) -> bool {
        false
    }

    /// Whether its prior integrates to 1. A power of a density without such a prior may have no
    /// finite integral.
    fn has_proper_prior(&self) -> bool {
        true
    }

    /// The support of coordinate `d`.
    fn support(&self, d: usize) -> Support {
        let _ = d;
        Support::Real
    }

    /// How coordinate `d` is standardised: its expected middle m and spread s > 0 on the whole line,
    /// after the map from its [support](Target::support).
    ///
    /// Flows see (z − m)/s, so that a prior with a standard deviation of a million is no harder than
    /// one of 1. The choice changes neither the density nor its posterior, only the scale on which
    /// training works. The mean and standard deviation of the prior serve well.
    #[doc(alias = "units")]
    fn standardisation(&self, d: usize) -> (f64, f64) {
        let _ = d;
        (0.0, 1.0)
    }

    /// Exact draws from a density that integrates to 1 and can be sampled directly, such as a prior
    /// without data. Weights and a mode search are then unnecessary.
    fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
        let _ = (count, seed);
        None
    }

    /// The same density computed more accurately, if it is computed approximately, for example by a
    /// differential equation solver with tighter tolerances. A check compares the two to measure
    /// the accuracy of the values.
    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        None
    }

    /// Short notes for the user on how the density is evaluated.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The approximate number of elementary operations for one point with its gradient. An addition
    /// or a multiplication counts 1, an elementary function 12 to 20. `None` if unknown, as for a
    /// closure or an external program.
    ///
    /// Effort is planned by this number, so it must follow from the target alone: not from a clock,
    /// the number of threads or the width of the registers. Otherwise a seed would not determine
    /// the result.
    #[doc(alias = "flops")]
    fn operations(&self) -> Option<f64> {
        None
    }

    /// How many values a point costs with the gradient of this weighted sum: 1, or 2 dim + 1 where
    /// the gradient is computed by differences. Budgets and counts are in values.
    fn values_per_gradient(&self, of: Weights) -> usize {
        let _ = of;
        1
    }

    /// Whether log prior + log likelihood is proved to be a concave function of the coordinates, or
    /// of the coordinates on the whole line with log|J| added.
    ///
    /// Every set {log p ≥ c} is then convex in that frame, so the density there has no second mode.
    /// A proof for the coordinates themselves covers the whole line too: log|J| of every
    /// [`Support`] is a concave function of the coordinates. The level sets of the density on the
    /// line are then convex in the coordinates, hence connected. `false` means that no proof was
    /// found.
    fn is_log_concave(&self) -> bool {
        false
    }

    /// Whether formulas define the density, so that a mode search sees more than values and
    /// gradients at points. `false` for a closure, a Python function or an external program.
    ///
    /// Without formulas, finding one mode gives no bound on how narrow another mode may be.
    fn has_formulas(&self) -> bool {
        false
    }

    /// The terms of a density that is a known sum p = Σ pᵢ, such as a mixture: each is a target
    /// with the same coordinates. Empty if no sum is known.
    ///
    /// A mode search climbs every term separately, so that it finds a narrow term beside a wide one
    /// however small its volume is.
    #[doc(alias = "mixture components")]
    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        Vec::new()
    }

    /// The coordinates' names, as they appear in tables and files.
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|d| format!("z{d}")).collect()
    }
}
