//! The mixture rung: Gaussians at the peaks that a search has found, adapted by importance sampling.

use super::{
    Left, Method, candidate::Candidate, context::Context, forecast::Step, found::Found,
    search::search,
};
use crate::{
    Error, Result,
    adaptive::{self, Shape},
};

/// Separates the random numbers of this rung from those of the others.
const MIXTURE_SEED: u64 = 0x51ed_2701_a3c5_e9b7;

/// Searches for modes and adapts a mixture from each start, until one is good enough. `found` has the best of the
/// others.
pub(super) fn climb(context: &mut Context, found: &mut Found) -> Result<Option<Candidate>> {
    let as_it_is = context.settings.method == Method::Modes;
    let (starts, has_several_peaks) = search(context)?;
    found.has_several_peaks = has_several_peaks;
    let mut failed = None;
    for start in starts {
        if context.is_over() && found.best.is_some() {
            break;
        }
        match mixture(context, start, as_it_is) {
            // A candidate that lacks mass of another start is not the answer, however good its weights.
            Ok(own) if own.is_good && !own.lacks_mass_of_any(found.best.as_ref()) => {
                return Ok(Some(own));
            }
            Ok(own) => found.consider(own),
            Err(error) => failed = Some(of_covariance(error)),
        }
    }
    match failed {
        Some(error) if found.best.is_none() => Err(error),
        _ => Ok(None),
    }
}

/// A mixture from one start, adapted unless `as_it_is`.
fn mixture(context: &mut Context, start: Shape, as_it_is: bool) -> Result<Candidate> {
    context.begin(Step::Mixture, "adapting a mixture");
    let mut rules = context.rules();
    if as_it_is {
        (rules.most_rounds, rules.attempts) = (1, 1);
    }
    let method = if as_it_is { Method::Modes } else { Method::Mixture };
    let seed = context.settings.seed ^ MIXTURE_SEED;
    let adapted = context.with_ledger(|context, ledger| {
        adaptive::run(context.target, start, &rules, seed, ledger)
    })?;
    let left = if adapted.is_good { Left::Answered } else { Left::PoorWeights };
    let found = adapted.components();
    context.leave(method, adapted.evaluations, Some(adapted.ess_share), left, found);
    Candidate::of_mixture(method, adapted)
}

/// Explains a covariance that is not positive definite to the author of the density.
fn of_covariance(error: Error) -> Error {
    match error {
        Error::Setting { setting: "covariance" | "base-covariances", value, .. } => {
            Error::Target(format!(
                "the density is too narrow for floating-point numbers: the covariance of its draws is {value}; use \
                 units in which the parameters are of the order of 1, and keep a parameter that may go to 0, such as \
                 the error of measurements that are all equal, away from 0 by a bound or a prior"
            ))
        }
        other => other,
    }
}
