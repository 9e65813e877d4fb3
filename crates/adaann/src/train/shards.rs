//! How the points of an update are cut into shards, so that threads never change a result.
//!
//! A batch is cut by its length alone. Each shard has sums of its own; they are added in the order of
//! the shards, whoever computed them.

use crate::{Result, pieces, simd::Buffer};
use rayon::prelude::*;
use std::cell::Cell;

/// First points and lengths of `count` shards. Random numbers come in groups of 16 points, so each
/// begins with one.
pub(super) fn cuts(points: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    let start = move |i: usize| if i == count { points } else { i * points / count / 16 * 16 };
    (0..count).map(move |i| (start(i), start(i + 1) - start(i)))
}

/// Fewer points than this are never worth a thread of their own.
const SMALLEST_SHARD: usize = 48;

/// Up to eight shards for a batch that fits the caches, more for a huge one; two where a batch can be
/// halved at all, whatever the flow would like. A power of two, which most numbers of threads share
/// evenly.
pub(super) fn shard_count(points: usize, smallest: usize) -> usize {
    let wanted = (points / smallest).max((points / SMALLEST_SHARD).min(2));
    let most = wanted.min((points / 512).max(8)).clamp(1, 64);
    1 << most.ilog2()
}

/// Runs every shard: on the threads of the pool that this is called in, or here if it has one.
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
    /// The tape, which nothing reads beyond its tile: one for all shards that a thread handles keeps
    /// the second-level cache for the sums. It is taken and put back, since a target may run other
    /// shards on this thread while it waits for its own.
    static TAPE: Cell<Buffer> = Cell::default();
}

/// Hands a tape of this length to `work`.
pub(super) fn with_tape<T>(len: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
    let mut tape = TAPE.take();
    tape.reserve(len);
    let made = work(&mut tape);
    TAPE.set(tape);
    made
}
