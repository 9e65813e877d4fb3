//! Compares q with weighted points that were found without it.

use crate::{
    Batch, Result,
    adaptive::Adapted,
    approximation::Approximation,
    diagnostics::{
        Place,
        findings::{Comparison, evidence_scale},
        modes::Found,
        thresholds::LACKING_RATIO,
    },
    importance::{Estimate, Quantity},
    smc::Population,
    weight::log_weight,
};

/// The number of points at which log q is evaluated.
const COMPARED: usize = 2_000;

/// Weighted points of the target, found without q.
pub(super) enum Seen<'a> {
    /// Draws of the check's own mixture.
    Draws(&'a Adapted),
    /// Particles.
    Particles(&'a Population),
}

/// What a check has found without q. A repaired answer must cover it too.
#[derive(Clone, Default)]
pub(crate) struct Witness {
    pub(super) draws: Option<Adapted>,
    pub(super) particles: Option<Population>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { draws, particles } = self;
        let draws = draws.as_ref().map(|adapted| adapted.sample.len());
        let particles = particles.as_ref().map(|population| population.z.len());
        f.debug_struct("Witness").field("draws", &draws).field("particles", &particles).finish()
    }
}

impl Witness {
    pub(super) fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        let draws = self.draws.iter().map(Seen::Draws);
        draws.chain(self.particles.iter().map(Seen::Particles))
    }
}

/// The comparison of q with such points.
pub(super) struct Beside {
    pub(super) log_z: Estimate,
    /// Share of the points where p is far above q.
    pub(super) lacking: Estimate,
    /// The same as a share of the whole, if the points have a lower evidence than the answer.
    pub(super) lacking_mass: Estimate,
    /// A point in that region.
    pub(super) lacking_at: Vec<f64>,
    /// KL(p‖q).
    pub(super) forward_kl: f64,
}

impl Seen<'_> {
    pub(super) fn z(&self) -> &Batch {
        match self {
            Self::Draws(adapted) => adapted.sample.z(),
            Self::Particles(population) => &population.z,
        }
    }

    fn log_p(&self) -> &[f64] {
        match self {
            Self::Draws(adapted) => adapted.sample.log_p(),
            Self::Particles(population) => &population.log_p,
        }
    }

    fn log_z(&self) -> Result<Estimate> {
        match self {
            Self::Draws(adapted) => {
                let sums = adapted.sample.weight_sums()?;
                Ok(Estimate { value: sums.log_z(), error: sums.log_z_error() })
            }
            Self::Particles(population) => {
                Ok(Estimate { value: population.log_z, error: population.log_z_error })
            }
        }
    }

    /// The mean of a function from its values at the points.
    pub(super) fn mean(&self, values: &[f64]) -> Estimate {
        match self {
            Self::Draws(adapted) => Quantity::new(values, adapted.sample.weights())
                .map_or(Estimate { value: f64::NAN, error: f64::INFINITY }, |q| q.mean()),
            Self::Particles(population) => population.mean(values),
        }
    }

    /// The share of the points. If few particles have survived, all in one mode, their own error does
    /// not reflect the other modes.
    fn share(&self, own: &[f64]) -> Estimate {
        let Estimate { value, error } = self.mean(own);
        let least = match self {
            Self::Draws(_) => 0.0,
            Self::Particles(population) => (population.z.len() as f64).sqrt().recip(),
        };
        Estimate { value, error: error.max(least) }
    }

    /// The mean over the points whose value is not NaN.
    fn mean_of_some(&self, values: &[f64]) -> Estimate {
        match self {
            Self::Draws(_) => self.mean(values),
            Self::Particles(population) => population.mean_of_some(values),
        }
    }

    /// Compares q, whose draws have this log Z, with the points.
    pub(super) fn beside(&self, approximation: &Approximation, log_z: Estimate) -> Result<Beside> {
        let all = self.z();
        let thinning = match self {
            Self::Draws(_) => 1,
            Self::Particles(_) => all.len().div_ceil(COMPARED).max(1),
        };
        let chosen: Vec<usize> = (0..all.len()).step_by(thinning).collect();
        let mut z = Batch::zeros(all.dim(), chosen.len());
        for (to, &from) in chosen.iter().enumerate() {
            z.copy_points(to, all, from, 1);
        }
        let log_q = approximation.flow().log_density(&z)?;
        let (points, log_jacobian) = approximation.target().constrain(&z);
        let own = self.log_z()?;
        // The larger of two estimates of log Z has seen more of p.
        let larger = log_z.value.max(own.value);
        let most = LACKING_RATIO.value.ln();
        let mut lacks = vec![f64::NAN; all.len()];
        let mut ratios = vec![f64::NAN; all.len()];
        let mut worst = (f64::NEG_INFINITY, 0);
        for (i, &from) in chosen.iter().enumerate() {
            let log_p = self.log_p()[from] + log_jacobian[i] - larger;
            let log_ratio = log_weight(log_p, log_q[i]);
            // A non-finite point has no weight, whatever its ratio.
            ratios[from] = if log_p == f64::NEG_INFINITY { 0.0 } else { log_ratio };
            let is_lacking = log_p > f64::NEG_INFINITY && (log_ratio.is_nan() || log_ratio > most);
            lacks[from] = f64::from(u8::from(is_lacking));
            if is_lacking && log_p > worst.0 {
                worst = (log_p, i);
            }
        }
        let lacking = self.mean_of_some(&lacks);
        Ok(Beside {
            log_z: own,
            lacking,
            lacking_mass: lacking.times(evidence_scale(own.minus(log_z))),
            lacking_at: points.point(worst.1),
            forward_kl: self.mean_of_some(&ratios).value,
        })
    }

    /// The comparison for a verdict.
    pub(super) fn comparison(
        &self,
        beside: &Beside,
        log_z: Estimate,
        found: &Found,
        names: &[String],
    ) -> Comparison {
        Comparison {
            lacking: beside.lacking,
            lacking_at: Place::new(names, &beside.lacking_at),
            log_z_gap: beside.log_z.minus(log_z),
            modes: found.shares(self.z(), &|own| self.share(own), names),
            are_particles: matches!(self, Self::Particles(_)),
        }
    }
}
