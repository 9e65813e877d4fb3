//! Pools of threads, and what their threads live within.

use crate::{Error, Result, visible};
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::{env, io, sync::OnceLock, thread};

/// Threads that are started at most; more is surely a slip, and systems refuse it in ways that are hard to read.
pub const MOST_THREADS: usize = 1_024;

/// What says how many threads there are where nobody asks for a number: Rayon reads these, in this order.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// How many threads are asked for, 0 for what the environment or else the machine has.
///
/// # Errors
/// If they are more than [`MOST_THREADS`], or the environment asks for more or for no number.
pub fn threads(asked: usize) -> Result<usize> {
    for name in VARIABLES {
        let Ok(value) = env::var(name) else { continue };
        let is_given = !value.trim().is_empty();
        if is_given && !value.trim().parse().is_ok_and(|threads: usize| threads <= MOST_THREADS) {
            return Err(out_of_bounds(name, visible::line(&value)));
        }
    }
    bounded("threads", asked)
}

/// A number of threads that something of this name asks for.
///
/// # Errors
/// If they are more than [`MOST_THREADS`].
pub fn bounded(name: &'static str, threads: usize) -> Result<usize> {
    match threads <= MOST_THREADS {
        true => Ok(threads),
        false => Err(out_of_bounds(name, threads.to_string())),
    }
}

fn out_of_bounds(setting: &'static str, value: String) -> Error {
    let range = format!("a whole number from 0 to {MOST_THREADS}");
    Error::Setting { setting, value, range }
}

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
/// Those of [`threads`], or if they cannot be started.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    pool_with(threads, 0)
}

/// The same with some threads more, which wait for others and compute nothing.
///
/// # Errors
/// Those of [`pool`].
pub fn pool_with(asked: usize, waiting: usize) -> Result<ThreadPool> {
    let mut all = threads(asked)?;
    if waiting > 0 {
        all += waiting;
    }
    let builder = ThreadPoolBuilder::new().num_threads(all);
    let pool = match WITHIN.get() {
        Some(within) => builder.spawn_handler(|thread| spawn(thread, *within)).build(),
        None => builder.build(),
    };
    pool.map_err(|error| Error::Threads(error.to_string()))
}

fn spawn(thread: ThreadBuilder, within: fn(Life)) -> io::Result<()> {
    thread::Builder::new().spawn(move || within(Box::new(|| thread.run()))).map(drop)
}
