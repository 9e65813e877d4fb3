//! A ledger of the parts of a run: finished parts are not done again.
//!
//! A run with fixed random numbers does the same work in the same order each time. So it is enough to record the
//! results of its finished parts, and the state of the current one. The same program, started again, takes each
//! finished part from the ledger, and resumes where the ledger ends. The work between the parts is repeated, which
//! costs almost nothing.

use super::{
    entry::{Entry, entries, strange},
    header::Header,
    keeper::Keeper,
    store::Store,
    value::Value,
};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The result of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done<T> {
    /// The complete result.
    Whole(T),
    /// The partial result when the part was stopped. A later run resumes from its state, not from this result.
    Stopped(T),
}

/// The parts that a run has finished so far, and its position.
///
/// ```
/// use adaann::checkpoint::{Done, Ledger};
///
/// // Three parts; the last is long, and offers its state now and then.
/// fn work(ledger: &mut Ledger) -> adaann::Result<f64> {
///     let starts: Vec<f64> = ledger.part("starts", |_| Ok(Done::Whole(vec![1.0, 2.0])))?;
///     let sum = ledger.part("sum", |ledger| {
///         let (mut at, mut sum) = ledger.take_up()?.unwrap_or((0, 0.0));
///         while at < 1_000 {
///             sum += starts[at % 2];
///             at += 1;
///             ledger.offer(&(at, sum));
///         }
///         Ok(Done::Whole(sum))
///     })?;
///     ledger.part("half", |_| Ok(Done::Whole(0.5 * sum)))
/// }
/// // One that keeps nothing: the work is done as if it were not there.
/// assert_eq!(work(&mut Ledger::off())?, 750.0);
/// # Ok::<(), adaann::Error>(())
/// ```
pub struct Ledger {
    /// Finished parts in order; after reading also the state of the current part, at the end.
    entries: Vec<Entry>,
    /// The state of the current part, when it was last written or remembered.
    under_way: Option<Entry>,
    /// How many entries have been taken.
    taken: usize,
    /// The current parts, the outermost first.
    path: Vec<String>,
    header: Header,
    keeper: Keeper,
    /// The start of the work in this process, and the time that the run worked before it was resumed.
    begun: Instant,
    earlier: Duration,
    /// Has a part been stopped, or the run been asked to end? Results after that do not belong to the run.
    is_over: bool,
    /// Raised to request a checkpoint as soon as possible.
    urgent: Option<&'static AtomicBool>,
    was_urgent: bool,
    /// Raised when the target has failed.
    failed: Option<Arc<AtomicBool>>,
    /// Does it only inspect how far a run is?
    is_looking: bool,
    /// Runs before the first checkpoint.
    prepare: Option<Prepare>,
    /// Receives the first write error.
    warn: Option<Warn>,
}

type Prepare = Box<dyn FnOnce() -> Result<()> + Send>;
type Warn = Box<dyn FnOnce(&Error) + Send>;

/// The result type of a part.
pub trait Part: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> Part for T {}

/// Follows the path of a part that is not finished.
const STATE: &str = "#";

/// The key of the header for the run's working time.
const SECONDS: &str = "seconds";

fn duration(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

impl Ledger {
    /// A ledger that stores nothing.
    pub fn off() -> Self {
        Self::new(Keeper::off(), Header::new("", super::Fingerprint::new()))
    }

    /// The ledger of a new run.
    pub fn new(keeper: Keeper, header: Header) -> Self {
        Self {
            entries: Vec::new(),
            under_way: None,
            taken: 0,
            path: Vec::new(),
            header,
            keeper,
            begun: Instant::now(),
            earlier: Duration::ZERO,
            is_over: false,
            urgent: None,
            was_urgent: false,
            failed: None,
            is_looking: false,
            prepare: None,
            warn: None,
        }
    }

    /// Adds the results that an earlier run of the same target and settings has written.
    ///
    /// # Errors
    /// If there are checkpoints and none can be read.
    pub fn resumed(mut self) -> Result<Self> {
        if let Some(store) = self.keeper.store()
            && let Some((header, value, _)) = store.read_value()?
        {
            self.entries = entries(value)?;
            self.earlier =
                header.about.get(SECONDS).and_then(|text| duration(text)).unwrap_or_default();
            self.header.about = header.about;
        }
        Ok(self)
    }

    /// Adds the result of the first part from an earlier run that this one lengthens, unless the ledger has parts
    /// of its own.
    ///
    /// # Errors
    /// If the result cannot be encoded.
    pub fn knowing<T: Serialize>(self, part: &str, found: &T) -> Result<Self> {
        self.beginning_with(part.into(), found)
    }

    /// Adds a state from which the first part resumes, unless the ledger has parts of its own: the final state of
    /// an earlier run that this one lengthens.
    ///
    /// # Errors
    /// If the state cannot be encoded.
    pub fn taking_up<S: Serialize>(self, part: &str, state: &S) -> Result<Self> {
        self.beginning_with(format!("{part}{STATE}"), state)
    }

    fn beginning_with<T: Serialize>(mut self, path: String, value: &T) -> Result<Self> {
        if self.entries.is_empty() {
            self.entries.push(Entry::of(path, value)?);
        }
        Ok(self)
    }

    /// A ledger that shows how far a running or killed run is. It replays the recorded parts, raises the flag where
    /// the list ends, as a request to end the run would, and never writes.
    ///
    /// # Errors
    /// If there are checkpoints and none can be read.
    pub fn looking(mut store: Store, flag: &'static AtomicBool) -> Result<Self> {
        let (header, entries) = match store.read_value()? {
            Some((header, value, _)) => (header, entries(value)?),
            None => (Header::new("", super::Fingerprint::new()), Vec::new()),
        };
        let ledger = Self::new(Keeper::new(store, Duration::MAX), header).urgent_when(flag);
        let ledger = Self { entries, is_looking: true, ..ledger };
        ledger.look_for_the_end();
        Ok(ledger)
    }

    /// Does it only inspect how far a run is?
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    /// The header of the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The paths of the parts in the list, with a # after that of an unfinished part.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &entry.path[..])
    }

    /// Asks the run to end where its recorded list ends.
    fn look_for_the_end(&self) {
        if let Some(flag) = self.urgent.filter(|_| self.is_looking)
            && self.taken >= self.entries.len()
        {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Requests a checkpoint as soon as possible when this flag is raised.
    #[must_use]
    pub fn urgent_when(self, flag: &'static AtomicBool) -> Self {
        Self { urgent: Some(flag), ..self }
    }

    /// Records nothing more once this flag is raised: results after a failure of the target do not belong to the
    /// run.
    #[must_use]
    pub fn until(self, failed: Arc<AtomicBool>) -> Self {
        Self { failed: Some(failed), ..self }
    }

    /// Calls this function before the first checkpoint is written.
    #[must_use]
    pub fn preparing(self, prepare: impl FnOnce() -> Result<()> + Send + 'static) -> Self {
        Self { prepare: Some(Box::new(prepare)), ..self }
    }

    /// Calls this function with the first write error, which does not stop the run.
    #[must_use]
    pub fn warning(self, warn: impl FnOnce(&Error) + Send + 'static) -> Self {
        Self { warn: Some(Box::new(warn)), ..self }
    }

    /// The working time of the run up to its last checkpoint, including the time before an interruption.
    pub fn time(&self) -> Duration {
        self.earlier + self.begun.elapsed()
    }

    /// Does it store nothing?
    pub fn is_off(&self) -> bool {
        self.keeper.is_off()
    }

    /// Runs a part, or returns its recorded result.
    ///
    /// # Errors
    /// The error of the work, or if the list has another part at this position.
    pub fn part<T: Part>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<Done<T>>,
    ) -> Result<T> {
        if self.is_off() || self.is_over {
            return work(self).map(|done| match done {
                Done::Whole(found) | Done::Stopped(found) => found,
            });
        }
        self.path.push(name.into());
        let found = self.known(work);
        self.path.pop();
        found
    }

    fn known<T: Part>(&mut self, work: impl FnOnce(&mut Self) -> Result<Done<T>>) -> Result<T> {
        let path = self.path.join("/");
        if let Some(entry) = self.entries.get(self.taken) {
            if entry.path == path {
                self.taken += 1;
                self.look_for_the_end();
                return self.entries[self.taken - 1].decode();
            }
            let inside = entry.path.strip_prefix(&path);
            if !inside.is_some_and(|rest| rest.starts_with('/') || rest == STATE) {
                return Err(strange(&path, &format!("it has `{}` there", entry.path)));
            }
        }
        let begun = self.taken;
        match work(self)? {
            Done::Whole(found) | Done::Stopped(found) if self.has_failed() => {
                self.is_over = true;
                Ok(found)
            }
            Done::Stopped(found) => {
                self.close();
                Ok(found)
            }
            // A part within it was stopped.
            Done::Whole(found) if self.is_over => Ok(found),
            Done::Whole(found) => {
                // The entries of its inner parts are no longer needed.
                self.entries.truncate(begun);
                self.under_way = None;
                self.entries.push(Entry::new(path, found.clone()));
                self.taken = self.entries.len();
                if self.is_due() {
                    self.write();
                }
                Ok(found)
            }
        }
    }

    /// The last recorded state of the current part; none if the part begins.
    ///
    /// # Errors
    /// If the state has another type.
    pub fn take_up<S: DeserializeOwned>(&mut self) -> Result<Option<S>> {
        let path = self.path.join("/") + STATE;
        if self.entries.last().is_none_or(|last| last.path != path)
            || self.taken + 1 != self.entries.len()
        {
            return Ok(None);
        }
        let Some(entry) = self.entries.pop() else { return Ok(None) };
        self.look_for_the_end();
        let state = entry.decode().map(Some);
        // The part remains in this state until there is a later one.
        self.under_way = Some(entry);
        state
    }

    /// Is a checkpoint due? Use it to avoid creating expensive states in vain.
    pub fn is_due(&self) -> bool {
        let is_kept = !self.is_off() && !self.is_looking;
        is_kept && !self.is_over && (self.is_urgent() || self.keeper.is_due())
    }

    /// Has the run been asked to end? Parts without an observer call this between rounds.
    ///
    /// A caller that gets `true` stops early, and its further work differs from that of an uninterrupted run. So
    /// the list ends here: parts that finish later are not recorded.
    pub fn is_asked_to_end(&mut self) -> bool {
        let is_asked = self.is_raised();
        if is_asked {
            self.close();
        }
        is_asked
    }

    /// Writes the list and ends it: later parts are not recorded, and a resumed run continues from here.
    pub fn close(&mut self) {
        if self.is_over {
            return;
        }
        self.write();
        self.is_over = true;
    }

    /// The result of a part: only a partial one if the run has been asked to end.
    pub fn done<T>(&mut self, found: T) -> Done<T> {
        if self.is_asked_to_end() { Done::Stopped(found) } else { Done::Whole(found) }
    }

    fn is_raised(&self) -> bool {
        self.urgent.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn is_urgent(&self) -> bool {
        !self.was_urgent && self.is_raised()
    }

    /// Offers the state of the current part: it is written if a checkpoint is due.
    pub fn offer<S: Serialize>(&mut self, state: &S) {
        if self.is_due() {
            self.keep(state);
        }
    }

    /// Writes the state of the current part, due or not.
    pub fn keep<S: Serialize>(&mut self, state: &S) {
        self.set_under_way(state);
        self.write();
    }

    /// Offers the state of a part that has few states: it is remembered for the next checkpoint, and written if one
    /// is due.
    pub fn remember<S: Serialize>(&mut self, state: &S) {
        if !self.is_off() && !self.is_over {
            self.set_under_way(state);
        }
        if self.is_due() {
            self.write();
        }
    }

    /// Has the target failed?
    fn has_failed(&self) -> bool {
        self.failed.as_ref().is_some_and(|failed| failed.load(Ordering::Relaxed))
    }

    fn set_under_way<S: Serialize>(&mut self, state: &S) {
        if self.has_failed() {
            return;
        }
        let path = self.path.join("/") + STATE;
        match Entry::of(path, state) {
            Ok(entry) => self.under_way = Some(entry),
            Err(error) => self.warn(&error),
        }
    }

    /// Writes the finished parts, and the last state of the current one.
    pub fn write(&mut self) {
        if self.is_off() || self.is_looking {
            return;
        }
        self.was_urgent = self.was_urgent || self.is_urgent();
        if let Some(Err(error)) = self.prepare.take().map(|prepare| prepare()) {
            self.warn(&error);
        }
        for entry in self.entries.iter_mut().chain(&mut self.under_way) {
            if let Err(error) = entry.encode() {
                return self.warn(&error);
            }
        }
        // The list is moved to the writer and back.
        let finished = self.entries.len();
        let listed = std::mem::take(&mut self.entries).into_iter().chain(self.under_way.take());
        let all = Value::List(listed.filter_map(Entry::into_value).collect());
        self.header.about.insert(SECONDS.into(), self.time().as_secs_f64().to_string());
        let failed = self.keeper.write_value(&self.header, &all);
        if let Value::List(listed) = all {
            let mut entries: Vec<Entry> = listed.into_iter().filter_map(Entry::of_value).collect();
            self.under_way = (entries.len() > finished).then(|| entries.pop()).flatten();
            self.entries = entries;
        }
        if let Some(error) = failed {
            self.warn(&error);
        }
    }

    /// Reports the first error; later ones would repeat it.
    fn warn(&mut self, error: &Error) {
        if let Some(warn) = self.warn.take() {
            warn(error);
        }
    }

    /// The cost of the checkpoints so far.
    pub fn cost(&self) -> super::Cost {
        self.keeper.cost()
    }
}
