//! Examines draws of the target itself: no mode can be lost, so only their number is judged.

use crate::{
    Result,
    budget::Budget,
    diagnostics::{
        Examination, Finding, Power, Verdict, Witness,
        modes::Found,
        reason::Reason,
        thresholds::{ESS, OUTSIDE_SUPPORT},
    },
    importance::{Estimate, Sample},
    target::Unconstrained,
};

/// Judges exact draws of a density that integrates to 1, and lists its modes.
pub(crate) fn examine_exact(
    target: &Unconstrained,
    sample: &Sample,
    climbs: usize,
) -> Result<Examination> {
    let found =
        Found::new(target, (sample.z(), sample.weights()), None, &[], (climbs, Budget::default()))?;
    let (draws, ess) = (sample.len(), sample.len() as f64);
    // A target that offers exact draws must not produce points without density.
    let share = sample.lost() as f64 / ess;
    let reasons = [
        (ESS.judge(ess), Finding::FewEffectiveDraws { draws, ess }),
        (OUTSIDE_SUPPORT.judge(share), Finding::OutsideSupport { share }),
    ];
    let reason = |(trust, finding): (Option<_>, Finding)| Some(Reason::new(trust?, finding));
    Ok(Examination {
        log_z: Estimate { value: 0.0, error: 0.0 },
        kl: f64::NAN,
        ess,
        ess_share: 1.0,
        k_hat: f64::NAN,
        k_hat_threshold: f64::NAN,
        modes: found.modes,
        particles: None,
        own_log_z: None,
        sight: "exact draws of the target itself: nothing can hide from them".into(),
        evaluations: found.evaluations,
        verdict: Verdict::new(reasons.into_iter().filter_map(reason).collect())
            .with_power(Power::ExactDraws),
        mixture: None,
        searched: None,
        witness: Witness::default(),
    })
}
