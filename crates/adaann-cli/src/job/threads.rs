//! The threads of a run.

use crate::ranks;
use adaann::tasks;
use anyhow::Result;
use rayon::ThreadPool;

/// Refuses too many threads before any work, whether set by a flag or a variable.
pub(crate) fn check(threads: usize) -> Result<()> {
    Ok(tasks::threads(threads).map(drop)?)
}

/// The threads of a run whose target may be shared among ranks: one more for each remote piece.
pub(crate) fn pool_of_run(threads: usize) -> Result<ThreadPool> {
    Ok(tasks::pool_with(ranks::threads(threads), ranks::threads_that_wait())?)
}

/// A pool of this many threads; 0 for one per core.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(tasks::pool(ranks::threads(threads))?)
}
