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

/// Particles on their way, or why they came to no end, and what that cost.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) arrived: std::result::Result<Population, String>,
    pub(super) evaluations: usize,
}

/// Sends particles.
pub(super) fn send(
    target: &dyn Target,
    how: &smc::Settings,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Result<Sent> {
    ledger.part("particles", |ledger| {
        let sent = send_some(target, how, observer, ledger);
        Ok(ledger.done(sent))
    })
}

fn send_some(
    target: &dyn Target,
    how: &smc::Settings,
    observer: &mut dyn smc::Observer,
    ledger: &mut Ledger,
) -> Sent {
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
    Sent { arrived, evaluations }
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
