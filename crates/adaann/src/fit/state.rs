//! The state that a run carries from one update to the next: everything needed to resume, and none of its records.

use super::{round::Round, stage::Progress};
use crate::{
    Error, Result, error,
    flow::{Base, Flow},
    schedule::{Phase, Position},
    simd::Buffer,
    train::{self, PointClip},
};
use serde::{Deserialize, Serialize};

/// The state of a run between two updates. [`resume`](super::resume) continues from it to the same bits as an
/// uninterrupted run, with any number of threads.
///
/// Serialisation preserves the state. It contains the flow's parameters, the optimizer's moments, the position on the
/// path, counts, and the results of rounds. It does not contain settings, target or records. Its size is that of a few
/// parameter vectors, in the forward-KL refinement also that of all its draws.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    parameters: Buffer,
    carried: Carried,
}

impl State {
    /// The number of updates made.
    pub fn updates(&self) -> usize {
        self.carried.updates()
    }

    /// The inverse temperature at which the flow is trained.
    pub fn t(&self) -> f64 {
        self.carried.at.t
    }

    /// The purpose of the training there.
    pub fn phase(&self) -> Phase {
        self.carried.phase()
    }

    /// The base at the start of the run.
    pub(super) fn base(&self) -> &Base {
        &self.carried.base
    }

    /// Sets the parameters of a flow, and returns the rest.
    ///
    /// # Errors
    /// If the state belongs to a run with another flow or in another dimension.
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

/// A running fit, from which an observer may copy the state.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    pub(super) flow: &'a Flow,
    pub(super) carried: &'a Carried,
}

impl Snapshot<'_> {
    /// The evaluations of the target so far.
    pub fn evaluations(&self) -> usize {
        self.carried.target_evaluations
    }

    /// Copies the state. A run does no extra work unless this is called.
    pub fn state(&self) -> State {
        State { parameters: self.flow.parameters().into(), carried: self.carried.clone() }
    }
}

/// Everything that a run carries, apart from the flow's parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The base before training, where a bridge starts.
    base: Base,
    /// t_0, if it was found.
    pub(super) first: Option<f64>,
    pub(super) at: Position,
    /// The progress at this value of t.
    pub(super) progress: Progress,
    pub(super) training: train::State,
    pub(super) point_clip: PointClip,
    /// How many times draws were taken for the schedule and the stages.
    pub(super) looks: u64,
    pub(super) target_evaluations: usize,
    /// The last good flow, in case the run fails.
    #[serde(default)]
    pub(super) good: Option<Good>,
    /// Updates of the current block at t = 1, and the sum of their losses.
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

/// A good flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Good {
    pub(super) parameters: Buffer,
    /// The inverse temperature of the density that it approximates.
    pub(super) t: f64,
    /// Its loss, if it was trained at t = 1.
    pub(super) neg_elbo: Option<f64>,
}

impl Carried {
    /// The state of a run before its first update.
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

    /// The state at the end of training at t = 1, once that is over. Rounds of forward-KL refinement change only the
    /// flow, which the first round has kept, and counts.
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

    /// The number of updates made.
    pub(super) fn updates(&self) -> usize {
        self.trainings().map(train::State::updates).sum()
    }

    /// The number of updates skipped.
    pub(super) fn skipped_updates(&self) -> usize {
        self.trainings().map(train::State::skipped).sum()
    }

    /// The purpose of the current training.
    pub(super) fn phase(&self) -> Phase {
        if self.is_refined { Phase::ForwardKl } else { Phase::at(self.at) }
    }
}
