//! All checks of an approximation, in order: weights, a search of its own, particles, modes, verdict.

use crate::{
    Result,
    adaptive::Adapted,
    approximation::Approximation,
    budget::Budget,
    checkpoint::Ledger,
    diagnostics::{
        Mode, Particles, Verdict,
        accuracy::Accuracy,
        audit,
        coverage::Coverage,
        findings::Findings,
        modes::Found,
        own, particles, peaks,
        seen::{Seen, Witness},
    },
    error, fit,
    flow::Base,
    importance::{Estimate, Sample},
    mixture::Mixture,
    modes::{self, Searched},
    smc,
};
use serde::{Deserialize, Serialize};
use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

/// How an approximation is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Number of independent particles that search for lost modes; 0 for none. They cost as many evaluations of
    /// the target as some thousands of updates.
    pub particles: usize,
    /// Number of draws from which ascents find modes.
    pub climbs: usize,
    /// Does the check run its own search, with ascents and a mixture of its own?
    pub search: bool,
    /// Multiplies the effort of its own search.
    pub effort: f64,
    /// The least number of points that its own search evaluates at a time.
    pub at_once: usize,
    /// The budget beyond the draws of the answer. Ascents, particles and the assignment of modes each get a
    /// share of it, and do a minimum of work in any case.
    #[serde(skip)]
    pub budget: Budget,
}

impl Default for Settings {
    /// 2,000 particles, which do not miss a mode of one per cent by chance, and 256 climbs.
    fn default() -> Self {
        Self {
            particles: 2_000,
            climbs: 256,
            search: true,
            effort: 1.0,
            at_once: 1,
            budget: Budget::default(),
        }
    }
}

/// The share of the budget for the check's own search, and the share of the rest for the particles.
const OF_SEARCH: f64 = 0.6;
const OF_PARTICLES: f64 = 0.8;

/// The results of an examination.
#[derive(Debug, Clone)]
pub struct Examination {
    /// log ∫ p from the weights p/q.
    pub log_z: Estimate,
    /// KL(q‖p), from the draws and log Z.
    pub kl: f64,
    /// The effective sample size of the weighted draws.
    pub ess: f64,
    /// The effective sample size divided by the number of draws.
    pub ess_share: f64,
    /// Shape of the tail of the weights.
    pub k_hat: f64,
    /// The limit for `k_hat` at this number of draws.
    pub k_hat_threshold: f64,
    /// The modes found by ascents from draws and particles, the heaviest first.
    pub modes: Vec<Mode>,
    /// What independent particles found; none if they were not requested or failed.
    pub particles: Option<Particles>,
    /// log ∫ p from the check's own draws, if they are good enough.
    pub own_log_z: Option<Estimate>,
    /// What the check could and could not detect, as text.
    pub sight: String,
    /// The number of evaluations of the target for the examination.
    pub evaluations: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The mixture of the check's own draws.
    pub(crate) mixture: Option<Mixture>,
    /// The check's own search.
    pub(crate) searched: Option<Searched>,
    /// What the check has found without q.
    pub(crate) witness: Witness,
}

/// What to check, and from where.
pub(crate) struct Check<'a> {
    pub(crate) approximation: &'a Approximation<'a>,
    pub(crate) sample: &'a Sample,
    /// Where the check's own search starts.
    pub(crate) base: &'a Base,
    /// The settings of the particles.
    pub(crate) how: &'a smc::Settings,
    pub(crate) settings: &'a Settings,
    /// The most evaluations for particles.
    pub(crate) most_evaluations: usize,
    /// The results of earlier searches.
    pub(crate) earlier: &'a [Searched],
    /// The results of earlier checks.
    pub(crate) witnesses: &'a [Witness],
}

/// Checks an approximation by its draws.
///
/// `fit` are the settings of its training: particles take the same path from the same base. If the fit started
/// from particles of its own, these use different random numbers under the same seed.
///
/// # Errors
/// If a setting is out of range, or the target fails at the draws. Particles that fail are a reason for care,
/// not an error.
pub fn examine(
    approximation: &Approximation,
    sample: &Sample,
    fit: &fit::Settings,
    settings: &Settings,
    observer: &mut dyn smc::Observer,
) -> Result<Examination> {
    examine_with(approximation, sample, fit, settings, observer, &mut Ledger::off())
}

/// Like [`examine`], with a ledger of finished work: it resumes where the ledger ends, and records its own work.
///
/// # Errors
/// As [`examine`], and if the ledger belongs to another check.
pub fn examine_with(
    approximation: &Approximation,
    sample: &Sample,
    fit: &fit::Settings,
    settings: &Settings,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Result<Examination> {
    let how = fit.particles();
    let base = how.base.resolve(approximation.target(), how.seed)?;
    let (earlier, most_evaluations) = (&[][..], usize::MAX);
    let check = Check {
        approximation,
        sample,
        base: &base,
        how: &how,
        settings,
        most_evaluations,
        earlier,
        witnesses: &[],
    };
    let found = examine_from(&check, observer, ledger)?;
    // The draws were made for the check alone.
    Ok(Examination { evaluations: found.evaluations + sample.len(), ..found })
}

/// Like [`examine`], with a given start of searches, given settings of particles, and the results of earlier
/// searches. Ascents start at other draws than those of any answer.
///
/// # Errors
/// As [`examine`].
pub(crate) fn examine_from(
    check: &Check,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Result<Examination> {
    let Check { approximation, sample, base, how, settings, earlier, .. } = *check;
    if settings.climbs == 0 {
        return Err(error::setting("climbs", 0, "at least 1"));
    }
    let target = approximation.target();
    let (sums, smoothed) = (sample.weight_sums()?, sample.smoothed()?);
    let log_z = sample.log_z()?;

    let of_search = settings.budget.share(OF_SEARCH);
    let mut search = || {
        ledger.part("search", |ledger| {
            let budget = of_search;
            let heaviest = own::heaviest(sample);
            let known = modes::Known { points: &heaviest, earlier };
            let effort = own::Effort { factor: settings.effort, budget, at_once: settings.at_once };
            let found = own::search(target, base, how.seed, known, effort, ledger);
            Ok(ledger.done(found.map_err(|error| error.to_string())))
        })
    };
    let searched = if settings.search { Some(search()?) } else { None };
    let how = smc::Settings { particles: settings.particles, ..how.clone() };
    let own_evaluations = match &searched {
        Some(Ok(own)) => own.evaluations,
        _ => 0,
    };
    let left = settings.budget.after(own_evaluations);
    let mut is_cut = of_search.is_spent(own_evaluations);
    let of_particles = left.share(OF_PARTICLES);
    let (mut before, are_cut) = (0, AtomicBool::new(false));
    let mut watch = |stage: &smc::Stage| {
        // The next temperature costs about as much as the last one.
        let next = stage.evaluations + stage.evaluations.saturating_sub(before);
        before = stage.evaluations;
        match of_particles.is_spent(next) {
            true => {
                are_cut.store(stage.t < 1.0, Ordering::Relaxed);
                ControlFlow::Break(())
            }
            false => observer.observe(stage),
        }
    };
    let sent = match settings.particles {
        0 => None,
        _ => {
            let most = check.most_evaluations.min(of_particles.evaluations());
            Some(particles::send(target.target(), &how, most, &are_cut, &mut watch, ledger)?)
        }
    };
    is_cut |= sent.as_ref().is_some_and(|sent| sent.is_cut);
    let mut failed = sent.as_ref().and_then(|sent| sent.arrived.as_ref().err().cloned());
    if let Some(Err(error)) = &searched {
        failed = Some(error.clone());
    }
    let own = searched.and_then(std::result::Result::ok);
    let population = sent.as_ref().and_then(|sent| sent.arrived.as_ref().ok());
    let adapted = own.as_ref().and_then(|own| own.adapted.as_ref());
    let summits = own.as_ref().map_or(&[][..], |own| &own.searched.summits);
    let left = left.after(sent.as_ref().map_or(0, |sent| sent.evaluations));
    let weighted = (sample.z(), &smoothed.weights[..]);
    let found = Found::new(target, weighted, population, summits, (settings.climbs, left))?;

    let names = target.target().names();
    let seen = adapted.map(Seen::Draws).into_iter().chain(population.map(Seen::Particles));
    let (mut compared, mut particles, mut own_log_z) = (Vec::new(), None, None);
    for seen in seen {
        let beside = seen.beside(approximation, log_z)?;
        compared.push(seen.comparison(&beside, log_z, &found, &names));
        match seen {
            Seen::Draws(_) => own_log_z = Some(beside.log_z),
            Seen::Particles(population) => particles = Some(Particles::new(population, &beside)),
        }
    }
    // Results of earlier checks still speak against a repair that lacks their mass.
    for seen in check.witnesses.iter().flat_map(Witness::seen) {
        let beside = seen.beside(approximation, log_z)?;
        compared.push(seen.comparison(&beside, log_z, &found, &names));
    }
    let accuracy = Accuracy::new(target.target(), &found.modes, sample)?;
    let findings = Findings {
        least_known_mode: found.least_known(&names),
        weights_off: audit::share_off(approximation, sample)?,
        compared,
        failed,
        ..Findings::of_sample(sample, &names)?
    };
    let mut verdict = match &accuracy {
        Some(accuracy) => accuracy.judged(Verdict::of(&findings)),
        None => Verdict::of(&findings),
    };
    if settings.search {
        let latest = own.as_ref().map(|own| &own.searched);
        let searches: Vec<&Searched> = earlier.iter().chain(latest).collect();
        let coverage = Coverage::new(target, &searches, log_z.value, sample, how.seed);
        let uncovered = peaks::uncovered(approximation, &searches, log_z.value)?;
        verdict = coverage.judged(verdict).and(uncovered.into_iter());
    }
    Ok(Examination {
        kl: sample.neg_elbo() + log_z.value,
        log_z,
        ess: findings.ess,
        ess_share: sums.ess_share(),
        k_hat: findings.k_hat,
        k_hat_threshold: findings.k_hat_threshold,
        modes: found.modes,
        evaluations: found.evaluations
            + own.as_ref().map_or(0, |own| own.evaluations)
            + sent.as_ref().map_or(0, |sent| sent.evaluations)
            + accuracy.as_ref().map_or(0, |accuracy| accuracy.evaluations),
        particles,
        own_log_z,
        sight: sight(own.as_ref().map(|own| own.searched.ascents), population),
        verdict: if is_cut { verdict.of_spent() } else { verdict },
        mixture: adapted.map(Adapted::mixture),
        searched: own.as_ref().map(|own| own.searched.clone()),
        witness: Witness { draws: adapted.cloned(), particles: population.cloned() },
    })
}

/// What a check has examined, as text.
fn sight(ascents: Option<usize>, population: Option<&smc::Population>) -> String {
    let ascents = ascents.map(|ascents| format!("{ascents} ascents of a search of its own"));
    let particles = population.map(|population| format!("{} particles", population.z.len()));
    let parts: Vec<String> = ascents.into_iter().chain(particles).collect();
    match parts.is_empty() {
        true => "checked by nothing but the draws themselves".into(),
        false => format!("checked by {}", parts.join(" and ")),
    }
}
