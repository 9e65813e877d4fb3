//! Examines chains by their own R-hat and effective sample sizes, and by chains from other starts.

use crate::{
    Result,
    budget::Budget,
    chains::Chains,
    diagnostics::{
        Examination, Finding, Verdict, Witness, accuracy::Accuracy, mixed::of_mixing, modes::Found,
        reason::Reason, thresholds::CHAINS_APART,
    },
    importance::{Estimate, Sample},
    target::Unconstrained,
};

/// Means that differ by less than this many of their errors count as equal.
const APART: f64 = 5.0;

/// Judges chains by others with different starts, and the sample made of them.
pub(crate) fn examine_chains(
    target: &Unconstrained,
    (chains, others): (&Chains, &Chains),
    sample: &Sample,
    log_z: Option<Estimate>,
    (climbs, budget): (usize, Budget),
) -> Result<Examination> {
    let mut found =
        Found::new(target, (sample.z(), sample.weights()), None, &[], (climbs, budget))?;
    let mixing = chains.mixing(sample.len());
    let ess = mixing.ess;
    let names = target.target().names();
    let (at, sds) = furthest(chains, others);
    let name = names.get(at).cloned().unwrap_or_default();
    let apart = Reason::beyond(CHAINS_APART, sds, Finding::ChainsApart { name, sds });
    let reasons = of_mixing(&mixing, sample, &names).into_iter().chain(apart);
    let verdict = Verdict::new(reasons.collect());
    // Correlated draws increase the errors of the modes' shares.
    let errors_grow = mixing.worst_per_effective().sqrt();
    found.modes.iter_mut().for_each(|mode| mode.weight.error *= errors_grow);
    let accuracy = Accuracy::new(target.target(), &found.modes, sample)?;
    Ok(Examination {
        log_z: log_z.unwrap_or(Estimate { value: f64::NAN, error: f64::NAN }),
        kl: f64::NAN,
        ess,
        ess_share: ess / sample.len() as f64,
        k_hat: f64::NAN,
        k_hat_threshold: f64::NAN,
        modes: found.modes,
        particles: None,
        own_log_z: None,
        sight: format!(
            "{} chains from other starts: a mode that none of the {} starts leads to can hide from them",
            others.chains,
            chains.chains + others.chains
        ),
        evaluations: others.evaluations
            + found.evaluations
            + accuracy.as_ref().map_or(0, |accuracy| accuracy.evaluations),
        verdict: match &accuracy {
            Some(accuracy) => accuracy.judged(verdict),
            None => verdict,
        },
        mixture: None,
        searched: None,
        witness: Witness::default(),
    })
}

/// The coordinate whose means differ most, in standard deviations; 0 if the difference may be
/// chance.
fn furthest(chains: &Chains, others: &Chains) -> (usize, f64) {
    let moments = |of: &Chains, d: usize| {
        let (row, count) = (of.z.row(d), of.z.len() as f64);
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / count;
        (mean, variance, variance / of.bulk_ess[d].max(1.0))
    };
    let apart = |d: usize| {
        let (a, variance, error) = moments(chains, d);
        let (b, _, other_error) = moments(others, d);
        let gap = (a - b).abs();
        let is_chance = gap <= APART * (error + other_error).sqrt();
        (d, if is_chance { 0.0 } else { gap / variance.sqrt() })
    };
    let all = (0..chains.z.dim()).map(apart);
    all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}
