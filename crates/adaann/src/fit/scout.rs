//! A start from particles: they go ahead along the path, and the flow begins where they arrived.
//!
//! Annealing a flow can lose a mode, and no loss tells. Particles of sequential Monte Carlo keep
//! their modes and know how much each weighs, but are few. So the base becomes the mixture of
//! Gaussians that describes them, and the layers first learn the particles themselves by maximum
//! likelihood; training on the target then has small things left to do.

use super::{
    Event, Observer, Settings,
    lessons::{Lessons, train_on},
};
use crate::{
    Result, error,
    flow::{Base, Flow},
    rng::{Purpose, Stream},
    sample::{self, Population},
    target::Target,
};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Settings of a start from particles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scout {
    /// How many particles go ahead.
    pub particles: usize,
    /// Updates of the flow on the particles; they evaluate no target.
    pub updates: usize,
    /// Points in such an update.
    pub batch: usize,
    /// The learning rate, which falls to 0 by half a cosine.
    pub lr: f64,
}

impl Default for Scout {
    /// Particles as many as an independent check has; updates that take a second or two.
    fn default() -> Self {
        Self { particles: 2_000, updates: 500, batch: 500, lr: 0.001 }
    }
}

impl Scout {
    pub(super) fn check(&self, settings: &Settings, target: &dyn Target) -> Result<()> {
        if !(self.lr > 0.0 && self.lr.is_finite()) {
            return Err(error::setting("scout-lr", self.lr, "positive and finite"));
        }
        if !(1..=MOST_POINTS).contains(&self.batch) {
            let range = format!("from 1 to {MOST_POINTS}");
            return Err(error::setting("scout-batch", self.batch, range));
        }
        if settings.path.needs_reference() {
            return Err(error::setting(
                "scout",
                self.particles,
                "absent on the bridge, which begins at the base that particles would replace",
            ));
        }
        self.particles_of(settings).check(target)
    }

    fn particles_of(&self, settings: &Settings) -> sample::Settings {
        sample::Settings { particles: self.particles, ..sample::Settings::of_fit(settings) }
    }

    /// Sends the particles. `None` if the observer stopped them.
    pub(super) fn explore(
        &self,
        target: &dyn Target,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Population>> {
        let mut watch = |stage: &sample::Stage| observer.observe(&Event::Scout(stage));
        let population = sample::smc(target, &self.particles_of(settings), &mut watch)?;
        Ok((!population.stopped).then_some(population))
    }

    /// Lets the flow learn the particles.
    pub(super) fn teach(&self, flow: &mut Flow, population: &Population, seed: u64) -> Result<()> {
        if self.updates == 0 {
            return Ok(());
        }
        let lessons = Lessons {
            updates: self.updates,
            batch: self.batch,
            lr: self.lr,
            clip: None,
            stream: Stream::new(seed, Purpose::Scout),
        };
        let mut go_on = || ControlFlow::Continue(());
        train_on(flow, &population.z, &population.weights, &lessons, &mut go_on).map(|_| ())
    }
}

/// The base that describes the particles.
pub(super) fn base_of(population: &Population, trained: bool) -> Result<Base> {
    let families = population.shape();
    let base = match &families[..] {
        [one] => Base::full(&one.mean, &one.covariance)?,
        many => {
            let weights: Vec<f64> = many.iter().map(|family| family.weight).collect();
            let means: Vec<f64> = many.iter().flat_map(|family| family.mean.clone()).collect();
            let covariances: Vec<f64> =
                many.iter().flat_map(|family| family.covariance.clone()).collect();
            Base::full_mixture(&weights, &means, &covariances)?
        }
    };
    Ok(if trained { base.trained() } else { base })
}

/// More is surely a slip.
const MOST_POINTS: usize = 100_000_000;
