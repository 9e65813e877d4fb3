//! The check's own search: other ascents from other draws, and a mixture of their Gaussians, adapted.

use crate::{
    Result,
    adaptive::{self, Adapted, Rules},
    flow::Base,
    mixture::Mixture,
    modes::{self, Search, Searched},
    target::Unconstrained,
};

/// What the check has found by itself.
pub(super) struct Own {
    pub(super) searched: Searched,
    /// Weighted draws, if a mixture makes good ones.
    pub(super) adapted: Option<Adapted>,
    pub(super) evaluations: usize,
}

/// Tells the check's random numbers from those of the answer.
const SEARCH_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The rules of its draws: enough to see a mode of two per cent, and a tenth in log Z.
fn rules(dim: usize) -> Rules {
    Rules {
        draws: 400 + 20 * dim,
        enough: 0.5,
        most_rounds: 8,
        attempts: 3,
        target_ess: 800.0,
        most_draws: 8_000,
        exactly: None,
    }
}

/// Searches from draws of the base.
pub(super) fn search(target: &Unconstrained, base: &Base, seed: u64) -> Result<Own> {
    let seed = seed ^ SEARCH_SEED;
    let searched = modes::search(target, base, &Search::new(target.dim()), seed)?;
    let start = Mixture::of(&searched.components()).filter(|_| !searched.is_endless);
    let adapted = match start {
        Some(start) => Some(adaptive::run(target.target(), start, &rules(target.dim()), seed)?),
        None => None,
    };
    let draws = adapted.as_ref().map_or(0, |adapted| adapted.evaluations);
    let evaluations = searched.evaluations + draws;
    let is_enough = |adapted: &Adapted| {
        adapted.is_good || adapted.ess_share * adapted.sample.len() as f64 > FEWEST
    };
    Ok(Own { searched, adapted: adapted.filter(is_enough), evaluations })
}

/// Draws of the target that the check's own must be worth to say anything.
const FEWEST: f64 = 150.0;
