//! The check at the end of a run: draws are weighted towards the target, and the run is judged.

use adaann::{
    Settings,
    approximation::Approximation,
    diagnostics::{self, Examination, Reason, Trust, Verdict},
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
            Err(error) => Examined {
                examination: None,
                verdict: Verdict::new(vec![Reason {
                    trust: Trust::Distrust,
                    finding: format!("the draws cannot be examined: {error}"),
                    remedy:
                        "give the parameters bounds or narrower priors, or train longer (--refine)"
                            .to_owned(),
                }]),
            },
        };
    if outcome.stopped {
        examined.verdict.add(stopped(outcome.steps.last().map_or(0.0, |step| step.t)));
    }
    examined
}

fn stopped(t: f64) -> Reason {
    let (trust, finding) = if t < 1.0 {
        let what = "the flow approximates the density annealed to there";
        (Trust::Distrust, format!("the run was stopped at t = {t:.4}: {what}, not the target"))
    } else {
        (Trust::Care, "the run was stopped before the end of its refinement".to_owned())
    };
    Reason { trust, finding, remedy: "let it run to its end".to_owned() }
}
