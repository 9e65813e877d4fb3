//! The immutable part of a run: settings, target and random stream.

use super::Settings;
use crate::{
    Result,
    budget::Budget,
    flow::Base,
    path::Tempered,
    rng::{Purpose, Stream},
    target::{Target, Unconstrained},
};

/// The immutable part of a run.
pub(super) struct Sampler<'a> {
    pub(super) settings: &'a Settings,
    pub(super) density: Tempered<'a>,
    /// The base, where particles start; the density has it as its reference.
    pub(super) base: Base,
    pub(super) stream: Stream,
    /// The index of the island.
    pub(super) island: usize,
    budget: Budget,
}

/// Separates the random numbers of islands.
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

    /// Sets the budget.
    pub(super) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Whether the budget is spent after this many evaluations.
    pub(super) fn is_spent(&self, evaluations: usize) -> bool {
        self.budget.is_spent(evaluations)
    }

    /// Particles per island.
    pub(super) fn count(&self) -> usize {
        self.settings.particles / self.settings.islands
    }
}
