//! The laws that every flow obeys: a new family joins by one line in [`families`].

use adaann::{
    Batch,
    flow::{FlowSpec, Precision, Stack, planar::Activation},
    simd::Buffer,
};

const DIMENSIONS: [usize; 4] = [1, 2, 3, 10];

/// Every family, with few enough layers that central differences stay accurate.
fn families() -> Vec<FlowSpec> {
    vec![
        FlowSpec::planar(5),
        FlowSpec::Planar {
            layers: 5,
            activation: Activation::Algebraic,
            precision: Precision::Double,
        },
        FlowSpec::Radial { layers: 5 },
    ]
}

/// Standard deviations of the raw parameters: near the identity, ordinary, extreme. At 3 the layers
/// of ten-dimensional planar flows have w·u of size 30, so c runs from e⁻³⁰ to 30.
const SCALES: [f64; 3] = [0.1, 1.0, 3.0];

/// A small generator, so that the laws do not depend on the library's own.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
    fn normals(&mut self, count: usize, scale: f64) -> Vec<f64> {
        (0..count).map(|_| scale * self.normal()).collect()
    }
    fn batch(&mut self, dim: usize, len: usize, scale: f64) -> Batch {
        let points: Vec<_> = (0..len).map(|_| self.normals(dim, scale)).collect();
        Batch::from_points(dim, &points)
    }
}

/// A stack with parameters, and wrappers that allocate.
struct Case {
    stack: Box<dyn Stack>,
    prepared: Buffer,
    label: String,
}

impl Case {
    fn new(spec: &FlowSpec, dim: usize, parameters: &[f64], label: &str) -> Self {
        let stack = spec.build(dim).unwrap();
        let mut prepared = Buffer::zeros(stack.prepared_len());
        stack.prepare(parameters, &mut prepared);
        Self { stack, prepared, label: format!("{spec:?} d = {dim} {label}") }
    }

    fn forward(&self, z: &Batch) -> (Batch, Vec<f64>) {
        let mut image = z.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        self.stack.forward(&self.prepared, &mut image, &mut log_det, None);
        (image, log_det[..z.len()].to_vec())
    }

    fn inverse(&self, image: &Batch) -> (Batch, Vec<f64>) {
        let mut z = image.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        self.stack.inverse(&self.prepared, &mut z, &mut log_det);
        (z, log_det[..image.len()].to_vec())
    }

    /// Cotangents of the parameters and of the points for Σ (g·f(z) + k log det).
    fn backward(&mut self, z: &Batch, g: &Batch, k: &[f64]) -> (Vec<f64>, Batch) {
        let mut image = z.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        let mut tape = vec![0.0; self.stack.tape_len(z.padded_len())];
        self.stack.forward(&self.prepared, &mut image, &mut log_det, Some(&mut tape));
        let mut g = g.clone();
        let mut g_log_det = vec![0.0; z.padded_len()];
        g_log_det[..k.len()].copy_from_slice(k);
        let mut sums = vec![0.0; self.stack.sums_len()];
        self.stack.backward(&self.prepared, &mut image, &mut g, &g_log_det, &tape, &mut sums);
        for d in 0..z.dim() {
            for (back, start) in image.row(d).iter().zip(z.row(d)) {
                assert!(
                    (back - start).abs() < 1e-9 * (1.0 + start.abs()),
                    "{}: backward returns to the base",
                    self.label
                );
            }
        }
        let mut gradient = vec![0.0; self.stack.parameter_len()];
        self.stack.gradient(&mut self.prepared, &sums, &mut gradient);
        (gradient, g)
    }
}

fn every_case(seed: u64, mut check: impl FnMut(&FlowSpec, usize, Vec<f64>, &mut Random, String)) {
    for spec in families() {
        for dim in DIMENSIONS {
            for scale in SCALES {
                let mut random = Random(seed);
                let len = spec.build(dim).unwrap().parameter_len();
                let parameters = random.normals(len, scale);
                check(&spec, dim, parameters, &mut random, format!("scale = {scale}"));
            }
        }
    }
}

/// f(f⁻¹(x)) = x to 1e-9 (1 + |x|), near and far, and both ways agree on the log-determinant.
#[test]
fn round_trip() {
    every_case(1, |spec, dim, parameters, random, label| {
        let case = Case::new(spec, dim, &parameters, &label);
        for spread in [1.0, 100.0] {
            let x = random.batch(dim, 37, spread);
            let (z, log_det_back) = case.inverse(&x);
            let (again, log_det) = case.forward(&z);
            for d in 0..dim {
                for (a, b) in again.row(d).iter().zip(x.row(d)) {
                    assert!(
                        (a - b).abs() < 1e-9 * (1.0 + b.abs()),
                        "{}: {a} is not {b}",
                        case.label
                    );
                }
            }
            for (a, b) in log_det.iter().zip(&log_det_back) {
                // A layer that is all but singular magnifies the rounding of its input.
                assert!(
                    (a - b).abs() < 1e-6 * (1.0 + b.abs()),
                    "{}: log det {a} is not {b}",
                    case.label
                );
            }
        }
    });
}

/// The log-determinant against that of the Jacobian from central differences.
#[test]
fn log_determinant() {
    every_case(2, |spec, dim, parameters, random, label| {
        let case = Case::new(spec, dim, &parameters, &label);
        let z = random.batch(dim, 5, 1.0);
        let (_, log_det) = case.forward(&z);
        for i in 0..z.len() {
            let h = 1e-6;
            let mut jacobian = vec![vec![0.0; dim]; dim];
            for j in 0..dim {
                let (mut up, mut down) = (z.clone(), z.clone());
                up.row_mut(j)[i] += h;
                down.row_mut(j)[i] -= h;
                let (up, down) = (case.forward(&up).0, case.forward(&down).0);
                for k in 0..dim {
                    jacobian[k][j] = (up.row(k)[i] - down.row(k)[i]) / (2.0 * h);
                }
            }
            let (numerical, size) = log_abs_determinant(jacobian);
            // Differences of numbers of this size carry about 1e-16 size/h of rounding into each
            // entry; near-singular Jacobians cannot be had from them.
            let floor = (1e-16 * size / h).ln();
            if numerical > floor + 9.0 {
                assert!(
                    (log_det[i] - numerical).abs()
                        < 1e-5 * (1.0 + numerical.abs()) + 10.0 * (floor - numerical).exp(),
                    "{}: {} is not {numerical}",
                    case.label,
                    log_det[i]
                );
            }
        }
    });
}

/// Gaussian elimination with pivoting: log |det| and the largest entry to the power that makes a
/// small determinant comparable with rounding.
fn log_abs_determinant(mut matrix: Vec<Vec<f64>>) -> (f64, f64) {
    let n = matrix.len();
    let largest = matrix.iter().flatten().fold(1.0_f64, |most, x| most.max(x.abs()));
    let mut log = 0.0;
    for i in 0..n {
        let pivot =
            (i..n).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs())).unwrap();
        matrix.swap(i, pivot);
        log += matrix[i][i].abs().ln();
        for k in i + 1..n {
            let factor = matrix[k][i] / matrix[i][i];
            for j in i..n {
                matrix[k][j] -= factor * matrix[i][j];
            }
        }
    }
    (log, largest.powi(n as i32))
}

/// Parameter and input gradients of Σ (g·f(z) + k log det) against central differences.
#[test]
fn gradients() {
    every_case(3, |spec, dim, parameters, random, label| {
        let z = random.batch(dim, 7, 1.0);
        let g = random.batch(dim, 7, 1.0);
        let k = random.normals(7, 1.0);
        let mut case = Case::new(spec, dim, &parameters, &label);
        let (gradient, g_z) = case.backward(&z, &g, &k);
        let value = |parameters: &[f64], z: &Batch| {
            let (image, log_det) = Case::new(spec, dim, parameters, "").forward(z);
            let dots = (0..dim)
                .map(|d| image.row(d).iter().zip(g.row(d)).map(|(a, b)| a * b).sum::<f64>());
            dots.sum::<f64>() + log_det.iter().zip(&k).map(|(a, b)| a * b).sum::<f64>()
        };
        let size = gradient.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for p in 0..parameters.len() {
            let numerical = nearest_difference(parameters[p], gradient[p], |x| {
                let mut moved = parameters.clone();
                moved[p] = x;
                value(&moved, &z)
            });
            let bound = 1e-6 * (numerical.abs() + 1e-2 * size);
            assert!(
                (gradient[p] - numerical).abs() < bound,
                "{} parameter {p}: {} is not {numerical}",
                case.label,
                gradient[p]
            );
        }
        for d in 0..dim {
            for i in 0..z.len() {
                let numerical = nearest_difference(z.row(d)[i], g_z.row(d)[i], |x| {
                    let mut moved = z.clone();
                    moved.row_mut(d)[i] = x;
                    value(&parameters, &moved)
                });
                let bound = 1e-6 * (numerical.abs() + 1e-2 * size);
                assert!(
                    (g_z.row(d)[i] - numerical).abs() < bound,
                    "{} point {i}: {} is not {numerical}",
                    case.label,
                    g_z.row(d)[i]
                );
            }
        }
    });
}

/// The four-point rule with the step that brings it nearest to `expected`: a layer with a radius of
/// 1e-4 needs a short step, and a flat one a long step. A wrong derivative agrees with none.
fn nearest_difference(x: f64, expected: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rule = |step: f64| {
        let h = step * x.abs().max(1.0);
        let near = f(x + h) - f(x - h);
        let far = f(x + 2.0 * h) - f(x - 2.0 * h);
        (8.0 * near - far) / (12.0 * h)
    };
    let error = |difference: &f64| (difference - expected).abs();
    [1e-3, 2e-4, 4e-5, 8e-6]
        .map(rule)
        .into_iter()
        .min_by(|a, b| error(a).total_cmp(&error(b)))
        .unwrap()
}

/// Raw parameters 0 are the identity, exactly.
#[test]
fn identity_at_zero() {
    for spec in families() {
        for dim in DIMENSIONS {
            let stack = spec.build(dim).unwrap();
            let case = Case::new(&spec, dim, &vec![0.0; stack.parameter_len()], "zero");
            let z = Random(4).batch(dim, 9, 2.0);
            let (image, log_det) = case.forward(&z);
            for d in 0..dim {
                for (a, b) in image.row(d).iter().zip(z.row(d)) {
                    assert!(
                        (a - b).abs() <= 4.0 * f64::EPSILON * b.abs(),
                        "{}: {a} is not {b}",
                        case.label
                    );
                }
            }
            assert!(log_det.iter().all(|x| x.abs() < 1e-14), "{}: {log_det:?}", case.label);
        }
    }
}

/// Parameters of size 0.1, as training starts, must not collapse a deep stack: the plain softplus
/// would shrink 250 layers to a point.
#[test]
fn deep_stacks_keep_their_spread() {
    for spec in [FlowSpec::planar(250), FlowSpec::Radial { layers: 250 }] {
        let stack = spec.build(3).unwrap();
        let mut random = Random(5);
        let case = Case::new(&spec, 3, &random.normals(stack.parameter_len(), 0.1), "deep");
        let z = random.batch(3, 400, 2.0);
        let (image, _) = case.forward(&z);
        for d in 0..3 {
            let ratio = sd(image.row(d)) / sd(z.row(d));
            assert!((0.3..3.0).contains(&ratio), "{}: spread times {ratio}", case.label);
        }
    }
}

fn sd(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() - 1) as f64).sqrt()
}

/// Points of size 1e3 and more come out finite, and come back.
#[test]
fn far_points_stay_finite() {
    every_case(6, |spec, dim, parameters, random, label| {
        let case = Case::new(spec, dim, &parameters, &label);
        for spread in [1e3, 1e6] {
            let (image, log_det) = case.forward(&random.batch(dim, 9, spread));
            let finite = (0..dim).all(|d| image.row(d).iter().all(|x| x.is_finite()));
            assert!(finite && log_det.iter().all(|x| x.is_finite()), "{}", case.label);
        }
    });
}

/// Any number of points gives each point the same bits: tails of registers are no special case.
#[test]
fn points_do_not_depend_on_their_neighbours() {
    every_case(7, |spec, dim, parameters, random, label| {
        let case = Case::new(spec, dim, &parameters, &label);
        let all = random.batch(dim, 101, 1.0);
        let (image, log_det) = case.forward(&all);
        for len in [1, 2, 5, 16, 31, 33] {
            let mut some = Batch::zeros(dim, len);
            some.copy_points(0, &all, 0, len);
            let (few, few_log_det) = case.forward(&some);
            for d in 0..dim {
                assert_eq!(few.row(d), &image.row(d)[..len], "{}", case.label);
            }
            assert_eq!(few_log_det, log_det[..len], "{}", case.label);
        }
    });
}

/// Single precision follows double precision to the precision it has.
#[test]
fn single_precision_is_close() {
    for dim in DIMENSIONS {
        let double = FlowSpec::planar(50);
        let single = FlowSpec::Planar {
            layers: 50,
            activation: Activation::Tanh,
            precision: Precision::Single,
        };
        let mut random = Random(8);
        let parameters = random.normals(double.build(dim).unwrap().parameter_len(), 0.1);
        let mut exact = Case::new(&double, dim, &parameters, "");
        let mut close = Case::new(&single, dim, &parameters, "");
        let (z, g, k) =
            (random.batch(dim, 50, 1.0), random.batch(dim, 50, 1.0), random.normals(50, 1.0));
        let ((a, a_log_det), (b, b_log_det)) = (exact.forward(&z), close.forward(&z));
        for d in 0..dim {
            for (a, b) in a.row(d).iter().zip(b.row(d)) {
                // Fifty additions, each rounded at 6e-8 of a number of size 1.
                assert!((a - b).abs() < 50.0 * 6e-8 * (1.0 + a.abs()));
            }
        }
        for (a, b) in a_log_det.iter().zip(&b_log_det) {
            assert!((a - b).abs() < 50.0 * 1.2e-7);
        }
        let ((a, _), (b, _)) =
            (backward_loosely(&mut exact, &z, &g, &k), backward_loosely(&mut close, &z, &g, &k));
        let size = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-4 * size, "{a} is not {b}");
        }
    }
}

/// [`Case::backward`] without its check that the base points come back to 1e-9.
fn backward_loosely(case: &mut Case, z: &Batch, g: &Batch, k: &[f64]) -> (Vec<f64>, Batch) {
    let mut image = z.clone();
    let mut log_det = vec![0.0; z.padded_len()];
    let mut tape = vec![0.0; case.stack.tape_len(z.padded_len())];
    case.stack.forward(&case.prepared, &mut image, &mut log_det, Some(&mut tape));
    let mut g = g.clone();
    let mut g_log_det = vec![0.0; z.padded_len()];
    g_log_det[..k.len()].copy_from_slice(k);
    let mut sums = vec![0.0; case.stack.sums_len()];
    case.stack.backward(&case.prepared, &mut image, &mut g, &g_log_det, &tape, &mut sums);
    let mut gradient = vec![0.0; case.stack.parameter_len()];
    case.stack.gradient(&mut case.prepared, &sums, &mut gradient);
    (gradient, g)
}
