//! The gallery's series find what their data was made with.

use crate::models::examples::model;
use adaann::answer::Settings;
use adaann::approximate;

#[test]
fn the_truth_is_where_the_posteriors_are() {
    for (name, truth) in [
        ("ar2.toml", &[1.0, 0.6, 0.25, 0.5][..]),
        ("arma.toml", &[2.0, 0.7, 0.4, 0.8]),
        ("garch.toml", &[0.05, 0.1, 0.15, 0.75]),
        ("hidden_markov.toml", &[0.95, 0.85, 1.0, 3.0, 0.7]),
    ] {
        let target = model(name).target();
        let settings = Settings { seed: 2, ..Settings::default() };
        let answer = approximate(&*target, &settings, &mut ()).unwrap();
        let found = answer.sample.coordinates().unwrap();
        assert_eq!(found.len(), truth.len(), "{name}");
        for (d, (found, truth)) in found.iter().zip(truth).enumerate() {
            // One of seventeen numbers is more than three standard deviations away in one data set of twenty.
            let off = (found.mean.value - truth).abs() / found.sd.value;
            assert!(off < 3.0, "{name}: coordinate {d} is off by {off} standard deviations");
        }
    }
}
