//! Flows from several seeds on several ranks: each rank trains whole seeds.

use crate::{
    job::{Job, interrupt, kept::Kept, progress::Progress},
    ranks::{KeptHere, Question, Ranks},
};
use adaann::{
    Error,
    answer::Plan,
    budget::Budget,
    checkpoint::{Keeper, Ledger, Store},
    fit::{Restart, restart},
    target::{Metered, Target},
    tasks::Elsewhere,
};
use std::time::Duration;

/// The other ranks, for the seeds of a run.
pub(crate) struct SeedsElsewhere<'a> {
    ranks: &'static Ranks,
    job: &'a Job,
    kept: &'a Kept,
    /// The number of the target in messages to ranks.
    subject: u64,
}

impl<'a> SeedsElsewhere<'a> {
    /// `None` without other ranks, or without whole seeds to give them.
    pub(crate) fn new(job: &'a Job, kept: &'a Kept) -> Option<Self> {
        let ranks = crate::ranks::get()?;
        if !job.has_several_seeds() || job.longer.is_some() || job.rule.is_some() {
            return None;
        }
        let subject = job.subject.shared?;
        Some(Self { ranks, job, kept, subject })
    }
}

impl Elsewhere<adaann::Result<Restart>> for SeedsElsewhere<'_> {
    fn seats(&self) -> usize {
        self.ranks.seats()
    }

    fn run(&self, task: usize) -> adaann::Result<adaann::Result<Restart>> {
        let plan = &self.job.record.plan;
        let seed = plan.seed().wrapping_add(task as u64);
        let repeats = self.job.repeats();
        let most = repeats.max_evaluations.map(|_| repeats.budget_of_fit().evaluations());
        let question = Question::Seed {
            subject: self.subject,
            plan: plan.clone(),
            seed,
            most: (most, repeats.max_time.map(|time| 2.0 / 3.0 * time)),
            draws: repeats.comparison().draws,
            kept: self.kept.of_seed_elsewhere(seed)?,
        };
        let answer = self.ranks.ask(&question, |told| self.kept.keep_of_seed(seed, told));
        answer.map(|found: Result<Restart, String>| found.map_err(Error::Target))
    }
}

/// Trains a seed on another rank; sends its checkpoints to rank 0.
pub(crate) fn answer(
    target: &dyn Target,
    (plan, seed): (&Plan, u64),
    most: (Option<usize>, Option<f64>),
    draws: usize,
    kept: Option<KeptHere>,
    tell: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<Restart, String> {
    let Plan::Adaann(settings) = plan.clone().with_seed(seed) else {
        return Err("seeds apply to annealed flows only".into());
    };
    let time = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let ledger = || match kept {
        None => Ok(Ledger::off()),
        Some(KeptHere { every, header, last }) => {
            let store = Store::told(last.as_deref(), tell)?;
            Ledger::new(Keeper::new(store, time(every)), header).resumed()
        }
    };
    let run = || -> adaann::Result<Restart> {
        let target = &Metered::new(target).until(interrupt::is_overdue);
        let budget = Budget::new(most.0, most.1.map(time));
        let mut watch = Progress::new(true).watch("", &settings, target.dim(), budget);
        let mut ledger = ledger()?.urgent_when(interrupt::flag());
        restart(target, &settings, None, draws, &mut watch, &mut ledger)
    };
    run().map_err(|error| error.to_string())
}
