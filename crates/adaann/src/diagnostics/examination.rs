//! All checks of an approximation, in order: weights, modes, independent particles, verdict.

use crate::{
    Result,
    approximation::Approximation,
    diagnostics::{
        Mode, Particles, Place, Verdict,
        findings::{Comparison, Findings, Independent},
        modes::Found,
        particles,
    },
    error, fit,
    importance::{Estimate, Sample, pareto},
    smc,
};
use serde::{Deserialize, Serialize};

/// How an approximation is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Independent particles that look for lost modes; 0 for none. They cost as many evaluations of
    /// the target as some thousands of updates.
    pub particles: usize,
    /// Draws that climb to find modes.
    pub climbs: usize,
}

impl Default for Settings {
    /// 2,000 particles, with whom a mode of one per cent is not missed by chance, and 256 climbs.
    fn default() -> Self {
        Self { particles: 2_000, climbs: 256 }
    }
}

/// What was found out about an approximation.
#[derive(Debug, Clone)]
pub struct Examination {
    /// log ∫ p from the weights p/q.
    pub log_z: Estimate,
    /// KL(q‖p), from the draws and log Z.
    pub kl: f64,
    /// How many draws of p itself the weighted draws are worth.
    pub ess: f64,
    /// The same as a share of the draws.
    pub ess_share: f64,
    /// Shape of the tail of the weights.
    pub k_hat: f64,
    /// What it should stay below, for this many draws.
    pub k_hat_threshold: f64,
    /// The modes that climbs from draws and particles lead to, the heaviest first.
    pub modes: Vec<Mode>,
    /// What independent particles found; none if they were not asked for or came to no end.
    pub particles: Option<Particles>,
    /// Points at which the target was evaluated for all this.
    pub evaluations: usize,
    /// The judgement.
    pub verdict: Verdict,
}

/// Checks an approximation by draws of it.
///
/// `fit` are the settings it was trained with: the particles take the same path from the same base.
/// With the seed of a fit that started from particles of its own, these are others.
///
/// # Errors
/// If a setting is out of range, or the target fails at the draws. Particles that come to no end
/// are a reason for care, not an error.
pub fn examine(
    approximation: &Approximation,
    sample: &Sample,
    fit: &fit::Settings,
    settings: &Settings,
    observer: &mut dyn smc::Observer,
) -> Result<Examination> {
    if settings.climbs == 0 {
        return Err(error::setting("climbs", 0, "at least 1"));
    }
    let target = approximation.target();
    let (sums, smoothed) = (sample.weight_sums()?, sample.smoothed()?);
    let log_z = Estimate { value: sums.log_z(), error: sums.log_z_error() };

    let sent = (settings.particles > 0)
        .then(|| particles::send(target.target(), settings.particles, fit, observer));
    let population = sent.as_ref().and_then(|sent| sent.as_ref().ok());
    let found = Found::new(target, sample.z(), &smoothed.weights, population, settings.climbs)?;
    let compared = population
        .map(|population| Particles::beside(approximation, population, log_z))
        .transpose()?;

    let independent = match (&sent, &compared) {
        (Some(Err(why)), _) => Independent::Failed(why.clone()),
        (_, Some((particles, lacking_at))) => {
            let names = target.target().names();
            Independent::Compared(Comparison {
                lacking: particles.lacking,
                lacking_at: Place::new(&names, lacking_at),
                log_z_gap: particles.log_z.minus(log_z),
                modes: found.shares(&names),
            })
        }
        (_, None) => Independent::Absent,
    };
    let count = sample.len();
    let findings = Findings {
        draws: count,
        outside: sample.lost() as f64 / count as f64,
        k_hat: smoothed.k_hat,
        k_hat_threshold: pareto::k_hat_threshold(count),
        ess: sums.ess(),
        independent,
    };
    Ok(Examination {
        kl: sample.neg_elbo() + log_z.value,
        log_z,
        ess: findings.ess,
        ess_share: sums.ess_share(),
        k_hat: findings.k_hat,
        k_hat_threshold: findings.k_hat_threshold,
        modes: found.modes,
        evaluations: count
            + found.evaluations
            + population.map_or(0, |population| population.evaluations),
        particles: compared.map(|(particles, _)| particles),
        verdict: Verdict::of(&findings),
    })
}
