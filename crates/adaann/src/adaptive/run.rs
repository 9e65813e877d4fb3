//! From a mixture to weighted draws: rounds, a trial, and more rounds where the trial disappoints.

use super::{
    Rules,
    archive::Archive,
    frozen,
    rounds::{Pace, rounds},
    rules::{HARMLESS, POOR},
};
use crate::{
    Result,
    approximation::Approximation,
    flow::Flow,
    importance::{Sample, pareto},
    mixture::Mixture,
    target::Target,
};

/// What adapting came to.
#[derive(Clone)]
pub(crate) struct Adapted {
    pub(crate) mixture: Mixture,
    pub(crate) flow: Flow,
    /// Fresh draws of it.
    pub(crate) sample: Sample,
    /// The share of them that counts.
    pub(crate) ess_share: f64,
    /// Is that enough, and is the tail of their weights in order?
    pub(crate) is_good: bool,
    /// Points at which the target was evaluated.
    pub(crate) evaluations: usize,
}

impl Adapted {
    /// How many components it has, in words.
    pub(crate) fn components(&self) -> String {
        match self.mixture.components.len() {
            1 => "one component".into(),
            many => format!("{many} components"),
        }
    }
}

/// Tells the draws that are reported from those that shape the mixture.
const FROZEN: u64 = 0x2545_f491_4f6c_dd1d;

/// Poor weights that grow by less than this factor from trial to trial are given up.
const WORTH_IT: f64 = 1.3;

/// Rounds after the first trial, each with more draws than before.
const LATER_ROUNDS: usize = 5;

/// Adapts a mixture to a target.
pub(crate) fn run(
    target: &dyn Target,
    start: Mixture,
    rules: &Rules,
    seed: u64,
) -> Result<Adapted> {
    let mut archive = Archive::new(target.dim());
    let mut best: Option<Adapted> = None;
    let (mut from, mut evaluations) = (start, 0);
    for attempt in 0..rules.attempts.max(1) {
        let pace = Pace {
            draws: rules.draws << attempt,
            enough: rules.enough,
            most: if attempt == 0 { rules.most_rounds } else { LATER_ROUNDS },
            seed: seed.wrapping_add((attempt as u64) << 32),
        };
        let before = archive.len();
        let proposal = rounds(target, from, pace, &mut archive)?;
        let approximation = Approximation::new(target, proposal.flow.clone())?;
        let foreseen = proposal.ess_share;
        let sample = frozen::draw(&approximation, foreseen, rules, pace.seed ^ FROZEN)?;
        evaluations += archive.len() - before + sample.len();
        let ess_share = sample.weight_sums()?.ess_share();
        let is_as_foreseen = ess_share >= frozen::DISAPPOINTING * foreseen;
        let is_good = is_as_foreseen && ess_share >= POOR && has_tail_in_order(&sample);
        archive.add(approximation.target(), &proposal.flow, &sample)?;
        let adapted = Adapted {
            mixture: proposal.mixture,
            flow: proposal.flow,
            sample,
            ess_share,
            is_good,
            evaluations,
        };
        from = match archive.weighted(pace.seed) {
            Some((z, weights)) => adapted.mixture.adapt(&z, &weights),
            None => adapted.mixture.clone(),
        };
        let gain = best.as_ref().map_or(f64::INFINITY, |best| ess_share / best.ess_share);
        if is_good || gain > 1.0 || gain.is_nan() {
            best = Some(adapted);
        }
        // What stays poor and does not grow is for others.
        if is_good || ess_share < POOR && gain < WORTH_IT {
            break;
        }
    }
    let best = best.expect("at least one attempt");
    Ok(Adapted { evaluations, ..best })
}

/// Is the tail of the weights light enough, or harmless?
fn has_tail_in_order(sample: &Sample) -> bool {
    let threshold = pareto::k_hat_threshold(sample.len());
    let largest = sample.log_weights().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_harmless = sample.weight_sums().is_ok_and(|sums| largest < sums.log_z() + HARMLESS.ln());
    is_harmless || sample.smoothed().is_ok_and(|smoothed| smoothed.k_hat < threshold)
}
