//! Many runs on one machine: a crew of threads, a journal of what is done, a lock on their folder.
//!
//! Tasks are known by their index, and so is everything that comes of them: neither the number of
//! threads nor the order in which tasks end changes a result.
//!
//! ```
//! use adaann::{Error, crew::Crew};
//!
//! let squares = Crew::sharing(4, 10).run(10, |i| i * i, |_, square| square.map(Some))?;
//! assert_eq!(squares[3], (3, 9));
//! # Ok::<(), Error>(())
//! ```

mod fingerprint;
mod journal;
mod lock;
#[cfg(test)]
mod tests;
mod threads;

pub use fingerprint::fingerprint;
pub use journal::{Format, Journal};
pub use lock::Lock;
pub use threads::{Life, MOST_THREADS, bounded, live_within, pool, pool_with, threads};

use crate::{Error, Result};
use rayon::ThreadPool;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread,
};

/// Others who do tasks of a crew, such as processes on other machines.
pub trait Elsewhere<T>: Sync {
    /// How many tasks they do at a time.
    fn seats(&self) -> usize;

    /// Does a task, and comes back when it is done.
    ///
    /// # Errors
    /// If it came to nothing there.
    fn run(&self, task: usize) -> Result<T>;
}

/// Workers that take one task after another, each with a thread pool of its own.
#[derive(Debug, Clone)]
pub struct Crew<'a> {
    workers: usize,
    /// Threads of each worker.
    threads: usize,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Crew<'a> {
    /// Shares `threads` out among at most so many `tasks` at a time: each task has one thread if
    /// there are at least as many tasks, and an equal share of them all otherwise.
    pub fn sharing(threads: usize, tasks: usize) -> Self {
        let workers = threads.min(tasks).max(1);
        Self { workers, threads: (threads / workers).max(1), stop: None }
    }

    /// One thread for each task, however few there are: processor time can then be measured.
    pub fn of_single_threads(threads: usize, tasks: usize) -> Self {
        Self { threads: 1, ..Self::sharing(threads, tasks) }
    }

    /// Once this flag is raised, no further task is begun. Those under way are asked by whoever
    /// watches them.
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Does the tasks 0 to `count` − 1, and gives what was kept of them in the order of the tasks.
    ///
    /// `keep` is called on the calling thread as tasks end, with [`Error::Panicked`] for one that
    /// panicked: the others go on. None leaves a task out of the results. An error from `keep` ends
    /// the work: no further task is begun, and what ends later is dropped.
    ///
    /// # Errors
    /// The first error of `keep`; if threads cannot be started.
    pub fn run<T: Send, R, E: From<Error>>(
        &self,
        count: usize,
        task: impl Fn(usize) -> T + Sync,
        keep: impl FnMut(usize, Result<T>) -> Result<Option<R>, E>,
    ) -> Result<Vec<(usize, R)>, E> {
        self.run_with(count, task, None, keep)
    }

    /// The same with others who take tasks as they become free.
    ///
    /// # Errors
    /// As [`Crew::run`].
    pub fn run_with<T: Send, R, E: From<Error>>(
        &self,
        count: usize,
        task: impl Fn(usize) -> T + Sync,
        elsewhere: Option<&dyn Elsewhere<T>>,
        mut keep: impl FnMut(usize, Result<T>) -> Result<Option<R>, E>,
    ) -> Result<Vec<(usize, R)>, E> {
        // Pools of their own: a worker of one pool that waits would begin another task in the
        // meantime, and another.
        let pools =
            (0..self.workers.min(count)).map(|_| pool(self.threads)).collect::<Result<Vec<_>>>()?;
        let (next, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
        let take = || {
            let is_over = halt.load(Ordering::Relaxed)
                || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| !is_over && i < count)
        };
        let here = |pool: &ThreadPool, i: usize| {
            let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| task(i))));
            outcome.map_err(|panic| Error::Panicked(message(&*panic)))
        };
        // Whoever waits for a task elsewhere is a thread as well, though an idle one.
        let others = elsewhere.map_or(0, |elsewhere| elsewhere.seats().min(count));
        let seats = pools.into_iter().map(Some).chain((0..others).map(|_| None));
        let work = |pool: Option<ThreadPool>, ended: Sender<(usize, Result<T>)>| {
            while let Some(i) = take() {
                let outcome = match (&pool, elsewhere) {
                    (Some(pool), _) => here(pool, i),
                    (None, Some(elsewhere)) => elsewhere.run(i),
                    (None, None) => break,
                };
                // Nobody listens any more once something has failed.
                if ended.send((i, outcome)).is_err() {
                    break;
                }
            }
        };
        let mut kept = thread::scope(|scope| {
            let (send, ended) = mpsc::channel();
            for pool in seats {
                let (work, send) = (&work, send.clone());
                let started = thread::Builder::new().spawn_scoped(scope, move || work(pool, send));
                if let Err(error) = started {
                    halt.store(true, Ordering::Relaxed);
                    return Err(Error::Threads(error.to_string()).into());
                }
            }
            drop(send);
            let mut kept = Vec::new();
            for (i, outcome) in ended {
                match keep(i, outcome) {
                    Ok(result) => kept.extend(result.map(|result| (i, result))),
                    Err(error) => {
                        halt.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
            Ok(kept)
        })?;
        kept.sort_by_key(|(i, _)| *i);
        Ok(kept)
    }
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
