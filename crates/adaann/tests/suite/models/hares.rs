//! Hares and lynxes with the default settings, compared with the reference draws of posteriordb.
//!
//! One seed by default; five by `cargo test --release -p adaann --test models -- --ignored`.

use crate::models::examples::model;
use adaann::{Settings, fit};

/// Means and standard deviations of theta1 to theta4, u0, v0, sigma1 and sigma2
/// (`hudson_lynx_hare-lotka_volterra`).
const MEAN: [f64; 8] = [0.5469, 0.02775, 0.8001, 0.02409, 34.035, 5.936, 0.2481, 0.2510];
const SD: [f64; 8] = [0.0631, 0.00415, 0.0894, 0.00353, 2.917, 0.531, 0.0433, 0.0436];

const DRAWS: usize = 20_000;

fn assert_reference(seed: u64) {
    let model = model("lotka_volterra.toml");
    let target = model.target();
    let settings = Settings { seed, ..model.settings() };
    let outcome = fit(&*target, &settings, &mut ()).unwrap();
    let draws = outcome.approximation(&*target).unwrap().sample(DRAWS, seed).unwrap().x().clone();
    for (d, name) in target.names().iter().enumerate() {
        let (row, n) = (draws.row(d), DRAWS as f64);
        let mean = row.iter().sum::<f64>() / n;
        let sd = (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        // Monte Carlo errors, 0.01 of the reference and 0.007 here, are small compared with the
        // tolerance of the approximation.
        let shift = (mean - MEAN[d]) / SD[d];
        assert!(shift.abs() < 0.15, "seed {seed}: {name} is off by {shift} sd");
        let ratio = sd / SD[d];
        assert!((ratio - 1.0).abs() < 0.15, "seed {seed}: {name} has {ratio} of its sd");
    }
}

#[test]
fn hares_and_lynxes_are_those_of_the_reference() {
    assert_reference(1);
}

#[test]
#[ignore = "five fits of ten seconds each"]
fn five_seeds_are_those_of_the_reference() {
    (2..7).for_each(assert_reference);
}
