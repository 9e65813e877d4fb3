//! Fresh draws of a proposal that no longer changes: all reported numbers come from them.

use super::{Rules, rules::POOR};
use crate::{
    Error, Result,
    approximation::Approximation,
    checkpoint::{Done, Ledger},
    importance::Sample,
};

/// The number of draws after which the proposal is compared with its forecast.
pub(super) const FIRST: usize = 2_000;

/// The least number of draws, whatever the budget.
const FEWEST: usize = 200;

/// A trial disappoints if its effective share is less than this share of the forecast.
pub(super) const DISAPPOINTING: f64 = 0.5;

/// The most additions of draws.
const MORE: usize = 4;

/// Takes draws until they reach the required effective sample size or the most draws allowed. If the
/// first draws disappoint, there are no more.
pub(super) fn draw(
    approximation: &Approximation,
    foreseen: f64,
    rules: &Rules,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Sample> {
    let sampled = |from: usize, count: usize, ledger: &mut Ledger| {
        more(approximation, from, count, seed, ledger)
    };
    let most = rules.budget.at_least(FEWEST);
    if let Some(count) = rules.exactly {
        return sampled(0, count.min(most), ledger);
    }
    let most = rules.most_draws.min(most);
    // The first draws show how long a draw takes: they are at most half of the draws that the time
    // allows.
    let is_timed = rules.budget.deadline().is_some();
    let first = if is_timed { most.div_ceil(2) } else { most };
    let mut sample = sampled(0, FIRST.min(first), ledger)?;
    for _ in 0..MORE {
        let (ess, count) = (sample.weight_sums()?.ess(), sample.len());
        let share = ess / count as f64;
        let disappoints = share < DISAPPOINTING * foreseen || share < POOR;
        if ledger.is_asked_to_end()
            || ess >= rules.target_ess
            || count >= most
            || disappoints
            || rules.budget.is_spent(count)
        {
            break;
        }
        // A little more than forecast, because the share is an estimate.
        let total = (1.05 * rules.target_ess / share).min(most as f64) as usize;
        let more = total.saturating_sub(count).max(100);
        sample = match sampled(count, more.min(rules.budget.after(count).at_least(100)), ledger) {
            Err(Error::OutOfTime) => break,
            found => sample.join(&found?)?,
        };
    }
    Ok(sample)
}

/// Takes `count` draws, starting with number `from`.
pub(super) fn more(
    approximation: &Approximation,
    from: usize,
    count: usize,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Sample> {
    ledger.part("draws", |_| approximation.sample_from(from, count, seed).map(Done::Whole))
}
