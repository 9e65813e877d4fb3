//! Pools of threads, and what their threads live within.

use crate::{Error, Result};
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::{io, sync::OnceLock, thread};

/// What a thread does for as long as it lives.
pub type Life = Box<dyn FnOnce() + Send>;

static WITHIN: OnceLock<fn(Life)> = OnceLock::new();

/// Has every thread of [`pool`] and of a [`Crew`](crate::crew::Crew) live within this function from now on, which
/// calls what it is given. The first such function stays.
///
/// It is for programs that embed the library and have to know its threads: an interpreter that a target calls, for
/// one, has a state for each of them.
pub fn live_within(within: fn(Life)) {
    let _ = WITHIN.set(within);
}

/// A pool of so many threads, or of one for each core if that is 0.
///
/// ```
/// let sum: f64 = adaann::crew::pool(2)?.install(|| (0..4).map(f64::from).sum());
/// assert_eq!(sum, 6.0);
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// If they cannot be started.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let pool = match WITHIN.get() {
        Some(within) => builder.spawn_handler(|thread| spawn(thread, *within)).build(),
        None => builder.build(),
    };
    pool.map_err(|error| Error::Threads(error.to_string()))
}

fn spawn(thread: ThreadBuilder, within: fn(Life)) -> io::Result<()> {
    thread::Builder::new().spawn(move || within(Box::new(|| thread.run()))).map(drop)
}
