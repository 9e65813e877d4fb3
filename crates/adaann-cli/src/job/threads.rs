//! The threads that a run works in.

use crate::ranks;
use anyhow::{Context, Result};
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::{io, sync::OnceLock, thread};

/// What a thread does for as long as it lives.
pub(crate) type Life = Box<dyn FnOnce() + Send>;

/// What each thread is begun within; another language may want to know its threads.
static WITHIN: OnceLock<fn(Life)> = OnceLock::new();

/// Has every thread live within this function from now on; the first one stays.
pub(crate) fn live_within(within: fn(Life)) {
    let _ = WITHIN.set(within);
}

/// The threads of a run whose target may be shared out: one more for each piece that is elsewhere.
pub(crate) fn pool_of_run(threads: usize) -> Result<ThreadPool> {
    pool(ranks::threads_of_run(threads))
}

/// So many threads, or one for each core.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    let threads = ranks::threads(threads);
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let pool = match WITHIN.get() {
        Some(within) => builder.spawn_handler(|thread| spawn(thread, *within)).build(),
        None => builder.build(),
    };
    pool.with_context(|| format!("cannot start {threads} threads"))
}

fn spawn(thread: ThreadBuilder, within: fn(Life)) -> io::Result<()> {
    thread::Builder::new().spawn(move || within(Box::new(|| thread.run()))).map(drop)
}
