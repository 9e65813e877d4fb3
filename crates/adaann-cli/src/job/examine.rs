//! The check at the end of a run: weights the draws towards the target and judges the run.

use crate::{job::interrupt, text::failure::in_flags};
use adaann::{
    Settings,
    answer::Answer,
    approximation::Approximation,
    checkpoint::Ledger,
    diagnostics::{self, Examination, Finding, Reason, Verdict},
    fit::Outcome,
    importance::Sample,
    smc::Observer,
};

/// The result of the check.
pub(crate) struct Examined {
    /// The examination; `None` if the draws cannot be examined.
    pub(crate) examination: Option<Examination>,
    /// Evaluations of the target.
    pub(crate) evaluations: usize,
    pub(crate) verdict: Verdict,
}

/// Examines draws of an approximation. A fit is kept even if its check fails, so that a failed check gives a
/// verdict, not an error.
pub(crate) fn examine(
    outcome: &Outcome,
    approximation: &Approximation,
    sample: &Sample,
    (settings, wanted): (&Settings, diagnostics::Settings),
    observer: &mut dyn Observer,
    ledger: &mut Ledger,
) -> Examined {
    // Skip the particles if the run was interrupted, or if the flow has not reached t = 1, where particles
    // cannot check it.
    let is_over = interrupt::asked() || outcome.t() < 1.0;
    let particles = if is_over { 0 } else { wanted.particles };
    // Without particles, skip the search as well.
    let wanted = diagnostics::Settings { particles, search: particles > 0, ..wanted };
    let mut examined =
        match diagnostics::examine_with(approximation, sample, settings, &wanted, observer, ledger)
        {
            Ok(found) => Examined {
                verdict: found.verdict.clone(),
                evaluations: found.evaluations,
                examination: Some(found),
            },
            Err(error) => Examined {
                examination: None,
                evaluations: 0,
                verdict: Verdict::not_examined(&error),
            },
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

/// The verdict on an answer of the ladder, final or at a checkpoint. `names` are its coordinates.
pub(crate) fn of_answer_by(answer: &Answer, names: &[String], ledger: &Ledger) -> Verdict {
    let verdict = of_answer(answer, names);
    if ledger.is_looking() { verdict.of_unfinished(None) } else { verdict }
}

/// The verdict of the answer's check. Without a check, draws and chains are judged by the same thresholds,
/// whether the run was stopped or not.
fn of_answer(answer: &Answer, names: &[String]) -> Verdict {
    let unchecked = || Verdict::of_unchecked(&answer.sample, names);
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

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::{
        Program,
        answer::{Method, Settings, approximate},
        diagnostics::Trust,
        importance::Mixing,
    };

    fn names() -> Vec<String> {
        vec!["x".into()]
    }

    /// An unchecked answer to N(0, 1).
    fn unchecked() -> Answer {
        let target = Program::record(1, |z| -0.5 * z[0].square());
        let settings = Settings { check: 0.0, method: Method::Mixture, ..Settings::default() };
        approximate(&target, &settings, &mut ()).unwrap()
    }

    /// Its draws, weighted by `log_weight` of the index and the position of each.
    fn weighted(log_weight: impl Fn(usize, f64) -> f64) -> Sample {
        let x = unchecked().sample.x().clone();
        let values = x.row(0)[..x.len()].iter().enumerate();
        let log_p = values.map(|(i, x)| log_weight(i, *x)).collect();
        let log_q = vec![0.0; x.len()];
        Sample::of_draws(x.clone(), x, log_p, log_q).unwrap()
    }

    fn judged(answer: &Answer) -> (Trust, Vec<&'static str>) {
        let verdict = of_answer(answer, &names());
        (verdict.trust, verdict.reasons.iter().map(|reason| reason.finding.code()).collect())
    }

    /// The verdicts on a sample in a run that was stopped, that spent its budget, and that finished.
    fn in_all_runs(sample: &Sample) -> [(Trust, Vec<&'static str>); 3] {
        [(true, false), (false, true), (false, false)].map(|(stopped, spent)| {
            judged(&Answer { sample: sample.clone(), stopped, spent, ..unchecked() })
        })
    }

    #[test]
    fn a_good_answer_without_a_check_asks_for_care() {
        let answer = unchecked();
        assert_eq!(judged(&answer), (Trust::Care, vec!["not-checked"]));
        let stopped = Answer { stopped: true, ..answer };
        assert_eq!(judged(&stopped), (Trust::Care, vec!["not-checked", "stopped"]));
    }

    #[test]
    fn few_effective_draws_are_not_trusted_wherever_the_run_ended() {
        // One draw has nearly all of the weight: the effective sample size is 1.
        let sample = weighted(|i, _| if i == 7 { 30.0 } else { (i % 97) as f64 * 0.01 });
        assert!(sample.weight_sums().unwrap().ess() < 1.01);
        for (trust, codes) in in_all_runs(&sample) {
            assert_eq!(trust, Trust::Distrust, "{codes:?}");
            assert!(codes.contains(&"few-effective-draws"), "{codes:?}");
        }
        // Weights exp(3 x²) have k = 6: no mean.
        let heavy = weighted(|_, x| 3.0 * x * x);
        assert!(heavy.smoothed().unwrap().k_hat > 3.0);
        for (trust, codes) in in_all_runs(&heavy) {
            assert_eq!(trust, Trust::Distrust, "{codes:?}");
            assert!(codes.contains(&"heavy-tail"), "{codes:?}");
        }
    }

    #[test]
    fn chains_that_have_not_mixed_are_not_trusted_wherever_the_run_ended() {
        let x = weighted(|_, _| 0.0).x().clone();
        let flat = || vec![0.0; x.len()];
        let sample = Sample::of_particles(x.clone(), x.clone(), flat(), flat()).unwrap();
        let with = |r_hat: f64, ess: f64| {
            let mixing = Mixing::new((r_hat, 0.0), &[ess], &[ess], (x.len(), x.len()));
            sample.clone().of_chains(mixing)
        };
        for (trust, codes) in in_all_runs(&with(1.128, 2_000.0)) {
            assert_eq!((trust, codes[0]), (Trust::Distrust, "not-mixed"), "{codes:?}");
        }
        for (trust, codes) in in_all_runs(&with(1.05, 2_000.0)) {
            assert!(trust == Trust::Care && codes.contains(&"not-mixed"), "{codes:?}");
        }
        for (trust, codes) in in_all_runs(&with(1.005, 60.0)) {
            assert_eq!((trust, codes[0]), (Trust::Distrust, "few-effective-draws"), "{codes:?}");
        }
        for (trust, codes) in in_all_runs(&with(1.005, 2_000.0)) {
            assert!(trust == Trust::Care && codes.contains(&"not-checked"), "{codes:?}");
        }
    }
}
