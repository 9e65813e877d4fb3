//! The verdict on a run in words: for the terminal and for the page.

use crate::{
    folder::summary::{Reason, Verdict},
    text::style::{Style, wrapped},
};
use adaann::{
    answer::Method,
    diagnostics::{Remedy, Trust},
};

/// Reasons shown; the rest is in `summary.json`.
const MOST_REASONS: usize = 6;

/// Exit code of a run with --strict whose verdict is not RELIABLE; LOCAL is not, since modes may be missing.
pub(crate) const EXIT_CODE: u8 = 3;

/// What to try, as flags and commands of this program, and about what it costs, after a run by some method.
pub(crate) fn words(remedy: Remedy, method: Method) -> &'static str {
    let is_annealed = method == Method::Adaann;
    match remedy {
        Remedy::TrainMore if is_annealed => {
            "train longer (--refine: cost in proportion to its updates), add a refinement by the \
             forward KL divergence (--forward-kl 10: about a hundred thousand evaluations more), use a richer \
             flow (--flow spline: a few times the time of an update, no more evaluations), or climb \
             the ladder (--method ladder: usually fewer evaluations)"
        }
        Remedy::TrainMore => {
            "try another method (--method smc: some hundred thousand evaluations; --method flow: \
             several times that)"
        }
        Remedy::AnnealMore if is_annealed => {
            "let the ladder look for the modes (--method ladder: usually fewer evaluations), take \
             smaller steps (half of --tau: about twice the evaluations), or several seeds \
             (--seeds 4: four times the evaluations)"
        }
        Remedy::AnnealMore => {
            "search longer (--search 10: about ten times the evaluations of the search), start wider \
             (--base-sd: no more evaluations), give the check more of the work (--check 0.8: up to \
             four times the evaluations of the answer), try another method (--method smc: some \
             hundred thousand evaluations), or tell more by the prior"
        }
        Remedy::DrawMore if is_annealed => {
            "take more draws (--draws: one evaluation each), or train longer (--refine: cost in \
             proportion to its updates; --forward-kl 10: about a hundred thousand evaluations more)"
        }
        Remedy::DrawMore => {
            "allow more draws (--most-draws: one evaluation each), or try another method (--method \
             smc: some hundred thousand evaluations; --method flow: several times that)"
        }
        Remedy::BoundOrTrain if is_annealed => {
            "give the parameters bounds or narrower priors in the model file (no more evaluations), \
             or train longer (--refine: cost in proportion to its updates)"
        }
        Remedy::BoundParameters | Remedy::BoundOrTrain => {
            "give the parameters bounds or narrower priors in the model file (no more evaluations)"
        }
        Remedy::Finish => {
            "let it run to its end (the same command goes on; with larger --max-evaluations or \
             --max-time if these ended it): the rest of its evaluations"
        }
        Remedy::CheckWithParticles if is_annealed => {
            "leave --check-particles at its default: some hundred thousand \
             evaluations more"
        }
        Remedy::CheckWithParticles => {
            "leave --check at its default of 0.5: up to as many evaluations again as the answer took"
        }
        Remedy::ChangeParticles => {
            "see what `adaann smc` says with other settings (--particles, --move): some hundred \
             thousand evaluations"
        }
        Remedy::ReadQuantiles => {
            "read its median and quantiles, which are known (no more evaluations), or give it a \
             narrower prior"
        }
        Remedy::SolveTighter => {
            "solve the equations more accurately: a smaller rtol and atol, or a smaller step, in [ode] of \
             the model file; half the step costs twice the time of an evaluation"
        }
        Remedy::SearchMore => {
            "search longer (--search 10: about ten times the evaluations of the search), or tell more \
             by the prior"
        }
        Remedy::ShowFormulas => {
            "write the density as a model file, whose formulas show its terms (no more evaluations)"
        }
        Remedy::AddParticles => {
            "see whether `adaann smc` with more particles agrees (--particles 10000: some hundred \
             thousand evaluations)"
        }
        Remedy::MendTarget => {
            "mend the density: the same value for the same point, the gradient of that value, and a number \
             wherever the parameters may be; `adaann check` looks at a model file"
        }
    }
}

/// The verdict with its reasons, and what to try.
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

/// How likely the search was to find other modes, and what can still hide from it.
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
        // What these are is said by `sight`.
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

/// Findings that have the same remedy.
pub(crate) struct Advice<'a> {
    pub(crate) findings: Vec<&'a str>,
    pub(crate) remedy: &'a str,
}

/// The first reasons, those with the same remedy together.
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

/// How many reasons are not shown.
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
        // Just below the limit is not said to be at it.
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
        // Files of earlier versions have no power.
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
