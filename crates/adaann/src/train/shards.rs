//! Splits the points of an update into shards, so that threads never change a result.
//!
//! The split depends only on the batch length. Each shard has its own sums; they are added in the
//! order of the shards, regardless of the threads.

use crate::{Result, pieces, simd::Buffer};
use rayon::prelude::*;
use std::cell::Cell;

/// First points and lengths of `count` shards. Random numbers come in groups of 16 points, and each
/// shard begins with a whole group.
pub(super) fn cuts(points: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    let start = move |i: usize| if i == count { points } else { i * points / count / 16 * 16 };
    (0..count).map(move |i| (start(i), start(i + 1) - start(i)))
}

/// Smaller shards are never worth a thread.
const SMALLEST_SHARD: usize = 48;

/// Number of shards: up to eight for a batch that fits into the caches, more for a huge one, and at
/// least two if a batch can be halved, regardless of the flow's preference. It is a power of two,
/// which most thread counts divide evenly.
pub(super) fn shard_count(points: usize, smallest: usize) -> usize {
    let wanted = (points / smallest).max((points / SMALLEST_SHARD).min(2));
    let most = wanted.min((points / 512).max(8)).clamp(1, 64);
    1 << most.ilog2()
}

/// Runs every shard: on the current thread pool, or on this thread if there is only one thread or
/// shard.
pub(super) fn for_each<T: Send>(
    shards: &mut [T],
    run: impl Fn(&mut T) -> Result<()> + Sync + Send,
) -> Result<()> {
    if rayon::current_num_threads() == 1 || shards.len() == 1 {
        shards.iter_mut().try_for_each(run)
    } else {
        shards.par_iter_mut().with_max_len(1).try_for_each(run)
    }
}

/// Adds the sums of another shard.
pub(super) fn add(sums: &mut [f64], more: &[f64]) {
    pieces::zip(sums, more, |sums, more| {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum += more;
        }
    });
}

thread_local! {
    /// The tape, which is not read outside its tile. Sharing one tape among all shards of a thread
    /// leaves the second-level cache to the sums. It is taken and put back, since a target may run
    /// other shards on this thread while it waits for its own.
    static TAPE: Cell<Buffer> = Cell::default();
}

/// Passes a tape of this length to `work`.
pub(super) fn with_tape<T>(len: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
    let mut tape = TAPE.take();
    tape.reserve(len);
    let made = work(&mut tape);
    TAPE.set(tape);
    made
}
