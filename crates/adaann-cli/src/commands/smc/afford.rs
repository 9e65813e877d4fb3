//! The number of particles that a budget allows.

use super::record::SmcRecord;
use crate::{
    folder::{stored::Stored, subject::Subject},
    job::interrupt,
    text::layout::thousands,
};
use adaann::{
    Error,
    budget::Budget,
    smc::Settings,
    target::{Metered, Unconstrained},
};
use anyhow::Result;
use std::path::Path;

/// Approximate number of evaluations per particle, and the minimum number of particles.
const EVALUATIONS_OF_PARTICLE: usize = 60;
const FEWEST: usize = 64;

/// Number of points evaluated to measure the time of an evaluation.
const MEASURED: usize = 2;

/// Lowers the number of particles to what the budget allows, and returns a note if it did. An unfinished run
/// in the same folder keeps its number of particles.
pub(crate) fn within(
    budget: Budget,
    subject: &Subject,
    record: &mut SmcRecord,
    out: Option<&Path>,
) -> Result<Option<String>> {
    let asked = record.settings.particles;
    let most = match out.and_then(|out| unfinished(out, record)) {
        Some(begun) => begun,
        None if budget == Budget::default() => asked,
        None => affordable(budget, subject, &record.settings)?,
    };
    if most >= asked {
        return Ok(None);
    }
    record.settings.particles = most;
    record.asked_particles = Some(asked);
    Ok(Some(format!(
        "using {} particles instead of {}: each takes about {EVALUATIONS_OF_PARTICLE} evaluations",
        thousands(most),
        thousands(asked)
    )))
}

/// The number of particles that the budget allows, the same for each island.
fn affordable(budget: Budget, subject: &Subject, settings: &Settings) -> Result<usize> {
    let target = Metered::new(&*subject.problem.target).until(interrupt::is_overdue);
    if budget.deadline().is_some() {
        target.set_deadline(budget.last_moment());
        let base = settings.base.resolve(&Unconstrained::new(&target)?, settings.seed)?;
        match target.measure(&base.points(settings.seed, MEASURED)) {
            // Then the fewest are sent.
            Err(Error::OutOfTime) => {}
            measured => measured?,
        }
    }
    let most = budget.at_pace(target.time_each()).part(EVALUATIONS_OF_PARTICLE, FEWEST);
    Ok((most / settings.islands).max(10) * settings.islands)
}

/// The number of particles of an unfinished run with the same settings.
fn unfinished(out: &Path, record: &SmcRecord) -> Option<usize> {
    let stored = Stored::open(out).ok().filter(|stored| !stored.has_come_to_its_end())?;
    let begun = SmcRecord::read(&stored).ok()??;
    let particles = begun.settings.particles;
    let asked = begun.asked_particles.unwrap_or(particles);
    let settings = Settings { particles: asked, ..begun.settings };
    (settings == record.settings).then_some(particles)
}
