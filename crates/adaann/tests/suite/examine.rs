//! The check of an approximation compared with exact answers. A correct approximation is called
//! reliable, with numbers that are right within their errors. A deliberately wrong one is not, for the
//! right reason.

use crate::support::lopsided::{self, Lopsided, Mixture};
use adaann::{
    Settings,
    diagnostics::{self, Examination, Finding, Mode, Trust, Verdict, examine, thresholds},
    importance::{Estimate, Quantity},
    path::PathKind,
    smc::{self, Stage},
};
use std::ops::ControlFlow;

const DRAWS: usize = 4_000;

/// Five sweeps of a thousand particles: the standard error of a fraction is about 0.01.
fn check() -> diagnostics::Settings {
    diagnostics::Settings { particles: 1_000, ..diagnostics::Settings::default() }
}

fn examined_by(
    lopsided: &Lopsided,
    q: &Mixture,
    fit: &Settings,
    check: &diagnostics::Settings,
    observer: &mut dyn smc::Observer,
) -> (Examination, Vec<Estimate>) {
    let approximation = q.of(&*lopsided.target);
    let sample = approximation.sample(DRAWS, 5).unwrap();
    let found = examine(&approximation, &sample, fit, check, observer).unwrap();
    let mean = |d| Quantity::new(sample.x().row(d), sample.weights()).unwrap().mean();
    let means = (0..sample.x().dim()).map(mean).collect();
    (found, means)
}

fn examined(lopsided: &Lopsided, q: &Mixture) -> Examination {
    examined_by(lopsided, q, &Settings::default(), &check(), &mut ()).0
}

fn codes(verdict: &Verdict) -> Vec<&'static str> {
    verdict.reasons.iter().map(|reason| reason.finding.code()).collect()
}

/// Within two per cent of a location, or of 1.
fn is_at(point: &[f64], place: &[f64]) -> bool {
    point.iter().zip(place).all(|(a, b)| (a - b).abs() < 0.02 * (1.0 + b.abs()))
}

/// The mode found at a location.
fn mode_at<'a>(found: &'a Examination, location: &[f64]) -> &'a Mode {
    let is_near = |mode: &&Mode| is_at(&mode.location, location);
    found
        .modes
        .iter()
        .find(is_near)
        .unwrap_or_else(|| panic!("none at {location:?}: {:?}", found.modes))
}

/// Four standard errors, which one in 16,000 correct estimates exceeds; there are thirty of them.
fn assert_within(estimate: Estimate, truth: f64, what: &str) {
    let off = (estimate.value - truth).abs();
    assert!(off < 4.0 * estimate.error, "{what}: {estimate:?}, but {truth} is true");
}

#[test]
fn a_good_approximation_is_reliable_and_its_answers_are_right() {
    for lopsided in lopsided::all() {
        let name = lopsided.name;
        let (found, means) =
            examined_by(&lopsided, &lopsided.near, &Settings::default(), &check(), &mut ());
        assert_eq!(found.verdict.trust, Trust::Reliable, "{name}: {:?}", found.verdict);
        assert_within(found.log_z, lopsided.log_z, name);
        // √((1/ess_share − 1)/4000) is 0.016 where half of the draws are effective; with much larger
        // errors the assertions would be empty.
        assert!(found.ess_share > 0.5 && found.log_z.error < 0.016, "{name}: {:?}", found.log_z);
        for (mean, truth) in means.into_iter().zip(&lopsided.mean) {
            assert_within(mean, *truth, name);
        }
        assert_eq!(found.modes.len(), lopsided.modes.len(), "{name}: {:?}", found.modes);
        for (location, weight) in &lopsided.modes {
            let mode = mode_at(&found, location);
            let particles = mode.particles.unwrap();
            if *weight < 1.0 {
                assert_within(mode.weight, *weight, name);
                assert_within(particles, *weight, name);
                assert!(mode.weight.error < 0.02 && particles.error < 0.03, "{name}: {mode:?}");
            }
        }
        let particles = found.particles.unwrap();
        assert_within(particles.log_z, lopsided.log_z, name);
        assert!(particles.lacking.value < thresholds::TAIL_MASS.value, "{name}: {particles:?}");
        // KL(p‖q) and KL(q‖p) are small and nonnegative, up to the noise of log Z in them.
        for (kl, log_z) in [(particles.forward_kl, particles.log_z), (found.kl, found.log_z)] {
            assert!((-4.0 * log_z.error..0.5).contains(&kl), "{name}: {kl}, {log_z:?}");
        }
        assert!(found.evaluations > DRAWS + particles.evaluations, "{name}: with the climbs");
    }
}

#[test]
fn a_mode_that_is_missing_is_named() {
    for (lopsided, missing) in lopsided::all()
        .iter()
        .filter(|l| l.modes.len() > 1)
        .flat_map(|l| (0..l.modes.len()).map(move |missing| (l, missing)))
    {
        let (location, weight) = &lopsided.modes[missing];
        let found = examined(lopsided, &lopsided.near.clone().without(missing));
        let at = format!("{} without {missing}: {:?}", lopsided.name, found.verdict);
        assert_eq!(found.verdict.trust, Trust::Distrust, "{at}");
        // The weights show no problem: half of the draws are effective, and the tail is light.
        assert!(found.ess_share > 0.5 && found.k_hat < 0.7, "{at}");
        let lost = found.verdict.reasons.iter().find_map(|reason| match &reason.finding {
            Finding::ModeLost { at, under_q, particles } => Some((at, under_q, particles)),
            _ => None,
        });
        let (place, under_q, particles) = lost.unwrap_or_else(|| panic!("{at}"));
        assert!(is_at(&place.point, location), "{at}");
        assert_eq!(place.names, lopsided.target.names());
        assert!(*under_q < 0.01, "{at}");
        assert_within(*particles, *weight, &at);
        // q misses the mode, and log Z is too small accordingly.
        let lacking = found.particles.as_ref().unwrap().lacking;
        assert!((lacking.value - weight).abs() < 0.02 + 4.0 * lacking.error, "{at}");
        assert_within(found.log_z, lopsided.log_z + (1.0 - weight).ln(), &at);
        assert!(codes(&found.verdict).contains(&"mass-lacking"), "{at}");
        // The error of the particles' log Z is about 0.05: −log(1 − weight) exceeds three errors for
        // weights from 0.14 on.
        if *weight > 0.2 {
            assert!(codes(&found.verdict).contains(&"evidence-above"), "{at}");
        }
    }
}

/// With 0.3 of the width, p/q has only moments below 1/(1 − 0.09). So k is 0.91, for which 4,000 draws
/// give 0.8 ± 0.1, or few of them are effective. And p exceeds q thirty times from one of its standard
/// deviations on.
#[test]
fn what_is_too_narrow_has_uneven_weights_and_lacks_mass() {
    for lopsided in lopsided::all() {
        let found = examined(&lopsided, &lopsided.near.clone().scaled(0.3));
        let at = format!("{}: {:?}", lopsided.name, found.verdict);
        assert_eq!(found.verdict.trust, Trust::Distrust, "{at}");
        let codes = codes(&found.verdict);
        assert!(codes.contains(&"mass-lacking"), "{at}");
        assert!(codes.iter().any(|c| ["heavy-tail", "few-effective-draws"].contains(c)), "{at}");
        assert!(!codes.contains(&"mode-lost"), "{at}");
    }
}

/// Between Gaussians three standard deviations apart, E_q[w²] is e⁹: 4,000 draws have an effective
/// size below 100.
#[test]
fn what_is_beside_the_density_has_few_effective_draws() {
    for lopsided in lopsided::all() {
        let found = examined(&lopsided, &lopsided.near.clone().shifted(3.0));
        let at = format!("{}: {:?}", lopsided.name, found.verdict);
        assert_eq!(found.verdict.trust, Trust::Distrust, "{at}");
        for code in ["few-effective-draws", "mass-lacking"] {
            assert!(codes(&found.verdict).contains(&code), "{code}: {at}");
        }
    }
}

/// A fifth of a mode's weight suffices to recover all of it; a twentieth does not support a
/// conclusion.
#[test]
fn a_mode_is_thin_before_it_is_lost() {
    let leaning = lopsided::leaning();
    let with = |share: f64| {
        let weights = vec![0.3 * share, 1.0 - 0.3 * share];
        examined(&leaning, &Mixture { weights, ..leaning.near.clone() })
    };
    let thin = with(0.2);
    assert_eq!(codes(&thin.verdict), ["mode-weight-unknown", "mode-thin"], "{:?}", thin.verdict);
    assert_eq!(thin.verdict.trust, Trust::Care);
    assert_within(mode_at(&thin, &leaning.modes[0].0).weight, 0.3, "a fifth");
    assert_within(thin.log_z, leaning.log_z, "a fifth");
    let lost = with(0.05);
    assert_eq!(lost.verdict.trust, Trust::Distrust, "{:?}", lost.verdict);
    assert!(codes(&lost.verdict).contains(&"mode-lost"), "{:?}", lost.verdict);
}

#[test]
fn without_particles_nobody_has_looked() {
    let leaning = lopsided::leaning();
    let collapsed = leaning.near.clone().without(0);
    let check = || diagnostics::Settings { search: false, ..check() };
    let none = diagnostics::Settings { particles: 0, ..check() };
    let by = |fit: &Settings, check: &diagnostics::Settings, observer: &mut dyn smc::Observer| {
        examined_by(&leaning, &collapsed, fit, check, observer).0
    };
    let unchecked = by(&Settings::default(), &none, &mut ());
    assert_eq!(codes(&unchecked.verdict), ["not-checked"]);
    assert!(unchecked.particles.is_none() && unchecked.modes.len() == 1);

    let mut stop = |stage: &Stage| {
        if stage.t > 0.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = by(&Settings::default(), &check(), &mut stop);
    assert_eq!(
        stopped.verdict.reasons[0].finding,
        Finding::CheckFailed { why: "it was stopped".into() }
    );

    // The density has no separate prior from which to temper a likelihood.
    let impossible = Settings { path: PathKind::Likelihood, ..Settings::default() };
    let failed = by(&impossible, &check(), &mut ());
    assert_eq!(codes(&failed.verdict), ["check-failed"]);
    for verdict in [unchecked.verdict, stopped.verdict, failed.verdict] {
        assert_eq!((verdict.trust, verdict.reasons.len()), (Trust::Care, 1), "{verdict:?}");
    }
}

/// The check's own ascents and mixture find a missing mode and its weight, without any particles.
#[test]
fn a_search_of_its_own_finds_what_is_lost() {
    let leaning = lopsided::leaning();
    let alone = diagnostics::Settings { particles: 0, ..check() };
    let collapsed = leaning.near.clone().without(0);
    let (found, _) = examined_by(&leaning, &collapsed, &Settings::default(), &alone, &mut ());
    assert_eq!(found.verdict.trust, Trust::Distrust, "{:?}", found.verdict);
    assert!(codes(&found.verdict).contains(&"mode-lost"), "{:?}", found.verdict);
    assert_within(found.own_log_z.unwrap(), leaning.log_z, "its own evidence");
    let (found, _) = examined_by(&leaning, &leaning.near, &Settings::default(), &alone, &mut ());
    assert_eq!(found.verdict.trust, Trust::Reliable, "{:?}", found.verdict);
    assert!(found.sight.contains("ascents"), "{}", found.sight);
}
