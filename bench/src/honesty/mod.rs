//! Random off-centre targets: are the answers right, and do the verdicts agree?

mod classes;
mod exact;
mod laws;
pub(crate) mod lost;
mod maps;
mod mixtures;
mod narrow;
mod options;
mod outcome;
mod pairs;
mod peers;
mod period;
mod recipe;
mod students;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use options::HonestyOptions;

use crate::ladder::{run_all, subject::Subject};
use outcome::Outcome;
use std::io;

/// Runs every instance with its own seed, and prints a table by class and dimension, or the table of the laws or the
/// peers.
pub(crate) fn run(options: &HonestyOptions) -> io::Result<()> {
    if options.laws {
        return laws::run(options);
    }
    if options.peers {
        return peers::run(options);
    }
    let instances = options.instances();
    let runs: Vec<(&Subject, u64)> =
        instances.iter().map(|instance| (&instance.subject, instance.seed)).collect();
    let found = run_all(&runs, options.jobs, options.limit, options.explain)?;
    let outcomes: Vec<Outcome> =
        instances.iter().zip(&found).map(|(instance, run)| Outcome::new(instance, run)).collect();
    options.trials.publish("honesty", &table::page(&outcomes))
}
