//! The ladder, from start to verdict, on densities with known answers.

use crate::support::lopsided;
use adaann::{
    answer::{Answer, Settings, approximate},
    diagnostics::{Examination, Trust},
    flow::BaseSpec,
    importance::Quantity,
    registry::{self, Known, Mode},
    target::Target,
};

/// Draws of an answer. The weight of a mode of one half then has a standard error of 0.005 and more.
const DRAWS: usize = 10_000;

/// log Z, means and the weights of the modes are within four of their own errors, which one in 16,000
/// honest estimates exceeds; there are fifty here.
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
        // Half of the draws count at least.
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

/// Two crescents, which no Gaussian is.
#[test]
fn two_moons() {
    assert_registered("two-moons");
}

/// Two mirrored modes of a posterior with an ODE behind it.
#[test]
fn hiv() {
    assert_registered("hiv");
}

/// Two modes of unequal weight and shape.
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

/// Sixteen dimensions, 256 uneven modes: more than are listed. No list is needed, since each coordinate has
/// two humps of its own.
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
