//! The verdict on an approximation: reliable, local, use with care, or do not trust, and why.
//!
//! Weights alone cannot reveal a mode that q has lost: all draws are then in the other modes, and their
//! weights look good. Independent particles cover this case. Differences within the particles' own errors do
//! not count against q.

use crate::diagnostics::{
    Finding, Power, Reason, Trust,
    compared::of_comparisons,
    findings::Findings,
    mixed::of_mixing,
    moment_tail::MomentTail,
    reason::reason,
    spread::Spread,
    thresholds::{
        EQUAL_WEIGHTS, ESS, K_HAT, MODE_ERROR, MOMENT_K_HAT, OUTSIDE_SUPPORT, POWER, TAIL_ESS,
        Threshold, WEIGHTS_OFF,
    },
};
use crate::importance::Sample;

/// The verdict on an approximation.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The level of the worst reason.
    pub trust: Trust,
    /// What speaks against the approximation, the worst first; empty if it is reliable.
    pub reasons: Vec<Reason>,
    /// How likely the search was to find other modes of some size; none if this was not measured.
    pub power: Option<Power>,
}

impl Verdict {
    /// The verdict that follows from findings.
    pub(super) fn of(findings: &Findings) -> Self {
        let mut reasons = findings.of_weights();
        // A failure of one check does not matter if another one succeeded.
        if findings.compared.is_empty() {
            let finding = match &findings.failed {
                None => Finding::NotChecked,
                Some(why) => Finding::CheckFailed { why: why.clone() },
            };
            reasons.push(Reason::new(Trust::Care, finding));
        }
        reasons.extend(of_comparisons(&findings.compared));
        Self::new(reasons)
    }

    /// The verdict on an unchecked sample, such as that of a stopped run: by the same thresholds for weights
    /// and chains as after a check, plus the reason that there was no check.
    pub fn of_unchecked(sample: &Sample, names: &[String]) -> Self {
        if let Some(mixing) = sample.mixing() {
            let reasons = of_mixing(mixing, sample, names);
            return Self::new(reasons)
                .and(std::iter::once(Reason::new(Trust::Care, Finding::NotChecked)));
        }
        match Findings::of_sample(sample, names) {
            Ok(findings) => Self::of(&findings),
            Err(error) => Self::not_examined(&error),
        }
    }

    /// The verdict on draws that [`examine`](super::examine) refuses, with its error as the reason.
    pub fn not_examined(error: &crate::Error) -> Self {
        let finding = Finding::NotExamined { why: error.to_string() };
        Self::new(vec![Reason::new(Trust::Distrust, finding)])
    }

    /// This verdict for a run that was stopped at `t`.
    #[must_use]
    pub fn of_stopped(self, t: f64) -> Self {
        // Before t = 1 the flow approximates another density.
        let trust = if t < 1.0 { Trust::Distrust } else { Trust::Care };
        self.and(std::iter::once(Reason::new(trust, Finding::Stopped { t })))
    }

    /// The verdict on the last checkpoint of an unfinished run. `t` is the inverse temperature it had
    /// reached, if it anneals. No check has searched for missing mass.
    #[must_use]
    pub fn of_unfinished(self, t: Option<f64>) -> Self {
        let mut reasons = self.reasons;
        reasons.retain(|reason| !matches!(reason.finding, Finding::Stopped { .. }));
        reasons.insert(0, Reason::new(Trust::Distrust, Finding::Unfinished { t }));
        Self { power: self.power, ..Self::new(reasons) }
    }

    /// This verdict for a run that failed before it finished.
    #[must_use]
    pub fn of_ended_early(self, t: f64, reason: impl Into<String>) -> Self {
        let finding = Finding::EndedEarly { t, reason: reason.into() };
        let mut reasons = self.reasons;
        reasons.insert(0, Reason::new(Trust::Distrust, finding));
        Self { power: self.power, ..Self::new(reasons) }
    }

    /// This verdict for a run that has spent its budget.
    #[must_use]
    pub fn of_spent(self) -> Self {
        if self.reasons.iter().any(|reason| reason.finding == Finding::BudgetSpent) {
            return self;
        }
        self.and(std::iter::once(Reason::new(Trust::Care, Finding::BudgetSpent)))
    }

    /// This verdict with the power of the search: a weak search does not rule out other modes.
    #[must_use]
    pub fn with_power(self, power: Power) -> Self {
        let trust = (power.share() < POWER.care).then_some(Trust::Local);
        let weak = reason(trust, Finding::ModesNotExcluded { power: power.share() });
        let is_other =
            |reason: &Reason| !matches!(reason.finding, Finding::ModesNotExcluded { .. });
        let others = self.reasons.into_iter().filter(is_other);
        Self { power: Some(power), ..Self::new(others.chain(weak).collect()) }
    }

    /// This verdict with more reasons.
    pub(crate) fn and(self, more: impl Iterator<Item = Reason>) -> Self {
        Self { power: self.power, ..Self::new(self.reasons.into_iter().chain(more).collect()) }
    }

    pub(super) fn new(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.trust));
        let trust = reasons.first().map_or(Trust::Reliable, |reason| reason.trust);
        Self { trust, reasons, power: None }
    }
}

impl Findings {
    /// The reasons that follow from the weights.
    fn of_weights(&self) -> Vec<Reason> {
        let Self { draws, outside, ess, .. } = *self;
        let few = Finding::FewEffectiveDraws { draws, ess };
        let outside_support = Finding::OutsideSupport { share: outside };
        let all = [
            self.tail(),
            self.moment_tail(),
            reason(ESS.judge(ess), few),
            reason(OUTSIDE_SUPPORT.judge(outside), outside_support),
            // Few draws cannot give a standard deviation: `FewEffectiveDraws` already says so.
            self.spread.as_ref().filter(|_| ess >= ESS.care).and_then(Spread::reason),
            self.least_known_mode.clone().filter(|_| self.is_diluted()).and_then(
                |(at, weighted)| {
                    reason(
                        MODE_ERROR.judge(weighted.error),
                        Finding::ModeWeightUnknown { at, weighted },
                    )
                },
            ),
            self.weights_off
                .and_then(|share| reason(WEIGHTS_OFF.judge(share), Finding::WeightsOff { share })),
        ];
        all.into_iter().flatten().collect()
    }

    /// Is the effective sample size well below the number of draws, yet large enough?
    fn is_diluted(&self) -> bool {
        self.ess >= ESS.care && self.ess < TAIL_ESS.value * self.draws as f64
    }

    /// Is a heavy tail of the weights harmless? It is if most draws are effective and independent points show
    /// that the tail has almost no mass.
    fn is_tail_harmless(&self) -> bool {
        self.ess >= TAIL_ESS.value * self.draws as f64 && self.is_all_covered()
    }

    /// A moment that depends on a few draws although the weights alone look good.
    fn moment_tail(&self) -> Option<Reason> {
        let MomentTail { name, k_hat } = self.moment.clone()?;
        let threshold = self.k_hat_threshold;
        let trust = Threshold { care: threshold, ..MOMENT_K_HAT }.judge(k_hat)?;
        let is_said = self.tail().is_some();
        let is_noise = self.largest_weight < EQUAL_WEIGHTS.value;
        let finding = Finding::MomentTail { name, k_hat, threshold };
        (!is_said && !is_noise && !self.is_tail_harmless()).then(|| Reason::new(trust, finding))
    }

    /// A heavy tail matters as much as the mass of p in it.
    fn tail(&self) -> Option<Reason> {
        let Self { k_hat, k_hat_threshold, .. } = *self;
        let trust = Threshold { care: k_hat_threshold, ..K_HAT }.judge(k_hat)?;
        // Among nearly equal weights the shape of the tail is noise.
        if self.largest_weight < EQUAL_WEIGHTS.value {
            return None;
        }
        let is_harmless = self.is_tail_harmless();
        let trust = match trust {
            Trust::Distrust if is_harmless => Trust::Care,
            _ if is_harmless => return None,
            trust => trust,
        };
        let no_mean = K_HAT.distrust.filter(|from| k_hat >= *from);
        let threshold = no_mean.unwrap_or(k_hat_threshold);
        Some(Reason::new(trust, Finding::HeavyTail { k_hat, threshold }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        diagnostics::{
            Place,
            findings::{Comparison, ModeShares},
        },
        importance::Estimate,
    };

    fn estimate(value: f64, error: f64) -> Estimate {
        Estimate { value, error }
    }

    fn place() -> Place {
        Place::new(&["x".into()], &[1.0])
    }

    fn good() -> Findings {
        Findings {
            draws: 10_000,
            outside: 0.0,
            k_hat: 0.2,
            k_hat_threshold: 0.7,
            ess: 8_000.0,
            largest_weight: 30.0,
            spread: Some(Spread { name: "x".into(), error: 0.01 }),
            moment: Some(MomentTail { name: "x".into(), k_hat: 0.3 }),
            least_known_mode: Some((place(), estimate(0.5, 0.01))),
            weights_off: Some(0.0),
            compared: vec![Comparison {
                lacking: estimate(0.001, 0.000_5),
                lacking_at: place(),
                log_z_gap: estimate(0.05, 0.05),
                modes: vec![ModeShares {
                    at: place(),
                    under_q: 0.4,
                    weighted: estimate(0.5, 0.01),
                    particles: estimate(0.5, 0.01),
                }],
                are_particles: true,
            }],
            failed: None,
        }
    }

    fn compared(change: impl FnOnce(&mut Comparison)) -> Findings {
        let mut findings = good();
        change(&mut findings.compared[0]);
        findings
    }

    fn heavy_moment(k_hat: f64) -> Option<MomentTail> {
        Some(MomentTail { name: "x".into(), k_hat })
    }

    /// Some mass is missing, so that a heavy tail counts in full.
    fn uncovered() -> Findings {
        compared(|c| c.lacking = estimate(0.004, 0.001))
    }

    #[test]
    fn a_good_run_is_reliable_and_has_no_reasons() {
        let verdict = Verdict::of(&good());
        assert_eq!((verdict.trust, verdict.reasons.len()), (Trust::Reliable, 0));
    }

    #[test]
    fn each_finding_has_its_weight() {
        let care = [
            (Findings { k_hat: 0.8, ..uncovered() }, "heavy-tail"),
            (Findings { moment: heavy_moment(0.8), ..uncovered() }, "moment-tail"),
            // A tail of weights that is heavier than that of a moment is reported once.
            (Findings { k_hat: 0.8, moment: heavy_moment(1.2), ..uncovered() }, "heavy-tail"),
            (Findings { ess: 399.0, ..good() }, "few-effective-draws"),
            (Findings { outside: 0.02, ..good() }, "outside-support"),
            (
                Findings { spread: Some(Spread { name: "x".into(), error: 0.06 }), ..good() },
                "spread-unknown",
            ),
            (
                Findings {
                    least_known_mode: Some((place(), estimate(0.5, 0.013))),
                    ess: 4_900.0,
                    ..good()
                },
                "mode-weight-unknown",
            ),
            (Findings { weights_off: Some(0.01), ..good() }, "weights-off"),
            (Findings { compared: Vec::new(), ..good() }, "not-checked"),
            (Findings { compared: Vec::new(), failed: Some("x".into()), ..good() }, "check-failed"),
            (compared(|c| c.modes[0].weighted = estimate(0.4, 0.01)), "mode-weight-off"),
            (compared(|c| c.lacking.value = 0.03), "mass-lacking"),
            (compared(|c| c.log_z_gap = estimate(0.3, 0.05)), "evidence-above"),
            (compared(|c| c.modes[0].weighted = estimate(0.2, 0.01)), "mode-weight-off"),
            (compared(|c| c.modes[0].under_q = 0.2), "mode-thin"),
            // Of 0.5 less its allowance of 0.02, a tenth is 0.048.
            (compared(|c| c.modes[0].under_q = 0.049), "mode-thin"),
            // A tail without a mean, where p has next to no mass.
            (Findings { k_hat: 1.1, ..good() }, "heavy-tail"),
        ];
        let distrust = [
            (Findings { k_hat: 1.0, ..uncovered() }, "heavy-tail"),
            (Findings { k_hat: f64::NAN, ..uncovered() }, "heavy-tail"),
            (Findings { k_hat: f64::INFINITY, ..uncovered() }, "heavy-tail"),
            (Findings { ess: 99.0, ..good() }, "few-effective-draws"),
            (Findings { outside: 0.6, ..good() }, "outside-support"),
            (Findings { weights_off: Some(0.2), ..good() }, "weights-off"),
            (compared(|c| c.lacking.value = 0.3), "mass-lacking"),
            (compared(|c| c.log_z_gap = estimate(0.8, 0.05)), "evidence-above"),
            (compared(|c| c.modes[0].under_q = 0.047), "mode-lost"),
        ];
        for (trust, all) in [(Trust::Care, &care[..]), (Trust::Distrust, &distrust)] {
            for (findings, code) in all {
                let verdict = Verdict::of(findings);
                assert_eq!(verdict.trust, trust, "{findings:?}");
                let codes: Vec<_> = verdict.reasons.iter().map(|r| r.finding.code()).collect();
                assert_eq!(codes, [*code], "{findings:?}");
                assert_eq!(verdict.reasons[0].remedy, verdict.reasons[0].finding.remedy());
            }
        }
    }

    #[test]
    fn what_the_particles_cannot_know_is_not_held_against_q() {
        let all = [
            // Few draws, nearly all of them effective: the user asked for no more.
            Findings { least_known_mode: Some((place(), estimate(0.5, 0.02))), ..good() },
            // A heavy tail of weights where p has next to no mass.
            Findings { k_hat: 0.8, ..good() },
            Findings { moment: heavy_moment(0.8), ..good() },
            compared(|c| c.lacking = estimate(0.03, 0.02)),
            compared(|c| c.log_z_gap = estimate(0.8, 0.4)),
            // The tail shape of nearly equal weights.
            Findings { k_hat: 1.8, largest_weight: 2.0, ..uncovered() },
            // Particles that have missed mass, where others have not.
            Findings {
                compared: [
                    compared(|c| c.log_z_gap = estimate(-9.0, 0.1)).compared,
                    good().compared,
                ]
                .concat(),
                ..good()
            },
            // A check by particles failed, but another one succeeded.
            Findings { failed: Some("x".into()), ..good() },
            // A mode with a few particles, which may be chance.
            compared(|c| {
                c.modes[0].under_q = 0.0;
                c.modes[0].particles = estimate(0.01, 0.005);
                c.modes[0].weighted = estimate(0.01, 0.01);
            }),
        ];
        for findings in &all {
            assert_eq!(Verdict::of(findings).trust, Trust::Reliable, "{findings:?}");
        }
    }

    #[test]
    fn the_worst_reason_comes_first() {
        let verdict = Verdict::of(&Findings { k_hat: 0.8, ess: 10.0, ..uncovered() });
        assert_eq!(verdict.trust, Trust::Distrust);
        let codes: Vec<_> = verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
        assert_eq!(codes, ["few-effective-draws", "heavy-tail"]);
    }

    #[test]
    fn a_stopped_run_is_as_good_as_where_it_stopped() {
        let few = || Verdict::of(&Findings { ess: 300.0, ..good() });
        let late = few().of_stopped(1.0);
        assert_eq!(late.trust, Trust::Care);
        assert_eq!(late.reasons[1].finding, Finding::Stopped { t: 1.0 });
        let early = few().of_stopped(0.25);
        assert_eq!(early.trust, Trust::Distrust);
        assert_eq!(early.reasons[0].finding, Finding::Stopped { t: 0.25 });
        assert_eq!(early.reasons.len(), 2);
        let looked_at = few().of_stopped(1.0).of_unfinished(None);
        assert_eq!(looked_at.trust, Trust::Distrust);
        let codes: Vec<_> = looked_at.reasons.iter().map(|r| r.finding.code()).collect();
        assert_eq!(codes, ["unfinished", "few-effective-draws"]);
        let failed = few().of_ended_early(0.75, "no step is left");
        assert_eq!(
            (failed.trust, failed.reasons[0].finding.code()),
            (Trust::Distrust, "ended-early")
        );
        let refused = Verdict::not_examined(&crate::Error::Data("all are lost".into()));
        assert_eq!(refused.trust, Trust::Distrust);
        assert_eq!(
            refused.reasons[0].finding.to_string(),
            "the draws cannot be examined: all are lost"
        );
    }
}
