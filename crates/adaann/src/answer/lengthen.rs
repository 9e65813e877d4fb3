//! Takes further draws of an answer after its run.

use super::{
    Answer, Method, Observer, Settings, candidate::Candidate, check, context::Context,
    forecast::Step, search,
};
use crate::{
    Error, Result,
    approximation::Approximation,
    checkpoint::Ledger,
    error,
    importance::Sample,
    target::{Metered, Target},
};

/// Two shares of effective draws this close are equal: one may have been rounded in a file.
const SAME_SHARE: f64 = 1e-9;

/// Takes `more` draws of an answer's q, from where its own stream ends, and checks the answer once with all draws,
/// without repairs. `settings` are those of the answer. If the answer has a fixed number of draws and needed one
/// attempt and no repair, the result equals that of a run with all draws, except for the stated errors: the gap to the
/// estimate from earlier proposals is no longer known.
///
/// ```
/// use adaann::{Program, answer::{Settings, approximate, lengthen}, checkpoint::Ledger};
///
/// let target = Program::record(2, |z| -0.5 * (z[0].square() + (z[1] - 2.0 * z[0]).square()));
/// let with = |draws| Settings { draws: Some(draws), ..Settings::default() };
/// let short = approximate(&target, &with(1_000), &mut ())?;
/// let longer = lengthen(&target, short, 500, &with(1_000), &mut (), &mut Ledger::off())?;
///
/// let whole = approximate(&target, &with(1_500), &mut ())?;
/// assert_eq!(longer.sample.log_weights(), whole.sample.log_weights());
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// If the answer came from chains or a prior, a setting is out of range, or the target fails.
pub fn lengthen(
    target: &dyn Target,
    answer: Answer,
    more: usize,
    settings: &Settings,
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Result<Answer> {
    settings.check()?;
    let stream = answer.stream.filter(|_| answer.method != Method::Prior).ok_or_else(refusal)?;
    let meter = Metered::new(target);
    rayon::scope(|_| {
        let mut context = Context::new(&meter, settings, observer, ledger)?;
        let target: &dyn Target = &meter;
        // The deadline does not apply to the requested draws, only to the check.
        meter.set_deadline(None);
        context.rungs.clone_from(&answer.rungs);
        context.spent = answer.spent;
        context.begin(Step::Draws, "taking further draws");
        let approximation = Approximation::new(target, answer.flow.clone())?;
        let known = answer.sample.log_p();
        let sample = context.part("draws", |_, _| {
            approximation.sample_knowing(known, known.len() + more, stream)
        })?;
        // More draws of the same q do not change the estimate of the other estimator.
        let sample = sample.with_gaps(answer.sample.gaps().cloned());
        account(&mut context, &answer, &sample)?;
        let Answer { method, flow, fit, .. } = answer;
        let candidate = Candidate::of_draws(method, flow, sample, true)?;
        let repairs = context.rungs.iter().filter(|rung| rung.is_repair);
        // The check that led to a repair has seen the earlier answer.
        let number = repairs.count() as u64;
        let mut examination = None;
        if settings.check > 0.0 && !context.stopped {
            // The check compares with the results of the answer's search, which files do not contain. The cost of the
            // search is already in its rung.
            if context.rungs.iter().any(|rung| rung.method == Method::Modes) {
                let searched = search::searched(&mut context)?;
                context.searches.push(searched);
            }
            context.begin_check();
            let found = check::examine(&mut context, &candidate, number)?;
            examination = Some(found);
        }
        // The remaining budget carries over.
        if let Some(found) = examination.as_mut().filter(|_| context.spent) {
            found.verdict = found.verdict.clone().of_spent();
        }
        let Candidate { flow, sample, log_z, .. } = candidate;
        Ok(Answer {
            method,
            flow,
            sample,
            stream: Some(stream),
            log_z,
            evaluations: context.evaluations(),
            check_evaluations: context.check_evaluations(examination.as_ref()),
            rungs: context.rungs,
            examination,
            fit,
            spent: context.spent,
            stopped: context.stopped,
        })
    })
}

/// Adds the further draws to the rung that made the answer.
fn account(context: &mut Context, answer: &Answer, sample: &Sample) -> Result<()> {
    let before = answer.sample.weight_sums()?.ess_share();
    let is_same = |share: f64| (share - before).abs() <= SAME_SHARE * before;
    let rungs = &mut context.rungs;
    let of_method = |rung: &&mut super::Rung| rung.method == answer.method;
    let rung = match rungs.iter().rposition(|rung| rung.ess_share.is_some_and(is_same)) {
        Some(place) => rungs.get_mut(place),
        None => rungs.iter_mut().rev().find(of_method),
    };
    if let Some(rung) = rung {
        rung.evaluations += sample.len() - answer.sample.len();
        rung.ess_share = Some(sample.weight_sums()?.ess_share());
    }
    Ok(())
}

/// The error for an answer that has no q to draw from.
fn refusal() -> Error {
    let message = "an answer of chains, or of a prior alone, has no q to take further draws from: rerun with \
                   more `draws`, or a larger `target-ess`";
    error::conflict("draws", message)
}
