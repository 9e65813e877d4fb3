//! The rounds of the forward-KL refinement: draws, updates on them, and in the end a judgement.

use super::{
    Divergence, Event, ForwardKl, Observer, RoundRecord,
    multiple_importance::judge,
    round::Round,
    run::{Run, check_way},
};
use crate::{
    Batch, Result,
    optim::{Optimizer, RateRule},
    rng::{Purpose, Stream},
    train::{DrawShards, Drawn, OnPoints, Pace, PointSet, PointShards, State as Training},
};
use std::ops::ControlFlow;

impl Run<'_> {
    /// The rest of the refinement, from wherever the run is, with what its rounds were worth. The
    /// parameters that it ends with are those of the round with the largest effective sample size over
    /// the draws of all rounds, those before the first included. `Break` says that the observer stopped
    /// it.
    pub(super) fn forward_kl(
        &mut self,
        forward_kl: &ForwardKl,
        observer: &mut dyn Observer,
    ) -> Result<(ControlFlow<()>, Vec<RoundRecord>)> {
        // The inverse is that of the flow in double precision.
        self.flow = self.flow.clone().into_double();
        let mut rounds = Rounds::new(self, forward_kl);
        if self.carried.round_training.is_none() {
            self.carried.round_training = Some(Training::new(Optimizer::default(), &self.flow));
        }
        let told = loop {
            match self.round_step(&mut rounds, observer)? {
                None => break ControlFlow::Continue(()),
                Some(ControlFlow::Break(())) => break ControlFlow::Break(()),
                Some(ControlFlow::Continue(())) => {}
            }
        };
        Ok((told, self.judge_rounds()?))
    }

    /// Goes back to the best round that there is, and says what each was worth.
    pub(super) fn judge_rounds(&mut self) -> Result<Vec<RoundRecord>> {
        let shares = judge(&self.carried.rounds, &mut self.flow)?;
        let records = self.carried.rounds.iter().zip(shares).enumerate();
        let records = records
            .map(|(i, (round, share))| RoundRecord { ess_of_all: Some(share), ..round.record(i) });
        Ok(records.collect())
    }

    /// One update or, where a round is over, the draws of the next; `None` when the last is over.
    fn round_step(
        &mut self,
        rounds: &mut Rounds,
        observer: &mut dyn Observer,
    ) -> Result<Option<ControlFlow<()>>> {
        let forward_kl = rounds.forward_kl;
        let made = self.carried.round_training.as_ref().map_or(0, Training::updates);
        if made == self.carried.rounds.len().saturating_mul(forward_kl.updates) {
            rounds.current = None;
            return self.draw_round(rounds, observer).map(Some);
        }
        let Some(round) = self.carried.rounds.last() else { return Ok(None) };
        // Without a draw where p is positive there is nothing to learn from.
        if self.carried.rounds.len() > forward_kl.rounds || round.ess == 0.0 {
            return Ok(None);
        }
        let current = match rounds.current.take() {
            Some(current) => current,
            None => Current::new(round, forward_kl.divergence)?,
        };
        let told = self.round_update(rounds, &current, observer);
        rounds.current = Some(current);
        told.map(Some)
    }

    /// The draws that a round begins with.
    fn draw_round(
        &mut self,
        rounds: &mut Rounds,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        let Rounds { forward_kl, draws, stream, drawn, .. } = rounds;
        let number = self.carried.rounds.len();
        drawn.points = Some(Batch::zeros(self.flow.dim(), forward_kl.draws));
        draws.draw(&self.flow, &self.density, stream, number as u64, drawn)?;
        self.carried.target_evaluations += forward_kl.draws;
        let points = drawn.points.take().expect("the points are kept");
        let round = Round::new(&self.flow, points, drawn);
        let record = round.record(number);
        self.carried.rounds.push(round);
        Ok(observer.observe(&Event::Round { record: &record, snapshot: self.snapshot() }))
    }

    /// One update on the draws of a round.
    fn round_update(
        &mut self,
        rounds: &mut Rounds,
        current: &Current,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        let Rounds { forward_kl, shards, stream, falling, .. } = rounds;
        let training = self.carried.round_training.as_mut().expect("made before the first round");
        let rate = forward_kl.lr * falling.factor(training.updates());
        let pace = Pace { rate, clip: self.settings.refine_clip };
        let mut points = OnPoints { shards, set: &current.set, stream };
        self.trainer.update(training, &mut self.flow, &mut points, pace)?;
        check_way(training, 1.0, || format!("lower forward-kl-lr ({})", forward_kl.lr))?;
        Ok(self.tell_update(current.neg_elbo, observer))
    }
}

/// The memory of the refinement.
struct Rounds<'a> {
    forward_kl: &'a ForwardKl,
    draws: DrawShards,
    drawn: Drawn,
    shards: PointShards,
    /// Its draws: those of rounds by their number, far below those that choose points.
    stream: Stream,
    /// How the learning rate falls.
    falling: RateRule,
    current: Option<Current>,
}

impl<'a> Rounds<'a> {
    fn new(run: &Run, forward_kl: &'a ForwardKl) -> Self {
        Self {
            forward_kl,
            draws: run.shards(forward_kl.draws),
            drawn: Drawn::default(),
            shards: PointShards::new(&run.flow, forward_kl.batch),
            stream: Stream::new(run.settings.seed, Purpose::ForwardKl),
            falling: RateRule::Cosine { over: forward_kl.total_updates().max(1), floor: 0.0 },
            current: None,
        }
    }
}

/// The round that is trained on.
struct Current {
    set: PointSet,
    neg_elbo: f64,
}

impl Current {
    fn new(round: &Round, divergence: Divergence) -> Result<Self> {
        let weights = divergence.weights(&round.log_weights());
        // The gradient of the second divergence has the flow's own 1/q in it: with that of the draws
        // alone, training would end at p²/q and only turn the error around.
        let log_q = (divergence == Divergence::Alpha2).then(|| round.log_q.to_vec());
        let set = PointSet::new(round.points.clone(), &weights, log_q)?;
        Ok(Self { set, neg_elbo: round.record(0).neg_elbo })
    }
}
