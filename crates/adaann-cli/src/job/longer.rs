//! A finished run that is lengthened: what the longer one begins with.

use crate::{job::interrupt, text::said::say};
use adaann::{answer::Answer, checkpoint::Ledger, fit::Outcome};
use std::{collections::BTreeMap, path::Path, process::ExitCode};

/// A finished run that a longer one goes on from.
pub(crate) struct Longer {
    /// The flags that ask for it, which a run that was killed names.
    pub(crate) flags: String,
    /// What there is more of, in words.
    pub(crate) words: String,
    pub(crate) earlier: Earlier,
}

/// What is known of the finished run.
pub(crate) enum Earlier {
    /// Flows of Algorithm 1.
    Flows(Flows),
    /// An answer of the ladder, and how many further draws are taken.
    Answer(Box<Answer>, usize),
    /// Nothing that the longer one would not make again at once.
    Nothing,
}

/// What came of Algorithm 1.
pub(crate) struct Flows {
    /// By their seeds.
    pub(crate) outcomes: BTreeMap<u64, Outcome>,
    /// Does their training go on, or are they only drawn from?
    pub(crate) are_trained: bool,
    /// The seed that was kept, and log p at its draws.
    pub(crate) drawn: (u64, Vec<f64>),
}

impl Longer {
    /// Says what is done.
    pub(crate) fn announce(&self, out: &Path) {
        say(&format!("lengthening {}: {}", out.display(), self.words));
    }

    /// A seed's list of what is done, which begins with what the finished run came to.
    pub(crate) fn ledger_of_seed(&self, seed: u64, ledger: Ledger) -> adaann::Result<Ledger> {
        let Earlier::Flows(flows) = &self.earlier else { return Ok(ledger) };
        match flows.outcomes.get(&seed) {
            Some(outcome) if !flows.are_trained => ledger.knowing("flow", outcome),
            Some(outcome) => match outcome.put_down() {
                Some(end) => ledger.taking_up("flow", &end),
                None => Ok(ledger),
            },
            None => Ok(ledger),
        }
    }

    /// log p at the first draws of a seed's flow, as far as it is known.
    pub(crate) fn known_log_p(&self, seed: u64) -> &[f64] {
        match &self.earlier {
            Earlier::Flows(flows) if !flows.are_trained && flows.drawn.0 == seed => &flows.drawn.1,
            _ => &[],
        }
    }
}

/// The longer run was stopped: the one that is there is worth more than a part of another.
pub(crate) fn stopped(out: &Path, is_quiet: bool) -> ExitCode {
    if !is_quiet {
        let out = out.display();
        say(&format!("stopped: {out} is the run that it was; the same command goes on"));
    }
    ExitCode::from(interrupt::EXIT_CODE)
}
