//! The progress that a run reports to its observer after each iteration.

use std::ops::ControlFlow;

/// An iteration.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Progress {
    /// Is it a warm-up iteration, whose draws are not stored?
    pub is_warm_up: bool,
    /// Its number, from 1; it starts again after warm-up.
    pub iteration: usize,
    /// Mean acceptance probability.
    pub acceptance: f64,
    /// Length of a leapfrog step, in units of the covariance.
    pub step_size: f64,
    /// Leapfrog steps of each chain.
    pub steps: usize,
    /// Trajectories so far that diverged or met a point without density, including warm-up.
    pub divergences: usize,
    /// Points evaluated so far.
    pub evaluations: usize,
    /// The largest R-hat when it was last computed.
    pub r_hat: Option<f64>,
    /// The smallest bulk effective sample size when it was last computed; none in warm-up.
    pub bulk_ess: Option<f64>,
}

/// Receives every iteration, and may stop the run.
pub trait Observer: Send {
    /// An iteration is done.
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

impl Observer for () {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Progress) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}
