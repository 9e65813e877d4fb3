//! What independent points say against an answer, on one scale: the mass of each population.
//!
//! Particles give shares of their own mass. The whole mass is at least that of the answer, so a share of the
//! particles counts for at most share · Z_check / Z_answer of it. Hence a population with less evidence than the
//! answer, somewhere else, is no argument against the answer; one with more evidence is.

use crate::diagnostics::{
    Finding, Place, Reason, Trust,
    findings::{Comparison, ModeShares},
    reason::reason,
    thresholds::{
        ALLOWANCE, EVIDENCE_ABOVE, EVIDENCE_APART, MASS_LACKING, MODE_SEEN, MODE_SHARE, MODE_SHIFT,
        MODE_WEIGHT, MODES_APART, SMALLEST_MODE, is_mode_lost,
    },
};

/// The reasons of all comparisons; each reason appears once.
pub(super) fn of_comparisons(compared: &[Comparison]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let is_alone = compared.len() == 1;
    for comparison in compared {
        let own = comparison.reasons().into_iter();
        for reason in own.filter(|reason| is_alone || comparison.may_say(reason)) {
            let (code, mode) = (reason.finding.code(), mode(&reason.finding));
            let is_known =
                |other: &Reason| other.finding.code() == code && self::mode(&other.finding) == mode;
            if !reasons.iter().any(is_known) {
                reasons.push(reason);
            }
        }
    }
    // A population that has missed most of the mass is ignored if another one has not. If all of them have, nothing
    // has confirmed the answer: it is described correctly as far as its weights can show.
    if !compared.iter().any(Comparison::is_check) {
        let nearest = compared.iter().map(|comparison| comparison.log_z_gap);
        let nearest = nearest.max_by(|a, b| a.value.total_cmp(&b.value));
        reasons
            .extend(nearest.map(|gap| Reason::new(Trust::Local, Finding::EvidenceBelow { gap })));
    }
    reasons
}

/// The mode that a finding is about, if it concerns a single mode.
fn mode(finding: &Finding) -> Option<&Place> {
    match finding {
        Finding::ModeLost { at, .. }
        | Finding::ModeThin { at, .. }
        | Finding::ModeWeightOff { at, .. } => Some(at),
        _ => None,
    }
}

impl Comparison {
    /// May these points give this reason if other points were compared too? Particles that have lost mass themselves
    /// disagree about evidence and weights. What counts is mass that they found and q lacks.
    fn may_say(&self, reason: &Reason) -> bool {
        let has_found = match &reason.finding {
            Finding::MassLacking { .. } | Finding::ModeLost { .. } | Finding::ModeThin { .. } => {
                true
            }
            // A higher evidence counts only if the particles also have points where q lacks mass; otherwise it is
            // Monte Carlo error.
            Finding::EvidenceAbove { .. } => {
                reason.trust == Trust::Distrust
                    && self.lacking.value > ALLOWANCE.value * self.lacking.error
            }
            _ => false,
        };
        has_found || !self.are_particles
    }

    fn reasons(&self) -> Vec<Reason> {
        let scale = self.evidence_scale();
        let lacking = self.lacking.times(scale);
        let least = lacking.value - ALLOWANCE.value * lacking.error;
        let finding = Finding::MassLacking { share: lacking, at: self.lacking_at.clone() };
        let mut reasons = Vec::new();
        reasons.extend(reason(MASS_LACKING.judge(least), finding));
        reasons.extend(self.modes.iter().flat_map(|mode| mode.reasons(scale)));
        reasons.extend(self.more_evidence());
        // Points that have missed mass have wrong weights for all modes.
        if self.log_z_gap.value < -EVIDENCE_APART.value * self.log_z_gap.error {
            reasons.retain(|r| !matches!(r.finding.code(), "mode-weight-off" | "mode-thin"));
        }
        reasons
    }

    /// An evidence above that of the answer, by more than the errors.
    fn more_evidence(&self) -> Option<Reason> {
        let gap = self.log_z_gap;
        let is_chance = gap.value <= EVIDENCE_APART.value * gap.error;
        let size = if is_chance { 0.0 } else { gap.value };
        reason(EVIDENCE_ABOVE.judge(size), Finding::EvidenceAbove { gap })
    }
}

impl ModeShares {
    /// The reasons that a mode gives, if the mass of the population counts for `scale` of the answer's.
    fn reasons(&self, scale: f64) -> Vec<Reason> {
        let Self { under_q, weighted, particles, .. } = *self;
        let in_whole = particles.times(scale);
        let is_seen = particles.value >= MODE_SEEN.value * particles.error;
        if !is_seen || in_whole.value < SMALLEST_MODE.value {
            return Vec::new();
        }
        let least = in_whole.value - ALLOWANCE.value * in_whole.error;
        let at = || self.at.clone();
        if is_mode_lost(under_q, least) {
            let finding = Finding::ModeLost { at: at(), under_q, particles: in_whole };
            return vec![Reason::new(Trust::Distrust, finding)];
        }
        let thin = (under_q < MODE_SHARE.care * least).then_some(Trust::Care);
        // Two shares of modes, each within its own population, are compared without scaling.
        let is_apart = particles.minus(weighted).z_score().abs() > MODES_APART.value;
        let share = particles.value;
        let factor = (share / weighted.value).max(weighted.value / share);
        let shift = (share - weighted.value).abs();
        let off = MODE_WEIGHT.judge(factor).or_else(|| MODE_SHIFT.judge(shift));
        let off = if is_apart { off } else { None };
        let all = [
            reason(thin, Finding::ModeThin { at: at(), under_q, particles: in_whole }),
            reason(off, Finding::ModeWeightOff { at: at(), weighted, particles }),
        ];
        all.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::importance::Estimate;

    fn estimate(value: f64, error: f64) -> Estimate {
        Estimate { value, error }
    }

    fn place(at: f64) -> Place {
        Place::new(&["period".into()], &[at])
    }

    /// A population that agrees with the answer: one mode, all of the mass, the same evidence.
    fn agreeing() -> Comparison {
        Comparison {
            lacking: estimate(0.0, 0.001),
            lacking_at: place(0.0),
            log_z_gap: estimate(0.02, 0.1),
            modes: vec![ModeShares {
                at: place(4.23),
                under_q: 1.0,
                weighted: estimate(1.0, 0.0),
                particles: estimate(1.0, 0.01),
            }],
            are_particles: false,
        }
    }

    /// Particles that all lie at a mode that the answer does not have, with a different evidence.
    fn elsewhere(gap: f64, error: f64) -> Comparison {
        let shares = |at, under_q, particles| ModeShares {
            at: place(at),
            under_q,
            weighted: estimate(under_q, 0.0),
            particles,
        };
        Comparison {
            lacking: estimate(1.0, 0.05),
            lacking_at: place(17.0),
            log_z_gap: estimate(gap, error),
            modes: vec![
                shares(4.23, 1.0, estimate(0.0, 0.125)),
                shares(17.0, 0.0, estimate(1.0, 0.125)),
            ],
            are_particles: true,
        }
    }

    fn judged(compared: &[Comparison]) -> Vec<(Trust, &'static str)> {
        of_comparisons(compared).iter().map(|r| (r.trust, r.finding.code())).collect()
    }

    #[test]
    fn a_population_8_6_nats_lower_says_nothing_about_a_better_answer() {
        assert_eq!(judged(&[agreeing(), elsewhere(-8.6, 0.5)]), []);
        // Alone it confirms nothing: the answer is described correctly, and nothing more is known.
        assert_eq!(judged(&[elsewhere(-8.6, 0.5)]), [(Trust::Local, "evidence-below")]);
    }

    #[test]
    fn less_evidence_alone_is_no_reason_for_care() {
        let below = || Comparison { log_z_gap: estimate(-3.8, 0.05), ..agreeing() };
        assert_eq!(judged(&[below(), agreeing()]), []);
        assert_eq!(judged(&[below()]), [(Trust::Local, "evidence-below")]);
        // Two populations that have both missed most of the mass confirm nothing; the nearer one is reported.
        let both = [Comparison { log_z_gap: estimate(-9.0, 0.1), ..agreeing() }, below()];
        let said = of_comparisons(&both);
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].finding, Finding::EvidenceBelow { gap: estimate(-3.8, 0.05) });
    }

    #[test]
    fn a_lost_mode_counts_for_its_mass_in_the_whole() {
        // The answer has 0.8 of the mass, the particles only a mode with the other 0.2: log(0.2/0.8) = -1.39. The
        // mode counts for at most a quarter of the answer's mass, and that much is lost.
        let said = of_comparisons(&[agreeing(), elsewhere(0.25_f64.ln(), 0.05)]);
        let codes: Vec<_> = said.iter().map(|r| (r.trust, r.finding.code())).collect();
        assert_eq!(codes, [(Trust::Distrust, "mass-lacking"), (Trust::Distrust, "mode-lost")]);
        let Finding::ModeLost { particles, .. } = said[1].finding else { panic!("{said:?}") };
        // The upper end of the evidence's error is used: 0.25 exp(0.05).
        assert!((particles.value - 0.25 * 0.05_f64.exp()).abs() < 1e-12, "{particles:?}");
        // At 0.4 per cent of the answer's mass the share is below the threshold for missing mass.
        assert_eq!(judged(&[agreeing(), elsewhere(-5.6, 0.05)]), [(Trust::Distrust, "mode-lost")]);
        // At 0.2 per cent the mode is ignored as well.
        assert_eq!(judged(&[agreeing(), elsewhere(-6.3, 0.05)]), []);
    }

    #[test]
    fn evidence_within_its_error_is_not_held_against_the_check() {
        // The check of 64 particles from the issue: log Z -0.17 ± 0.51.
        let said = judged(&[agreeing(), elsewhere(-0.17, 0.51)]);
        assert_eq!(said, [(Trust::Distrust, "mass-lacking"), (Trust::Distrust, "mode-lost")]);
    }

    #[test]
    fn more_evidence_stays_an_alarm() {
        let above = elsewhere(0.8, 0.05);
        let said = judged(&[agreeing(), above.clone()]);
        assert!(said.contains(&(Trust::Distrust, "evidence-above")), "{said:?}");
        assert!(said.contains(&(Trust::Distrust, "mode-lost")), "{said:?}");
        // If particles lie where the answer is, a higher evidence is chance, unless there was no other check.
        let lucky =
            Comparison { log_z_gap: estimate(1.25, 0.37), are_particles: true, ..agreeing() };
        assert_eq!(judged(&[agreeing(), lucky.clone()]), []);
        assert_eq!(judged(&[lucky]), [(Trust::Distrust, "evidence-above")]);
        // Without an evidence nothing is discounted.
        let unknown = elsewhere(f64::NAN, f64::NAN);
        assert!(judged(&[agreeing(), unknown]).contains(&(Trust::Distrust, "mode-lost")));
    }
}
