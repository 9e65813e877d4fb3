//! What does not change in a run.

use super::Settings;
use crate::{
    Result,
    budget::Budget,
    flow::Base,
    path::Tempered,
    rng::{Purpose, Stream},
    target::{Target, Unconstrained},
};

/// What does not change in a run.
pub(super) struct Sampler<'a> {
    pub(super) settings: &'a Settings,
    pub(super) density: Tempered<'a>,
    /// Where particles start; the density has it as its reference.
    pub(super) base: Base,
    pub(super) stream: Stream,
    /// Which island's particles these are.
    pub(super) island: usize,
    budget: Budget,
}

/// Tells the random numbers of one island from those of the next.
const ISLAND_SEED: u64 = 0xd1b5_4a32_d192_ed03;

impl<'a> Sampler<'a> {
    pub(super) fn new(
        target: &'a dyn Target,
        settings: &'a Settings,
        base: &Base,
        island: usize,
    ) -> Result<Self> {
        let target = Unconstrained::new(target)?;
        let reference = Some(base.clone());
        let density = Tempered { target, path: settings.path, reference };
        let seed = settings.seed.wrapping_add(ISLAND_SEED.wrapping_mul(island as u64));
        let stream = Stream::new(seed, Purpose::MonteCarlo);
        let budget = Budget::default();
        Ok(Self { settings, density, base: base.clone(), stream, island, budget })
    }

    /// The same for particles that may spend so much.
    pub(super) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Is there nothing left after so many evaluations?
    pub(super) fn is_spent(&self, evaluations: usize) -> bool {
        self.budget.is_spent(evaluations)
    }

    /// Particles of one island.
    pub(super) fn count(&self) -> usize {
        self.settings.particles / self.settings.islands
    }
}
