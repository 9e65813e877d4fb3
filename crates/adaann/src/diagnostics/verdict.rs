//! The judgement on an approximation: reliable, use with care, or do not trust, and why.
//!
//! | what is looked at | care | distrust | why these |
//! | --- | --- | --- | --- |
//! | Pareto k̂ of the weights | above min(1 − 1/log₁₀ S, 0.7) | 1 and more | Vehtari and others (2024): below, estimates converge at a practical rate; from 1 on, the weights have no mean |
//! | effective sample size | below 400 | below 100 | 400 is what Vehtari and others (2021) ask for before means and quantiles are read; the error of a mean is then a twentieth of the standard deviation |
//! | mass that q lacks | 1 per cent | 5 per cent | from the independent particles: p there is over [`LACKING_RATIO`] times q, so that few draws of q, or none, have seen it |
//! | a mode | q has less than half of it, or its weighted share is off by a factor of 2 | q has less than a quarter of it | a quarter is the project's line between a mode that is kept and one that is lost |
//! | log Z of the particles above that of the weights | by 3 standard errors, and 0.1 | and by 0.7, a factor of 2 | below it by 0.7 is a reason for care: the particles have missed something |
//! | draws outside the support | 1 per cent | one half | |
//!
//! A heavy tail of the weights weighs one degree less where half of the draws count as draws of p and
//! the particles show that at most 0.3 per cent of p lies where p is far above q: the tail's share of
//! any answer is then no larger.
//!
//! What only the weights see cannot tell of a mode that q has lost: all draws are then in the others,
//! and their weights are as good as ever. That is what the independent particles are for.

use serde::{Deserialize, Serialize};

/// How far an answer is to be trusted, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Every check has passed.
    Reliable,
    /// Something is off; the reasons say what.
    Care,
    /// The answer is wrong, or nothing shows that it is right.
    Distrust,
}

impl std::fmt::Display for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reliable => "reliable",
            Self::Care => "use with care",
            Self::Distrust => "do not trust",
        })
    }
}

/// Something that speaks against an approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// How much it weighs.
    pub trust: Trust,
    /// What was found, in words.
    pub finding: String,
    /// What to try.
    pub remedy: String,
}

/// The judgement on an approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// As bad as the worst of the reasons.
    pub trust: Trust,
    /// What speaks against it, the worst first; none if it is reliable.
    pub reasons: Vec<Reason>,
}

/// Where p is over this many times q, draws of q are too few to be weighted: a mode of 2 per cent
/// has fewer than seven among 10,000.
pub const LACKING_RATIO: f64 = 30.0;

/// What a verdict looks at.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    pub(super) draws: usize,
    pub(super) lost: f64,
    pub(super) k_hat: f64,
    pub(super) k_hat_threshold: f64,
    pub(super) ess: f64,
    /// The run ended before t = 1.
    pub(super) stopped: bool,
    pub(super) independent: Independent,
}

/// What the independent particles say.
#[derive(Debug, Clone, Default)]
pub(super) enum Independent {
    /// They were not asked for.
    #[default]
    Absent,
    /// They came to no end, with what went wrong.
    Failed(String),
    /// Their findings.
    Found(Findings),
}

impl Independent {
    /// Do the particles show that next to no mass of p lies where p is far above q?
    fn is_all_covered(&self) -> bool {
        match self {
            Self::Found(Findings { lacking: (value, error), .. }) => value + 2.0 * error <= 0.003,
            Self::Absent | Self::Failed(_) => false,
        }
    }
}

/// What particles found beside what q says.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// Share of the particles where q is too small, with its error and a place there.
    pub(super) lacking: (f64, f64),
    pub(super) lacking_at: String,
    /// log Z of the particles less that of the weights, and its error.
    pub(super) log_z_gap: (f64, f64),
    pub(super) modes: Vec<ModeEvidence>,
}

/// A mode's shares.
#[derive(Debug, Clone, Default)]
pub(super) struct ModeEvidence {
    pub(super) at: String,
    /// Among the draws of q.
    pub(super) under_q: f64,
    /// Among the weighted draws, with its error.
    pub(super) corrected: (f64, f64),
    /// Among the particles, with its error.
    pub(super) particles: (f64, f64),
}

const MORE_TRAINING: &str = "train longer (--refine), add a covering stage (--forward-kl 10), or use a richer flow (--flow spline)";
const MORE_ANNEALING: &str = "let --auto start the flow from the particles' modes, take smaller \
     steps (a lower --tau), or several seeds (--seeds 4)";

impl Verdict {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let mut reasons = Vec::new();
        let mut add = |trust: Option<Trust>, finding: String, remedy: &str| {
            if let Some(trust) = trust {
                reasons.push(Reason { trust, finding, remedy: remedy.to_owned() });
            }
        };
        let Evidence { draws, lost, k_hat, k_hat_threshold, ess, stopped, .. } = *evidence;
        // Heavy weights matter as much as the mass of p that they stand for.
        let tail = match above(k_hat, k_hat_threshold, 1.0) {
            Some(trust) if ess >= 0.5 * draws as f64 && evidence.independent.is_all_covered() => {
                (trust == Trust::Distrust).then_some(Trust::Care)
            }
            trust => trust,
        };
        add(
            tail,
            format!(
                "the weights have a heavy tail: Pareto k-hat is {k_hat:.2}, above {:.2}",
                if k_hat >= 1.0 { 1.0 } else { k_hat_threshold }
            ),
            MORE_TRAINING,
        );
        add(
            above(-ess, -400.0, -100.0),
            format!("{draws} draws are worth {ess:.0} of the target itself; 400 are wanted"),
            "take more draws (--draws), or train longer (--refine, --forward-kl 10)",
        );
        add(
            above(lost, 0.01, 0.5),
            format!("{:.1} per cent of the draws are outside the target's support", 100.0 * lost),
            "give the parameters bounds or narrower priors",
        );
        let unfinished = "the run was stopped before its end".to_owned();
        add(stopped.then_some(Trust::Care), unfinished, "let it run to its end");
        match &evidence.independent {
            Independent::Absent => add(
                Some(Trust::Care),
                "no independent check for lost modes was made".into(),
                "leave --check-particles at its default",
            ),
            Independent::Failed(why) => add(
                Some(Trust::Care),
                format!("the independent check for lost modes came to no end: {why}"),
                "see what `adaann smc` says with other settings",
            ),
            Independent::Found(findings) => findings.judge(&mut add),
        }
        Self::new(reasons)
    }

    /// The judgement that follows from reasons, in any order.
    pub fn new(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.trust));
        let trust = reasons.first().map_or(Trust::Reliable, |reason| reason.trust);
        Self { trust, reasons }
    }

    /// Adds what only the caller knows, as that a run was stopped.
    pub fn add(&mut self, reason: Reason) {
        let mut reasons = std::mem::take(&mut self.reasons);
        reasons.push(reason);
        *self = Self::new(reasons);
    }
}

impl Findings {
    fn judge(&self, add: &mut impl FnMut(Option<Trust>, String, &str)) {
        let (lacking, error) = self.lacking;
        // Two standard errors are the particles' own luck.
        add(
            above(lacking - 2.0 * error, 0.01, 0.05),
            format!(
                "the approximation lacks {:.1} per cent of the mass that independent particles \
                 found, around {}",
                100.0 * lacking,
                self.lacking_at
            ),
            MORE_ANNEALING,
        );
        for mode in &self.modes {
            let (share, error) = mode.particles;
            if share < 3.0 * error || share < 0.003 {
                continue;
            }
            if mode.under_q < 0.25 * (share - 2.0 * error) {
                add(
                    Some(Trust::Distrust),
                    format!(
                        "a mode at {} is lost: {:.1} per cent of the independent particles, {:.1} \
                         of the draws",
                        mode.at,
                        100.0 * share,
                        100.0 * mode.under_q
                    ),
                    MORE_ANNEALING,
                );
                continue;
            }
            add(
                (mode.under_q < 0.5 * (share - 2.0 * error)).then_some(Trust::Care),
                format!(
                    "the mode at {} is thin: {:.1} per cent of the independent particles, {:.1} of \
                     the draws",
                    mode.at,
                    100.0 * share,
                    100.0 * mode.under_q
                ),
                MORE_ANNEALING,
            );
            let (corrected, corrected_error) = mode.corrected;
            let apart = (share - corrected).abs() > 4.0 * error.hypot(corrected_error);
            let ratio = (share / corrected).max(corrected / share);
            add(
                (apart && ratio > 2.0).then_some(Trust::Care),
                format!(
                    "the mode at {} has {:.1} per cent of the weighted draws, and {:.1} of the \
                     independent particles",
                    mode.at,
                    100.0 * corrected,
                    100.0 * share
                ),
                MORE_ANNEALING,
            );
        }
        let (gap, error) = self.log_z_gap;
        let worth = if gap.abs() > 3.0 * error { gap.abs() } else { 0.0 };
        // Particles that find less have missed something themselves.
        let (trust, whose, remedy) = if gap > 0.0 {
            (above(worth, 0.1, 0.7), "more", MORE_ANNEALING)
        } else {
            let trust = above(worth, 0.7, f64::INFINITY);
            (trust, "less", "see whether `adaann smc` with more particles agrees")
        };
        add(
            trust,
            format!(
                "independent particles find {whose} evidence: log Z differs by {gap:+.2} ± {error:.2}"
            ),
            remedy,
        );
    }
}

/// How bad a number is that should be small; NaN is the worst.
fn above(value: f64, care: f64, distrust: f64) -> Option<Trust> {
    match value {
        value if value.is_nan() || value >= distrust => Some(Trust::Distrust),
        value if value > care => Some(Trust::Care),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Evidence {
        Evidence {
            draws: 10_000,
            lost: 0.0,
            k_hat: 0.2,
            k_hat_threshold: 0.7,
            ess: 8_000.0,
            stopped: false,
            independent: Independent::Found(Findings {
                lacking: (0.001, 0.000_5),
                lacking_at: "x = 1".into(),
                log_z_gap: (0.05, 0.05),
                modes: vec![ModeEvidence {
                    at: "x = 1".into(),
                    under_q: 0.4,
                    corrected: (0.5, 0.01),
                    particles: (0.5, 0.01),
                }],
            }),
        }
    }

    fn findings(change: impl FnOnce(&mut Findings)) -> Evidence {
        let mut evidence = good();
        let Independent::Found(findings) = &mut evidence.independent else { unreachable!() };
        change(findings);
        evidence
    }

    #[test]
    fn a_good_run_is_reliable_and_has_no_reasons() {
        let verdict = Verdict::of(&good());
        assert_eq!((verdict.trust, verdict.reasons.len()), (Trust::Reliable, 0));
    }

    #[test]
    fn each_finding_has_its_weight() {
        let care = [
            Evidence { k_hat: 0.8, ..findings(|f| f.lacking = (0.004, 0.001)) },
            Evidence { ess: 399.0, ..good() },
            Evidence { lost: 0.02, ..good() },
            Evidence { stopped: true, ..good() },
            Evidence { independent: Independent::Absent, ..good() },
            Evidence { independent: Independent::Failed("x".into()), ..good() },
            findings(|f| f.lacking.0 = 0.03),
            findings(|f| f.log_z_gap = (-0.8, 0.05)),
            findings(|f| f.log_z_gap = (0.3, 0.05)),
            findings(|f| f.modes[0].corrected = (0.2, 0.01)),
            findings(|f| f.modes[0].under_q = 0.2),
            // A tail without a mean, where p has next to no mass.
            Evidence { k_hat: 1.1, ..good() },
        ];
        let distrust = [
            Evidence { k_hat: 1.0, ..findings(|f| f.lacking = (0.004, 0.001)) },
            Evidence { k_hat: f64::NAN, ..findings(|f| f.lacking = (0.004, 0.001)) },
            Evidence { k_hat: f64::INFINITY, ..findings(|f| f.lacking = (0.004, 0.001)) },
            Evidence { ess: 99.0, ..good() },
            Evidence { lost: 0.6, ..good() },
            findings(|f| f.lacking.0 = 0.3),
            findings(|f| f.log_z_gap = (0.8, 0.05)),
            findings(|f| f.modes[0].under_q = 0.05),
        ];
        for (trust, all) in [(Trust::Care, &care[..]), (Trust::Distrust, &distrust)] {
            for evidence in all {
                let verdict = Verdict::of(evidence);
                assert_eq!(verdict.trust, trust, "{evidence:?}");
                assert_eq!(verdict.reasons.len(), 1, "{evidence:?}");
                assert!(!verdict.reasons[0].remedy.is_empty());
            }
        }
    }

    #[test]
    fn what_the_particles_cannot_know_is_not_held_against_q() {
        let all = [
            // A heavy tail of weights where p has next to no mass.
            Evidence { k_hat: 0.8, ..good() },
            findings(|f| f.lacking = (0.03, 0.02)),
            findings(|f| f.log_z_gap = (0.8, 0.4)),
            // A mode of a few particles, which may be their luck.
            findings(|f| {
                f.modes[0].under_q = 0.0;
                f.modes[0].particles = (0.01, 0.005);
                f.modes[0].corrected = (0.01, 0.01);
            }),
        ];
        for evidence in &all {
            assert_eq!(Verdict::of(evidence).trust, Trust::Reliable, "{evidence:?}");
        }
    }

    #[test]
    fn the_worst_reason_comes_first() {
        let thin = findings(|f| f.lacking = (0.004, 0.001));
        let verdict = Verdict::of(&Evidence { k_hat: 0.8, ess: 10.0, ..thin });
        assert_eq!(verdict.trust, Trust::Distrust);
        assert!(verdict.reasons[0].finding.contains("worth 10"));
        assert!(verdict.reasons[1].finding.contains("k-hat is 0.80"));
    }

    #[test]
    fn what_is_added_takes_its_place() {
        let reason =
            |trust| Reason { trust, finding: "added".into(), remedy: "nothing".to_owned() };
        let mut verdict = Verdict::of(&Evidence { ess: 300.0, ..good() });
        verdict.add(reason(Trust::Care));
        assert_eq!((verdict.trust, &verdict.reasons[1].finding[..]), (Trust::Care, "added"));
        verdict.add(reason(Trust::Distrust));
        assert_eq!((verdict.trust, &verdict.reasons[0].finding[..]), (Trust::Distrust, "added"));
        assert_eq!(verdict.reasons.len(), 3);
    }
}
