//! What a run reports: a stage at each temperature, to whoever watches.

use std::ops::ControlFlow;

/// What happened at one temperature.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stage {
    /// Whose temperature it is: the number of the island, from 0.
    pub island: usize,
    /// t, or 0 on the way from the base to the first t.
    pub t: f64,
    /// On the way from the base to the first t: how far it is along, from 0 to 1.
    pub start: Option<f64>,
    /// Standard deviation of what t multiplies, over the particles, if the rule looked at it.
    pub std_b: Option<f64>,
    /// Effective sample size of the weights on arrival, as a share of the particles.
    pub ess: f64,
    /// Were particles resampled?
    pub resampled: bool,
    /// Sweeps of moves.
    pub sweeps: usize,
    /// Share of local moves accepted.
    pub acceptance: f64,
    /// Share of jumps accepted, if there were any.
    pub jump_acceptance: Option<f64>,
    /// Length of a step, in units of the local covariance.
    pub scale: f64,
    /// Components of the mixture that describes the particles.
    pub components: usize,
    /// How far particles went from where they were: 1 is as far as independent ones.
    pub moved: f64,
    /// Points evaluated so far.
    pub evaluations: usize,
    /// log Z of the density at this temperature.
    pub log_z: f64,
}

impl Stage {
    /// Is it on the way to another stage of the same island?
    pub(super) fn is_before(&self, other: &Self) -> bool {
        match (self.start, other.start) {
            (Some(own), Some(other)) => own < other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.t < other.t,
        }
    }
}

/// Told of every stage; may stop the run.
///
/// Where particles were found to lag behind the density they go back by some temperatures: t is then
/// below that of the stage before, and the run's own list has only the stages that led to its end.
pub trait Observer: Send {
    /// A stage is done.
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
