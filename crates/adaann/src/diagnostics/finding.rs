//! What speaks against an approximation, as data with plain words.

use crate::{
    diagnostics::{Remedy, thresholds},
    importance::Estimate,
};
use std::fmt;

/// Something that speaks against an approximation, with its numbers. Its `Display` has whole words
/// and names no flag.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The run ended because it had spent what it was given.
    BudgetSpent,
    /// The weights p/q have a heavy tail.
    HeavyTail {
        /// The tail's Pareto shape.
        k_hat: f64,
        /// What it is above.
        threshold: f64,
    },
    /// A parameter's mean or standard deviation hangs on a few draws with heavy weights.
    MomentTail {
        /// The parameter.
        name: String,
        /// The larger Pareto shape of w·|x − m| and w·(x − m)².
        k_hat: f64,
        /// What it is above.
        threshold: f64,
    },
    /// The weighted draws are worth few draws of the target.
    FewEffectiveDraws {
        /// Draws of q.
        draws: usize,
        /// Their effective sample size.
        ess: f64,
    },
    /// Draws have no density under p.
    OutsideSupport {
        /// Their share.
        share: f64,
    },
    /// A parameter's standard deviation hangs on a few draws.
    SpreadUnknown {
        /// The parameter.
        name: String,
        /// The error of its standard deviation, as a share of it.
        error: f64,
    },
    /// The draws' weights are not those that q gives them.
    WeightsOff {
        /// The share of the draws.
        share: f64,
    },
    /// The weight of a mode is known badly.
    ModeWeightUnknown {
        /// Its peak.
        at: Place,
        /// Its share of the weighted draws.
        weighted: Estimate,
    },
    /// Particles found mass where q is far below p.
    MassLacking {
        /// Share of p that lies there.
        share: Estimate,
        /// A place there.
        at: Place,
    },
    /// q has next to nothing of a mode.
    ModeLost {
        /// Its peak.
        at: Place,
        /// Its share of the draws of q.
        under_q: f64,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// q has too little of a mode.
    ModeThin {
        /// Its peak.
        at: Place,
        /// Its share of the draws of q.
        under_q: f64,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// Weighted draws and particles disagree about a mode's weight.
    ModeWeightOff {
        /// Its peak.
        at: Place,
        /// Its share of the weighted draws.
        weighted: Estimate,
        /// Its share of the independent particles.
        particles: Estimate,
    },
    /// Particles find a larger evidence than the weights do.
    EvidenceAbove {
        /// log Z of the particles less that of the weights.
        gap: Estimate,
    },
    /// Particles find a smaller evidence than the weights do.
    EvidenceBelow {
        /// log Z of the particles less that of the weights.
        gap: Estimate,
    },
    /// No particles looked for lost modes.
    NotChecked,
    /// The particles came to no end.
    CheckFailed {
        /// What went wrong.
        why: String,
    },
    /// Chains have not mixed.
    NotMixed {
        /// The largest R-hat of them.
        r_hat: f64,
    },
    /// Chains from other starts say something else.
    ChainsApart {
        /// The parameter that they differ most in.
        name: String,
        /// By how much, in standard deviations.
        sds: f64,
    },
    /// Trajectories of chains diverge.
    Divergences {
        /// Their share.
        share: f64,
    },
    /// A tighter solver of differential equations has another density.
    SolverError {
        /// By how much log p changes at a mode, beside a shift of all.
        at_modes: f64,
        /// The root mean square of the same over the draws.
        over_draws: f64,
        /// Where it changes most.
        at: Place,
    },
    /// A tighter solver has another evidence.
    SolverShift {
        /// By how much log p changes everywhere.
        nats: f64,
    },
    /// Two evaluations of one point differ.
    NoisyTarget {
        /// Standard deviation of log p about its mean.
        sd: f64,
        /// Where two evaluations differ most.
        at: Place,
    },
    /// The gradient is not that of the density.
    WrongGradient {
        /// The slope along a direction that the gradient has, in nats per width.
        gradient: f64,
        /// The slope that differences of log p have.
        differences: f64,
        /// Where.
        at: Place,
    },
    /// log p is not a number at points inside the support.
    NotANumber {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
        /// The first of them.
        at: Place,
    },
    /// The run was stopped.
    Stopped {
        /// The inverse temperature that it had reached.
        t: f64,
    },
    /// The run is under way, or was killed: this is its last checkpoint.
    Unfinished {
        /// The inverse temperature that it had reached, if it anneals.
        t: Option<f64>,
    },
    /// The run could not go on: this is what it had by then.
    EndedEarly {
        /// The inverse temperature of what is kept.
        t: f64,
        /// What happened.
        reason: String,
    },
    /// The search was too weak to rule out other modes.
    ModesNotExcluded {
        /// The share of planted modes that it would have found.
        power: f64,
    },
    /// The check's own search did not find all modes of the answer.
    ModesNotFoundAgain {
        /// Modes that it did not find.
        missed: usize,
        /// Modes of the answer.
        of: usize,
    },
    /// The last starts of the check's search still found a new mode.
    StillFindingModes,
    /// One mode was found of a density without formulas: nothing tells how narrow another one may be.
    NarrowModesNotExcluded,
    /// A known peak stands far above what the approximation has there.
    PeakNotCovered {
        /// Where it is.
        at: Place,
        /// p over q at the peak, less the evidence, in nats.
        log_ratio: f64,
    },
    /// The draws cannot be weighted at all.
    NotExamined {
        /// What went wrong.
        why: String,
    },
}

impl Finding {
    /// Its name in files, which stays when words change.
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

    /// What to try against it.
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
                "mean and standard deviation of {name} hang on a few draws: Pareto k-hat of its moments is \
                 {k_hat:.2}, above {threshold:.2}"
            ),
            Self::FewEffectiveDraws { draws, ess } => write!(
                f,
                "{draws} draws are worth {ess:.0} of the target itself; {} are wanted",
                thresholds::ESS.care
            ),
            Self::OutsideSupport { share } => {
                write!(
                    f,
                    "{:.1} per cent of the draws are outside the target's support",
                    per_cent(*share)
                )
            }
            Self::BudgetSpent => f.write_str(
                "the run ended because it had spent the evaluations or the time it was given",
            ),
            Self::SpreadUnknown { name, error } => write!(
                f,
                "the standard deviation of {name} hangs on its furthest draws: it is known to {:.0} per \
                 cent",
                per_cent(*error)
            ),
            Self::WeightsOff { share } => write!(
                f,
                "{:.0} per cent of the draws have other weights than the approximation gives them",
                per_cent(*share)
            ),
            Self::ModeWeightUnknown { at, weighted } => write!(
                f,
                "the weight of the mode at {at} is known to {:.3} only: {:.3}",
                weighted.error, weighted.value
            ),
            Self::MassLacking { share, at } => write!(
                f,
                "the approximation lacks {:.1} per cent of the mass that independent particles \
                 found, around {at}",
                per_cent(share.value)
            ),
            Self::ModeLost { at, under_q, particles } => write!(
                f,
                "a mode at {at} is lost: {:.1} per cent of the mass by independent particles, {:.1} of \
                 the draws",
                per_cent(particles.value),
                per_cent(*under_q)
            ),
            Self::ModeThin { at, under_q, particles } => write!(
                f,
                "the mode at {at} is thin: {:.1} per cent of the mass by independent particles, {:.1} \
                 of the draws",
                per_cent(particles.value),
                per_cent(*under_q)
            ),
            Self::ModeWeightOff { at, weighted, particles } => write!(
                f,
                "the mode at {at} has {:.1} per cent of the weighted draws, and {:.1} of the \
                 independent particles",
                per_cent(weighted.value),
                per_cent(particles.value)
            ),
            Self::EvidenceAbove { gap } => evidence(f, "more", gap),
            Self::EvidenceBelow { gap } => evidence(f, "less", gap),
            Self::NotChecked => f.write_str("no independent check for lost modes was made"),
            Self::CheckFailed { why } => {
                write!(f, "the independent check for lost modes came to no end: {why}")
            }
            Self::Stopped { t } if *t < 1.0 => write!(
                f,
                "the run was stopped at t = {t:.4}: the flow approximates the density annealed to \
                 there, not the target"
            ),
            Self::Stopped { .. } => {
                f.write_str("the run was stopped before its end: this is what it had by then")
            }
            Self::Unfinished { t: Some(t) } if *t < 1.0 => write!(
                f,
                "the run is unfinished: at its last checkpoint it was annealed to t = {t:.4}, and the flow \
                 approximates the density there, not the target"
            ),
            Self::Unfinished { .. } => f.write_str(
                "the run is unfinished: this is what it had at its last checkpoint, which nothing has checked",
            ),
            Self::EndedEarly { t, reason } => write!(
                f,
                "the run ended early, and what is kept is of t = {t:.4}: {reason}"
            ),
            Self::NotMixed { r_hat } => {
                write!(f, "the chains have not mixed: R-hat is {r_hat:.3}, above 1.01")
            }
            Self::ChainsApart { name, sds } => write!(
                f,
                "chains from other starts have another mean of {name}, {sds:.2} standard deviations \
                 away"
            ),
            Self::Divergences { share } => write!(
                f,
                "{:.1} per cent of the trajectories diverge: chains do not enter part of the mass",
                per_cent(*share)
            ),
            Self::SolverError { at_modes, at, .. } if at_modes.is_infinite() => write!(
                f,
                "the solver's error distorts the density: a mode that it has at {at} is none by a tighter \
                 one"
            ),
            Self::SolverError { at_modes, over_draws, at } => write!(
                f,
                "the solver's error distorts the density: a tighter one changes log p by up to \
                 {at_modes:.2} at a mode and by {over_draws:.2} over the draws, most at {at}"
            ),
            Self::SolverShift { nats } => write!(
                f,
                "the solver's error moves the evidence: a tighter one changes log p by {nats:+.2} \
                 everywhere"
            ),
            Self::NoisyTarget { sd, at } => write!(
                f,
                "log p is noisy: two evaluations of one point differ, with a standard deviation of {sd:.2} nats, most \
                 at {at}"
            ),
            Self::WrongGradient { gradient, differences, at } => write!(
                f,
                "the gradient is not that of the density: at {at} its slope is {gradient:.3} nats per width, and \
                 that of differences is {differences:.3}"
            ),
            Self::NotANumber { count, of, at } => write!(
                f,
                "log p is not a number at {count} of {of} points inside the support, the first of them {at}"
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
                "one mode was found, and the density is a function whose formulas are unknown: a mode with less than a \
                 thousandth of its volume is not ruled out",
            ),
            Self::PeakNotCovered { at, log_ratio } => write!(
                f,
                "the approximation does not cover a known peak at {at}: log p there is {log_ratio:.1} above it"
            ),
            Self::NotExamined { why } => write!(f, "the draws cannot be examined: {why}"),
        }
    }
}

fn evidence(f: &mut fmt::Formatter<'_>, whose: &str, gap: &Estimate) -> fmt::Result {
    let Estimate { value, error } = gap;
    write!(
        f,
        "independent particles find {whose} evidence: log Z differs by {value:+.2} ± {error:.2}"
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
            "of b hang on a few draws: Pareto k-hat of its moments is 0.90, above 0.70",
            "1000 draws are worth 40 of the target itself; 400 are wanted",
            "2.5 per cent of the draws are outside",
            "deviation of a hangs on its furthest draws: it is known to 6 per cent",
            "had spent the evaluations or the time",
            "50 per cent of the draws have other weights",
            "the weight of the mode at a = 1.000, b = -0.250 is known to 0.010 only: 0.125",
            "lacks 12.5 per cent of the mass that independent particles found, around a = 1.000, b = -0.250",
            "is lost: 12.5 per cent of the mass by independent particles, 0.5 of the draws",
            "is thin: 12.5 per cent of the mass by independent particles, 5.0 of the draws",
            "has 50.0 per cent of the weighted draws, and 12.5 of the independent particles",
            "more evidence: log Z differs by +0.30 ± 0.05",
            "less evidence: log Z differs by -0.80 ± 0.05",
            "no independent check",
            "came to no end: it was stopped",
            "R-hat is 1.200, above 1.01",
            "another mean of a, 0.50 standard deviations",
            "3.0 per cent of the trajectories diverge",
            "by up to 1.25 at a mode and by 0.50 over the draws, most at a = 1.000",
            "changes log p by -0.50 everywhere",
            "standard deviation of 0.75 nats, most at a = 1.000",
            "at a = 1.000, b = -0.250 its slope is 1.500 nats per width, and that of differences is -1.500",
            "not a number at 3 of 72 points inside the support, the first of them a = 1.000",
            "stopped at t = 0.5000",
            "unfinished: at its last checkpoint it was annealed to t = 0.2500",
            "of t = 0.7500: no step is left",
            "the search would have found 62 per cent of modes planted at random",
            "a second, independent search missed 1 of 3 known modes",
            "still finding new modes when it ended",
            "a mode with less than a thousandth of its volume is not ruled out",
            "does not cover a known peak at a = 1.000, b = -0.250: log p there is 7.2 above it",
            "cannot be examined: all are lost",
        ]) {
            assert!(words.contains(part), "{words}");
        }
        let late = Finding::Stopped { t: 1.0 }.to_string();
        assert!(late.contains("stopped before its end"), "{late}");
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
        // Every remedy is against something.
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
