//! The rounds of the forward-KL refinement: draws, updates on them, and a final judgement.

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
    /// Runs the rest of the refinement from its current position, and returns the results of its
    /// rounds. The final parameters are those of the round with the largest effective sample size over
    /// the draws of all rounds, including the flow before the first round. `Break` means that the
    /// observer stopped it.
    pub(super) fn forward_kl(
        &mut self,
        forward_kl: &ForwardKl,
        observer: &mut dyn Observer,
    ) -> Result<(ControlFlow<()>, Vec<RoundRecord>)> {
        // Inverses use the flow in double precision.
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

    /// Restores the best round, and returns the results of all.
    pub(super) fn judge_rounds(&mut self) -> Result<Vec<RoundRecord>> {
        let shares = judge(&self.carried.rounds, &mut self.flow)?;
        let records = self.carried.rounds.iter().zip(shares).enumerate();
        let records = records
            .map(|(i, (round, share))| RoundRecord { ess_of_all: Some(share), ..round.record(i) });
        Ok(records.collect())
    }

    /// One update or, if a round is over, the draws of the next; `None` when the last round is over.
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
        // Without a draw where p is positive there is nothing to train on.
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

    /// Takes the draws at the start of a round.
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

/// The working memory of the refinement.
struct Rounds<'a> {
    forward_kl: &'a ForwardKl,
    draws: DrawShards,
    drawn: Drawn,
    shards: PointShards,
    /// The stream of its draws: rounds use their number, far below the numbers used to choose points.
    stream: Stream,
    /// The rule by which the learning rate falls.
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

/// The current round.
struct Current {
    set: PointSet,
    neg_elbo: f64,
}

impl Current {
    fn new(round: &Round, divergence: Divergence) -> Result<Self> {
        let weights = divergence.weights(&round.log_weights());
        // The gradient of the second divergence contains the flow's own 1/q. With the 1/q of the draws
        // alone, training would converge to p²/q and only reverse the error.
        let log_q = (divergence == Divergence::Alpha2).then(|| round.log_q.to_vec());
        let set = PointSet::new(round.points.clone(), &weights, log_q)?;
        Ok(Self { set, neg_elbo: round.record(0).neg_elbo })
    }
}
