//! The ladder: methods from the cheapest to the strongest, until one is good enough.

use super::{
    Answer, Left, Method, Observer, Settings, candidate::Candidate, chains, check,
    context::Context, flow, forecast::Step, particles, prior,
};
use crate::{
    Error, Result,
    adaptive::{self, Shape},
    checkpoint::Ledger,
    modes::{self, Kind, Search, Searched},
    target::{self, Metered, Target},
};

/// Separates the random numbers of the rungs from each other.
const MIXTURE_SEED: u64 = 0x51ed_2701_a3c5_e9b7;

/// The search's share of the answer's time.
const OF_SEARCH: f64 = 1.0 / 3.0;

/// The number of dimensions from which chains come before particles.
const CHAINS_FROM: usize = 20;

/// Approximates a target.
///
/// # Errors
/// If a setting is out of range, or the target fails.
pub fn approximate(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Answer> {
    approximate_with(target, settings, observer, &mut Ledger::off())
}

/// Like [`approximate`], with a ledger of finished work: it resumes where the ledger ends, to the same bits as an
/// uninterrupted run, and records its own work.
///
/// ```
/// use adaann::{Program, answer::{Settings, approximate, approximate_with}};
/// use adaann::checkpoint::{Fingerprint, Header, Keeper, Ledger, Store};
/// use std::time::Duration;
///
/// let target = Program::record(2, |z| -0.5 * (z[0].square() + (z[1] - 2.0 * z[0]).square()));
/// let settings = Settings::default();
/// let folder = std::env::temp_dir().join(format!("adaann-answer-{}", std::process::id()));
/// let ledger = || -> adaann::Result<Ledger> {
///     // A checkpoint after each part; every half minute is enough for most.
///     let keeper = Keeper::new(Store::open(&folder)?, Duration::ZERO);
///     Ledger::new(keeper, Header::new("any", Fingerprint::new())).resumed()
/// };
/// approximate_with(&target, &settings, &mut (), &mut ledger()?)?;
///
/// // Another process takes all of it from the list.
/// let again = approximate_with(&target, &settings, &mut (), &mut ledger()?)?;
/// let whole = approximate(&target, &settings, &mut ())?;
/// assert_eq!(again.sample.log_p(), whole.sample.log_p());
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// As [`approximate`], and if the ledger belongs to another run.
pub fn approximate_with(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Answer> {
    settings.check()?;
    // All work runs inside the pool: there a fork costs a microsecond, from outside it costs seven.
    let meter = Metered::new(target);
    rayon::scope(|_| {
        let mut context = Context::new(&meter, settings, observer, ledger)?;
        let candidate = match climb(&mut context) {
            Err(Error::OutOfTime) => return Err(context.refusal_of_time()),
            candidate => candidate?,
        };
        let (candidate, examination) = check::examined(&mut context, candidate)?;
        let Candidate { method, flow, sample, stream, log_z, fit, .. } = candidate;
        Ok(Answer {
            method,
            flow,
            sample,
            stream,
            log_z,
            evaluations: context.all_evaluations(),
            check_evaluations: context.check_evaluations(examination.as_ref()),
            examination,
            rungs: context.rungs,
            fit,
            spent: context.spent,
            stopped: context.stopped,
        })
    })
}

/// The first candidate that is good enough, or else the best one.
fn climb(context: &mut Context) -> Result<Candidate> {
    let wanted = context.settings.method;
    let is_tried = |method: Method| wanted == Method::Ladder || wanted == method;
    if is_tried(Method::Prior) {
        match prior::climb(context)? {
            Some(found) => return Ok(found),
            None if wanted == Method::Prior => return Err(prior::refusal()),
            None => {}
        }
    }
    let (mut best, mut is_one_mode): (Option<Candidate>, bool) = (None, true);
    if matches!(wanted, Method::Ladder | Method::Modes | Method::Mixture) {
        let (starts, has_one_peak) = search(context)?;
        is_one_mode = has_one_peak;
        let mut failed = None;
        for start in starts {
            if context.is_over() && best.is_some() {
                break;
            }
            match mixture(context, start, wanted == Method::Modes) {
                // A candidate that lacks mass of another start is not the answer, however good its weights.
                Ok(found) if found.is_good && !found.lacks_mass_of_any(best.as_ref()) => {
                    return Ok(found);
                }
                Ok(found) => best = Some(found.or_better_than(best, None)),
                Err(error) => failed = Some(of_covariance(error)),
            }
        }
        if let (None, Some(error)) = (&best, failed) {
            return Err(error);
        }
        if !is_tried(Method::Smc)
            && let Some(best) = best.take()
        {
            return Ok(best);
        }
    }
    if context.is_over()
        && let Some(best) = best.take()
    {
        return Ok(best);
    }
    // Chains do not pass between modes; in few dimensions weights are better.
    let are_chains_fit = context.target.dim() >= CHAINS_FROM && is_one_mode;
    let mut are_chains_tried = false;
    if wanted == Method::Chains || wanted == Method::Ladder && are_chains_fit {
        let shape = best.as_ref().and_then(|best| best.mixture.as_ref());
        let found = match chains::climb(context, shape) {
            // Chains that were stopped in their warm-up may have no draws; the earlier candidate is then the
            // answer.
            Err(_) if context.is_over() && best.is_some() => {
                return Ok(best.take().expect("there is one"));
            }
            found => found?,
        };
        if found.is_good || wanted == Method::Chains {
            return Ok(found);
        }
        best = Some(found.or_better_than(best, None));
        are_chains_tried = true;
    }
    let mut failed = None;
    if is_tried(Method::Smc) || is_tried(Method::Flow) {
        match particles::climb(context) {
            Ok((found, population)) => {
                if found.is_good && is_tried(Method::Smc) || wanted == Method::Smc {
                    return Ok(found);
                }
                let held_out = population.held_out();
                best = Some(found.or_better_than(best, Some(&held_out)));
                if context.is_over() {
                    return Ok(best.take().expect("there is one now"));
                }
                match flow::climb(context, &population) {
                    Ok(found) => best = Some(found.or_better_than(best, Some(&held_out))),
                    Err(error) => {
                        let told = context.told;
                        context.leave(Method::Flow, told, None, Left::Failed, error.to_string());
                    }
                }
            }
            Err(error) => {
                context.leave(Method::Smc, 0, None, Left::Failed, error.to_string());
                failed = Some(error);
            }
        }
    }
    // If nothing else has worked, chains at least show how far they get.
    let is_poor = best.as_ref().is_none_or(Candidate::is_poor);
    if wanted == Method::Ladder && is_poor && !are_chains_tried && !context.is_over() {
        match chains::climb(context, None) {
            Ok(found) => best = Some(found.or_better_than(best, None)),
            Err(error) => {
                let told = context.told;
                context.leave(Method::Chains, told, None, Left::Failed, error.to_string());
            }
        }
    }
    best.ok_or_else(|| failed.unwrap_or_else(|| Error::Target("no method found an answer".into())))
}

/// Ascents to the modes: shapes to start from, and whether there is at most one peak.
fn search(context: &mut Context) -> Result<(Vec<Shape>, bool)> {
    context.begin(Step::Modes, "searching for modes");
    let searched = searched(context)?;
    let Context { base, settings, .. } = context;
    let starts = adaptive::starts(&searched, base, settings.seed);
    let left = if starts.is_empty() { Left::Failed } else { Left::Prepared };
    let has_one_peak = searched.peaks() <= 1;
    let evaluations = searched.evaluations + integrable(context, &searched)?;
    context.leave(Method::Modes, evaluations, None, left, words(&searched));
    context.searches.push(searched);
    Ok((starts, has_one_peak))
}

/// The search for the modes of an answer.
pub(super) fn searched(context: &mut Context) -> Result<Searched> {
    let budget = context.budget().share_of_time(OF_SEARCH);
    context.with_ledger(|context, ledger| {
        let Context { unconstrained, base, settings, .. } = context;
        let search = Search::new(unconstrained.dim())
            .with_effort(unconstrained, settings.search)
            .at_once(settings.at_once)
            .within(budget);
        modes::search_with(
            unconstrained,
            base,
            &search,
            settings.seed,
            modes::Known::default(),
            ledger,
        )
    })
}

/// Refuses a density with an infinite integral, unless a proper prior makes it finite; returns the evaluations.
fn integrable(context: &Context, searched: &Searched) -> Result<usize> {
    let has_integral = context.target.has_prior() && context.target.has_proper_prior();
    let evaluations = bounded(context, searched)?;
    let Some(peak) = searched.widest_peak().filter(|_| !has_integral) else {
        return Ok(evaluations);
    };
    let found = target::tails(&context.unconstrained, &peak.z, peak.factor())?;
    match found.endless {
        Some(endless) => Err(endless.refusal()),
        None => Ok(evaluations + found.evaluations),
    }
}

/// Refuses a density that grows without bound and has an infinite integral, which a proper prior does not prevent.
/// Returns the evaluations. A peak whose widths are well above rounding error needs no such check.
fn bounded(context: &Context, searched: &Searched) -> Result<usize> {
    let target = &context.unconstrained;
    let Some(highest) = searched.highest() else { return Ok(0) };
    let (z, widths) = (&highest.z, highest.widths());
    if highest.is_peak && !target::is_at_the_end_of_digits(target, z, &widths) {
        return Ok(0);
    }
    match target::spike(target, z, &widths)? {
        (Some(spike), _) => Err(spike.refusal()),
        (None, evaluations) => Ok(evaluations),
    }
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

/// The result of a search, as text.
fn words(searched: &Searched) -> String {
    let Searched { summits, ascents, adrift, unseen, is_endless, .. } = searched;
    let mut words = match (summits.len(), is_endless) {
        (_, true) => format!("a new peak at nearly every one of {ascents} ascents"),
        (1, _) => format!("one peak from {ascents} ascents"),
        (peaks, _) => format!("{peaks} peaks from {ascents} ascents"),
    };
    let later: Vec<String> = Kind::ALL[1..]
        .iter()
        .filter(|kind| searched.tally(**kind).found > 0)
        .map(|kind| format!("{} by {}", searched.tally(*kind).found, kind.name()))
        .collect();
    if !later.is_empty() {
        words += &format!(" ({})", later.join(", "));
    }
    if *adrift > 0 {
        words += &format!(", {adrift} of which reached no peak");
    }
    if *unseen > 0.0 && !is_endless {
        let percent = 100.0 * unseen;
        words += &format!(
            "; another ascent would find a new peak with a chance of {percent:.0} per cent"
        );
    }
    words
}

/// The mixture rung: Gaussians at the peaks, adapted unless `as_it_is`.
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
