//! The verdict on a run in words: for the terminal and for the page.

use crate::{
    folder::summary::{Reason, Verdict},
    text::style::{Style, wrapped},
};
use adaann::diagnostics::{Remedy, Trust};

/// Reasons shown; the rest is in `summary.json`.
const MOST_REASONS: usize = 6;

/// Exit code of a run with --strict whose verdict is not that it is reliable.
pub(crate) const EXIT_CODE: u8 = 3;

/// What to try, as flags and commands of this program.
pub(crate) fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::TrainMore => {
            "train longer (--refine), add a refinement by the forward KL divergence \
             (--forward-kl 10), or use a richer flow (--flow spline)"
        }
        Remedy::AnnealMore => {
            "let --auto start the flow from the particles' modes, take smaller steps (a lower \
             --tau), or several seeds (--seeds 4)"
        }
        Remedy::DrawMore => {
            "take more draws (--draws), or train longer (--refine, --forward-kl 10)"
        }
        Remedy::BoundParameters => "give the parameters bounds or narrower priors",
        Remedy::BoundOrTrain => {
            "give the parameters bounds or narrower priors, or train longer (--refine)"
        }
        Remedy::Finish => "let it run to its end",
        Remedy::CheckWithParticles => "leave --check-particles at its default",
        Remedy::ChangeParticles => "see what `adaann smc` says with other settings",
        Remedy::AddParticles => "see whether `adaann smc` with more particles agrees",
    }
}

/// The verdict with its reasons, and what to try.
pub(crate) fn text(verdict: &Verdict, style: Style) -> String {
    let said = verdict.trust.to_string().to_uppercase();
    let said = match verdict.trust {
        Trust::Reliable => style.green(&said),
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
            text(&verdict(Trust::Distrust, collapsed), Style::plain()),
            "Verdict  DO NOT TRUST\n  - mode\n  - mass\n    try: anneal\n  - tail\n    try: train\n"
        );
        let reliable = verdict(Trust::Reliable, Vec::new());
        assert_eq!(text(&reliable, Style::plain()), "Verdict  RELIABLE\n");
    }

    #[test]
    fn many_reasons_are_counted() {
        let all = (0..9).map(|i| reason(Trust::Care, &format!("reason {i}"), "x")).collect();
        let said = text(&verdict(Trust::Care, all), Style::plain());
        assert!(said.contains("reason 5") && !said.contains("reason 6"), "{said}");
        assert!(said.ends_with("3 more reasons in summary.json\n"), "{said}");
    }
}
