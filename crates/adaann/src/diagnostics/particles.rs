//! Independent particles beside q: they start from the base and never see it.

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

/// What independent particles found.
#[derive(Debug, Clone, PartialEq)]
pub struct Particles {
    /// How many there are.
    pub count: usize,
    /// Their log ∫ p.
    pub log_z: Estimate,
    /// The mass that q lacks: the share of them where p is far above q
    /// ([`LACKING_RATIO`](crate::diagnostics::thresholds::LACKING_RATIO)), times Z_check / Z_answer where the
    /// particles have less evidence than the answer.
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

/// Tells those that are sent when the first were too few.
const MORE_SEED: u64 = 0xbb67_ae85_84ca_a73b;

/// Particles on their way, or why they came to no end, and what that cost.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) arrived: std::result::Result<Population, String>,
    pub(super) evaluations: usize,
    /// Did the budget cut them off?
    pub(super) is_cut: bool,
}

/// An error of log Z from which particles are too few. At a transition of first order most of them die out, and
/// all that is left descends from a few.
const TOO_FEW: f64 = 0.5;

/// How many times as many are sent then.
const MORE: usize = 4;

/// Sends particles, and more of them if too few have come through, where `most_evaluations` allow for it. The observer
/// says in `is_cut` that the budget has cut them off.
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
    // Their cost may vary by half.
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
    /// What particles say, with how q stands beside them.
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
        /// So few that the family tree of some runs has one branch.
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
        // A target that particles have no trouble with takes no more of them.
        let plain =
            Program::record_parts(1, |z| (-0.5 * z[0].square(), -0.5 * (z[0] - 1.0).square()));
        let how = smc::Settings { particles: 64, ..how(1) };
        let sent = send(&plain, &how, usize::MAX, &is_cut, &mut (), &mut Ledger::off()).unwrap();
        assert_eq!(sent.arrived.unwrap().z.len(), 64);
    }
}
