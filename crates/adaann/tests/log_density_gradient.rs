//! The gradient of log q at given points, against differences of log q.

mod flows;

use adaann::{
    Batch, Error,
    flow::{Base, Flow, FlowSpec, Precision, planar::Activation},
};
use flows::{Random, planar};

const DIM: usize = 2;

fn families() -> Vec<FlowSpec> {
    let radial = FlowSpec::Radial { layers: 3 };
    vec![
        planar(Activation::Tanh, Precision::Double),
        planar(Activation::Algebraic, Precision::Double),
        radial.clone(),
        FlowSpec::Compose(vec![radial, FlowSpec::planar(2)]),
    ]
}

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

/// A derivative by differences of fourth order, which err by h⁴ f⁽⁵⁾/30 and by some 1e-15 |f|/h of
/// rounding.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-3;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

/// 1e-7 of the largest derivative: fifth derivatives of these flows are up to 1e5 times the first.
fn assert_close(found: &[f64], expected: &[f64], label: &str) {
    let size = expected.iter().fold(1.0_f64, |size, g| size.max(g.abs()));
    for (i, (g, expected)) in found.iter().zip(expected).enumerate() {
        assert!((g - expected).abs() < 1e-7 * size, "{label}: {i}: {g} {expected}, size {size}");
    }
}

#[test]
fn it_is_the_derivative_of_the_log_density() {
    for spec in families() {
        for base in bases() {
            let label = format!("{spec:?} on {base:?}");
            let mut flow = Flow::new(&spec, base).unwrap();
            flow.initialise(0.5, 3);
            let mut random = Random(17);
            // More than one tile, and not a whole number of registers.
            let len = 261;
            let points = random.batch(DIM, len, 1.5);
            let k = random.normals(len, 1.0);
            let found = flow.log_density_gradient(&points, &k).unwrap();
            let log_q = flow.log_density(&points).unwrap();
            for (a, b) in found.log_q.iter().zip(&log_q) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{label}: {a} {b}");
            }
            let objective = |flow: &Flow, points: &Batch| -> f64 {
                let log_q = flow.log_density(points).unwrap();
                log_q.iter().zip(&k).map(|(log_q, k)| k * log_q).sum()
            };
            let in_parameter = |i: usize| {
                difference(|h| {
                    let mut parameters = flow.parameters().to_vec();
                    parameters[i] += h;
                    let mut moved = flow.clone();
                    moved.set_parameters(&parameters).unwrap();
                    objective(&moved, &points)
                })
            };
            let expected: Vec<_> = (0..found.parameters.len()).map(in_parameter).collect();
            assert_close(&found.parameters, &expected, &label);
            for n in [0, 31, 32, 255, 256, 260] {
                let in_coordinate = |d: usize| {
                    difference(|h| {
                        let (mut point, mut points) = (points.point(n), points.clone());
                        point[d] += h;
                        points.set_point(n, &point);
                        objective(&flow, &points)
                    })
                };
                let expected: Vec<_> = (0..DIM).map(in_coordinate).collect();
                assert_close(&found.points.point(n), &expected, &format!("{label}: point {n}"));
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
