//! The check's own search: other ascents from other draws, and a mixture of their Gaussians, adapted.

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

/// What the check has found by itself.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Own {
    pub(super) searched: Searched,
    /// Weighted draws, if a mixture makes good ones.
    pub(super) adapted: Option<Adapted>,
    pub(super) evaluations: usize,
}

/// Tells the check's random numbers from those of the answer.
const SEARCH_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tells the draws that a start is made of from those that it makes.
const STARTS_SEED: u64 = 0x1f83_d9ab_fb41_bd6b;

/// The rules of its draws: enough to see a mode of two per cent, and a tenth in log Z.
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

/// The same where there is nothing to start from but the base itself: it has further to go.
fn rules_without_peaks(dim: usize) -> Rules {
    let Rules { draws, most_rounds, .. } = Rules::new(dim);
    Rules { draws, most_rounds, ..rules(dim) }
}

/// How much the check's own search may do.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Multiplies the evaluations that follow from the target's cost.
    pub(super) factor: f64,
    pub(super) budget: Budget,
    pub(super) at_once: usize,
}

/// Draws with the largest weights that ascents start from: where p is far above q, q lacks mass.
const HEAVIEST: usize = 24;

/// The draws with the largest weights.
pub(super) fn heaviest(sample: &Sample) -> Vec<Vec<f64>> {
    let log_weights = sample.log_weights();
    let mut order: Vec<usize> = (0..sample.len()).filter(|&i| log_weights[i].is_finite()).collect();
    order.sort_by(|&a, &b| log_weights[b].total_cmp(&log_weights[a]).then(a.cmp(&b)));
    order.into_iter().take(HEAVIEST).map(|i| sample.z().point(i)).collect()
}

/// Searches from draws of the base, and from what is known.
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

/// Draws of the target that the check's own must be worth to say anything.
const FEWEST: f64 = 150.0;
