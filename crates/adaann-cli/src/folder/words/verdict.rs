//! The verdict on a run as text, for the terminal and for the report page.

use crate::{
    folder::summary::{Reason, Verdict},
    text::style::{Style, wrapped},
};
use adaann::{
    answer::Method,
    diagnostics::{Remedy, Trust},
};

/// Maximum number of reasons shown; `summary.json` has all.
const MOST_REASONS: usize = 6;

/// Exit code of a run with `--strict` whose verdict is not RELIABLE. LOCAL also gives this code, since modes
/// may be missing.
pub(crate) const EXIT_CODE: u8 = 3;

/// A remedy in terms of flags and commands, with its approximate cost, for a run by the given method.
pub(crate) fn words(remedy: Remedy, method: Method) -> &'static str {
    let is_annealed = method == Method::Adaann;
    match remedy {
        Remedy::TrainMore if is_annealed => {
            "train longer (--refine: cost proportional to its updates), add a refinement by the \
             forward KL divergence (--forward-kl 10: about 100,000 more evaluations), use a richer \
             flow (--flow spline: updates take a few times longer, no more evaluations), or use \
             the ladder (--method ladder: usually fewer evaluations)"
        }
        Remedy::TrainMore => {
            "try another method (--method smc: a few hundred thousand evaluations; --method flow: \
             several times as many)"
        }
        Remedy::AnnealMore if is_annealed => {
            "let the ladder search for the modes (--method ladder: usually fewer evaluations), take \
             smaller steps (half the --tau: about twice the evaluations), or use several seeds \
             (--seeds 4: four times the evaluations)"
        }
        Remedy::AnnealMore => {
            "search longer (--search 10: about ten times the evaluations of the search), use a wider base \
             (--base-sd: no more evaluations), spend more on the check (--check 0.8: up to \
             four times the evaluations of the answer), try another method (--method smc: a few \
             hundred thousand evaluations), or use a more informative prior"
        }
        Remedy::DrawMore if is_annealed => {
            "take more draws (--draws: one evaluation each), or train longer (--refine: cost \
             proportional to its updates; --forward-kl 10: about 100,000 more evaluations)"
        }
        Remedy::DrawMore => {
            "allow more draws (--most-draws: one evaluation each), or try another method (--method \
             smc: a few hundred thousand evaluations; --method flow: several times as many)"
        }
        Remedy::BoundOrTrain if is_annealed => {
            "give the parameters bounds or narrower priors in the model file (no more evaluations), \
             or train longer (--refine: cost proportional to its updates)"
        }
        Remedy::BoundParameters | Remedy::BoundOrTrain => {
            "give the parameters bounds or narrower priors in the model file (no more evaluations)"
        }
        Remedy::Finish => {
            "let the run finish: repeat the command, with a larger --max-evaluations or --max-time if \
             one of these ended it (cost: the remaining evaluations)"
        }
        Remedy::CheckWithParticles if is_annealed => {
            "leave --check-particles at its default: a few hundred thousand \
             more evaluations"
        }
        Remedy::CheckWithParticles => {
            "leave --check at its default of 0.5: up to as many evaluations as the answer took"
        }
        Remedy::ChangeParticles => {
            "compare with `adaann smc` at other settings (--particles, --move): a few hundred \
             thousand evaluations"
        }
        Remedy::ReadQuantiles => {
            "use its median and quantiles, which are reliable (no more evaluations), or give it a \
             narrower prior"
        }
        Remedy::SolveTighter => {
            "solve the equations more accurately: a smaller rtol and atol, or a smaller step, in [ode] of \
             the model file; half the step doubles the time of an evaluation"
        }
        Remedy::SearchMore => {
            "search longer (--search 10: about ten times the evaluations of the search), or use a more \
             informative prior"
        }
        Remedy::ShowFormulas => {
            "write the density as a model file, whose formulas show its terms (no more evaluations)"
        }
        Remedy::AddParticles => {
            "check whether `adaann smc` with more particles agrees (--particles 10000: a few hundred \
             thousand evaluations)"
        }
        Remedy::MendTarget => {
            "fix the density: it must return the same value for the same point, the gradient of that value, \
             and never NaN within the bounds of the parameters; `adaann check` tests a model file"
        }
    }
}

/// The verdict with its reasons and remedies.
pub(crate) fn text(verdict: &Verdict, sight: Option<&str>, style: Style) -> String {
    let said = verdict.trust.to_string().to_uppercase();
    let said = match verdict.trust {
        Trust::Reliable => style.green(&said),
        Trust::Local => style.blue(&said),
        Trust::Care => style.yellow(&said),
        Trust::Distrust => style.red(&said),
    };
    let mut text = format!("{}  {}\n", style.bold("Verdict"), style.bold(&said));
    for Advice { findings, remedy } in advice(verdict) {
        for finding in findings {
            text += &wrapped("  - ", finding);
        }
        text += &style.dim(wrapped("    try: ", remedy).trim_end());
        text.push('\n');
    }
    if let Some(more) = more(verdict) {
        text += &style.dim(&format!("  {more}"));
        text.push('\n');
    }
    if let Some(words) = coverage(verdict, sight) {
        text += &style.dim(wrapped("  search coverage: ", &words).trim_end());
        text.push('\n');
    }
    text
}

/// How likely the search was to find other modes, and what it may still miss.
pub(crate) fn coverage(verdict: &Verdict, sight: Option<&str>) -> Option<String> {
    let power = match (verdict.power_basis.as_deref(), verdict.power) {
        (Some("log-concave"), _) => {
            Some("one mode: the density is log-concave, which its formulas show".to_owned())
        }
        (Some("log-concave-terms"), _) => Some(
            "no term is missing: the density is a sum of log-concave terms, which its formulas show, and the \
             peak of each was found"
                .to_owned(),
        ),
        // `sight` describes exact draws.
        (Some("exact-draws"), _) | (_, None) => None,
        (_, Some(power)) => Some(format!(
            // Rounded down: 89.9 % must not read as the 90 % that would have been enough.
            "would have found {} % of modes planted at random (a fifth of the mass, a third to as wide \
             as the answer)",
            (100.0 * power).floor()
        )),
    };
    let parts: Vec<String> = power.into_iter().chain(sight.map(str::to_owned)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Findings with the same remedy.
pub(crate) struct Advice<'a> {
    pub(crate) findings: Vec<&'a str>,
    pub(crate) remedy: &'a str,
}

/// The first reasons, grouped by remedy.
pub(crate) fn advice(verdict: &Verdict) -> Vec<Advice<'_>> {
    let mut all: Vec<Advice> = Vec::new();
    for Reason { finding, remedy, .. } in verdict.reasons.iter().take(MOST_REASONS) {
        match all.iter_mut().find(|advice| advice.remedy == remedy) {
            Some(advice) => advice.findings.push(finding),
            None => all.push(Advice { findings: vec![finding], remedy }),
        }
    }
    all
}

/// The note on reasons that are not shown.
pub(crate) fn more(verdict: &Verdict) -> Option<String> {
    let more = verdict.reasons.len().saturating_sub(MOST_REASONS);
    (more > 0).then(|| format!("{more} more reasons in summary.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::diagnostics;

    fn reason(trust: Trust, finding: &str, remedy: &str) -> Reason {
        Reason {
            trust,
            finding_code: "found".into(),
            finding: finding.into(),
            remedy_code: "try".into(),
            remedy: remedy.into(),
        }
    }

    fn verdict(trust: Trust, reasons: Vec<Reason>) -> Verdict {
        Verdict { trust, reasons, power: None, power_basis: None }
    }

    #[test]
    fn a_remedy_is_told_once() {
        let collapsed = vec![
            reason(Trust::Distrust, "mode", "anneal"),
            reason(Trust::Care, "tail", "train"),
            reason(Trust::Care, "mass", "anneal"),
        ];
        assert_eq!(
            text(&verdict(Trust::Distrust, collapsed), None, Style::plain()),
            "Verdict  DO NOT TRUST\n  - mode\n  - mass\n    try: anneal\n  - tail\n    try: train\n"
        );
        let reliable = verdict(Trust::Reliable, Vec::new());
        let said = text(&reliable, Some("far and wide"), Style::plain());
        assert_eq!(said, "Verdict  RELIABLE\n  search coverage: far and wide\n");
    }

    #[test]
    fn power_is_said_in_words() {
        let with = |power: f64, basis: &str| Verdict {
            power: Some(power),
            power_basis: Some(basis.into()),
            ..verdict(Trust::Reliable, Vec::new())
        };
        let planted = coverage(&with(0.974, "planted"), Some("48 ascents")).unwrap();
        assert!(
            planted.starts_with("would have found 97 % of modes planted at random"),
            "{planted}"
        );
        assert!(planted.ends_with("; 48 ascents"), "{planted}");
        // A power just below the limit is rounded down.
        assert!(coverage(&with(0.899, "planted"), None).unwrap().contains("found 89 %"));
        let concave = coverage(&with(1.0, "log-concave"), None).unwrap();
        assert_eq!(concave, "one mode: the density is log-concave, which its formulas show");
        let terms = coverage(&with(1.0, "log-concave-terms"), None).unwrap();
        assert!(terms.starts_with("no term is missing: the density is a sum"), "{terms}");
        assert_eq!(coverage(&with(1.0, "exact-draws"), Some("exact")).unwrap(), "exact");
        assert_eq!(coverage(&verdict(Trust::Care, Vec::new()), None), None);
    }

    #[test]
    fn a_verdict_survives_its_file() {
        let local =
            diagnostics::Verdict { trust: Trust::Reliable, reasons: Vec::new(), power: None }
                .with_power(diagnostics::Power::Planted { planted: 200, caught: 125 });
        let written = serde_json::to_string(&Verdict::new(&local, Method::Mixture)).unwrap();
        assert!(written.contains("\"trust\":\"local\"") && written.contains("\"power\":0.625"));
        let read: Verdict = serde_json::from_str(&written).unwrap();
        assert_eq!((read.trust, read.power), (Trust::Local, Some(0.625)));
        assert_eq!(read.reasons[0].finding_code, "modes-not-excluded");
        assert!(read.reasons[0].remedy.contains("--search 10"));
        let said = text(&read, None, Style::plain());
        assert!(said.starts_with("Verdict  LOCAL\n") && said.contains("62 %"), "{said}");
        // Files of earlier versions lack the power.
        let old: Verdict = serde_json::from_str(r#"{"trust":"care","reasons":[]}"#).unwrap();
        assert_eq!((old.power, old.power_basis), (None, None));
    }

    #[test]
    fn many_reasons_are_counted() {
        let all = (0..9).map(|i| reason(Trust::Care, &format!("reason {i}"), "x")).collect();
        let said = text(&verdict(Trust::Care, all), None, Style::plain());
        assert!(said.contains("reason 5") && !said.contains("reason 6"), "{said}");
        assert!(said.ends_with("3 more reasons in summary.json\n"), "{said}");
    }
}
