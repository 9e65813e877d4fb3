//! A run as a list of parts: those that are finished are not done again.
//!
//! A run whose random numbers are fixed does the same things in the same order each time. It is enough to
//! write down what its finished parts came to, and where the one under way is: the same program, begun
//! again, takes each finished part from the list, and goes on where the list ends. What stands between
//! the parts is done again, which costs next to nothing.

use super::{decode::decode, encode::encode, header::Header, keeper::Keeper, value::Value};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Was a part stopped? What is made of it after that is no part of the run.
    is_over: bool,
    /// Raised by whoever wants a checkpoint as soon as there can be one.
    urgent: Option<&'static AtomicBool>,
    was_urgent: bool,
    /// What has to be there before the first checkpoint is.
    prepare: Option<Prepare>,
    /// Told what could not be written.
    warn: Option<Warn>,
}

type Prepare = Box<dyn FnOnce() -> Result<()> + Send>;
type Warn = Box<dyn FnOnce(&Error) + Send>;

struct Entry {
    path: String,
    found: Found,
}

/// What a part came to, or its state.
enum Found {
    /// As it is: few runs are long enough to write it down.
    Plain(Box<dyn Plain>),
    /// As it was read, or is written.
    Encoded(Value<'static>),
}

/// Anything that can be written down later.
trait Plain: Send {
    fn encode(&self) -> Result<Value<'static>>;
}

impl<T: Serialize + Send> Plain for T {
    fn encode(&self) -> Result<Value<'static>> {
        encode(self).map_err(|error| Error::Save(error.to_string()))
    }
}

/// What a part may come to.
pub trait Part: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> Part for T {}

/// Behind the path of a part that is under way.
const STATE: &str = "#";

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
            is_over: false,
            urgent: None,
            was_urgent: false,
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
            let value = encode(value).map_err(|error| Error::Save(error.to_string()))?;
            self.entries.push(Entry { path, found: Found::Encoded(value) });
        }
        Ok(self)
    }

    /// Asks for a checkpoint as soon as there can be one when this is raised.
    #[must_use]
    pub fn urgent_when(self, flag: &'static AtomicBool) -> Self {
        Self { urgent: Some(flag), ..self }
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
                return entry.decode();
            }
            let inside = entry.path.strip_prefix(&path);
            if !inside.is_some_and(|rest| rest.starts_with('/') || rest == STATE) {
                return Err(strange(&path, &format!("it has {} there", entry.path)));
            }
        }
        let begun = self.taken;
        match work(self)? {
            Done::Stopped(found) => {
                self.is_over = true;
                Ok(found)
            }
            // Something within it was stopped.
            Done::Whole(found) if self.is_over => Ok(found),
            Done::Whole(found) => {
                // What the part was made of is no longer needed.
                self.entries.truncate(begun);
                self.under_way = None;
                self.entries.push(Entry { path, found: Found::Plain(Box::new(found.clone())) });
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
        let state = entry.decode().map(Some);
        // Until there is a later one it is where the part is.
        self.under_way = Some(entry);
        state
    }

    /// Is a checkpoint due? A state that is costly to make is only made then.
    pub fn is_due(&self) -> bool {
        !self.is_off() && !self.is_over && (self.is_urgent() || self.keeper.is_due())
    }

    /// Has somebody asked the run to end? Parts that show nothing to an observer look here between rounds.
    pub fn is_asked_to_end(&self) -> bool {
        self.urgent.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// What a part came to: not all of it if somebody has asked the run to end.
    pub fn done<T>(&self, found: T) -> Done<T> {
        if self.is_asked_to_end() { Done::Stopped(found) } else { Done::Whole(found) }
    }

    fn is_urgent(&self) -> bool {
        !self.was_urgent && self.is_asked_to_end()
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

    fn set_under_way<S: Serialize>(&mut self, state: &S) {
        let path = self.path.join("/") + STATE;
        match encode(state) {
            Ok(value) => self.under_way = Some(Entry { path, found: Found::Encoded(value) }),
            Err(error) => self.warn(&Error::Save(error.to_string())),
        }
    }

    /// Writes down what is finished, and the last state of the part under way.
    pub fn write(&mut self) {
        if self.is_off() {
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

impl Entry {
    /// Makes it what is written.
    fn encode(&mut self) -> Result<()> {
        if let Found::Plain(found) = &self.found {
            self.found = Found::Encoded(found.encode()?);
        }
        Ok(())
    }

    fn into_value(self) -> Option<Value<'static>> {
        let Found::Encoded(value) = self.found else { return None };
        Some(Value::List(vec![Value::Text(self.path), value]))
    }

    fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        let value = match &self.found {
            Found::Plain(found) => found.encode()?,
            Found::Encoded(value) => value.clone(),
        };
        decode(value).map_err(|error| strange(&self.path, &error.to_string()))
    }

    fn of_value(value: Value<'static>) -> Option<Self> {
        let Value::List(pair) = value else { return None };
        let [Value::Text(path), value] = <[_; 2]>::try_from(pair).ok()? else { return None };
        Some(Self { path, found: Found::Encoded(value) })
    }
}

/// The list of a checkpoint.
fn entries(value: Value<'static>) -> Result<Vec<Entry>> {
    let Value::List(listed) = value else {
        return Err(Error::Load("a checkpoint without a list of parts".into()));
    };
    let count = listed.len();
    let entries: Vec<Entry> = listed.into_iter().filter_map(Entry::of_value).collect();
    match entries.len() == count {
        true => Ok(entries),
        false => Err(Error::Load("a checkpoint with parts that have no name".into())),
    }
}

/// A list that does not fit what is done.
fn strange(path: &str, why: &str) -> Error {
    Error::Load(format!(
        "the checkpoint does not fit the run at `{path}`: {why}; it may be of another version, so that the \
         run has to begin again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Fingerprint, Store};
    use std::{
        sync::{Arc, atomic::AtomicUsize},
        time::Duration,
    };

    fn ledger(folder: &std::path::Path) -> Ledger {
        let keeper = Keeper::new(Store::open(folder).unwrap(), Duration::ZERO);
        Ledger::new(keeper, Header::new("baseline", Fingerprint::new()))
    }

    /// Parts within parts, and a long one that is put down at each of its steps. Every call of `alive` is
    /// a moment at which it may be killed.
    fn work(ledger: &mut Ledger, alive: &mut dyn FnMut() -> Result<()>) -> Result<Vec<f64>> {
        let first = ledger.part("first", |_| {
            alive()?;
            Ok(Done::Whole(vec![f64::NEG_INFINITY; 12]))
        })?;
        let mut all = first;
        for _ in 0..2 {
            all.push(ledger.part("outer", |ledger| {
                let mut sum = 0.0;
                for i in 0..3 {
                    sum += ledger.part("inner", |_| {
                        alive()?;
                        Ok(Done::Whole(f64::from(i)))
                    })?;
                }
                Ok(Done::Whole(sum))
            })?);
        }
        all.push(ledger.part("long", |ledger| {
            let (mut at, mut sum) = ledger.take_up()?.unwrap_or((0, 0.1));
            while at < 5 {
                alive()?;
                at += 1;
                sum = 1.1 * sum + f64::from(at);
                ledger.offer(&(at, sum));
            }
            Ok(Done::Whole(sum))
        })?);
        Ok(all)
    }

    #[test]
    fn killed_anywhere_it_ends_in_the_same_bits_and_does_nothing_twice() {
        let folder = std::env::temp_dir().join(format!("adaann-ledger-{}", std::process::id()));
        let mut moments = 0;
        let whole = work(&mut Ledger::off(), &mut || {
            moments += 1;
            Ok(())
        });
        let whole: Vec<u64> = whole.unwrap().iter().map(|x| x.to_bits()).collect();
        assert_eq!(moments, 12);
        for kill in 0..moments {
            let _ = std::fs::remove_dir_all(&folder);
            let mut done = 0;
            let mut alive = || {
                done += 1;
                if done > kill { Err(Error::Target("killed".into())) } else { Ok(()) }
            };
            assert!(work(&mut ledger(&folder), &mut alive).is_err());
            let mut again = 0;
            let found = work(&mut ledger(&folder).resumed().unwrap(), &mut || {
                again += 1;
                Ok(())
            });
            let found: Vec<u64> = found.unwrap().iter().map(|x| x.to_bits()).collect();
            assert_eq!(found, whole, "killed after {kill}");
            assert_eq!(kill + again, moments, "nothing is done twice");
        }
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn what_cannot_be_written_is_told_once_and_the_run_goes_on() {
        let folder = std::env::temp_dir().join(format!("adaann-unwritable-{}", std::process::id()));
        let told = Arc::new(AtomicUsize::new(0));
        let count = told.clone();
        let mut ledger =
            ledger(&folder).warning(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
        // A file takes the place that the folder would have.
        std::fs::write(&folder, "").unwrap();
        let found = work(&mut ledger, &mut || Ok(()));
        assert_eq!(found.unwrap().len(), 15);
        assert_eq!(told.load(Ordering::Relaxed), 1);
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn a_list_of_something_else_is_refused() {
        let folder = std::env::temp_dir().join(format!("adaann-strange-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut first = ledger(&folder);
        first.part("a", |_| Ok(Done::Whole(1.0))).unwrap();
        let mut other = ledger(&folder).resumed().unwrap();
        let error = other.part("b", |_| Ok(Done::Whole(1.0))).unwrap_err().to_string();
        assert!(error.contains("at `b`: it has a there"), "{error}");
        let mut other = ledger(&folder).resumed().unwrap();
        assert!(other.part("a", |_| Ok(Done::Whole(String::new()))).is_err());
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_longer_run_begins_with_what_is_known_unless_it_has_parts_of_its_own() {
        let folder = std::env::temp_dir().join(format!("adaann-longer-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let sum = |ledger: &mut Ledger| {
            ledger.part("sum", |ledger| Ok(Done::Whole(ledger.take_up()?.unwrap_or(0) + 1)))
        };
        let begun = || ledger(&folder).resumed().unwrap();
        assert_eq!(sum(&mut begun().knowing("sum", &7).unwrap()).unwrap(), 7);
        assert_eq!(sum(&mut begun().taking_up("sum", &7).unwrap()).unwrap(), 8);
        // It has written down what it came to.
        assert_eq!(sum(&mut begun().taking_up("sum", &20).unwrap()).unwrap(), 8);
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn what_was_stopped_is_gone_on_with() {
        let folder = std::env::temp_dir().join(format!("adaann-stopped-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut first = ledger(&folder);
        let stopped = first.part("a", |ledger| {
            ledger.offer(&7_u64);
            Ok(Done::Stopped(0_u64))
        });
        assert_eq!(stopped.unwrap(), 0);
        // What follows is made of what there was, and is done again.
        assert_eq!(first.part("b", |_| Ok(Done::Whole(1_u64))).unwrap(), 1);
        first.write();
        // Taken up, and stopped again before there is a later state: it is not lost.
        let mut again = ledger(&folder).resumed().unwrap();
        let stopped =
            again.part("a", |ledger| Ok(Done::Stopped(ledger.take_up::<u64>()?.unwrap())));
        assert_eq!(stopped.unwrap(), 7);
        again.write();
        let mut again = ledger(&folder).resumed().unwrap();
        let whole = again.part("a", |ledger| Ok(Done::Whole(ledger.take_up::<u64>()?.unwrap())));
        assert_eq!(whole.unwrap(), 7);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
