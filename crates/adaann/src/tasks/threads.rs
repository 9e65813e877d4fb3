//! Pools of threads, and the function in which their threads run.

use crate::{Error, Result, visible};
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::{cell::Cell, env, io, sync::OnceLock, thread};

/// The most threads; a larger value is surely a mistake, and systems refuse it with obscure errors.
pub const MOST_THREADS: usize = 1_024;

/// The environment variables for the number of threads: Rayon reads them in this order.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// The requested number of threads; 0 for the number in the environment, or else that of the machine.
///
/// # Errors
/// If the number exceeds [`MOST_THREADS`], or the environment's value exceeds it or is not a number.
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

/// Checks a number of threads for the setting with this name.
///
/// # Errors
/// If the number exceeds [`MOST_THREADS`].
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

/// The main function of a thread.
pub type Life = Box<dyn FnOnce() + Send>;

static WITHIN: OnceLock<fn(Life)> = OnceLock::new();

/// From now on, runs every thread of [`pool`] and of a [`Workers`](crate::tasks::Workers) inside this function, which
/// must call its argument. Only the first call has an effect.
///
/// This is for programs that embed the library and need to know its threads. For example, an interpreter called by
/// a target keeps a state for each thread.
pub fn live_within(within: fn(Life)) {
    let _ = WITHIN.set(within);
}

/// A pool with this number of threads, or one for each core if it is 0.
///
/// ```
/// let sum: f64 = adaann::tasks::pool(2)?.install(|| (0..4).map(f64::from).sum());
/// assert_eq!(sum, 6.0);
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// Those of [`threads`], or if they cannot be started.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    pool_with(threads, 0)
}

/// Like [`pool`], with additional threads that only wait and compute nothing.
///
/// # Errors
/// Those of [`pool`].
pub fn pool_with(asked: usize, waiting: usize) -> Result<ThreadPool> {
    let mut all = threads(asked)?;
    if waiting > 0 {
        all += waiting;
    }
    let builder = ThreadPoolBuilder::new().num_threads(all);
    let builder = builder.start_handler(move |_| WAITING.set(waiting));
    let pool = match WITHIN.get() {
        Some(within) => builder.spawn_handler(|thread| spawn(thread, *within)).build(),
        None => builder.build(),
    };
    pool.map_err(|error| Error::Threads(error.to_string()))
}

thread_local! {
    /// How many threads of this thread's pool only wait.
    static WAITING: Cell<usize> = const { Cell::new(0) };
}

/// The number of threads of the current pool, without those that only wait.
pub fn threads_at_work() -> usize {
    rayon::current_num_threads().saturating_sub(WAITING.get()).max(1)
}

fn spawn(thread: ThreadBuilder, within: fn(Life)) -> io::Result<()> {
    thread::Builder::new().spawn(move || within(Box::new(|| thread.run()))).map(drop)
}
