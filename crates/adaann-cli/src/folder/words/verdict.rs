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

/// Exit code of a run with --strict whose verdict is not that it is reliable.
pub(crate) const EXIT_CODE: u8 = 3;

/// What to try, as flags and commands of this program, after a run by some method.
pub(crate) fn words(remedy: Remedy, method: Method) -> &'static str {
    let is_annealed = method == Method::Adaann;
    match remedy {
        Remedy::TrainMore if is_annealed => {
            "train longer (--refine), add a refinement by the forward KL divergence \
             (--forward-kl 10), use a richer flow (--flow spline), or climb the ladder \
             (--method ladder)"
        }
        Remedy::TrainMore => "try another method (--method smc, --method flow)",
        Remedy::AnnealMore if is_annealed => {
            "let the ladder look for the modes (--method ladder), take smaller steps (a lower \
             --tau), or several seeds (--seeds 4)"
        }
        Remedy::AnnealMore => {
            "start wider (--base-sd), give the check more of the work (--check 0.8), try another \
             method (--method smc), or tell more by the prior"
        }
        Remedy::DrawMore if is_annealed => {
            "take more draws (--draws), or train longer (--refine, --forward-kl 10)"
        }
        Remedy::DrawMore => {
            "allow more draws (--most-draws), or try another method (--method smc, --method flow)"
        }
        Remedy::BoundOrTrain if is_annealed => {
            "give the parameters bounds or narrower priors, or train longer (--refine)"
        }
        Remedy::BoundParameters | Remedy::BoundOrTrain => {
            "give the parameters bounds or narrower priors"
        }
        Remedy::Finish => "let it run to its end",
        Remedy::CheckWithParticles if is_annealed => "leave --check-particles at its default",
        Remedy::CheckWithParticles => "leave --check at its default",
        Remedy::ChangeParticles => "see what `adaann smc` says with other settings",
        Remedy::ReadQuantiles => {
            "read its median and quantiles, which are known, or give it a narrower prior"
        }
        Remedy::SolveTighter => {
            "solve the equations more accurately: a smaller rtol and atol, or a smaller step, in [ode] of \
             the model file"
        }
        Remedy::SearchMore => "search longer (--search 10), or tell more by the prior",
        Remedy::MendTarget => {
            "mend the density: the same value for the same point, the gradient of that value, and a number \
             wherever the parameters may be; `adaann check` looks at a model file"
        }
        Remedy::AddParticles => "see whether `adaann smc` with more particles agrees",
    }
}

/// The verdict with its reasons, and what to try.
pub(crate) fn text(verdict: &Verdict, sight: Option<&str>, style: Style) -> String {
    let said = verdict.trust.to_string().to_uppercase();
    let said = match verdict.trust {
        Trust::Reliable => style.green(&said),
        Trust::Local | Trust::Care => style.yellow(&said),
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
    if let Some(sight) = sight {
        text += &style.dim(wrapped("  looked: ", sight).trim_end());
        text.push('\n');
    }
    text
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
        Verdict { trust, reasons }
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
        assert_eq!(said, "Verdict  RELIABLE\n  looked: far and wide\n");
    }

    #[test]
    fn many_reasons_are_counted() {
        let all = (0..9).map(|i| reason(Trust::Care, &format!("reason {i}"), "x")).collect();
        let said = text(&verdict(Trust::Care, all), None, Style::plain());
        assert!(said.contains("reason 5") && !said.contains("reason 6"), "{said}");
        assert!(said.ends_with("3 more reasons in summary.json\n"), "{said}");
    }
}
