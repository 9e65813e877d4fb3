//! The first rung: a prior without data is its own answer, and its draws need no weights.

use super::{Left, Method, candidate::Candidate, context::Context, forecast::Step};
use crate::{
    Error, Result, adaptive, error,
    importance::{Estimate, Sample},
    mixture::{Component, Mixture},
    target::Evaluation,
};

/// The number of draws, unless the settings fix it or fewer are enough.
const DRAWS: usize = 10_000;

const PRIOR_SEED: u64 = 0xbb67_ae85_84ca_a73b;

/// Draws from the target itself; none if it has no sampler.
///
/// # Errors
/// If only the prior is requested, and the target has no sampler.
pub(super) fn climb(context: &mut Context) -> Result<Option<Candidate>> {
    match draw(context)? {
        None if context.settings.method == Method::Prior => Err(refusal()),
        found => Ok(found),
    }
}

fn draw(context: &mut Context) -> Result<Option<Candidate>> {
    let settings = context.settings;
    let enough = DRAWS.max(settings.target_ess as usize);
    let count = settings.draws.unwrap_or(enough);
    let seed = settings.seed ^ PRIOR_SEED;
    // Always take enough draws to describe the prior, even if fewer are kept.
    let Some(mut x) = context.target.exact_draws(count.max(enough), seed) else { return Ok(None) };
    // Rounding may put a draw on a bound, which has no image on the whole line.
    let Ok(mut z) = context.unconstrained.unconstrain(&x) else { return Ok(None) };
    let Some(mixture) = Mixture::of(&[Component::describing(&z)?]) else { return Ok(None) };
    context.begin(Step::Draws, "drawing from the prior");
    x.truncate(count);
    z.truncate(count);
    let mut found = Evaluation::zeros(x.dim(), count);
    context.target.evaluate(&x, None, &mut found)?;
    let parts = found.log_prior.iter().zip(found.log_likelihood.iter());
    let log_p = parts.take(count).map(|(prior, likelihood)| prior + likelihood).collect();
    context.leave(Method::Prior, count, Some(1.0), Left::Answered, format!("{count} exact draws"));
    Ok(Some(Candidate {
        method: Method::Prior,
        flow: adaptive::flow_of(&mixture)?,
        sample: Sample::of_particles(z, x, log_p, vec![0.0; count])?,
        stream: Some(seed),
        log_z: Some(Estimate { value: 0.0, error: 0.0 }),
        is_good: true,
        fit: None,
        mixture: None,
        chains: None,
    }))
}

fn refusal() -> Error {
    let message = "`method` asks for draws of the prior, but the target has data, or a density without \
                   a sampler; omit it to use the ladder";
    error::conflict("method", message)
}
