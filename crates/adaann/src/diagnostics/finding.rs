//! Findings that speak against an approximation, as data with a plain text.

use crate::{
    diagnostics::{Remedy, thresholds},
    importance::Estimate,
};
use std::fmt;

/// Something that speaks against an approximation, with its numbers. Its `Display` is a full sentence
/// without flags.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The run ended because it had spent its budget of evaluations or time.
    BudgetSpent,
    /// The weights p/q have a heavy tail.
    HeavyTail {
        /// The Pareto shape of the tail.
        k_hat: f64,
        /// The threshold that it exceeds.
        threshold: f64,
    },
    /// A parameter's mean or standard deviation depends on a few draws with large weights.
    MomentTail {
        /// The parameter.
        name: String,
        /// The larger Pareto shape of w·|x − m| and w·(x − m)².
        k_hat: f64,
        /// The threshold that it exceeds.
        threshold: f64,
    },
    /// The effective sample size of the weighted draws is small.
    FewEffectiveDraws {
        /// The number of draws of q.
        draws: usize,
        /// Their effective sample size.
        ess: f64,
    },
    /// Draws have no density under p.
    OutsideSupport {
        /// Their share.
        share: f64,
    },
    /// A parameter's standard deviation depends on a few extreme draws.
    SpreadUnknown {
        /// The parameter.
        name: String,
        /// The relative error of its standard deviation.
        error: f64,
    },
    /// The draws' weights do not match the density of q.
    WeightsOff {
        /// The share of the draws with such weights.
        share: f64,
    },
    /// The weight of a mode has a large error.
    ModeWeightUnknown {
        /// The mode's peak.
        at: Place,
        /// Its share of the weighted draws.
        weighted: Estimate,
    },
    /// Particles found mass where q is far below p.
    MassLacking {
        /// The share of p's mass that lies there.
        share: Estimate,
        /// A point in that region.
        at: Place,
    },
    /// q has almost none of a mode.
    ModeLost {
        /// The mode's peak.
        at: Place,
        /// Its share of the draws of q.
        under_q: f64,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// q has too little of a mode.
    ModeThin {
        /// The mode's peak.
        at: Place,
        /// Its share of the draws of q.
        under_q: f64,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// Weighted draws and particles disagree about a mode's weight.
    ModeWeightOff {
        /// The mode's peak.
        at: Place,
        /// Its share of the weighted draws.
        weighted: Estimate,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// Particles find a larger evidence than the weights do.
    EvidenceAbove {
        /// log Z of the particles minus that of the weights.
        gap: Estimate,
    },
    /// Particles find a smaller evidence than the weights do.
    EvidenceBelow {
        /// log Z of the particles minus that of the weights.
        gap: Estimate,
    },
    /// No particles searched for lost modes.
    NotChecked,
    /// The particles failed before they reached the target.
    CheckFailed {
        /// What went wrong.
        why: String,
    },
    /// The chains have not mixed.
    NotMixed {
        /// The largest R-hat over the coordinates.
        r_hat: f64,
    },
    /// Chains from other starts have a different mean.
    ChainsApart {
        /// The parameter whose means differ most.
        name: String,
        /// The difference, in standard deviations.
        sds: f64,
    },
    /// Trajectories of the chains diverge.
    Divergences {
        /// The share of trajectories that diverge.
        share: f64,
    },
    /// A tighter solver of the differential equations gives a different density.
    SolverError {
        /// The largest change of log p at a mode, beyond a shift common to all points.
        at_modes: f64,
        /// The root mean square of that change over the draws.
        over_draws: f64,
        /// Where log p changes most.
        at: Place,
    },
    /// A tighter solver gives a different evidence.
    SolverShift {
        /// The change of log p that all points share.
        nats: f64,
    },
    /// Repeated evaluations of the same point differ.
    NoisyTarget {
        /// Standard deviation of log p around its mean.
        sd: f64,
        /// The point where two evaluations differ most.
        at: Place,
    },
    /// The gradient does not match the density.
    WrongGradient {
        /// The slope along a direction by the gradient, in nats per width.
        gradient: f64,
        /// The slope by finite differences of log p.
        differences: f64,
        /// The point where the slopes differ.
        at: Place,
    },
    /// log p is not a number at points inside the support.
    NotANumber {
        /// How many of the points.
        count: usize,
        /// How many points were evaluated.
        of: usize,
        /// The first of these points.
        at: Place,
    },
    /// The run was stopped.
    Stopped {
        /// The inverse temperature that the run had reached.
        t: f64,
    },
    /// The run is still running or was killed: this is its last checkpoint.
    Unfinished {
        /// The inverse temperature that the run had reached, if it anneals.
        t: Option<f64>,
    },
    /// The run failed before it finished: this is its result up to then.
    EndedEarly {
        /// The inverse temperature of the result.
        t: f64,
        /// What happened.
        reason: String,
    },
    /// The search was too weak to rule out other modes.
    ModesNotExcluded {
        /// The share of planted modes that the search would have found.
        power: f64,
    },
    /// The check's own search did not find all modes of the answer.
    ModesNotFoundAgain {
        /// How many modes it did not find.
        missed: usize,
        /// How many modes the answer has.
        of: usize,
    },
    /// The last starts of the check's search still found a new mode.
    StillFindingModes,
    /// Only one mode was found of a density without formulas, so nothing shows how narrow another
    /// mode may be.
    NarrowModesNotExcluded,
    /// p is far above the approximation at a known peak.
    PeakNotCovered {
        /// The peak.
        at: Place,
        /// log p − log q at the peak, minus log Z, in nats.
        log_ratio: f64,
    },
    /// The draws cannot be weighted at all.
    NotExamined {
        /// What went wrong.
        why: String,
    },
}

impl Finding {
    /// Its name in files, which stays the same when the text changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::HeavyTail { .. } => "heavy-tail",
            Self::MomentTail { .. } => "moment-tail",
            Self::FewEffectiveDraws { .. } => "few-effective-draws",
            Self::OutsideSupport { .. } => "outside-support",
            Self::BudgetSpent => "budget-spent",
            Self::SpreadUnknown { .. } => "spread-unknown",
            Self::WeightsOff { .. } => "weights-off",
            Self::ModeWeightUnknown { .. } => "mode-weight-unknown",
            Self::MassLacking { .. } => "mass-lacking",
            Self::ModeLost { .. } => "mode-lost",
            Self::ModeThin { .. } => "mode-thin",
            Self::ModeWeightOff { .. } => "mode-weight-off",
            Self::EvidenceAbove { .. } => "evidence-above",
            Self::EvidenceBelow { .. } => "evidence-below",
            Self::NotChecked => "not-checked",
            Self::CheckFailed { .. } => "check-failed",
            Self::NotMixed { .. } => "not-mixed",
            Self::ChainsApart { .. } => "chains-apart",
            Self::Divergences { .. } => "divergences",
            Self::SolverError { .. } => "solver-error",
            Self::SolverShift { .. } => "solver-shift",
            Self::NoisyTarget { .. } => "noisy-target",
            Self::WrongGradient { .. } => "wrong-gradient",
            Self::NotANumber { .. } => "nan-density",
            Self::Stopped { .. } => "stopped",
            Self::Unfinished { .. } => "unfinished",
            Self::EndedEarly { .. } => "ended-early",
            Self::ModesNotExcluded { .. } => "modes-not-excluded",
            Self::ModesNotFoundAgain { .. } => "modes-not-found-again",
            Self::StillFindingModes => "still-finding-modes",
            Self::NarrowModesNotExcluded => "narrow-modes-not-excluded",
            Self::PeakNotCovered { .. } => "peak-not-covered",
            Self::NotExamined { .. } => "not-examined",
        }
    }

    /// The remedy to try.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::HeavyTail { .. } | Self::MomentTail { .. } | Self::PeakNotCovered { .. } => {
                Remedy::TrainMore
            }
            Self::FewEffectiveDraws { .. }
            | Self::WeightsOff { .. }
            | Self::ModeWeightUnknown { .. } => Remedy::DrawMore,
            Self::OutsideSupport { .. } => Remedy::BoundParameters,
            Self::SpreadUnknown { .. } => Remedy::ReadQuantiles,
            Self::MassLacking { .. }
            | Self::ModeLost { .. }
            | Self::ModeThin { .. }
            | Self::ModeWeightOff { .. }
            | Self::EndedEarly { .. }
            | Self::EvidenceAbove { .. } => Remedy::AnnealMore,
            Self::EvidenceBelow { .. } => Remedy::AddParticles,
            Self::NotChecked => Remedy::CheckWithParticles,
            Self::CheckFailed { .. } => Remedy::ChangeParticles,
            Self::NotMixed { .. } | Self::ChainsApart { .. } | Self::Divergences { .. } => {
                Remedy::BoundParameters
            }
            Self::SolverError { .. } | Self::SolverShift { .. } => Remedy::SolveTighter,
            Self::NoisyTarget { .. } | Self::WrongGradient { .. } | Self::NotANumber { .. } => {
                Remedy::MendTarget
            }
            Self::Stopped { .. } | Self::Unfinished { .. } | Self::BudgetSpent => Remedy::Finish,
            Self::ModesNotExcluded { .. }
            | Self::ModesNotFoundAgain { .. }
            | Self::StillFindingModes => Remedy::SearchMore,
            Self::NarrowModesNotExcluded => Remedy::ShowFormulas,
            Self::NotExamined { .. } => Remedy::BoundOrTrain,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeavyTail { k_hat, threshold } => write!(
                f,
                "the weights have a heavy tail: Pareto k-hat is {k_hat:.2}, above {threshold:.2}"
            ),
            Self::MomentTail { name, k_hat, threshold } => write!(
                f,
                "mean and standard deviation of {name} depend on a few draws: Pareto k-hat of its moments is \
                 {k_hat:.2}, above {threshold:.2}"
            ),
            Self::FewEffectiveDraws { draws, ess } => write!(
                f,
                "the effective sample size of {draws} draws is {ess:.0}; at least {} is needed",
                thresholds::ESS.care
            ),
            Self::OutsideSupport { share } => {
                write!(
                    f,
                    "{:.1} per cent of the draws lie outside the target's support",
                    per_cent(*share)
                )
            }
            Self::BudgetSpent => f.write_str(
                "the run ended because its budget of evaluations or time was spent",
            ),
            Self::SpreadUnknown { name, error } => write!(
                f,
                "the standard deviation of {name} depends on its most extreme draws: its error is {:.0} per \
                 cent",
                per_cent(*error)
            ),
            Self::WeightsOff { share } => write!(
                f,
                "the weights of {:.0} per cent of the draws do not match the approximation",
                per_cent(*share)
            ),
            Self::ModeWeightUnknown { at, weighted } => write!(
                f,
                "the weight of the mode at {at} is uncertain: {:.3} ± {:.3}",
                weighted.value, weighted.error
            ),
            Self::MassLacking { share, at } => write!(
                f,
                "the approximation does not cover {:.1} per cent of the mass that independent particles \
                 found, around {at}",
                per_cent(share.value)
            ),
            Self::ModeLost { at, under_q, particles } => write!(
                f,
                "the mode at {at} is lost: it has {:.1} per cent of the mass by independent particles, but \
                 {:.1} per cent of the draws",
                per_cent(particles.value),
                per_cent(*under_q)
            ),
            Self::ModeThin { at, under_q, particles } => write!(
                f,
                "the mode at {at} has too few draws: {:.1} per cent of the mass by independent particles, \
                 but {:.1} per cent of the draws",
                per_cent(particles.value),
                per_cent(*under_q)
            ),
            Self::ModeWeightOff { at, weighted, particles } => write!(
                f,
                "the weight of the mode at {at} is in doubt: {:.1} per cent by the weighted draws, but \
                 {:.1} per cent by independent particles",
                per_cent(weighted.value),
                per_cent(particles.value)
            ),
            Self::EvidenceAbove { gap } => evidence(f, "higher", gap),
            Self::EvidenceBelow { gap } => evidence(f, "lower", gap),
            Self::NotChecked => f.write_str("no independent check for lost modes was made"),
            Self::CheckFailed { why } => {
                write!(f, "the independent check for lost modes failed: {why}")
            }
            Self::Stopped { t } if *t < 1.0 => write!(
                f,
                "the run was stopped at t = {t:.4}: the flow approximates the annealed density at this t, \
                 not the target"
            ),
            Self::Stopped { .. } => {
                f.write_str("the run was stopped before it finished: these are its results so far")
            }
            Self::Unfinished { t: Some(t) } if *t < 1.0 => write!(
                f,
                "the run is unfinished: at its last checkpoint it had reached t = {t:.4}, and the flow \
                 approximates the annealed density at this t, not the target"
            ),
            Self::Unfinished { .. } => f.write_str(
                "the run is unfinished: these are the results at its last checkpoint, and no check has been made",
            ),
            Self::EndedEarly { t, reason } => write!(
                f,
                "the run ended early, with a result at t = {t:.4}: {reason}"
            ),
            Self::NotMixed { r_hat } => {
                write!(f, "the chains have not mixed: R-hat is {r_hat:.3}, above 1.01")
            }
            Self::ChainsApart { name, sds } => write!(
                f,
                "chains from other starts disagree about the mean of {name}, by {sds:.2} standard deviations"
            ),
            Self::Divergences { share } => write!(
                f,
                "{:.1} per cent of the trajectories diverge: the chains do not reach part of the mass",
                per_cent(*share)
            ),
            Self::SolverError { at_modes, at, .. } if at_modes.is_infinite() => write!(
                f,
                "the solver's error distorts the density: the mode at {at} disappears with a tighter solver"
            ),
            Self::SolverError { at_modes, over_draws, at } => write!(
                f,
                "the solver's error distorts the density: a tighter solver changes log p by up to \
                 {at_modes:.2} at a mode and by {over_draws:.2} over the draws, most at {at}"
            ),
            Self::SolverShift { nats } => write!(
                f,
                "the solver's error shifts the evidence: a tighter solver changes log p by {nats:+.2} \
                 everywhere"
            ),
            Self::NoisyTarget { sd, at } => write!(
                f,
                "log p is noisy: repeated evaluations of the same point differ, with a standard deviation of \
                 {sd:.2} nats, most at {at}"
            ),
            Self::WrongGradient { gradient, differences, at } => write!(
                f,
                "the gradient does not match the density: at {at} its slope is {gradient:.3} nats per width, but \
                 finite differences give {differences:.3}"
            ),
            Self::NotANumber { count, of, at } => write!(
                f,
                "log p is not a number at {count} of {of} points inside the support; the first is {at}"
            ),
            Self::ModesNotExcluded { power } => write!(
                f,
                "other modes are not ruled out: the search would have found {:.0} per cent of modes planted at \
                 random (a fifth of the mass, a third to as wide as the answer)",
                // Rounded down: 89.9 per cent must not read as the 90 that would have been enough.
                per_cent(*power).floor()
            ),
            Self::ModesNotFoundAgain { missed, of } => write!(
                f,
                "other modes are not ruled out: a second, independent search missed {missed} of {of} known modes"
            ),
            Self::StillFindingModes => {
                f.write_str("the search was still finding new modes when it ended: there may be more")
            }
            Self::NarrowModesNotExcluded => f.write_str(
                "only one mode was found, and the formulas of the density are unknown: a mode with less than a \
                 thousandth of its volume is not ruled out",
            ),
            Self::PeakNotCovered { at, log_ratio } => write!(
                f,
                "the approximation does not cover a known peak at {at}: log p there is {log_ratio:.1} nats above it"
            ),
            Self::NotExamined { why } => write!(f, "the draws cannot be examined: {why}"),
        }
    }
}

fn evidence(f: &mut fmt::Formatter<'_>, which: &str, gap: &Estimate) -> fmt::Result {
    let Estimate { value, error } = gap;
    write!(
        f,
        "independent particles find a {which} evidence: log Z differs by {value:+.2} ± {error:.2}"
    )
}

fn per_cent(share: f64) -> f64 {
    100.0 * share
}

/// A point in the target's own coordinates, by their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The coordinates' names.
    pub names: Vec<String>,
    /// The point.
    pub point: Vec<f64>,
}

impl Place {
    pub(super) fn new(names: &[String], point: &[f64]) -> Self {
        Self { names: names.to_vec(), point: point.to_vec() }
    }
}

impl fmt::Display for Place {
    /// The first coordinates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        for (d, (name, x)) in self.names.iter().zip(&self.point).take(SHOWN).enumerate() {
            let before = if d == 0 { "" } else { ", " };
            write!(f, "{before}{name} = {x:.3}")?;
        }
        f.write_str(if self.names.len() > SHOWN { ", ..." } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> Vec<Finding> {
        let at = || Place::new(&["a".into(), "b".into()], &[1.0, -0.25]);
        let share = Estimate { value: 0.125, error: 0.01 };
        let gap = |value| Estimate { value, error: 0.05 };
        vec![
            Finding::HeavyTail { k_hat: 0.8, threshold: 0.7 },
            Finding::MomentTail { name: "b".into(), k_hat: 0.9, threshold: 0.7 },
            Finding::FewEffectiveDraws { draws: 1_000, ess: 39.7 },
            Finding::OutsideSupport { share: 0.025 },
            Finding::SpreadUnknown { name: "a".into(), error: 0.06 },
            Finding::BudgetSpent,
            Finding::WeightsOff { share: 0.5 },
            Finding::ModeWeightUnknown { at: at(), weighted: share },
            Finding::MassLacking { share, at: at() },
            Finding::ModeLost { at: at(), under_q: 0.005, particles: share },
            Finding::ModeThin { at: at(), under_q: 0.05, particles: share },
            Finding::ModeWeightOff { at: at(), weighted: gap(0.5), particles: share },
            Finding::EvidenceAbove { gap: gap(0.3) },
            Finding::EvidenceBelow { gap: gap(-0.8) },
            Finding::NotChecked,
            Finding::CheckFailed { why: "it was stopped".into() },
            Finding::NotMixed { r_hat: 1.2 },
            Finding::ChainsApart { name: "a".into(), sds: 0.5 },
            Finding::Divergences { share: 0.03 },
            Finding::SolverError { at_modes: 1.25, over_draws: 0.5, at: at() },
            Finding::SolverShift { nats: -0.5 },
            Finding::NoisyTarget { sd: 0.75, at: at() },
            Finding::WrongGradient { gradient: 1.5, differences: -1.5, at: at() },
            Finding::NotANumber { count: 3, of: 72, at: at() },
            Finding::Stopped { t: 0.5 },
            Finding::Unfinished { t: Some(0.25) },
            Finding::EndedEarly { t: 0.75, reason: "no step is left".into() },
            Finding::ModesNotExcluded { power: 0.625 },
            Finding::ModesNotFoundAgain { missed: 1, of: 3 },
            Finding::StillFindingModes,
            Finding::NarrowModesNotExcluded,
            Finding::PeakNotCovered { at: at(), log_ratio: 7.25 },
            Finding::NotExamined { why: "all are lost".into() },
        ]
    }

    #[test]
    fn words_have_the_numbers() {
        let said: Vec<String> = all().iter().map(ToString::to_string).collect();
        for (words, part) in said.iter().zip([
            "k-hat is 0.80, above 0.70",
            "of b depend on a few draws: Pareto k-hat of its moments is 0.90, above 0.70",
            "the effective sample size of 1000 draws is 40; at least 400 is needed",
            "2.5 per cent of the draws lie outside",
            "deviation of a depends on its most extreme draws: its error is 6 per cent",
            "its budget of evaluations or time was spent",
            "the weights of 50 per cent of the draws do not match",
            "the weight of the mode at a = 1.000, b = -0.250 is uncertain: 0.125 ± 0.010",
            "does not cover 12.5 per cent of the mass that independent particles found, around a = 1.000, b = -0.250",
            "is lost: it has 12.5 per cent of the mass by independent particles, but 0.5 per cent of the draws",
            "has too few draws: 12.5 per cent of the mass by independent particles, but 5.0 per cent of the draws",
            "is in doubt: 50.0 per cent by the weighted draws, but 12.5 per cent by independent particles",
            "a higher evidence: log Z differs by +0.30 ± 0.05",
            "a lower evidence: log Z differs by -0.80 ± 0.05",
            "no independent check",
            "check for lost modes failed: it was stopped",
            "R-hat is 1.200, above 1.01",
            "the mean of a, by 0.50 standard deviations",
            "3.0 per cent of the trajectories diverge",
            "by up to 1.25 at a mode and by 0.50 over the draws, most at a = 1.000",
            "changes log p by -0.50 everywhere",
            "standard deviation of 0.75 nats, most at a = 1.000",
            "at a = 1.000, b = -0.250 its slope is 1.500 nats per width, but finite differences give -1.500",
            "not a number at 3 of 72 points inside the support; the first is a = 1.000",
            "stopped at t = 0.5000",
            "unfinished: at its last checkpoint it had reached t = 0.2500",
            "at t = 0.7500: no step is left",
            "the search would have found 62 per cent of modes planted at random",
            "a second, independent search missed 1 of 3 known modes",
            "still finding new modes when it ended",
            "a mode with less than a thousandth of its volume is not ruled out",
            "does not cover a known peak at a = 1.000, b = -0.250: log p there is 7.2 nats above it",
            "cannot be examined: all are lost",
        ]) {
            assert!(words.contains(part), "{words}");
        }
        let late = Finding::Stopped { t: 1.0 }.to_string();
        assert!(late.contains("stopped before it finished"), "{late}");
    }

    #[test]
    fn codes_are_distinct_and_kebab_case_and_words_name_no_flag() {
        let findings = all();
        let codes: Vec<&str> = findings.iter().map(Finding::code).collect();
        let remedies = Remedy::ALL.map(Remedy::code);
        for codes in [&codes[..], &remedies] {
            let distinct: BTreeSet<_> = codes.iter().collect();
            assert_eq!(distinct.len(), codes.len());
            let is_plain = |code: &&str| code.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(codes.iter().all(is_plain), "{codes:?}");
        }
        let words = findings.iter().map(ToString::to_string);
        for words in words.chain(Remedy::ALL.iter().map(ToString::to_string)) {
            assert!(!words.contains("--") && !words.contains('`'), "{words}");
        }
        // Every remedy belongs to a finding.
        let used: BTreeSet<_> = findings.iter().map(|finding| finding.remedy().code()).collect();
        assert_eq!(used, remedies.into_iter().collect());
    }

    #[test]
    fn places_show_four_coordinates() {
        let names: Vec<String> = (1..=5).map(|d| format!("z{d}")).collect();
        let place = Place::new(&names, &[0.5, 1.0, -2.0, 3.25, 9.0]);
        assert_eq!(place.to_string(), "z1 = 0.500, z2 = 1.000, z3 = -2.000, z4 = 3.250, ...");
        assert_eq!(Place::new(&names[..1], &[0.5]).to_string(), "z1 = 0.500");
    }
}
