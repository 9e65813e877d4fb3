//! The paper's examples as model files: the same numbers as the registered targets.

use crate::support::common::Numbers;
use adaann::Batch;
use adaann::model::Model;
use adaann::registry::{self, Choices, Data};
use adaann::target::{Evaluation, Target, Weights};
use std::path::{Path, PathBuf};

/// A file of the gallery.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)
}

/// A model of the gallery.
pub(crate) fn model(name: &str) -> Model {
    Model::read(&path(name)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A sum of terms that cancel is no more accurate than the largest of them.
const TOLERANCE: f64 = 1e-12;

const WEIGHTS: [Weights; 3] = [
    Weights { prior: 1.0, likelihood: 1.0 },
    Weights { prior: 1.0, likelihood: 0.0 },
    Weights { prior: 0.3, likelihood: 1.7 },
];

fn assert_same(name: &str, model: &dyn Target, registered: &dyn Target, points: &[Vec<f64>]) {
    let dim = registered.dim();
    assert_eq!(model.dim(), dim, "{name}");
    let batch = Batch::from_points(dim, points);
    for weights in WEIGHTS {
        let evaluate = |target: &dyn Target| {
            let mut out = Evaluation::zeros(dim, points.len());
            target.evaluate(&batch, Some(weights), &mut out).unwrap();
            out
        };
        let (own, known) = (evaluate(model), evaluate(registered));
        let mut finite = 0;
        for (i, point) in points.iter().enumerate() {
            let what = format!("{name} at {point:?} with {weights:?}");
            for (own, known) in [
                (own.log_prior[i], known.log_prior[i]),
                (own.log_likelihood[i], known.log_likelihood[i]),
            ] {
                let is_close = (own - known).abs() <= TOLERANCE * known.abs().max(1.0);
                assert!(own == known || is_close, "{what}: {own} is not {known}");
                finite += usize::from(known.is_finite());
            }
            let (own, known) = (own.gradient.point(i), known.gradient.point(i));
            let length = known.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (own, known) in own.iter().zip(&known) {
                let is_close = (own - known).abs() <= TOLERANCE * length.max(1.0);
                assert!(own == known || is_close, "{what}: slope {own} is not {known}");
            }
        }
        // Points that are non-finite in both would prove nothing.
        assert!(finite > points.len(), "{name}: {finite} numbers of {} points", points.len());
    }
}

/// Points of every scale: from near 0 to far out.
fn scattered(dim: usize) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(5);
    (0..96).map(|i| (0..dim).map(|_| 2.0_f64.powi(i / 16) * numbers.normal()).collect()).collect()
}

#[test]
fn densities_are_those_of_the_registry() {
    for (file, name) in [
        ("example1.toml", "bimodal"),
        ("example2.toml", "mixture1d"),
        ("example3.toml", "mixture2d"),
    ] {
        let registered = registry::find(name).unwrap().build(&[]).unwrap().target;
        let points = scattered(registered.dim());
        assert_same(file, &*model(file).target(), &*registered, &points);
    }
}

#[test]
fn posteriors_of_systems_are_those_of_the_registry() {
    for (file, name) in [("example4.toml", "lorenz"), ("example5.toml", "hiv")] {
        let model = model(file);
        let data = Some(Data::Table(model.data().unwrap()));
        let choices = Choices { data, ..Choices::default() };
        let registered = registry::find(name).unwrap().choose(&choices).unwrap();
        assert_eq!(model.target().names(), registered.target.names());
        let truth = registered.dynamics.as_ref().unwrap().truth().to_vec();
        let draws = model.prior_draws(64, 3).unwrap();
        let mut points: Vec<Vec<f64>> = (0..draws.len()).map(|i| draws.point(i)).collect();
        let mut numbers = Numbers(8);
        points.extend((0..16).map(|_| {
            truth.iter().map(|x| x * (1.0 + 0.01 * numbers.normal())).collect::<Vec<f64>>()
        }));
        points.push(truth);
        assert_same(file, &*model.target(), &*registered.target, &points);
    }
}
