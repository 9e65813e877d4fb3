//! The gradient of log q at given points, compared with differences of log q.

use crate::support::{common, flows};
use adaann::{
    Batch, Error,
    flow::{Base, Flow, FlowSpec},
};
use common::Difference;
use flows::{Random, families, parameters};

const DIM: usize = 2;

fn bases() -> Vec<Base> {
    let fixed = Base::diagonal(&[0.3, -0.5], &[0.8, 1.6]).unwrap();
    let full = Base::full(&[0.3, -0.5], &[1.4, 0.5, 0.5, 0.9]).unwrap();
    let mixture = Base::mixture(
        &[1.0, 2.5, 0.7],
        &[-1.0, 0.5, 1.2, -0.7, 0.3, 2.0],
        &[0.6, 1.3, 0.9, 0.5, 1.7, 0.8],
    )
    .unwrap();
    vec![fixed, full.trained(), mixture.clone(), mixture.trained()]
}

/// Compares numbers with differences, each to 1e-6 of itself plus the estimated error of the
/// differences, which must be small almost everywhere.
fn assert_close(found: &[f64], expected: &[Difference], label: &str) {
    let mut sharp = 0;
    for (i, (g, Difference { value, error })) in found.iter().zip(expected).enumerate() {
        let bound = 1e-6 * value.abs() + 10.0 * error;
        assert!((g - value).abs() <= bound, "{label}: {i}: {g} is not {value} to {bound:e}");
        sharp += usize::from((*g == 0.0 && *value == 0.0) || bound <= 1e-4 * g.abs());
    }
    assert!(5 * sharp >= 4 * found.len(), "{label}: {sharp} of {} checked sharply", found.len());
}

#[test]
fn it_is_the_derivative_of_the_log_density() {
    for spec in families() {
        let layers = spec.build(DIM).unwrap().parameter_len();
        for base in bases() {
            let label = format!("{spec:?} on {base:?}");
            let mut random = Random(17);
            let mut flow = Flow::new(&spec, base).unwrap();
            let mut start = flow.parameters().to_vec();
            let split = start.len() - layers;
            start[split..].copy_from_slice(&parameters(&spec, DIM, 0.5, &mut random));
            flow.set_parameters(&start).unwrap();
            // More than one tile, and not a whole number of registers.
            let len = 261;
            let points = random.batch(DIM, len, 1.5);
            let k = random.normals(len, 1.0);
            let found = flow.log_density_gradient(&points, &k).unwrap();
            let log_q = flow.log_density(&points).unwrap();
            for (a, b) in found.log_q.iter().zip(&log_q) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{label}: {a} {b}");
            }
            // k log q of each point.
            let parts = |flow: &Flow, points: &Batch| -> Vec<f64> {
                let log_q = flow.log_density(points).unwrap();
                log_q.iter().zip(&k).map(|(log_q, k)| k * log_q).collect()
            };
            // Sample the layers' parameters.
            let some = (split..start.len()).step_by(1 + layers / 30);
            let (mut of_parameters, mut differences) = (Vec::new(), Vec::new());
            let mut moved = flow.clone();
            for i in (0..split).chain(some) {
                let parts = Difference::each(start[i].abs().max(1.0), |h| {
                    let mut parameters = start.clone();
                    parameters[i] += h;
                    moved.set_parameters(&parameters).unwrap();
                    parts(&moved, &points)
                });
                of_parameters.push(found.parameters[i]);
                differences.push(Difference::sum(&parts));
            }
            assert_close(&of_parameters, &differences, &label);
            for d in 0..DIM {
                let differences = Difference::each(1.0, |h| {
                    let mut moved = points.clone();
                    moved.row_mut(d).iter_mut().for_each(|x| *x += h);
                    parts(&flow, &moved)
                });
                assert_close(found.points.row(d), &differences, &format!("{label}: row {d}"));
            }
        }
    }
}

#[test]
fn points_and_weights_have_to_fit() {
    let flow = Flow::new(&FlowSpec::planar(1), Base::standard(DIM)).unwrap();
    let mut random = Random(1);
    let (two, three) = (random.batch(2, 5, 1.0), random.batch(3, 5, 1.0));
    assert!(matches!(flow.log_density_gradient(&three, &[1.0; 5]), Err(Error::Shape { .. })));
    assert!(matches!(flow.log_density_gradient(&two, &[1.0; 4]), Err(Error::Shape { .. })));
}
