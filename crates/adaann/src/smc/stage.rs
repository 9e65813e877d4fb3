//! The report of a run: a stage for each temperature, passed to the observer.

use std::ops::ControlFlow;

/// The report of one temperature.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stage {
    /// The number of the island, from 0.
    pub island: usize,
    /// t, or 0 on the way from the base to the first t.
    pub t: f64,
    /// Progress from the base to the first t, from 0 to 1; `None` after that.
    pub start: Option<f64>,
    /// Standard deviation over the particles of the quantity that t multiplies, if the rule used it.
    pub std_b: Option<f64>,
    /// Effective sample size of the weights on arrival, as a fraction of the particles.
    pub ess: f64,
    /// Whether particles were resampled.
    pub resampled: bool,
    /// Number of sweeps.
    pub sweeps: usize,
    /// Acceptance rate of local moves.
    pub acceptance: f64,
    /// Acceptance rate of jumps, if there were any.
    pub jump_acceptance: Option<f64>,
    /// Step length in units of the local covariance.
    pub scale: f64,
    /// Number of components of the mixture fitted to the particles.
    pub components: usize,
    /// Distance of the particles from their origins; independent particles are at distance 1.
    pub moved: f64,
    /// Number of target evaluations so far.
    pub evaluations: usize,
    /// log Z of the density at this temperature.
    pub log_z: f64,
}

impl Stage {
    /// Whether it precedes another stage of the same island.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        match (self.start, other.start) {
            (Some(own), Some(other)) => own < other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.t < other.t,
        }
    }
}

/// Receives every stage, and may stop the run.
///
/// If particles lag behind the density, they go back by some temperatures: t is then below that of
/// the previous stage. The stages of the result contain only the final path.
pub trait Observer: Send {
    /// Called after each stage.
    fn observe(&mut self, stage: &Stage) -> ControlFlow<()> {
        let _ = stage;
        ControlFlow::Continue(())
    }
}

impl Observer for () {}

impl<F: FnMut(&Stage) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, stage: &Stage) -> ControlFlow<()> {
        self(stage)
    }
}
