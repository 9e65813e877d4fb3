//! A run as a list of parts: those that are finished are not done again.
//!
//! A run whose random numbers are fixed does the same things in the same order each time. It is enough to
//! write down what its finished parts came to, and where the one under way is: the same program, begun
//! again, takes each finished part from the list, and goes on where the list ends. What stands between
//! the parts is done again, which costs next to nothing.

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

/// What a part came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done<T> {
    /// All of it.
    Whole(T),
    /// What there was when somebody ended it: the next run goes on from its state, not from this.
    Stopped(T),
}

/// What a run has finished so far, and where it is.
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
    /// Finished parts in their order; as they were read also the state of one under way, at the end.
    entries: Vec<Entry>,
    /// The state of the part under way, when it was last written or remembered.
    under_way: Option<Entry>,
    /// How many of them have been taken.
    taken: usize,
    /// The parts under way, the outermost first.
    path: Vec<String>,
    header: Header,
    keeper: Keeper,
    /// Since when it is at work, and for how long it was before it was resumed.
    begun: Instant,
    earlier: Duration,
    /// Was a part stopped, or anybody told to end? What is made of it after that is no part of the run.
    is_over: bool,
    /// Raised by whoever wants a checkpoint as soon as there can be one.
    urgent: Option<&'static AtomicBool>,
    was_urgent: bool,
    /// Raised by whoever knows that the target has failed.
    failed: Option<Arc<AtomicBool>>,
    /// Is it there to see how far a run is, and nothing else?
    is_looking: bool,
    /// What has to be there before the first checkpoint is.
    prepare: Option<Prepare>,
    /// Told what could not be written.
    warn: Option<Warn>,
}

type Prepare = Box<dyn FnOnce() -> Result<()> + Send>;
type Warn = Box<dyn FnOnce(&Error) + Send>;

/// What a part may come to.
pub trait Part: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> Part for T {}

/// Behind the path of a part that is under way.
const STATE: &str = "#";

/// What a header says of the time that a run was at work.
const SECONDS: &str = "seconds";

fn duration(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

impl Ledger {
    /// One that keeps nothing.
    pub fn off() -> Self {
        Self::new(Keeper::off(), Header::new("", super::Fingerprint::new()))
    }

    /// One of a run that begins.
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

    /// The same with what an earlier run of the same target and settings has written.
    ///
    /// # Errors
    /// If checkpoints are there and none can be read.
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

    /// The same with what its first part came to in an earlier run that this one lengthens, unless it has
    /// parts of its own.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn knowing<T: Serialize>(self, part: &str, found: &T) -> Result<Self> {
        self.beginning_with(part.into(), found)
    }

    /// The same with a state that its first part goes on from, unless it has parts of its own: that in
    /// which an earlier run left it, which this one lengthens.
    ///
    /// # Errors
    /// If the state cannot be kept.
    pub fn taking_up<S: Serialize>(self, part: &str, state: &S) -> Result<Self> {
        self.beginning_with(format!("{part}{STATE}"), state)
    }

    fn beginning_with<T: Serialize>(mut self, path: String, value: &T) -> Result<Self> {
        if self.entries.is_empty() {
            self.entries.push(Entry::of(path, value)?);
        }
        Ok(self)
    }

    /// One that shows how far a run is that is under way or was killed: it takes what that has written,
    /// raises the flag where the list ends, as whoever asks the run to end does, and never writes.
    ///
    /// # Errors
    /// If checkpoints are there and none can be read.
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

    /// Does it only show how far a run is?
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    /// What the list was written for.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The paths of the parts in the list, with a # behind that of the one under way.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &entry.path[..])
    }

    /// Asks the run to end where what it had written ends.
    fn look_for_the_end(&self) {
        if let Some(flag) = self.urgent.filter(|_| self.is_looking)
            && self.taken >= self.entries.len()
        {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Asks for a checkpoint as soon as there can be one when this is raised.
    #[must_use]
    pub fn urgent_when(self, flag: &'static AtomicBool) -> Self {
        Self { urgent: Some(flag), ..self }
    }

    /// Takes nothing more once this is raised: what comes after a failure of the target is no part of the run.
    #[must_use]
    pub fn until(self, failed: Arc<AtomicBool>) -> Self {
        Self { failed: Some(failed), ..self }
    }

    /// Does this before the first checkpoint is written.
    #[must_use]
    pub fn preparing(self, prepare: impl FnOnce() -> Result<()> + Send + 'static) -> Self {
        Self { prepare: Some(Box::new(prepare)), ..self }
    }

    /// Tells this of the first thing that cannot be written, which is no reason to stop.
    #[must_use]
    pub fn warning(self, warn: impl FnOnce(&Error) + Send + 'static) -> Self {
        Self { warn: Some(Box::new(warn)), ..self }
    }

    /// For how long the run was at work, before it was interrupted as well, up to its last checkpoint.
    pub fn time(&self) -> Duration {
        self.earlier + self.begun.elapsed()
    }

    /// Is nothing kept?
    pub fn is_off(&self) -> bool {
        self.keeper.is_off()
    }

    /// Does a part, unless it is known what it came to.
    ///
    /// # Errors
    /// What the work fails with, or if the list has another part here.
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
                return Err(strange(&path, &format!("it has {} there", entry.path)));
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
            // Something within it was stopped.
            Done::Whole(found) if self.is_over => Ok(found),
            Done::Whole(found) => {
                // What the part was made of is no longer needed.
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

    /// The state in which the part under way was left; none if it begins.
    ///
    /// # Errors
    /// If the state is that of something else.
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
        // Until there is a later one it is where the part is.
        self.under_way = Some(entry);
        state
    }

    /// Is a checkpoint due? A state that is costly to make is only made then.
    pub fn is_due(&self) -> bool {
        let is_kept = !self.is_off() && !self.is_looking;
        is_kept && !self.is_over && (self.is_urgent() || self.keeper.is_due())
    }

    /// Has somebody asked the run to end? Parts that show nothing to an observer look here between rounds.
    ///
    /// A caller that gets `true` breaks off, and then does other things than an uninterrupted run. So the list ends
    /// here: parts that are finished later are not recorded.
    pub fn is_asked_to_end(&mut self) -> bool {
        let is_asked = self.is_raised();
        if is_asked {
            self.close();
        }
        is_asked
    }

    /// Writes the list and ends it: later parts are not recorded, and a resumed run goes on from here.
    pub fn close(&mut self) {
        if self.is_over {
            return;
        }
        self.write();
        self.is_over = true;
    }

    /// What a part came to: not all of it if somebody has asked the run to end.
    pub fn done<T>(&mut self, found: T) -> Done<T> {
        if self.is_asked_to_end() { Done::Stopped(found) } else { Done::Whole(found) }
    }

    fn is_raised(&self) -> bool {
        self.urgent.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn is_urgent(&self) -> bool {
        !self.was_urgent && self.is_raised()
    }

    /// The state of the part under way: it is written down if a checkpoint is due.
    pub fn offer<S: Serialize>(&mut self, state: &S) {
        if self.is_due() {
            self.keep(state);
        }
    }

    /// Writes the state of the part under way down, due or not.
    pub fn keep<S: Serialize>(&mut self, state: &S) {
        self.set_under_way(state);
        self.write();
    }

    /// The state of a part that has few of them: it is remembered for the next checkpoint, whenever that
    /// is, and written if one is due.
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

    /// Writes down what is finished, and the last state of the part under way.
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
        // The list is lent to the writer and taken back.
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

    /// Tells of the first error; later ones say the same.
    fn warn(&mut self, error: &Error) {
        if let Some(warn) = self.warn.take() {
            warn(error);
        }
    }

    /// What checkpoints have cost so far.
    pub fn cost(&self) -> super::Cost {
        self.keeper.cost()
    }
}
