//! Runs further populations after the first and joins them.

use super::{Observer, Population, Settings, send::send};
use crate::{
    Result,
    budget::Budget,
    checkpoint::{Done, Ledger},
    flow::Base,
    target::Target,
};

/// Separates the random numbers of populations; islands have their own offset.
const POPULATION_SEED: u64 = 0x9e6c_63d0_876a_3f35;

/// Runs all populations one after another. With `earlier`, which holds all but the last, runs only the
/// last.
///
/// If an observer stops a later population, the result contains the finished ones.
pub(super) fn run(
    target: &dyn Target,
    settings: &Settings,
    (base, budget): (Option<Base>, Budget),
    earlier: Option<Population>,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Population> {
    let begin = if earlier.is_some() { settings.further.len() } else { 0 };
    let mut arrived = earlier;
    for own in populations(settings).skip(begin) {
        let left = budget.after(arrived.as_ref().map_or(0, |arrived| arrived.evaluations));
        let found = ledger.part("population", |ledger| {
            let found = send(target, &own, (base.clone(), left), observer, ledger)?;
            Ok(if found.stopped { Done::Stopped(found) } else { Done::Whole(found) })
        })?;
        arrived = Some(match arrived {
            None => found,
            Some(arrived) if found.stopped => Population { stopped: true, ..arrived },
            // An unfinished population must not spoil the finished ones.
            Some(arrived) => arrived.join(&found.whole()?)?,
        });
        if arrived.as_ref().is_some_and(|arrived| arrived.stopped) {
            break;
        }
    }
    Ok(arrived.expect("there is at least one"))
}

/// The settings of each population; only the first has islands.
fn populations(settings: &Settings) -> impl Iterator<Item = Settings> {
    let counts = [settings.first_particles()].into_iter().chain(settings.further.iter().copied());
    counts.zip(0..).map(|(particles, number)| Settings {
        particles,
        islands: if number == 0 { settings.islands } else { 1 },
        further: Vec::new(),
        seed: settings.seed.wrapping_add(POPULATION_SEED.wrapping_mul(number)),
        ..settings.clone()
    })
}
