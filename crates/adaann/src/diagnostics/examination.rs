//! All checks of an approximation, in order: weights, modes, independent particles, verdict.

use crate::diagnostics::verdict::{
    Evidence, Findings, Independent, LACKING_RATIO, ModeEvidence, Verdict,
};
use crate::{
    Batch, Result,
    approximation::Approximation,
    error, fit,
    smc::{self, Population},
    target::Unconstrained,
};
use crate::{
    importance::{Estimate, Sample, pareto},
    modes,
};
use serde::{Deserialize, Serialize};

/// How an approximation is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Run independent particles to look for lost modes? They cost as many evaluations of the
    /// target as some thousands of updates.
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
#[derive(Debug, Clone, Serialize)]
pub struct Examination {
    /// Draws of q that were weighted.
    pub draws: usize,
    /// How many of them have no density under p.
    pub lost: usize,
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
    /// The modes that climbs from draws and particles lead to.
    pub modes: Vec<Mode>,
    /// What independent particles found; none if they were not asked for or came to no end.
    pub particles: Option<Particles>,
    /// Points at which the target was evaluated for all this.
    pub evaluations: usize,
    /// The judgement.
    pub verdict: Verdict,
}

/// A mode, in the target's own coordinates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mode {
    /// Where the density peaks.
    pub location: Vec<f64>,
    /// Its share of the draws.
    pub under_q: f64,
    /// Its share of the weighted draws: the answer.
    pub weight: Estimate,
    /// Its share of the independent particles.
    pub particles: Option<Estimate>,
    /// Mean of its weighted draws; none if it has none.
    pub mean: Option<Vec<f64>>,
    /// Their covariance, row by row.
    pub covariance: Option<Vec<f64>>,
}

/// What independent particles found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Particles {
    /// How many there are.
    pub count: usize,
    /// Their log ∫ p.
    pub log_z: Estimate,
    /// Share of them where p is over thirty times q: mass that q lacks.
    pub lacking: Estimate,
    /// KL(p‖q), from the particles.
    pub forward_kl: f64,
    /// Temperatures they passed.
    pub stages: usize,
    /// Points at which the target was evaluated.
    pub evaluations: usize,
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

    let population = (settings.particles > 0).then(|| {
        let own = smc::Settings {
            particles: settings.particles,
            // Other random numbers than those of a fit that began with particles.
            seed: fit.seed ^ CHECK_SEED,
            ..smc::Settings::of_fit(fit)
        };
        smc::smc(target.target(), &own, observer)
    });
    let (population, failure) = match population {
        Some(Ok(population)) if !population.stopped => (Some(population), None),
        Some(Ok(_)) => (None, Some("it was stopped".to_owned())),
        Some(Err(error)) => (None, Some(error.to_string())),
        None => (None, None),
    };
    let found =
        Found::new(target, sample.z(), &smoothed.weights, population.as_ref(), settings.climbs)?;
    let log_z = Estimate { value: sums.log_z(), error: sums.log_z_error() };
    let particles = population
        .as_ref()
        .map(|population| particles(approximation, population, log_z))
        .transpose()?;

    let count = sample.len();
    let mut evidence = Evidence {
        draws: count,
        lost: sample.lost() as f64 / count as f64,
        k_hat: smoothed.k_hat,
        k_hat_threshold: pareto::k_hat_threshold(count),
        ess: sums.ess(),
        stopped: false,
        independent: failure.map_or(Independent::Absent, Independent::Failed),
    };
    if let (Some((particles, lacking_at)), Some(_)) = (&particles, &population) {
        evidence.independent = Independent::Found(Findings {
            lacking: (particles.lacking.value, particles.lacking.error),
            lacking_at: place(&target.target().names(), lacking_at),
            log_z_gap: (
                particles.log_z.value - log_z.value,
                particles.log_z.error.hypot(log_z.error),
            ),
            modes: found.evidence(&target.target().names()),
        });
    }
    let evaluations = count
        + found.evaluations
        + population.as_ref().map_or(0, |population| population.evaluations);
    Ok(Examination {
        draws: count,
        lost: sample.lost(),
        kl: sample.neg_elbo() + log_z.value,
        log_z,
        ess: sums.ess(),
        ess_share: sums.ess_share(),
        k_hat: evidence.k_hat,
        k_hat_threshold: evidence.k_hat_threshold,
        modes: found.modes,
        particles: particles.map(|(particles, _)| particles),
        evaluations,
        verdict: Verdict::of(&evidence),
    })
}

/// Tells the check's particles from those that a fit with the same seed may begin with.
const CHECK_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Particles that log q is evaluated at.
const COMPARED: usize = 2_000;

/// What particles say beside q, and where q lacks most.
fn particles(
    approximation: &Approximation,
    population: &Population,
    log_z: Estimate,
) -> Result<(Particles, Vec<f64>)> {
    let thinning = population.z.len().div_ceil(COMPARED).max(1);
    let chosen: Vec<usize> = (0..population.z.len()).step_by(thinning).collect();
    let mut z = Batch::zeros(population.z.dim(), chosen.len());
    for (to, &from) in chosen.iter().enumerate() {
        z.copy_points(to, &population.z, from, 1);
    }
    let log_q = approximation.flow().log_density(&z)?;
    let (points, log_jacobian) = approximation.target().constrain(&z);
    // Of two estimates of log Z the larger has seen more of p.
    let log_z = log_z.value.max(population.log_z);
    let mut lacks = vec![f64::NAN; population.z.len()];
    let (mut forward_kl, mut worst) = (0.0, (f64::NEG_INFINITY, 0));
    for (i, &from) in chosen.iter().enumerate() {
        let log_p = population.log_p[from] + log_jacobian[i] - log_z;
        let log_ratio = log_p - log_q[i];
        forward_kl += log_ratio / chosen.len() as f64;
        lacks[from] = f64::from(u8::from(log_ratio.is_nan() || log_ratio > LACKING_RATIO.ln()));
        if lacks[from] == 1.0 && log_p > worst.0 {
            worst = (log_p, i);
        }
    }
    let (value, error) = population.mean_of_some(&lacks);
    let particles = Particles {
        count: population.z.len(),
        log_z: Estimate { value: population.log_z, error: population.log_z_error },
        lacking: Estimate { value, error },
        forward_kl,
        stages: population.stages.len(),
        evaluations: population.evaluations,
    };
    Ok((particles, points.point(worst.1)))
}

/// A point in words: the first coordinates by name.
fn place(names: &[String], point: &[f64]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().zip(point).take(SHOWN).map(|(name, x)| format!("{name} = {x:.3}"));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(", ...");
    }
    text
}

/// Modes found from draws and particles together.
struct Found {
    modes: Vec<Mode>,
    evaluations: usize,
}

impl Found {
    fn new(
        target: &Unconstrained,
        draws: &Batch,
        weights: &[f64],
        population: Option<&Population>,
        climbs: usize,
    ) -> Result<Self> {
        let starts = starts(draws, population.map(|population| &population.z), climbs);
        let climbs = modes::Settings { starts: starts.len().max(1), ..modes::Settings::default() };
        let modes = modes::find(target, &starts, &climbs)?;
        let count = draws.len();
        let equal = vec![1.0; count];
        let under_q = modes::shares(modes.len(), &modes.assign(draws), &equal)?;
        let corrected = modes.summarise(target, draws, weights)?;
        let labels = population.map(|population| modes.assign(&population.z));
        let in_population = |mode: usize| {
            population.zip(labels.as_ref()).map(|(population, labels)| {
                let own: Vec<f64> =
                    labels.iter().map(|label| f64::from(u8::from(*label == Some(mode)))).collect();
                let (value, error) = population.mean(&own);
                Estimate { value, error }
            })
        };
        let mode = |(index, summary): (usize, modes::ModeSummary)| Mode {
            location: summary.position,
            under_q: under_q[index].value,
            weight: Estimate { value: summary.share.value, error: summary.share.error },
            particles: in_population(index),
            mean: summary.mean,
            covariance: summary.covariance,
        };
        let evaluations = modes.evaluations();
        let mut modes: Vec<Mode> = corrected.into_iter().enumerate().map(mode).collect();
        let share = |mode: &Mode| {
            mode.particles.map_or(0.0, |particles| particles.value).max(mode.weight.value)
        };
        modes.sort_by(|a, b| share(b).total_cmp(&share(a)));
        Ok(Self { modes, evaluations })
    }

    fn evidence(&self, names: &[String]) -> Vec<ModeEvidence> {
        // Of very many modes each has a few draws by chance; the mass that q lacks speaks for them.
        const MOST: usize = 64;
        if self.modes.len() > MOST {
            return Vec::new();
        }
        let evidence = |mode: &Mode| {
            let particles = mode.particles?;
            Some(ModeEvidence {
                at: place(names, &mode.location),
                under_q: mode.under_q,
                corrected: (mode.weight.value, mode.weight.error),
                particles: (particles.value, particles.error),
            })
        };
        self.modes.iter().filter_map(evidence).collect()
    }
}

/// Points to climb from: half of them draws, half of them particles, taken evenly.
fn starts(draws: &Batch, particles: Option<&Batch>, climbs: usize) -> Batch {
    let sources: Vec<&Batch> = std::iter::once(draws).chain(particles).collect();
    let each = climbs.div_ceil(sources.len());
    let mut points = Vec::new();
    for source in sources {
        let count = each.min(source.len());
        points.extend((0..count).map(|i| source.point(i * source.len() / count)));
    }
    Batch::from_points(draws.dim(), &points)
}
