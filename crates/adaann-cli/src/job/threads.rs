//! The threads that a run works in.

use crate::ranks;
use adaann::crew;
use anyhow::Result;
use rayon::ThreadPool;

/// Refuses more threads than are started, before any work is done, whoever asks for them.
pub(crate) fn check(threads: usize) -> Result<()> {
    Ok(crew::threads(threads).map(drop)?)
}

/// The threads of a run whose target may be shared out: one more for each piece that is elsewhere.
pub(crate) fn pool_of_run(threads: usize) -> Result<ThreadPool> {
    Ok(crew::pool_with(ranks::threads(threads), ranks::threads_that_wait())?)
}

/// So many threads, or one for each core.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(crew::pool(ranks::threads(threads))?)
}
