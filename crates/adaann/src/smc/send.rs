//! One population, from its base to the target.

use super::{Observer, Population, Settings, islands, sampler::Sampler};
use crate::{
    Result,
    checkpoint::Ledger,
    error,
    flow::Base,
    path::integral,
    schedule::Rule,
    target::{Target, Unconstrained},
};

/// Sends one population, from its own base unless it is given.
pub(super) fn send(
    target: &dyn Target,
    settings: &Settings,
    base: Option<Base>,
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
            .map(|island| Sampler::new(target, settings, &base, island))
            .collect::<Result<Vec<_>>>()?;
        let (density, first) = (&islands[0].density, settings.schedule.first());
        if integral::has_flat_prior(density)
            && let Some(refusal) = integral::without(density, &base, first)?
        {
            return Err(refusal);
        }
        // Where nothing was said of priors, a failure tells when to look.
        islands::run(&islands, observer, ledger).map_err(|failure| {
            integral::without(density, &base, first).ok().flatten().unwrap_or(failure)
        })
    })
}
