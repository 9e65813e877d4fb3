//! The laws that every flow obeys: a new family joins by one line in [`families`].

mod common;
mod flows;

use adaann::{Batch, flow::FlowSpec};
use common::Difference;
use flows::{
    Case, DIMENSIONS, LAYERS, Random, distance, every_case, families, in_double, is_finite, norm,
};

/// f(f⁻¹(x)) = x near and far, and both ways agree on the log-determinant. Families in single
/// precision have their own bounds in `flow_rounding.rs`.
#[test]
fn round_trip() {
    every_case(1, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        // Five layers round at 1e-16 and Newton's method stops at 1e-15. At scale 3 a layer of ten
        // dimensions magnifies what came before by |û||w|, up to 100.
        let tolerance = if scale > 1.0 { 1e-9 } else { 1e-12 };
        for spread in [1.0, 100.0] {
            let x = random.batch(dim, 37, spread);
            let (z, log_det_back) = case.inverse(&x);
            let (again, log_det) = case.forward(&z);
            for d in 0..dim {
                for (a, b) in again.row(d).iter().zip(x.row(d)) {
                    assert!(
                        (a - b).abs() < tolerance * (1.0 + b.abs()),
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
    every_case(2, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let z = random.batch(dim, 20, 1.0);
        let (_, log_det) = case.forward(&z);
        let mut checked = 0;
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
                checked += 1;
                assert!(
                    (log_det[i] - numerical).abs()
                        < 1e-5 * (1.0 + numerical.abs()) + 10.0 * (floor - numerical).exp(),
                    "{}: {} is not {numerical}",
                    case.label,
                    log_det[i]
                );
            }
        }
        // In ten dimensions up to eight of twenty are too near to singular for differences.
        assert!(2 * checked >= z.len(), "{}: only {checked} of {} checked", case.label, z.len());
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

/// Parameter and input gradients of Σ (g·f(z) + k log det) against central differences, each
/// component to 1e-6 of itself and what the differences say of their own error.
#[test]
fn gradients() {
    every_case(3, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let z = random.batch(dim, 7, 1.0);
        let g = random.batch(dim, 7, 1.0);
        let k = random.normals(7, 1.0);
        let mut case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let (gradient, g_z, back) = case.backward(&z, &g, &k);
        for i in 0..z.len() {
            let start = norm(z.point(i));
            assert!(distance(&back, &z, i) < 1e-9 * (1.0 + start), "{}: the way back", case.label);
        }
        let value = |parameters: &[f64], z: &Batch, i: usize| {
            let (image, log_det) = Case::new(spec, dim, parameters, "").forward(z);
            let dot: f64 = image.point(i).iter().zip(g.point(i)).map(|(a, b)| a * b).sum();
            dot + k[i] * log_det[i]
        };
        let mut sharp = 0;
        let mut check = |found: f64, difference: Difference, what: String| {
            let bound = 1e-6 * difference.value.abs() + 10.0 * difference.error;
            assert!(
                (found - difference.value).abs() < bound,
                "{} {what}: {found} is not {} to {bound:e}",
                case.label,
                difference.value
            );
            sharp += usize::from(bound < 1e-4 * found.abs());
        };
        for p in 0..parameters.len() {
            let difference = Difference::of(parameters[p], |x| {
                let mut moved = parameters.clone();
                moved[p] = x;
                (0..z.len()).map(|i| value(&moved, &z, i)).sum()
            });
            check(gradient[p], difference, format!("parameter {p}"));
        }
        for d in 0..dim {
            for i in 0..z.len() {
                let difference = Difference::of(z.row(d)[i], |x| {
                    let mut moved = z.clone();
                    moved.row_mut(d)[i] = x;
                    value(&parameters, &moved, i)
                });
                check(g_z.row(d)[i], difference, format!("point {i}"));
            }
        }
        let all = parameters.len() + dim * z.len();
        // The differences must be good enough to find fault: to four digits almost everywhere.
        assert!(20 * sharp >= 19 * all, "{}: {sharp} of {all} checked sharply", case.label);
    });
}

/// Raw parameters 0 are the identity, to rounding.
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
                        (a - b).abs() <= 8.0 * case.unit * b.abs(),
                        "{}: {a} is not {b}",
                        case.label
                    );
                }
            }
            let most = 100.0 * case.unit;
            assert!(log_det.iter().all(|x| x.abs() < most), "{}: {log_det:?}", case.label);
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
fn far_points_come_back() {
    every_case(6, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        for spread in [1e3, 1e6] {
            let z = random.batch(dim, 50, spread);
            let (image, log_det) = case.forward(&z);
            assert!(is_finite(&image) && log_det.iter().all(|x| x.is_finite()), "{}", case.label);
            let (back, log_det_back) = case.inverse(&image);
            assert!(is_finite(&back) && log_det_back.iter().all(|x| x.is_finite()));
            // Far out layers hardly bend, so nothing is magnified: each layer rounds the coordinates
            // at most four times a way, at the size of the point.
            for i in 0..z.len() {
                let bound = (2 * 4 * LAYERS) as f64 * case.unit * norm(z.point(i));
                let off = distance(&back, &z, i);
                assert!(off <= bound, "{} point {i}: off by {off:e} > {bound:e}", case.label);
            }
        }
    });
}

/// Any number of points gives each point the same bits: tails of registers are no special case.
#[test]
fn points_do_not_depend_on_their_neighbours() {
    every_case(7, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
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

/// The same for the inverse, whose iterations end when the slowest point of a register is done.
#[test]
fn inverses_do_not_depend_on_their_neighbours() {
    every_case(8, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let all = random.batch(dim, 40, 3.0);
        let (z, log_det) = case.inverse(&all);
        for i in 0..all.len() {
            let (alone, alone_log_det) = case.inverse(&Batch::from_points(dim, &[all.point(i)]));
            assert_eq!(alone.point(0), z.point(i), "{} point {i}", case.label);
            assert_eq!(alone_log_det[0], log_det[i], "{} point {i}", case.label);
        }
    });
}
