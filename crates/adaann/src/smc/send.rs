//! Runs one population from its base to the target.

use super::{Observer, Population, Settings, islands, sampler::Sampler};
use crate::{
    Result,
    budget::Budget,
    checkpoint::Ledger,
    error,
    flow::Base,
    path::integral,
    schedule::Rule,
    target::{Target, Unconstrained},
};

/// Runs one population within a budget, from `base` or, by default, the settings' base.
pub(super) fn send(
    target: &dyn Target,
    settings: &Settings,
    (base, budget): (Option<Base>, Budget),
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Population> {
    if let Some(found) = base.as_ref().map(Base::dim).filter(|dim| *dim != target.dim()) {
        return Err(error::shape("the dimensions of the base", found, target.dim()));
    }
    rayon::scope(|_| {
        let base = match base {
            Some(base) => base,
            None => settings.base.resolve(&Unconstrained::new(target)?, settings.seed)?,
        };
        let islands = (0..settings.islands)
            .map(|island| Ok(Sampler::new(target, settings, &base, island)?.within(budget)))
            .collect::<Result<Vec<_>>>()?;
        let (density, first) = (&islands[0].density, settings.schedule.first());
        if integral::has_flat_prior(density)
            && let Some(refusal) = integral::without(density, &base, first)?
        {
            return Err(refusal);
        }
        // If the target declares no priors, check for an improper posterior only after a failure.
        let run = islands::run(&islands, observer, ledger);
        if run.as_ref().is_ok_and(|population| population.failure.is_none()) {
            return run;
        }
        let Some(refusal) = integral::without(density, &base, first).ok().flatten() else {
            return run;
        };
        let Ok(mut population) = run else { return Err(refusal) };
        if let Some(failure) = &mut population.failure {
            failure.reason = refusal.to_string();
        }
        Ok(population)
    })
}
