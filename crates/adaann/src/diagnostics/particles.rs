//! Independent particles beside q: they start from the base and never see it.

use crate::{
    Batch, Result,
    approximation::Approximation,
    diagnostics::thresholds::LACKING_RATIO,
    fit,
    importance::Estimate,
    smc::{self, Population},
    target::Target,
    weight::log_weight,
};

/// What independent particles found.
#[derive(Debug, Clone, PartialEq)]
pub struct Particles {
    /// How many there are.
    pub count: usize,
    /// Their log ∫ p.
    pub log_z: Estimate,
    /// Share of them where p is far above q ([`LACKING_RATIO`]): mass that q lacks.
    pub lacking: Estimate,
    /// KL(p‖q), from the particles.
    pub forward_kl: f64,
    /// Temperatures they passed.
    pub stages: usize,
    /// Points at which the target was evaluated.
    pub evaluations: usize,
}

/// Tells the check's particles from those that a fit with the same seed may begin with.
const CHECK_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Particles that log q is evaluated at.
const COMPARED: usize = 2_000;

/// Sends particles along the path of a fit.
///
/// # Errors
/// Why they came to no end, in words.
pub(super) fn send(
    target: &dyn Target,
    count: usize,
    fit: &fit::Settings,
    observer: &mut dyn smc::Observer,
) -> std::result::Result<Population, String> {
    let settings = smc::Settings {
        particles: count,
        // Other random numbers than those of a fit that began with particles.
        seed: fit.seed ^ CHECK_SEED,
        ..fit.particles()
    };
    match smc::smc(target, &settings, observer) {
        Ok(population) if population.stopped => Err("it was stopped".to_owned()),
        Ok(population) => Ok(population),
        Err(error) => Err(error.to_string()),
    }
}

impl Particles {
    /// What particles say beside q, and where q lacks most.
    pub(super) fn beside(
        approximation: &Approximation,
        population: &Population,
        log_z: Estimate,
    ) -> Result<(Self, Vec<f64>)> {
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
        let most = LACKING_RATIO.value.ln();
        let mut lacks = vec![f64::NAN; population.z.len()];
        let (mut forward_kl, mut worst) = (0.0, (f64::NEG_INFINITY, 0));
        for (i, &from) in chosen.iter().enumerate() {
            let log_p = population.log_p[from] + log_jacobian[i] - log_z;
            let log_ratio = log_weight(log_p, log_q[i]);
            forward_kl += log_ratio / chosen.len() as f64;
            lacks[from] = f64::from(u8::from(log_ratio.is_nan() || log_ratio > most));
            if lacks[from] == 1.0 && log_p > worst.0 {
                worst = (log_p, i);
            }
        }
        let particles = Self {
            count: population.z.len(),
            log_z: Estimate { value: population.log_z, error: population.log_z_error },
            lacking: population.mean_of_some(&lacks),
            forward_kl,
            stages: population.stages.len(),
            evaluations: population.evaluations,
        };
        Ok((particles, points.point(worst.1)))
    }
}
