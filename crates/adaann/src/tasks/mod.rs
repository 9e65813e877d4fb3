//! Many runs on one machine: a pool of workers, a journal of finished tasks, a lock on their
//! folder.
//!
//! Tasks are identified by their index, and so are their results: neither the number of threads nor
//! the order in which tasks end changes a result.
//!
//! ```
//! use adaann::{Error, tasks::Workers};
//!
//! let squares = Workers::sharing(4, 10).run(10, |i| i * i, |_, square| square.map(Some))?;
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
pub use threads::{
    Life, MOST_THREADS, bounded, live_within, pool, pool_with, threads, threads_at_work,
};

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

/// Workers elsewhere, such as processes on other machines.
pub trait Elsewhere<T>: Sync {
    /// The number of tasks they run at a time.
    fn seats(&self) -> usize;

    /// Runs a task, and returns when it is done.
    ///
    /// # Errors
    /// If the task failed there.
    fn run(&self, task: usize) -> Result<T>;
}

/// Workers that take one task after another, each with its own thread pool.
#[derive(Debug, Clone)]
pub struct Workers<'a> {
    workers: usize,
    /// Threads of each worker.
    threads: usize,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Workers<'a> {
    /// Shares `threads` out among at most `tasks` tasks at a time: each task has one thread if
    /// there are at least as many tasks as threads, and an equal share of the threads otherwise.
    pub fn sharing(threads: usize, tasks: usize) -> Self {
        let workers = threads.min(tasks).max(1);
        Self { workers, threads: (threads / workers).max(1), stop: None }
    }

    /// One thread for each task, so that processor time can be measured.
    pub fn of_single_threads(threads: usize, tasks: usize) -> Self {
        Self { threads: 1, ..Self::sharing(threads, tasks) }
    }

    /// Once this flag is raised, no further task begins. The caller must stop running tasks itself.
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Runs the tasks 0 to `count` − 1, and returns the kept results in the order of the tasks.
    ///
    /// `keep` is called on the calling thread as tasks end, with [`Error::Panicked`] for a task
    /// that panicked; the others continue. `None` drops the task from the results. An error from
    /// `keep` ends the work: no further task begins, and results that arrive later are dropped.
    ///
    /// # Errors
    /// The first error of `keep`; or if threads cannot be started.
    pub fn run<T: Send, R, E: From<Error>>(
        &self,
        count: usize,
        task: impl Fn(usize) -> T + Sync,
        keep: impl FnMut(usize, Result<T>) -> Result<Option<R>, E>,
    ) -> Result<Vec<(usize, R)>, E> {
        self.run_with(count, task, None, keep)
    }

    /// Like [`Workers::run`], with workers elsewhere that also take tasks.
    ///
    /// # Errors
    /// As [`Workers::run`].
    pub fn run_with<T: Send, R, E: From<Error>>(
        &self,
        count: usize,
        task: impl Fn(usize) -> T + Sync,
        elsewhere: Option<&dyn Elsewhere<T>>,
        mut keep: impl FnMut(usize, Result<T>) -> Result<Option<R>, E>,
    ) -> Result<Vec<(usize, R)>, E> {
        // Each worker has its own pool: a waiting worker in a shared pool would begin another task,
        // and so on.
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
        // Each seat elsewhere needs a thread that waits for its task.
        let others = elsewhere.map_or(0, |elsewhere| elsewhere.seats().min(count));
        let seats = pools.into_iter().map(Some).chain((0..others).map(|_| None));
        let work = |pool: Option<ThreadPool>, ended: Sender<(usize, Result<T>)>| {
            while let Some(i) = take() {
                let outcome = match (&pool, elsewhere) {
                    (Some(pool), _) => here(pool, i),
                    (None, Some(elsewhere)) => elsewhere.run(i),
                    (None, None) => break,
                };
                // After a failure the receiver is gone.
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

/// The message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
