//! Sends particles ahead.

use super::found::Found;
use crate::{
    Result,
    fit::{Event, Observer, Pilot, Settings},
    smc,
    target::Target,
};

/// Sends the particles of a pilot run. `None` if the observer stopped them.
pub(in crate::fit) fn explore(
    pilot: &Pilot,
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Option<Found>> {
    let mut watch = |stage: &smc::Stage| observer.observe(&Event::Pilot(stage));
    let particles = pilot.particles(settings.particles());
    let population = smc::smc(target, &particles, &mut watch)?;
    if population.stopped {
        return Ok(None);
    }
    Found::new(pilot, population, target, settings.seed).map(Some)
}
