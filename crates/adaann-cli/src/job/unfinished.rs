//! A run that is in progress, or was killed before it had an answer, at its last checkpoint.
//!
//! Its results are those that the run would have if it were resumed and stopped at once: finished parts come
//! from the ledger, and the current part ends in its present state. The folder is neither changed nor locked, so
//! that a process at work in it is not disturbed.

use crate::{
    folder::{Folder, drawn::Whose, finished::Finished, record::Record, subject::Subject},
    job::{Job, interrupt, kept, progress::Progress, work::Run},
    text::failure::usage,
};
use adaann::{
    answer::Plan,
    checkpoint::{Fingerprint, Ledger, Store},
};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};

/// Number of attempts to read checkpoints, which a running process replaces.
const TRIES: usize = 5;

/// The checkpoints of a run, for reading only.
pub(crate) struct Looked {
    run: PathBuf,
    fingerprint: Fingerprint,
}

impl Looked {
    /// The checkpoints of a run with these settings and subject.
    pub(crate) fn new(run: &Path, told: String, subject: &Subject) -> Self {
        let mut files = vec![(Record::FILE.to_owned(), told.into())];
        files.extend(subject.files());
        Self { run: run.to_owned(), fingerprint: kept::fingerprint(&files) }
    }

    /// The run's own ledger, or an empty one for a run without its own.
    pub(crate) fn ledger(&self) -> Result<Ledger> {
        let ledger = ledger(&self.run.join(Folder::STATE))?;
        self.check(&ledger)?;
        Ok(ledger)
    }

    /// The ledger of one of its seeds.
    fn ledger_of_seed(&self, seed: u64) -> adaann::Result<Ledger> {
        let ledger = ledger(&kept::place_of_seed(&self.run, seed))?;
        match is_empty(&ledger) {
            true => Err(adaann::Error::Data("it has no checkpoint yet".to_owned())),
            false => Ok(ledger),
        }
    }

    /// Refuses checkpoints that do not match the run.
    fn check(&self, ledger: &Ledger) -> Result<()> {
        let differences = self.fingerprint.differences(&ledger.header().fingerprint);
        if is_empty(ledger) || differences.is_empty() {
            return Ok(());
        }
        Err(usage(format!(
            "{} has checkpoints of another run: {}",
            self.run.display(),
            differences.join("; ")
        )))
    }

    /// The error for a run without results to show.
    pub(crate) fn nothing(&self, why: &str) -> anyhow::Error {
        let run = self.run.display();
        anyhow!(
            "the run in {run} has nothing to show yet: {why}; wait for its next checkpoint if it is \
             running, otherwise resume it with `adaann resume {run}`"
        )
    }
}

fn is_empty(ledger: &Ledger) -> bool {
    ledger.parts().next().is_none()
}

/// The ledger in a folder. It may be replaced while it is read, even twice.
fn ledger(place: &Path) -> adaann::Result<Ledger> {
    let look = || Ledger::looking(Store::open(place)?, interrupt::flag());
    let mut found = look();
    for _ in 1..TRIES {
        if found.is_ok() {
            break;
        }
        found = look();
    }
    found
}

/// Why the finished parts of a ladder do not give an answer yet, if they do not.
fn too_early<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    const EARLY: [(&str, &str); 2] = [
        ("ascents", "it is still searching for modes"),
        ("chains/warm-up", "its chains are still warming up"),
    ];
    let why = |part: &str| EARLY.iter().find(|(early, _)| part.starts_with(early));
    let mut last = Some("it has no checkpoint yet");
    parts.all(|part| {
        last = why(part).map(|(_, why)| *why);
        last.is_some()
    });
    last
}

impl Job {
    /// The run in a folder at its last checkpoint.
    pub(crate) fn look(self, run: &Path, whose: Whose) -> Result<Finished> {
        let looked = Looked::new(run, self.record.to_toml()?, &self.subject);
        let found = self.look_from(&looked);
        interrupt::forget();
        let Run { flow, training, sample, summary, .. } =
            found.with_context(|| format!("{} is unfinished", run.display()))?;
        let told = self.record.to_toml()?;
        let Self { record, subject, .. } = self;
        let finished = Finished::of_a_look(record, subject, summary, &sample, flow, told, whose);
        Ok(match &training {
            Some(outcome) => finished.with_training(outcome),
            None => finished,
        })
    }

    fn look_from(&self, looked: &Looked) -> Result<Run> {
        let mut ledger = looked.ledger()?;
        match &self.record.plan {
            Plan::Answer(_) => {
                if let Some(why) = too_early(ledger.parts()) {
                    return Err(looked.nothing(why));
                }
            }
            Plan::Adaann(settings) => {
                let seeds = (0..self.repeats().seeds).map(|i| settings.seed.wrapping_add(i as u64));
                let found: Vec<_> = seeds.map(|seed| looked.ledger_of_seed(seed)).collect();
                if found.iter().all(Result::is_err) {
                    return Err(looked.nothing("it has no checkpoint yet"));
                }
                found.iter().flatten().try_for_each(|ledger| looked.check(ledger))?;
            }
        }
        // Start an external program only now, when it is needed.
        self.subject.start()?;
        let progress = Progress::new(true);
        self.work(&progress, &|seed| looked.ledger_of_seed(seed), &mut ledger, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_and_warming_up_are_no_answers() {
        let said = |parts: &[&'static str]| too_early(parts.iter().copied());
        assert_eq!(said(&[]), Some("it has no checkpoint yet"));
        assert_eq!(said(&["ascents#"]), Some("it is still searching for modes"));
        assert_eq!(said(&["chains/warm-up#"]), Some("its chains are still warming up"));
        assert_eq!(said(&["ascents", "chains/warm-up"]), Some("its chains are still warming up"));
        assert_eq!(said(&["ascents", "mixture/draws"]), None);
        assert_eq!(said(&["ascents", "mixture", "chains/warm-up#"]), None);
        assert_eq!(said(&["chains/warm-up", "chains/draws#"]), None);
    }
}
