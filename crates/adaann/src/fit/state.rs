//! What a run carries from one update to the next: all that it needs to go on, and nothing of what it
//! reports.

use super::{round::Round, stage::Progress};
use crate::{
    Error, Result, error,
    flow::{Base, Flow},
    schedule::{Phase, Position},
    simd::Buffer,
    train::{self, PointClip},
};
use serde::{Deserialize, Serialize};

/// A run put down between two updates, to be taken up by [`resume`](super::resume): it goes on to the
/// same bits as if it had never been put down, for any number of threads.
///
/// Serialised and read back, it is the same state. What it carries is the flow's parameters, the
/// optimizer's moments, where on its path the run is, counts, and what rounds have found; settings, target and what was reported are not in it. Its size is that of a few parameter
/// vectors, in the forward-KL refinement also that of all its draws.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    parameters: Buffer,
    carried: Carried,
}

impl State {
    /// Updates made.
    pub fn updates(&self) -> usize {
        self.carried.updates()
    }

    /// The inverse temperature that the flow is trained at.
    pub fn t(&self) -> f64 {
        self.carried.at.t
    }

    /// What the training there is for.
    pub fn phase(&self) -> Phase {
        self.carried.phase()
    }

    /// The base that the run began with.
    pub(super) fn base(&self) -> &Base {
        &self.carried.base
    }

    /// Gives a flow its parameters, and the rest back.
    ///
    /// # Errors
    /// If it is the state of a run with another flow or in another dimension.
    pub(super) fn restore(self, flow: &mut Flow) -> Result<Carried> {
        let Self { parameters, carried } = self;
        let expected = flow.parameters().len();
        let mut lengths = [parameters.len(), carried.training.parameters()]
            .into_iter()
            .chain(carried.at_1.iter().map(|parameters| parameters.len()))
            .chain(carried.good.iter().map(|good| good.parameters.len()))
            .chain(carried.round_training.iter().map(train::State::parameters))
            .chain(carried.rounds.iter().map(|round| round.parameters.len()));
        if let Some(found) = lengths.find(|found| *found != expected) {
            let what = "the parameters of the flow in the state";
            return Err(error::shape(what, found, expected));
        }
        let points = carried.rounds.iter().map(|round| round.points.dim());
        if let Some(found) = points.chain([carried.base.dim()]).find(|dim| *dim != flow.dim()) {
            return Err(error::shape("the dimensions of the state", found, flow.dim()));
        }
        let t = carried.at.t;
        if !(0.0..=1.0).contains(&t) {
            return Err(Error::Load(format!("the state is at t = {t}, which is not in [0, 1]")));
        }
        flow.set_parameters(&parameters)?;
        Ok(carried)
    }
}

/// A run under way, as an observer may put it down.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    pub(super) flow: &'a Flow,
    pub(super) carried: &'a Carried,
}

impl Snapshot<'_> {
    /// Points at which the target was evaluated so far.
    pub fn evaluations(&self) -> usize {
        self.carried.target_evaluations
    }

    /// Copies the state; a run costs nothing more while nobody asks.
    pub fn state(&self) -> State {
        State { parameters: self.flow.parameters().into(), carried: self.carried.clone() }
    }
}

/// Everything that a run carries, beside the flow's parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The base before training: where a bridge starts.
    base: Base,
    /// t_0, if it was found.
    pub(super) first: Option<f64>,
    pub(super) at: Position,
    /// What has happened at this value of t.
    pub(super) progress: Progress,
    pub(super) training: train::State,
    pub(super) point_clip: PointClip,
    /// How often draws were taken for the schedule and the stages.
    pub(super) looks: u64,
    pub(super) target_evaluations: usize,
    /// The last flow that was good, in case the run cannot go on.
    #[serde(default)]
    pub(super) good: Option<Good>,
    /// Updates of the block under way at t = 1, and the sum of their losses.
    #[serde(default)]
    pub(super) block: (usize, f64),
    /// The parameters on arrival at t = 1.
    pub(super) at_1: Option<Buffer>,
    /// Is training at t = 1 over?
    pub(super) is_refined: bool,
    /// Rounds of the forward-KL refinement whose draws were taken, and the training on them.
    pub(super) rounds: Vec<Round>,
    pub(super) round_training: Option<train::State>,
}

/// A flow that was good.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Good {
    pub(super) parameters: Buffer,
    /// The inverse temperature of the density that it approximates.
    pub(super) t: f64,
    /// Its loss, if it was trained at t = 1.
    pub(super) neg_elbo: Option<f64>,
}

impl Carried {
    /// A run that has done nothing yet.
    pub(super) fn new(
        base: Base,
        at: Position,
        training: train::State,
        point_clip: PointClip,
    ) -> Self {
        Self {
            base,
            first: None,
            at,
            progress: Progress::default(),
            training,
            point_clip,
            looks: 0,
            target_evaluations: 0,
            good: None,
            block: (0, 0.0),
            at_1: None,
            is_refined: false,
            rounds: Vec::new(),
            round_training: None,
        }
    }

    /// The run as it was when training at t = 1 was over, unless it is not. All that rounds of
    /// forward-KL refinement change is the flow, which the first of them has kept, and counts.
    pub(super) fn refined(&self, flow: &Flow) -> Option<State> {
        let first = self.rounds.first().map(|round| round.parameters.clone());
        let drawn: usize = self.rounds.iter().map(|round| round.points.len()).sum();
        let carried = Self {
            base: self.base.clone(),
            training: self.training.clone(),
            at_1: self.at_1.clone(),
            good: self.good.clone(),
            target_evaluations: self.target_evaluations - drawn,
            is_refined: false,
            rounds: Vec::new(),
            round_training: None,
            ..*self
        };
        let parameters = first.unwrap_or_else(|| flow.parameters().into());
        self.is_refined.then_some(State { parameters, carried })
    }

    /// Both kinds of training.
    fn trainings(&self) -> impl Iterator<Item = &train::State> {
        [&self.training].into_iter().chain(&self.round_training)
    }

    /// Updates made.
    pub(super) fn updates(&self) -> usize {
        self.trainings().map(train::State::updates).sum()
    }

    /// Updates skipped.
    pub(super) fn skipped_updates(&self) -> usize {
        self.trainings().map(train::State::skipped).sum()
    }

    /// What the training is for.
    pub(super) fn phase(&self) -> Phase {
        if self.is_refined { Phase::ForwardKl } else { Phase::at(self.at) }
    }
}
