//! The results of a finished run from which its extension starts.

use crate::{job::interrupt, text::said::say};
use adaann::{answer::Answer, checkpoint::Ledger, fit::Outcome};
use std::{collections::BTreeMap, path::Path, process::ExitCode};

/// A finished run to be extended.
pub(crate) struct Longer {
    /// The flags of the extension, which are needed to resume it.
    pub(crate) flags: String,
    /// The extension in words.
    pub(crate) words: String,
    pub(crate) earlier: Earlier,
}

/// The results of the finished run.
pub(crate) enum Earlier {
    /// Flows of Algorithm 1.
    Flows(Flows),
    /// An answer of the ladder, and the number of draws to add.
    Answer(Box<Answer>, usize),
    /// Nothing, because the extension recomputes everything quickly.
    Nothing,
}

/// The results of Algorithm 1.
pub(crate) struct Flows {
    /// By their seeds.
    pub(crate) outcomes: BTreeMap<u64, Outcome>,
    /// Does their training continue, or are only draws added?
    pub(crate) are_trained: bool,
    /// The best seed, and log p at its draws.
    pub(crate) drawn: (u64, Vec<f64>),
}

impl Longer {
    /// Logs the extension.
    pub(crate) fn announce(&self, out: &Path) {
        say(&format!("extending {}: {}", out.display(), self.words));
    }

    /// The ledger of a seed, which starts with the results of the finished run.
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

    /// The known values of log p at the first draws of a seed's flow.
    pub(crate) fn known_log_p(&self, seed: u64) -> &[f64] {
        match &self.earlier {
            Earlier::Flows(flows) if !flows.are_trained && flows.drawn.0 == seed => &flows.drawn.1,
            _ => &[],
        }
    }
}

/// Reports a stopped extension. The finished run stays in place.
pub(crate) fn stopped(out: &Path, is_quiet: bool) -> ExitCode {
    if !is_quiet {
        let out = out.display();
        say(&format!(
            "stopped; the run in {out} is unchanged; repeat the command to continue its extension"
        ));
    }
    ExitCode::from(interrupt::EXIT_CODE)
}
