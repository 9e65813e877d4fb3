//! The check's own search: other ascents from other draws, and an adapted mixture of their Gaussians.

use crate::{
    Result,
    adaptive::{self, Adapted, Rules},
    budget::Budget,
    checkpoint::Ledger,
    flow::Base,
    importance::Sample,
    modes::{self, Search, Searched},
    target::Unconstrained,
};

/// The results of the check's own search.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Own {
    pub(super) searched: Searched,
    /// Weighted draws, if a mixture gives good ones.
    pub(super) adapted: Option<Adapted>,
    pub(super) evaluations: usize,
}

/// Separates the check's random numbers from those of the answer.
const SEARCH_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Separates the draws used to build a start from the draws made from it.
const STARTS_SEED: u64 = 0x1f83_d9ab_fb41_bd6b;

/// The rules of its draws: enough to see a mode of two per cent, and a difference of 0.1 in log Z.
fn rules(dim: usize) -> Rules {
    Rules {
        draws: 400 + 20 * dim,
        enough: 0.5,
        most_rounds: 8,
        attempts: 3,
        target_ess: 600.0,
        most_draws: 8_000,
        exactly: None,
        budget: Budget::default(),
    }
}

/// The rules when the base is the only start: adaptation takes longer.
fn rules_without_peaks(dim: usize) -> Rules {
    let Rules { draws, most_rounds, .. } = Rules::new(dim);
    Rules { draws, most_rounds, ..rules(dim) }
}

/// The limits of the check's own search.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Multiplies the evaluations that follow from the target's cost.
    pub(super) factor: f64,
    pub(super) budget: Budget,
    pub(super) at_once: usize,
}

/// How many of the draws with the largest weights ascents start from: where p is far above q, q lacks
/// mass.
const HEAVIEST: usize = 24;

/// The draws with the largest weights.
pub(super) fn heaviest(sample: &Sample) -> Vec<Vec<f64>> {
    let log_weights = sample.log_weights();
    let mut order: Vec<usize> = (0..sample.len()).filter(|&i| log_weights[i].is_finite()).collect();
    order.sort_by(|&a, &b| log_weights[b].total_cmp(&log_weights[a]).then(a.cmp(&b)));
    order.into_iter().take(HEAVIEST).map(|i| sample.z().point(i)).collect()
}

/// Searches from draws of the base, and from known points.
pub(super) fn search(
    target: &Unconstrained,
    base: &Base,
    seed: u64,
    known: modes::Known,
    effort: Effort,
    ledger: &mut Ledger,
) -> Result<Own> {
    let seed = seed ^ SEARCH_SEED;
    let Effort { factor, budget, at_once } = effort;
    let search =
        Search::new(target.dim()).with_effort(target, factor).at_once(at_once).within(budget);
    let searched = modes::search_with(target, base, &search, seed, known, ledger)?;
    let dim = target.dim();
    let rules = if searched.is_endless || searched.summits.is_empty() {
        rules_without_peaks(dim)
    } else {
        rules(dim)
    };
    let rules = Rules { draws: rules.draws.max(at_once), ..rules };
    let mut evaluations = searched.evaluations;
    let mut found = None;
    for start in adaptive::starts(&searched, base, seed ^ STARTS_SEED) {
        if budget.is_spent(evaluations) {
            break;
        }
        let rules = Rules { budget: budget.after(evaluations), ..rules };
        let adapted = adaptive::run(target.target(), start, &rules, seed, ledger)?;
        evaluations += adapted.evaluations;
        if adapted.is_good || adapted.ess_share * adapted.sample.len() as f64 > FEWEST {
            found = Some(adapted);
            break;
        }
    }
    Ok(Own { searched, adapted: found, evaluations })
}

/// The least effective sample size with which the check's own draws count.
const FEWEST: f64 = 150.0;
