//! The ladder: a table of rungs from the cheapest to the strongest, and one loop that climbs it.

use super::{
    Answer, Left, Method, Observer, Settings, candidate::Candidate, chains, check,
    context::Context, flow, found::Found, mixture, particles, prior,
};
use crate::{
    Error, Result,
    checkpoint::Ledger,
    target::{Metered, Target},
};

/// Chains come before particles from this number of dimensions on.
const CHAINS_FROM: usize = 20;

/// A rung of the ladder.
struct LadderRung {
    /// The methods that are requested by name and need this rung.
    methods: &'static [Method],
    /// Does the ladder try it after the rungs before it?
    is_due: fn(&Context, &Found) -> bool,
    /// Tries it. Returns its candidate, if it has one.
    climb: fn(&mut Context, &mut Found) -> Result<Option<Candidate>>,
    /// The method whose good candidate is the answer without trying further rungs.
    accepts: Option<Method>,
    /// The name under which its failure is reported; none if the failure ends the run.
    may_fail: Option<Method>,
}

/// The ladder. A rung uses what [`Found`] has from the rungs before it.
const LADDER: [LadderRung; 6] = [
    // A prior without data is sampled directly.
    LadderRung {
        methods: &[Method::Prior],
        is_due: |_, _| true,
        climb: |context, _| prior::climb(context),
        accepts: Some(Method::Prior),
        may_fail: None,
    },
    // Ascents find the modes, and importance sampling adapts a mixture of the Gaussians there.
    LadderRung {
        methods: &[Method::Modes, Method::Mixture],
        is_due: |_, _| true,
        climb: mixture::climb,
        accepts: Some(Method::Mixture),
        may_fail: None,
    },
    // Chains do not move between modes. In few dimensions, weights are better.
    LadderRung {
        methods: &[Method::Chains],
        is_due: |context, found| context.target.dim() >= CHAINS_FROM && !found.has_several_peaks,
        climb: |context, found| {
            found.are_chains_tried = true;
            let shape = found.best.as_ref().and_then(|best| best.mixture.as_ref());
            chains::climb(context, shape).map(Some)
        },
        accepts: Some(Method::Chains),
        may_fail: None,
    },
    // Particles start from the base, and a mixture describes them.
    LadderRung {
        methods: &[Method::Smc, Method::Flow],
        is_due: |_, _| true,
        climb: |context, found| {
            let (candidate, population) = particles::climb(context)?;
            found.held_out = Some(population.held_out());
            found.population = Some(population);
            Ok(Some(candidate))
        },
        accepts: Some(Method::Smc),
        may_fail: Some(Method::Smc),
    },
    // A flow on top of the particles' mixture. Held-out particles decide whether it is better.
    LadderRung {
        methods: &[Method::Flow],
        is_due: |_, found| found.population.is_some(),
        climb: |context, found| {
            found.population.take().map(|particles| flow::climb(context, &particles)).transpose()
        },
        accepts: None,
        may_fail: Some(Method::Flow),
    },
    // If nothing else has worked, chains at least show how far they get.
    LadderRung {
        methods: &[],
        is_due: |context, found| !found.are_chains_tried && found.is_poor() && !context.has_ended(),
        climb: |context, _| chains::climb(context, None).map(Some),
        accepts: None,
        may_fail: Some(Method::Chains),
    },
];

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
    let (mut found, mut failed) = (Found::default(), None);
    for rung in &LADDER {
        let is_due = match wanted {
            Method::Ladder => (rung.is_due)(context, &found),
            method => rung.methods.contains(&method),
        };
        if !is_due {
            continue;
        }
        if context.is_over() && found.best.is_some() {
            break;
        }
        match ((rung.climb)(context, &mut found), rung.may_fail) {
            (Ok(None), _) => {}
            (Ok(Some(candidate)), _) => {
                let accepts = |method| wanted == Method::Ladder || wanted == method;
                if candidate.is_good && rung.accepts.is_some_and(accepts) {
                    return Ok(candidate);
                }
                found.consider(candidate);
            }
            (Err(error), Some(method)) => {
                let told = context.told;
                context.leave(method, told, None, Left::Failed, error.to_string());
                failed.get_or_insert(error);
            }
            // Chains that were stopped in their warm-up may have no draws; the earlier candidate is then the answer.
            (Err(_), None) if context.is_over() && found.best.is_some() => break,
            (Err(error), None) => return Err(error),
        }
    }
    let nothing = || Error::Target("no method found an answer".into());
    found.best.ok_or_else(|| failed.unwrap_or_else(nothing))
}
