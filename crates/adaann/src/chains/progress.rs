//! What a run tells of each iteration, to whoever watches.

use std::ops::ControlFlow;

/// An iteration.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Progress {
    /// Is it one of warm-up, whose draws are not kept?
    pub is_warm_up: bool,
    /// Its number, from 1 on, in warm-up and again after it.
    pub iteration: usize,
    /// Mean probability to accept.
    pub acceptance: f64,
    /// Length of a leapfrog step, in units of the covariance.
    pub step_size: f64,
    /// Leapfrog steps of each chain.
    pub steps: usize,
    /// Trajectories so far that diverged or met a point without density, warm-up included.
    pub divergences: usize,
    /// Points evaluated so far.
    pub evaluations: usize,
    /// The largest R-hat when it was last looked at.
    pub r_hat: Option<f64>,
    /// The smallest bulk effective sample size, likewise; not in warm-up.
    pub bulk_ess: Option<f64>,
}

/// Told of every iteration; may stop the run.
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
