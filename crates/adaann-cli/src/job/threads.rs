//! The threads that a run works in.

use crate::ranks;
use adaann::crew;
use anyhow::Result;
use rayon::ThreadPool;

/// The threads of a run whose target may be shared out: one more for each piece that is elsewhere.
pub(crate) fn pool_of_run(threads: usize) -> Result<ThreadPool> {
    pool(ranks::threads_of_run(threads))
}

/// So many threads, or one for each core.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(crew::pool(ranks::threads(threads))?)
}
