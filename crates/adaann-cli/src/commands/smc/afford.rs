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

/// What a run of particles may spend.
#[derive(Default)]
pub(crate) struct Afforded {
    pub(crate) budget: Budget,
    /// Evaluations that measured the target.
    pub(crate) evaluations: usize,
    /// Why fewer particles are sent than were requested.
    pub(crate) note: Option<String>,
}

/// Lowers the number of particles to what the budget allows. An unfinished run in the same folder keeps its number.
pub(crate) fn within(
    budget: Budget,
    subject: &Subject,
    record: &mut SmcRecord,
    out: Option<&Path>,
) -> Result<Afforded> {
    let asked = record.settings.particles;
    let (most, evaluations) = match out.and_then(|out| unfinished(out, record)) {
        Some(begun) => (begun, 0),
        None if budget == Budget::default() => (asked, 0),
        None => affordable(budget, subject, &record.settings)?,
    };
    let mut afforded = Afforded { budget, evaluations, note: None };
    if most < asked {
        record.settings.particles = most;
        record.asked_particles = Some(asked);
        afforded.note = Some(format!(
            "sending {} particles instead of {}: a particle takes about {EVALUATIONS_OF_PARTICLE} evaluations",
            thousands(most),
            thousands(asked)
        ));
    }
    Ok(afforded)
}

/// The particles that the budget allows, the same number in each island, and the evaluations that measured the target.
fn affordable(budget: Budget, subject: &Subject, settings: &Settings) -> Result<(usize, usize)> {
    let target = Metered::new(&*subject.problem.target).until(interrupt::is_overdue);
    if budget.deadline().is_some() {
        target.set_deadline(budget.last_moment());
        let base = settings.base.resolve(&Unconstrained::new(&target)?, settings.seed)?;
        match target.measure(&base.points(settings.seed, MEASURED)) {
            // The fewest particles are sent.
            Err(Error::OutOfTime) => {}
            measured => measured?,
        }
    }
    let most = budget.at_pace(target.time_each()).part(EVALUATIONS_OF_PARTICLE, FEWEST);
    Ok(((most / settings.islands).max(10) * settings.islands, target.values().get()))
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
