//! The check at the end of a run: draws are weighted towards the target, and the run is judged.

use adaann::{
    Settings,
    approximation::Approximation,
    diagnostics::{self, Examination, Verdict},
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
    settings: &Settings,
    particles: usize,
    observer: &mut dyn Observer,
) -> Examined {
    // Who has stopped the fit does not want to wait for more.
    let particles = if outcome.stopped { 0 } else { particles };
    let wanted = diagnostics::Settings { particles, ..diagnostics::Settings::default() };
    let mut examined =
        match diagnostics::examine(approximation, sample, settings, &wanted, observer) {
            Ok(found) => Examined { verdict: found.verdict.clone(), examination: Some(found) },
            Err(error) => Examined { examination: None, verdict: Verdict::not_examined(&error) },
        };
    if outcome.stopped {
        let t = outcome.steps.last().map_or(0.0, |step| step.t);
        examined.verdict = examined.verdict.of_stopped(t);
    }
    examined
}
