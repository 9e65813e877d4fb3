//! The other processes of a job, if there are some: what they are told, and what they are asked.
//!
//! Rank 0 runs the command. Every target that it makes is shared out: pieces of batches go to the threads of this
//! process and to the other ranks, whoever is free. Whole trials go to the others by [`Question`]s.

mod question;

pub(crate) use question::{Described, KeptHere, Question, Told};

use adaann::{
    checkpoint::{Ledger, from_bytes, to_bytes},
    crew::{self, fingerprint},
    ranks::{Answering, Queue, Shared, subject_of},
    target::Target,
};
use anyhow::{Result, bail};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What the bytes of a [`Question`] begin with; those of evaluations begin otherwise.
pub(crate) const QUESTION: u8 = 2;

/// Threads of a run that shares its target: each waits for a piece of its own most of the time.
const MOST_WAITING: usize = 512;

/// The ranks of this job, seen from rank 0.
pub(crate) struct Ranks {
    queue: Arc<Queue>,
    /// Threads of this process.
    threads: usize,
    /// Questions that the other ranks answer at a time.
    seats: usize,
    /// Is nothing waited for any more?
    is_over: fn() -> bool,
    /// Threads of a run that only wait for others.
    waiting: AtomicUsize,
    /// The targets that were shared, by their numbers.
    targets: Mutex<BTreeMap<u64, Arc<Answering>>>,
    /// Those of this process who answer; started with the first target.
    own: OnceLock<()>,
}

static RANKS: OnceLock<Ranks> = OnceLock::new();

/// From now on this process is rank 0 of several; the first call counts.
pub(crate) fn begin(queue: Arc<Queue>, threads: usize, seats: usize, is_over: fn() -> bool) {
    let (targets, own, waiting) = (Mutex::default(), OnceLock::new(), AtomicUsize::new(0));
    let _ = RANKS.set(Ranks { queue, threads, seats, is_over, waiting, targets, own });
}

/// The ranks, if there are several.
pub(crate) fn get() -> Option<&'static Ranks> {
    RANKS.get()
}

/// Threads of this process, where so many are asked for; 0 for what there is.
pub(crate) fn threads(asked: usize) -> usize {
    match (asked, get()) {
        (0, Some(ranks)) => ranks.threads,
        (asked, _) => asked,
    }
}

/// Threads that a run which shares its target has more: one for each piece that may be elsewhere.
pub(crate) fn threads_that_wait() -> usize {
    get().map_or(0, |ranks| {
        let waiting = ranks.seats.min(MOST_WAITING);
        ranks.waiting.store(waiting, Ordering::Relaxed);
        waiting
    })
}

/// Threads of the pool that this is called in, but for those that wait for others.
pub(crate) fn threads_at_work() -> usize {
    let waiting = get().map_or(0, |ranks| ranks.waiting.load(Ordering::Relaxed));
    rayon::current_num_threads().saturating_sub(waiting).max(1)
}

/// The target of something that can be described, shared out if there are ranks, with the number that they know it by.
pub(crate) fn share(
    target: Box<dyn Target>,
    describe: impl FnOnce() -> Described,
) -> (Box<dyn Target>, Option<u64>) {
    match get() {
        Some(ranks) => ranks.share(target, &describe()),
        None => (target, None),
    }
}

/// The same list, which takes nothing more once a rank has failed.
pub(crate) fn until_failure(ledger: Ledger) -> Ledger {
    match get() {
        Some(ranks) => ledger.until(ranks.queue.failed()),
        None => ledger,
    }
}

/// Why nothing is answered any more, if a rank has failed.
pub(crate) fn failure() -> Option<&'static str> {
    get()?.queue.failure()
}

/// Refuses what was made after a rank has failed; what was finished before is kept.
pub(crate) fn check(out: &Path) -> Result<()> {
    match failure() {
        Some(why) if out.join("state").exists() => {
            let out = out.display();
            bail!("{why}; `adaann resume {out}` goes on from the last checkpoint")
        }
        Some(why) => bail!("{why}; nothing was kept yet"),
        None => Ok(()),
    }
}

impl Ranks {
    fn targets(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Answering>>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Questions that the other ranks answer at a time.
    pub(crate) fn seats(&self) -> usize {
        self.seats
    }

    /// Tells the other ranks what they are going to be asked about; gives the number that it has.
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

    /// Begins to answer questions about targets in this process, as the other ranks do in theirs.
    fn answer_here(&'static self) {
        // Without threads the others have to do it all, which is no reason to stop.
        let Ok(pool) = crew::pool(self.threads) else { return };
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
        let number = subject_of(question).ok_or("no question about a target")?;
        let target = self.targets().get(&number).cloned();
        target.ok_or("a question about another target")?.answer(question)
    }

    /// Asks for something that takes a while, of which notes are told on the way.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        question: &Question,
        note: impl FnMut(&[u8]),
    ) -> adaann::Result<T> {
        let bytes = [&[QUESTION][..], &to_bytes(question)?].concat();
        from_bytes(&self.queue.ask_elsewhere(bytes, note)?)
    }
}
