//! The whole ladder, on densities with known answers.

use crate::support::lopsided;
use adaann::{
    Program,
    answer::{Answer, Settings, approximate},
    diagnostics::{Examination, Trust},
    flow::BaseSpec,
    importance::Quantity,
    registry::{self, Known, Mode},
    target::{self, Target},
};

/// Draws per answer. The standard error of the weight of a mode of one half is then at least 0.005.
const DRAWS: usize = 10_000;

/// log Z, means and the weights of the modes are within four of their own errors, which one in 16,000 correct
/// estimates exceeds; there are fifty here.
fn assert_right(name: &str, target: &dyn Target, known: &Known, base: &BaseSpec) {
    for seed in 1..=3 {
        let settings =
            Settings { base: base.clone(), draws: Some(DRAWS), seed, ..Settings::default() };
        let answer = approximate(target, &settings, &mut ()).unwrap();
        let Answer { sample, log_z: Some(log_z), examination: Some(found), .. } = &answer else {
            panic!("{name}, seed {seed}: {answer:?}");
        };
        let at = format!("{name}, seed {seed}");
        assert_eq!(found.verdict.trust, Trust::Reliable, "{at}: {:?}", found.verdict);
        assert_eq!(sample.len(), DRAWS, "{at}");
        // At least half of the draws are effective.
        assert!(log_z.error < 1.0 / (DRAWS as f64).sqrt(), "{at}: {log_z:?}");
        assert!((log_z.value - known.log_z.unwrap()).abs() < 4.0 * log_z.error, "{at}: {log_z:?}");
        for (d, truth) in known.mean.iter().flatten().enumerate() {
            let mean = Quantity::new(sample.x().row(d), sample.weights()).unwrap().mean();
            assert!((mean.value - truth).abs() < 4.0 * mean.error, "{at}: {mean:?} for {truth}");
        }
        assert_modes(&at, known, found);
    }
}

fn assert_modes(at: &str, known: &Known, found: &Examination) {
    let (modes, truth) = (&found.modes, &known.modes);
    assert_eq!(modes.len(), truth.len(), "{at}: {modes:?}");
    for (k, known_mode) in truth.iter().enumerate() {
        let own: Vec<_> = modes.iter().filter(|m| known.mode_of(&m.location) == Some(k)).collect();
        let [mode] = own[..] else { panic!("{at}: {} are mode {k} of {modes:?}", own.len()) };
        let share = mode.weight;
        let off = (share.value - known_mode.weight).abs();
        assert!(off < 4.0 * share.error && share.error < 0.02, "{at}: {mode:?}");
    }
}

fn assert_registered(name: &str) {
    let problem = registry::find(name).unwrap().build(&[]).unwrap();
    assert_right(name, &*problem.target, &problem.known, &problem.settings.base);
}

/// Two crescents, unlike any Gaussian.
#[test]
fn two_moons() {
    assert_registered("two-moons");
}

/// Two mirrored modes of a posterior with an ODE.
#[test]
fn hiv() {
    assert_registered("hiv");
}

/// Two modes with different weights and shapes.
#[test]
fn leaning_gaussians() {
    let leaning = lopsided::leaning();
    let mode = |(location, weight): &(Vec<f64>, f64)| Mode::new(location.clone(), *weight);
    let known = Known {
        log_z: Some(leaning.log_z),
        mean: Some(leaning.mean.clone()),
        modes: leaning.modes.iter().map(mode).collect(),
        ..Known::default()
    };
    assert_right(leaning.name, &*leaning.target, &known, &BaseSpec::default());
}

/// Sixteen dimensions with 256 uneven modes, more than a list can hold. No list is needed, since each
/// coordinate separately has two humps.
#[test]
fn many_modes_that_are_a_product() {
    let parameters = [("dim".to_owned(), 16.0)];
    let problem = registry::find("many-well").unwrap().build(&parameters).unwrap();
    let base = problem.settings.base.clone();
    let settings = Settings { base, seed: 1, ..Settings::default() };
    let answer = approximate(&*problem.target, &settings, &mut ()).unwrap();
    let (log_z, exact) = (answer.log_z.unwrap(), problem.known.log_z.unwrap());
    assert!((log_z.value - exact).abs() < 4.0 * log_z.error, "{log_z:?} for {exact}");
    assert!(log_z.error < 0.05, "{log_z:?}");
    assert!(answer.evaluations < 300_000, "{}", answer.evaluations);
    for (d, truth) in problem.known.mean.iter().flatten().enumerate() {
        let mean = Quantity::new(answer.sample.x().row(d), answer.sample.weights()).unwrap().mean();
        assert!((mean.value - truth).abs() < 4.0 * mean.error, "{d}: {mean:?} for {truth}");
    }
}

/// The same density as a formula and as a function, with one mode and with two: for a function, one mode does
/// not show how narrow another may be.
#[test]
fn one_mode_of_a_function_is_local() {
    let codes = |target: &dyn Target| {
        let answer = approximate(target, &Settings { seed: 4, ..Settings::default() }, &mut ());
        let verdict = answer.unwrap().examination.unwrap().verdict;
        let codes: Vec<_> = verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
        (verdict.trust, codes)
    };
    let formula = Program::record(2, |z| -0.5 * ((z[0] - 7.0).square() + 4.0 * z[1].square()));
    assert_eq!(codes(&formula), (Trust::Reliable, vec![]));
    let one = target::pointwise(2, |x, slope| {
        (slope[0], slope[1]) = (7.0 - x[0], -4.0 * x[1]);
        -0.5 * ((x[0] - 7.0).powi(2) + 4.0 * x[1] * x[1])
    });
    assert_eq!(codes(&one), (Trust::Local, vec!["narrow-modes-not-excluded"]));
    // Humps at 3 and 9, slightly narrower than the width of the other coordinate.
    let two = target::pointwise(2, |x, slope| {
        let apart = (x[0] - 6.0).powi(2) - 9.0;
        (slope[0], slope[1]) = (-0.5 * apart * (x[0] - 6.0), -x[1]);
        -0.125 * apart * apart - 0.5 * x[1] * x[1]
    });
    assert_eq!(codes(&two), (Trust::Reliable, vec![]));
}
