//! The check at the end of a run: draws are weighted towards the target, and the run is judged.

use crate::{job::interrupt, text::failure::in_flags};
use adaann::{
    Settings,
    answer::Answer,
    approximation::Approximation,
    checkpoint::Ledger,
    diagnostics::{self, Examination, Finding, Reason, Trust, Verdict},
    fit::Outcome,
    importance::Sample,
    smc::Observer,
};

/// How far a run is to be trusted.
pub(crate) struct Examined {
    /// What was found; nothing if the draws cannot be examined.
    pub(crate) examination: Option<Examination>,
    pub(crate) verdict: Verdict,
}

/// Examines draws of an approximation. A fit is worth keeping whatever becomes of its check, so that
/// a check which fails is a verdict, not an error.
pub(crate) fn examine(
    outcome: &Outcome,
    approximation: &Approximation,
    sample: &Sample,
    (settings, wanted): (&Settings, diagnostics::Settings),
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Examined {
    // Who has asked for an end does not want to wait for more; and particles at the target say nothing of a
    // flow that is not there.
    let is_over = interrupt::asked() || outcome.t() < 1.0;
    let particles = if is_over { 0 } else { wanted.particles };
    // Nor does who wants no particles want another search.
    let wanted = diagnostics::Settings { particles, search: particles > 0, ..wanted };
    let mut examined =
        match diagnostics::examine_with(approximation, sample, settings, &wanted, observer, ledger)
        {
            Ok(found) => Examined { verdict: found.verdict.clone(), examination: Some(found) },
            Err(error) => Examined { examination: None, verdict: Verdict::not_examined(&error) },
        };
    if outcome.stopped {
        examined.verdict = match is_over {
            true => examined.verdict.of_stopped(outcome.t()),
            false => examined.verdict.of_spent(),
        };
    }
    if let Some(failure) = &outcome.failure {
        let why = in_flags(&failure.reason);
        examined.verdict = examined.verdict.of_ended_early(failure.t, why);
    }
    if ledger.is_looking() {
        examined.verdict = examined.verdict.of_unfinished(Some(outcome.t()));
    }
    examined
}

/// The judgement on an answer of the ladder that is gone on with, or only looked at.
pub(crate) fn of_answer_by(answer: &Answer, ledger: &Ledger) -> Verdict {
    let verdict = of_answer(answer);
    if ledger.is_looking() { verdict.of_unfinished(None) } else { verdict }
}

/// The judgement on an answer of the ladder: that of its check, or that there was none.
fn of_answer(answer: &Answer) -> Verdict {
    let finding = Finding::NotChecked;
    let remedy = finding.remedy();
    let unchecked = || Verdict {
        trust: Trust::Care,
        reasons: vec![Reason { trust: Trust::Care, finding, remedy }],
        power: None,
    };
    let verdict = answer.examination.as_ref().map_or_else(unchecked, |found| found.verdict.clone());
    let is_told = |reason: &Reason| matches!(reason.finding, Finding::Stopped { .. });
    if answer.spent && answer.examination.is_none() {
        return verdict.of_spent();
    }
    if answer.stopped && !verdict.reasons.iter().any(is_told) {
        return verdict.of_stopped(1.0);
    }
    verdict
}
