//! Decides when a checkpoint is due, and handles checkpoints that cannot be written.

use super::{
    header::Header,
    store::{Store, Written},
    value::Value,
};
use crate::Error;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Writes checkpoints of a run at intervals.
///
/// Time is measured by a monotonic clock, and only the run's own work counts: an interval begins when a
/// checkpoint is done. A checkpoint that cannot be written does not stop a run: the first such error is
/// reported, and the next interval tries again.
///
/// ```
/// use adaann::checkpoint::{Fingerprint, Header, Keeper, Store};
/// use std::time::Duration;
///
/// let folder = std::env::temp_dir().join(format!("adaann-keeper-{}", std::process::id()));
/// let mut keeper = Keeper::new(Store::open(&folder)?, Duration::from_secs(60));
/// let header = Header::new("avx2", Fingerprint::new());
/// let mut state = vec![0.0; 100];
/// for update in 0..1000 {
///     state[update % 100] += 1.0;
///     if update == 500 {
///         keeper.request(); // someone wants to stop, say
///     }
///     if keeper.is_due() && let Some(warning) = keeper.write(&header, &state) {
///         eprintln!("{warning}");
///     }
/// }
/// assert_eq!(keeper.cost().written, 1);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug)]
pub struct Keeper {
    /// None: no checkpoint is ever due.
    store: Option<Store>,
    interval: Duration,
    /// The start of the current interval.
    since: Instant,
    is_requested: bool,
    has_warned: bool,
    cost: Cost,
}

/// The cost of the checkpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Checkpoints that were written.
    pub written: usize,
    /// Checkpoints that could not be written.
    pub failed: usize,
    /// The total length of their files.
    pub bytes: u64,
    /// The time that they took, including failures.
    pub time: Duration,
}

impl Keeper {
    /// Writes to a store whenever this much time has passed since the last checkpoint, or since now.
    pub fn new(store: Store, interval: Duration) -> Self {
        Self { store: Some(store), ..Self::with(interval) }
    }

    /// Never writes.
    pub fn off() -> Self {
        Self::with(Duration::MAX)
    }

    fn with(interval: Duration) -> Self {
        Self {
            store: None,
            interval,
            since: Instant::now(),
            is_requested: false,
            has_warned: false,
            cost: Cost::default(),
        }
    }

    /// Does it never write?
    pub fn is_off(&self) -> bool {
        self.store.is_none()
    }

    /// Requests a checkpoint as soon as possible, whatever the time.
    pub fn request(&mut self) {
        self.is_requested = true;
    }

    /// Is a checkpoint due?
    pub fn is_due(&self) -> bool {
        // Without a store, skip reading the clock.
        !self.is_off() && self.is_due_at(Instant::now())
    }

    /// Is one due at this moment?
    pub fn is_due_at(&self, now: Instant) -> bool {
        let worked = now.saturating_duration_since(self.since);
        !self.is_off() && (self.is_requested || worked >= self.interval)
    }

    /// Writes a checkpoint, due or not. Returns the first error of the run, to be printed as a warning;
    /// later errors are only counted.
    pub fn write<T: Serialize + ?Sized>(&mut self, header: &Header, state: &T) -> Option<Error> {
        self.write_at(Instant::now(), header, state)
    }

    /// Writes a checkpoint as if it were this moment.
    pub fn write_at<T: Serialize + ?Sized>(
        &mut self,
        now: Instant,
        header: &Header,
        state: &T,
    ) -> Option<Error> {
        self.write_by(now, |store| store.write(header, state))
    }

    /// Writes an encoded state.
    pub(super) fn write_value(&mut self, header: &Header, value: &Value<'_>) -> Option<Error> {
        self.write_by(Instant::now(), |store| store.write_value(header, value))
    }

    fn write_by(
        &mut self,
        now: Instant,
        write: impl FnOnce(&mut Store) -> crate::Result<Written>,
    ) -> Option<Error> {
        let store = self.store.as_mut()?;
        let started = Instant::now();
        let outcome = write(store);
        let took = started.elapsed();
        self.cost.time += took;
        self.since = now + took;
        self.is_requested = false;
        match outcome {
            Ok(Written { bytes, .. }) => {
                self.cost.written += 1;
                self.cost.bytes += bytes;
                None
            }
            Err(error) => {
                self.cost.failed += 1;
                (!std::mem::replace(&mut self.has_warned, true)).then_some(error)
            }
        }
    }

    /// The cost of all checkpoints so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The store to which it writes.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.store.as_mut()
    }
}
