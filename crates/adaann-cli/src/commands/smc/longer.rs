//! Extends a finished run of particles by another population.

use crate::{
    commands::{lengthen::More, smc::record::SmcRecord},
    folder::{stored::Stored, subject::Subject},
    job::{kept, last},
    text::failure::usage,
};
use adaann::{
    Batch,
    smc::{Lineage, Population},
};
use anyhow::Result;

/// The finished run to be extended.
pub(super) struct Longer {
    /// The flags of the extension.
    pub(super) flags: String,
    /// The extension in words.
    pub(super) words: String,
    /// The existing particles.
    pub(super) population: Population,
}

impl Longer {
    /// The record of the extended run, and the finished run.
    pub(super) fn of(
        more: More,
        mut record: SmcRecord,
        subject: &Subject,
        stored: &Stored,
    ) -> Result<(SmcRecord, Self)> {
        let More { updates: None, draws: None, particles: Some(particles) } = more else {
            return Err(usage(format!(
                "{} is a run of `adaann smc`; extend it with --more-particles only",
                stored.folder().display()
            )));
        };
        let remedy = "run it again with more --particles and --force";
        let told = kept::fingerprint_of(record.to_toml()?, subject);
        let population = population(last::read(stored, &told, remedy)?, subject, stored)?;
        let settings = &mut record.settings;
        settings.particles = settings.particles.saturating_add(particles);
        settings.further.push(particles);
        settings.check(&*subject.problem.target)?;
        Ok((record, Self { flags: more.flags(), words: more.words(), population }))
    }
}

/// The particles of a finished run, with their log densities and weights.
fn population(lineage: Lineage, subject: &Subject, stored: &Stored) -> Result<Population> {
    let target = &*subject.problem.target;
    let names = target.names();
    let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
    all.extend(["log_p", "weight"]);
    let mut found = stored.columns("draws.csv", &all)?;
    let (weights, log_p) = (found.pop().unwrap_or_default(), found.pop().unwrap_or_default());
    let mut points = Batch::zeros(names.len(), weights.len());
    for (d, column) in found.iter().enumerate() {
        points.row_mut(d).copy_from_slice(column);
    }
    Ok(Population::of_lineage(lineage, target, points, weights, log_p)?)
}
