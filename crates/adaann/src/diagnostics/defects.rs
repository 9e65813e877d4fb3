//! The effect of a target's defects on a verdict.

use crate::diagnostics::{
    Finding, Place, Reason,
    thresholds::{NOISE, NOT_A_NUMBER, WRONG_GRADIENT},
};
use crate::target::Defects;

/// The reasons against an answer whose target has defects; empty if the target has none. `names` are
/// the names of the target's coordinates.
pub fn reasons_of_defects(defects: &Defects, names: &[String]) -> Vec<Reason> {
    let place = |at: &[f64]| Place::new(names, at);
    let noise = defects.noise.as_ref().and_then(|noise| {
        let finding = Finding::NoisyTarget { sd: noise.sd, at: place(&noise.at) };
        Some(Reason::new(NOISE.judge(noise.sd)?, finding))
    });
    let gradient = defects.gradient.as_ref().and_then(|slope| {
        let finding = Finding::WrongGradient {
            gradient: slope.gradient,
            differences: slope.differences,
            at: place(&slope.at),
        };
        Some(Reason::new(WRONG_GRADIENT.judge(slope.error)?, finding))
    });
    let lost = defects.not_a_number.as_ref().and_then(|lost| {
        let (count, of) = (lost.count, lost.of);
        let finding = Finding::NotANumber { count, of, at: place(&lost.at) };
        Some(Reason::new(NOT_A_NUMBER.judge(count as f64 / of as f64)?, finding))
    });
    [noise, gradient, lost].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Trust;
    use crate::target::{Noise, NotANumber, WrongSlope};

    fn judged(sd: f64, error: f64, count: usize) -> Vec<(Trust, &'static str)> {
        let at = vec![0.5];
        let slope = WrongSlope { gradient: 1.0, differences: -1.0, error, at: at.clone() };
        let defects = Defects {
            points: 8,
            evaluations: 80,
            noise: (sd > 0.0).then(|| Noise { sd, largest: 2.0 * sd, at: at.clone() }),
            gradient: Some(slope),
            not_a_number: (count > 0).then_some(NotANumber { count, of: 72, at }),
        };
        let reasons = reasons_of_defects(&defects, &["a".into()]);
        reasons.iter().map(|reason| (reason.trust, reason.finding.code())).collect()
    }

    #[test]
    fn defects_are_judged_by_the_table() {
        assert_eq!(judged(0.05, 0.005, 0), []);
        assert_eq!(judged(0.2, 0.0, 0), [(Trust::Care, "noisy-target")]);
        assert_eq!(judged(1.0, 0.0, 0), [(Trust::Distrust, "noisy-target")]);
        assert_eq!(judged(0.0, 0.02, 0), [(Trust::Care, "wrong-gradient")]);
        assert_eq!(judged(0.0, 0.0, 1), [(Trust::Care, "nan-density")]);
        assert_eq!(judged(1.0, 2.0, 3).len(), 3);
    }
}
