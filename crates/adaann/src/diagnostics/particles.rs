//! Independent particles, which start from the base without using q, compared with q.

use crate::{
    Result,
    checkpoint::Ledger,
    diagnostics::seen::Beside,
    importance::Estimate,
    smc::{self, Population, Smc},
    target::Target,
};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// The results of independent particles.
#[derive(Debug, Clone, PartialEq)]
pub struct Particles {
    /// The number of particles.
    pub count: usize,
    /// Their log ∫ p.
    pub log_z: Estimate,
    /// The mass that q lacks: the share of the particles where p is far above q
    /// ([`LACKING_RATIO`](crate::diagnostics::thresholds::LACKING_RATIO)), times Z_check / Z_answer if the particles
    /// have a lower evidence than the answer.
    pub lacking: Estimate,
    /// KL(p‖q), from the particles.
    pub forward_kl: f64,
    /// The number of temperatures they passed.
    pub stages: usize,
    /// The number of evaluations of the target.
    pub evaluations: usize,
}

/// Separates the check's particles from those that a fit with the same seed may begin with.
const CHECK_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Separates the second population, used if the first was too small.
const MORE_SEED: u64 = 0xbb67_ae85_84ca_a73b;

/// A population of particles or the reason for its failure, and its cost.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) arrived: std::result::Result<Population, String>,
    pub(super) evaluations: usize,
    /// Did the budget end it early?
    pub(super) is_cut: bool,
}

/// The error of log Z from which on particles are too few. At a first-order transition most of them die out, and all
/// survivors descend from a few.
const TOO_FEW: f64 = 0.5;

/// The factor for the size of the second population.
const MORE: usize = 4;

/// Runs particles, and a larger population if too few have survived and `most_evaluations` allow it. The observer sets
/// `is_cut` if the budget ended a population early.
pub(super) fn send(
    target: &dyn Target,
    how: &smc::Settings,
    most_evaluations: usize,
    is_cut: &AtomicBool,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Result<Sent> {
    let first = ledger.part("particles", |ledger| {
        let sent = send_some(target, how, is_cut, observer, ledger);
        Ok(ledger.done(sent))
    })?;
    let are_few = matches!(&first.arrived, Ok(population) if population.log_z_error > TOO_FEW);
    // The cost may vary by half.
    let cost = first.evaluations.saturating_mul(MORE + MORE / 2);
    if !are_few || cost > most_evaluations.saturating_sub(first.evaluations) {
        return Ok(first);
    }
    let how = smc::Settings {
        particles: MORE * how.particles,
        seed: how.seed ^ MORE_SEED,
        ..how.clone()
    };
    let mut after_first = |stage: &smc::Stage| {
        let evaluations = first.evaluations + stage.evaluations;
        observer.observe(&smc::Stage { evaluations, ..stage.clone() })
    };
    let more = ledger.part("more particles", |ledger| {
        let sent = send_some(target, &how, is_cut, &mut after_first, ledger);
        Ok(ledger.done(sent))
    })?;
    let evaluations = first.evaluations + more.evaluations;
    let kept = if more.arrived.is_ok() { more } else { first };
    Ok(Sent { evaluations, ..kept })
}

fn send_some(
    target: &dyn Target,
    how: &smc::Settings,
    is_cut: &AtomicBool,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Sent {
    is_cut.store(false, Ordering::Relaxed);
    // Other random numbers than those of a fit that began with particles.
    let settings = smc::Settings { seed: how.seed ^ CHECK_SEED, ..how.clone() };
    let mut evaluations = settings.particles;
    let mut watch = |stage: &smc::Stage| {
        evaluations = stage.evaluations;
        observer.observe(stage)
    };
    let sent = Smc::new(target, &settings).run_with(&mut watch, ledger);
    let arrived = match sent.and_then(Population::whole) {
        Ok(population) if population.stopped => Err("it was stopped".to_owned()),
        Ok(population) => {
            evaluations = population.evaluations;
            Ok(population)
        }
        Err(error) => Err(error.to_string()),
    };
    Sent { arrived, evaluations, is_cut: is_cut.load(Ordering::Relaxed) }
}

impl Particles {
    /// The results of a population, with its comparison with q.
    pub(super) fn new(population: &Population, beside: &Beside) -> Self {
        Self {
            count: population.z.len(),
            log_z: beside.log_z,
            lacking: beside.lacking_mass,
            forward_kl: beside.forward_kl,
            stages: population.stages.len(),
            evaluations: population.evaluations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, path::PathKind, program::log_sum_exp};

    /// In six dimensions, under a standard normal prior, a wide mode and a narrow one of the same mass.
    #[test]
    fn where_few_particles_survive_more_are_sent() {
        /// So few that the family tree of some runs has a single branch.
        const FEW: usize = 20;
        let target = Program::record_parts(6, |z| {
            let square = |at: f64| z.iter().fold(0.0 * z[0], |sum, z| sum + (*z - at).square());
            let wide = -0.5 * square(0.8) / 0.09;
            let narrow = 6.0 * (0.3_f64 / 0.06).ln() - 0.5 * square(-0.5) / 0.0036;
            (-0.5 * square(0.0), log_sum_exp(&[wide, narrow]))
        });
        let how = |seed| smc::Settings {
            path: PathKind::Likelihood,
            particles: FEW,
            kept_sweeps: 1,
            seed,
            ..smc::Settings::starting_at(0.0)
        };
        let is_cut = AtomicBool::new(false);
        let sent =
            |seed, most| send(&target, &how(seed), most, &is_cut, &mut (), &mut Ledger::off());
        let has_few_families = |seed: &u64| {
            let first = sent(*seed, 0).unwrap().arrived.unwrap();
            assert_eq!(first.z.len(), FEW);
            first.log_z_error > TOO_FEW
        };
        let seed = (1..=20).find(has_few_families).expect("one in twenty is unlucky");
        assert_eq!(sent(seed, usize::MAX).unwrap().arrived.unwrap().z.len(), MORE * FEW);
        // A target without such a transition needs no further particles.
        let plain =
            Program::record_parts(1, |z| (-0.5 * z[0].square(), -0.5 * (z[0] - 1.0).square()));
        let how = smc::Settings { particles: 64, ..how(1) };
        let sent = send(&plain, &how, usize::MAX, &is_cut, &mut (), &mut Ledger::off()).unwrap();
        assert_eq!(sent.arrived.unwrap().z.len(), 64);
    }
}
