//! Checkpoints of a run: where they are, whether they are those of this run, and going on from them.
//!
//! While a run is on its way its folder has what it was told, its model and its data, and `state` with the
//! last checkpoints: all that it takes to go on. A run that ends before the first one leaves no trace.

use crate::{
    folder::{Beginning, Folder, record::Record, subject::Subject},
    job::interrupt,
    ranks::KeptHere,
    text::{failure::usage, said::say},
};
use adaann::{
    Instructions,
    checkpoint::{Fingerprint, Header, Keeper, Ledger, Store},
    fit::overlay::Interval,
};
use anyhow::Result;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The checkpoints of a run.
pub(crate) struct Kept {
    beginning: Beginning,
    /// Its name.
    path: PathBuf,
    /// Files that a run cannot go on without.
    files: Arc<Vec<(String, Arc<str>)>>,
    fingerprint: Fingerprint,
    interval: Duration,
    /// Is nothing to be kept?
    is_off: bool,
    /// Has it been said that a checkpoint could not be written? Seeds have one each.
    has_warned: Arc<AtomicBool>,
    started: Instant,
    /// What checkpoints say of a run that lengthens another: the flags for it.
    longer: Option<String>,
}

/// Name of these flags in a checkpoint.
const LONGER: &str = "longer";

/// Differences between two runs that a message names.
const MOST_DIFFERENCES: usize = 5;

impl Kept {
    /// Those of a run that was told this, on a subject; `longer` has the flags that lengthen a finished run.
    ///
    /// # Errors
    /// If the folder has an unfinished run of something else, or of which no checkpoint can be read.
    pub(crate) fn new(
        folder: &Folder,
        interval: Interval,
        told: String,
        subject: &Subject,
        longer: Option<String>,
        is_quiet: bool,
    ) -> Result<Self> {
        let files = files(told, subject);
        let kept = Self {
            beginning: folder.beginning(),
            path: folder.path().to_owned(),
            fingerprint: fingerprint(&files),
            files: Arc::new(files),
            interval: interval.time().unwrap_or(Duration::MAX),
            // What an earlier run has kept is gone on with all the same, and so is a finished one.
            is_off: interval == Interval::Off && !folder.is_unfinished() && longer.is_none(),
            longer,
            has_warned: Arc::default(),
            started: Instant::now(),
        };
        if folder.is_unfinished() {
            kept.check(folder.is_forced(), is_quiet)?;
        }
        Ok(kept)
    }

    /// Is the unfinished run there this one?
    fn check(&self, is_forced: bool, is_quiet: bool) -> Result<()> {
        let path = self.path.display();
        let Some((header, fallen)) = self.any_header()? else { return Ok(()) };
        let differences = self.fingerprint.differences(&header.fingerprint);
        if let Some(flags) = header.about.get(LONGER).filter(|_| !differences.is_empty()) {
            return Err(usage(format!(
                "{path} is a finished run on its way to be longer: `adaann resume {path} {flags}` goes on \
                 with that; without {path}/{} it is as it was",
                Folder::STATE
            )));
        }
        if !differences.is_empty() {
            let more = differences.len().saturating_sub(MOST_DIFFERENCES);
            let shown = differences[..differences.len() - more].join("; ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            return Err(usage(format!(
                "{path} has an unfinished run with other settings: {shown}{more}; --restart begins it again as this \
                 one, --out writes to another folder"
            )));
        }
        let mut note = format!("going on with {path}");
        if is_forced {
            note += ", which is unfinished: --force replaces finished runs alone, and --restart begins this one \
                     again";
        }
        if !fallen.is_empty() {
            note += &format!(", from the checkpoint before the last ({fallen})");
        }
        let instructions = Instructions::current().to_string();
        if header.instructions != instructions {
            let was = &header.instructions;
            note += &format!("; it began with {was}, here is {instructions}: last bits may differ");
        }
        if header.program != env!("CARGO_PKG_VERSION") {
            note += &format!("; it began with adaann {}: bits may differ", header.program);
        }
        if !is_quiet {
            say(&note);
        }
        Ok(())
    }

    /// The header of the run's own checkpoint, or of one of its seeds.
    fn any_header(&self) -> Result<Option<(Header, adaann::checkpoint::Fallen)>> {
        let state = self.path.join(Folder::STATE);
        let seeds = std::fs::read_dir(&state).into_iter().flatten().flatten();
        let seeds = seeds.map(|entry| entry.path()).filter(|path| path.is_dir());
        for place in std::iter::once(state.clone()).chain(seeds) {
            let header = Store::open(&place)?.read_header().map_err(|error| {
                let path = self.path.display();
                usage(format!("{path} has an unfinished run: {error}; --restart begins it again"))
            })?;
            if header.is_some() {
                return Ok(header);
            }
        }
        Ok(None)
    }

    /// The list of the run's own parts.
    pub(crate) fn ledger(&self) -> adaann::Result<Ledger> {
        self.ledger_in(self.path.join(Folder::STATE))
    }

    /// The list of one of its seeds.
    pub(crate) fn ledger_of_seed(&self, seed: u64) -> adaann::Result<Ledger> {
        self.ledger_in(place_of_seed(&self.path, seed))
    }

    fn ledger_in(&self, place: PathBuf) -> adaann::Result<Ledger> {
        if self.is_off {
            return Ok(Ledger::off().urgent_when(interrupt::flag()));
        }
        let header =
            self.longer.iter().fold(self.header(), |header, flags| header.with(LONGER, flags));
        let keeper = Keeper::new(Store::open(place)?, self.interval);
        let (beginning, files, path) =
            (self.beginning.clone(), self.files.clone(), self.path.display().to_string());
        let has_warned = self.has_warned.clone();
        Ledger::new(keeper, header)
            .urgent_when(interrupt::flag())
            .preparing(move || {
                beginning.make(&files).map_err(|cause| adaann::Error::Io { path, cause })
            })
            .warning(move |error| {
                if !has_warned.swap(true, Ordering::Relaxed) {
                    warn(error);
                }
            })
            .resumed()
    }

    /// What a rank elsewhere needs to go on with one of the seeds. None where nothing is kept.
    pub(crate) fn of_seed_elsewhere(&self, seed: u64) -> adaann::Result<Option<KeptHere>> {
        if self.is_off {
            return Ok(None);
        }
        let last = Store::open(place_of_seed(&self.path, seed))?.newest_copy()?;
        let (every, header) = (self.interval.as_secs_f64(), self.header());
        Ok(Some(KeptHere { every, header, last }))
    }

    /// Writes down a checkpoint of a seed that a rank elsewhere has told.
    pub(crate) fn keep_of_seed(&self, seed: u64, told: &[u8]) {
        let path = self.path.display().to_string();
        let made = self.beginning.make(&self.files);
        let written = made.map_err(|cause| adaann::Error::Io { path, cause }).and_then(|()| {
            Store::open(place_of_seed(&self.path, seed))?.write_copy(told).map(drop)
        });
        if let Err(error) = written
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            warn(&error);
        }
    }

    /// What stands at the head of states of this run.
    pub(crate) fn header(&self) -> Header {
        Header::new(Instructions::current().to_string(), self.fingerprint.clone())
    }

    /// The work is over, or has failed: what is finished is written down, if it is worth going on with.
    pub(crate) fn save(&self, ledger: &mut Ledger) {
        let has_checkpoints = self.path.join(Folder::STATE).exists();
        if interrupt::asked() || has_checkpoints || self.started.elapsed() >= self.interval {
            ledger.write();
        }
    }
}

/// Where the checkpoints of a seed are in a run folder.
pub(super) fn place_of_seed(run: &Path, seed: u64) -> PathBuf {
    run.join(Folder::STATE).join(format!("seed-{seed}"))
}

/// Says that a checkpoint could not be written.
fn warn(error: &adaann::Error) {
    say(&format!(
        "warning: a checkpoint could not be written ({error}); a run that is killed now goes on from the \
         one before, or from its start"
    ));
}

/// What a run on this subject depends on, which was told this.
pub(crate) fn fingerprint_of(told: String, subject: &Subject) -> Fingerprint {
    fingerprint(&files(told, subject))
}

/// Files that a run cannot go on without.
fn files(told: String, subject: &Subject) -> Vec<(String, Arc<str>)> {
    let mut files = vec![(Record::FILE.to_owned(), told.into())];
    files.extend(subject.files());
    files
}

/// All that a run depends on: each setting by its name, and the files as they are.
pub(super) fn fingerprint(files: &[(String, Arc<str>)]) -> Fingerprint {
    let mut found = Fingerprint::new();
    for (name, text) in files {
        // Data would take a hundred times its length as a syntax tree.
        let told = (name == Record::FILE).then(|| text.parse::<toml::Table>());
        match told {
            Some(Ok(table)) => found = settings(found, "", &table),
            _ => {
                if name.ends_with(".csv") {
                    found =
                        found.with(format!("{name} rows"), text.lines().count().saturating_sub(1));
                }
                found = found.with(name.clone(), text);
            }
        }
    }
    found
}

/// Settings that change no bit of a run, say the same as others do, or only when it ends: whoever goes on may
/// spend more.
const WITHOUT_EFFECT: [&str; 9] = [
    "version",
    "strict",
    "no-state",
    "model",
    "data",
    "max-evaluations",
    "max-time",
    "answer.max-evaluations",
    "answer.max-time",
];

fn settings(mut found: Fingerprint, above: &str, table: &toml::Table) -> Fingerprint {
    for (name, value) in table {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match value {
            _ if WITHOUT_EFFECT.contains(&&path[..]) => {}
            toml::Value::Table(inner) => found = settings(found, &path, inner),
            value => found = found.with(path, value),
        }
    }
    found
}
