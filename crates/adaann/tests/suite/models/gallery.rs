//! Every model of the gallery reads, and fits to draws that obey its supports.

use crate::models::examples::path;
use crate::support::programs;
use adaann::Settings;
use adaann::fit;
use adaann::model::Model;
use adaann::schedule::Work;
use adaann::target::{Support, Target};
use std::fs;

/// Refuses a point that is outside where it may be, or is no number.
fn assert_inside(target: &dyn Target, point: &[f64], what: &str) {
    for (d, &x) in point.iter().enumerate() {
        let is_inside = match target.support(d) {
            Support::Real => x.is_finite(),
            Support::Above(low) => low < x && x.is_finite(),
            Support::Below(high) => x < high && x.is_finite(),
            Support::Between(low, high) => low < x && x < high,
            Support::After => point[d - 1] <= x && x.is_finite(),
            Support::Share { index, .. } => {
                0.0 < x && point[d - index..=d].iter().sum::<f64>() <= 1.0 + 1e-12
            }
            Support::Factor { column } => {
                point[d - column..=d].iter().map(|x| x * x).sum::<f64>() < 1.0
            }
            Support::Within { low, high } => {
                low.at(point, f64::NEG_INFINITY) < x && x < high.at(point, f64::INFINITY)
            }
        };
        assert!(is_inside, "{what}: {} is {x} in {point:?}", target.names()[d]);
    }
}

#[test]
fn every_model_fits() {
    let mut files: Vec<_> =
        fs::read_dir(path("")).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() >= 25, "{files:?}");
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "outside" && !programs::has_python() {
            continue;
        }
        let model = Model::read(&file).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(model.title().is_some(), "{name} has no title");
        let target = model.target();
        if let Some(draws) = model.prior_draws(200, 1) {
            (0..draws.len()).for_each(|i| assert_inside(&*target, &draws.point(i), &name));
        }
        let settings = Settings {
            work: Work { warmup: 20, anneal: 1, refine: 20 },
            samples: 32,
            refine_samples: 64,
            variance_samples: 64,
            ..model.default_settings()
        };
        let outcome = fit(&*target, &settings, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let sample = outcome.approximation(&*target).unwrap().sample(500, 3).unwrap();
        for i in 0..sample.len() {
            assert_inside(&*target, &sample.x().point(i), &name);
        }
        let finite = sample.log_p().iter().filter(|log_p| log_p.is_finite()).count();
        assert!(finite > 400, "{name}: {finite} of 500 draws have a density");
        let quantities = model.quantities(sample.x()).unwrap();
        assert_eq!(quantities.dim(), model.quantity_names().len(), "{name}");
        for d in 0..quantities.dim() {
            assert!(quantities.row(d).iter().all(|x| x.is_finite()), "{name}");
        }
    }
}
