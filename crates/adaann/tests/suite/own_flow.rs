//! Flows with custom layers; the laws of `flow_laws.rs` cover them too.

use crate::support::flows::{Random, own_layers};
use adaann::{
    Batch,
    flow::{Base, Flow, FlowSpec, compose},
};

fn flow(dim: usize) -> Flow {
    Flow::from_stack(own_layers(dim), Base::standard(dim)).unwrap()
}

/// Maximum likelihood by plain gradient descent: points of a flow with known parameters bring
/// another flow to their density. The mean of log q over n = 4000 points of q* is at most that of
/// log q*, up to the three parameters per layer and coordinate that may overfit the sample: 18/2n.
#[test]
fn they_are_trained_as_any_other() {
    let mut truth = flow(3);
    truth.set_parameters(&Random(3).normals(truth.parameters().len(), 1.0)).unwrap();
    let drawn = truth.sample(4_000, 5);
    let mean = |log_q: &[f64]| log_q.iter().sum::<f64>() / log_q.len() as f64;
    let best = mean(&drawn.log_q);

    let mut flow = flow(3);
    flow.initialise(0.1, 2);
    let k = vec![1.0 / 4_000.0; 4_000];
    let mut reached = f64::NEG_INFINITY;
    for _ in 0..1_000 {
        let found = flow.log_density_gradient(&drawn.points, &k).unwrap();
        reached = mean(&found.log_q);
        let moved: Vec<f64> =
            flow.parameters().iter().zip(&found.parameters).map(|(p, g)| p + 0.3 * g).collect();
        flow.set_parameters(&moved).unwrap();
    }
    assert!((reached - best).abs() < 0.005, "{reached} is not {best}");
}

/// A copy is an independent flow with the same bits.
#[test]
fn copies_stand_alone() {
    let mut first = flow(2);
    first.initialise(0.5, 1);
    let mut copy = first.clone();
    let (a, b) = (first.sample(100, 3), copy.sample(100, 3));
    assert_eq!((a.points.row(0), &a.log_q), (b.points.row(0), &b.log_q));
    copy.initialise(0.5, 2);
    assert_eq!(first.sample(100, 3).log_q, a.log_q);
    assert_ne!(copy.sample(100, 3).log_q, a.log_q);
}

/// A file cannot describe custom layers, so nothing is written.
#[test]
fn saving_is_refused_with_what_to_do() {
    let path = std::env::temp_dir().join(format!("adaann-own-{}.safetensors", std::process::id()));
    let error = flow(2).save(&path).unwrap_err().to_string();
    assert!(
        error.contains("cannot save")
            && error.contains("the flow's layers")
            && error.contains("parameters"),
        "{error}"
    );
    assert!(!path.exists());
    assert_eq!(flow(2).spec(), None);
}

#[test]
fn stacks_of_other_dimensions_are_refused() {
    let error = Flow::from_stack(own_layers(2), Base::standard(3)).unwrap_err().to_string();
    assert!(error.contains("2 found, 3 expected"), "{error}");
    let parts = [2, 3].map(|dim| ("part", FlowSpec::Affine.build(dim).unwrap()));
    assert!(compose(parts).unwrap_err().to_string().contains("'part': 3 found, 2 expected"));
    assert!(compose::<&str>([]).is_err());
    assert!(flow(2).log_density(&Batch::zeros(3, 1)).is_err());
}
