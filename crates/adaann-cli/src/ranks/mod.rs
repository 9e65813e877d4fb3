//! The other processes of a job, and the messages to them.
//!
//! Rank 0 runs the command. Evaluations of its targets are shared: pieces of batches go to idle threads of this
//! process and of the other ranks. Whole trials go to other ranks as [`Question`]s.
//!
//! Every target that a command creates is described to the ranks, which rebuild it from texts and numbers,
//! without files, and is shared (`adaann::ranks::Shared`). Whole trials are requests that serde writes as it
//! writes checkpoints, bit by bit. A batch is split by its length alone, and its pieces are reassembled by
//! index. A run that shares its target has one waiting thread for each piece that may be on another rank, so
//! that all work at rank 0 is split and summed in the same way for any number of threads. This is why the
//! number of ranks does not change a bit.

mod question;

pub(crate) use question::{Described, KeptHere, Question, Told};

use adaann::{
    checkpoint::{Ledger, from_bytes, to_bytes},
    ranks::{Answering, Queue, Shared, subject_of},
    target::Target,
    tasks::{self, fingerprint},
};
use anyhow::{Result, bail};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
};

/// The first byte of a [`Question`]; evaluations begin with another byte.
pub(crate) const QUESTION: u8 = 2;

/// Maximum number of threads of a run that shares its target; most of the time each waits for a piece.
const MOST_WAITING: usize = 512;

/// The ranks of this job, seen from rank 0.
pub(crate) struct Ranks {
    queue: Arc<Queue>,
    /// Threads of this process.
    threads: usize,
    /// Number of questions that the other ranks answer at a time.
    seats: usize,
    /// Has the run stopped waiting for answers?
    is_over: fn() -> bool,
    /// The shared targets, by their numbers.
    targets: Mutex<BTreeMap<u64, Arc<Answering>>>,
    /// The answering threads of this process, started with the first target.
    own: OnceLock<()>,
}

static RANKS: OnceLock<Ranks> = OnceLock::new();

/// Makes this process rank 0 of several. Only the first call has an effect.
pub(crate) fn begin(queue: Arc<Queue>, threads: usize, seats: usize, is_over: fn() -> bool) {
    let (targets, own) = (Mutex::default(), OnceLock::new());
    let _ = RANKS.set(Ranks { queue, threads, seats, is_over, targets, own });
}

/// The ranks, if there are several.
pub(crate) fn get() -> Option<&'static Ranks> {
    RANKS.get()
}

/// The number of threads for this process, if `asked` are requested; 0 for the default.
pub(crate) fn threads(asked: usize) -> usize {
    match (asked, get()) {
        (0, Some(ranks)) => ranks.threads,
        (asked, _) => asked,
    }
}

/// The number of additional threads of a run that shares its target: one for each remote piece.
pub(crate) fn threads_that_wait() -> usize {
    get().map_or(0, |ranks| ranks.seats.min(MOST_WAITING))
}

/// Shares a target if there are other ranks; returns it with its number in messages to ranks.
pub(crate) fn share(
    target: Box<dyn Target>,
    describe: impl FnOnce() -> Described,
) -> (Box<dyn Target>, Option<u64>) {
    match get() {
        Some(ranks) => ranks.share(target, &describe()),
        None => (target, None),
    }
}

/// A ledger that accepts no more entries once a rank has failed.
pub(crate) fn until_failure(ledger: Ledger) -> Ledger {
    match get() {
        Some(ranks) => ledger.until(ranks.queue.failed()),
        None => ledger,
    }
}

/// Why a rank has failed, if one has.
pub(crate) fn failure() -> Option<&'static str> {
    get()?.queue.failure()
}

/// Refuses results from after the failure of a rank; earlier checkpoints are kept.
pub(crate) fn check(out: &Path) -> Result<()> {
    match failure() {
        Some(why) if out.join("state").exists() => {
            let out = out.display();
            bail!("{why}; resume from the last checkpoint with `adaann resume {out}`")
        }
        Some(why) => bail!("{why}; there was no checkpoint yet"),
        None => Ok(()),
    }
}

impl Ranks {
    fn targets(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Answering>>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of questions that the other ranks answer at a time.
    pub(crate) fn seats(&self) -> usize {
        self.seats
    }

    /// Sends the other ranks the description of a target, and returns its number.
    pub(crate) fn tell(&self, described: &Described) -> u64 {
        let bytes = to_bytes(described).expect("texts and numbers serialise");
        let number = fingerprint(&bytes);
        let told = Told { number, described: described.clone() };
        self.queue.announce(to_bytes(&told).expect("texts and numbers serialise"));
        number
    }

    fn share(
        &'static self,
        target: Box<dyn Target>,
        described: &Described,
    ) -> (Box<dyn Target>, Option<u64>) {
        let target: Arc<dyn Target> = target.into();
        let number = self.tell(described);
        self.targets().entry(number).or_insert_with(|| Arc::new(Answering::new(target.clone())));
        self.own.get_or_init(|| self.answer_here());
        let shared = Shared::new(target, self.queue.clone(), number).until(self.is_over);
        (Box::new(shared), Some(number))
    }

    /// Starts answering questions about targets in this process, as other ranks do in theirs.
    fn answer_here(&'static self) {
        // Without threads here, the other ranks do all the work.
        let Ok(pool) = tasks::pool(self.threads) else { return };
        let pool = Arc::new(pool);
        for _ in 0..self.threads {
            let pool = pool.clone();
            let answer = move || {
                while let Some(request) = self.queue.wait_for_request() {
                    let found = pool.install(|| self.answer(request.question()));
                    request.answer(found.map_err(|why| format!("rank 0: {why}")));
                }
            };
            let _ = thread::Builder::new().name("rank 0".into()).spawn(answer);
        }
    }

    fn answer(&self, question: &[u8]) -> Result<Vec<u8>, String> {
        let number = subject_of(question).ok_or("the question names no target")?;
        let target = self.targets().get(&number).cloned();
        target.ok_or("the question names an unknown target")?.answer(question)
    }

    /// Requests longer work, and passes on the notes that arrive before its result.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        question: &Question,
        note: impl FnMut(&[u8]),
    ) -> adaann::Result<T> {
        let bytes = [&[QUESTION][..], &to_bytes(question)?].concat();
        from_bytes(&self.queue.ask_elsewhere(bytes, note)?)
    }
}
