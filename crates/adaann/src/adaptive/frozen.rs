//! Fresh draws of a proposal that no longer changes: what is reported comes from them alone.

use super::{Rules, rules::POOR};
use crate::{
    Error, Result,
    approximation::Approximation,
    checkpoint::{Done, Ledger},
    importance::Sample,
};

/// Draws after which it is seen whether the proposal is as good as was thought.
pub(super) const FIRST: usize = 2_000;

/// Draws that are taken whatever is left to be spent.
const FEWEST: usize = 200;

/// Less than this share of what was foreseen is a disappointment.
pub(super) const DISAPPOINTING: f64 = 0.5;

/// How often more draws are added.
const MORE: usize = 4;

/// Draws until they are worth what is asked for, or as many as are allowed; no more than a first look if
/// that disappoints.
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
    // What draws take is known by other points: of those that the time allows for, half come first.
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
        // A little more than foreseen: the share is known by chance.
        let total = (1.05 * rules.target_ess / share).min(most as f64) as usize;
        let more = total.saturating_sub(count).max(100);
        sample = match sampled(count, more.min(rules.budget.after(count).at_least(100)), ledger) {
            Err(Error::OutOfTime) => break,
            found => sample.join(&found?)?,
        };
    }
    Ok(sample)
}

/// So many draws from number `from` on.
pub(super) fn more(
    approximation: &Approximation,
    from: usize,
    count: usize,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Sample> {
    ledger.part("draws", |_| approximation.sample_from(from, count, seed).map(Done::Whole))
}
