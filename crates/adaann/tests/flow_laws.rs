//! The laws that every flow obeys: a new family joins by one line in [`flows::families`].

mod common;
mod flows;

use adaann::{Batch, flow::FlowSpec};
use common::Difference;
use flows::{
    Case, LAW_DIMENSIONS, LAYERS, Random, all_families, distance, every_case, in_double, is_finite,
    norm, reorders,
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
        let (image, log_det) = case.forward(&z);
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
            // A coordinate rounds at its size, which differences magnify by 1/h, and d log det =
            // tr(J⁻¹ dJ); near-singular Jacobians cannot be had from them.
            let rounds = |k: usize| {
                let slopes = jacobian[k].iter().fold(1.0_f64, |most, x| most.max(x.abs()));
                1e-16 * slopes.max(image.row(k)[i].abs()) / h
            };
            let rounding: Vec<_> = (0..dim).map(rounds).collect();
            let (numerical, inverse) = log_abs_determinant(jacobian);
            let column = |k: usize| norm(inverse.iter().map(|row| row[k]));
            let error =
                (0..dim).map(|k| column(k) * rounding[k]).sum::<f64>() * (dim as f64).sqrt();
            if error < 1e-4 {
                checked += 1;
                assert!(
                    (log_det[i] - numerical).abs() < 1e-5 * (1.0 + numerical.abs()) + 10.0 * error,
                    "{}: {} is not {numerical}",
                    case.label,
                    log_det[i]
                );
            }
        }
        // Some points are too near to singular for differences.
        assert!(2 * checked >= z.len(), "{}: only {checked} of {} checked", case.label, z.len());
    });
}

/// Gauss and Jordan's elimination with pivoting: log |det| and the inverse.
fn log_abs_determinant(mut matrix: Vec<Vec<f64>>) -> (f64, Vec<Vec<f64>>) {
    let n = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    let mut log = 0.0;
    for i in 0..n {
        let pivot =
            (i..n).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs())).unwrap();
        matrix.swap(i, pivot);
        let scale = matrix[i][i];
        log += scale.abs().ln();
        for x in &mut matrix[i] {
            *x /= scale;
        }
        let row = matrix[i].clone();
        for (_, other) in matrix.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = other[i];
            for (x, y) in other.iter_mut().zip(&row) {
                *x -= factor * y;
            }
        }
    }
    (log, matrix.iter().map(|row| row[n..].to_vec()).collect())
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
        compare(&case, &z, &gradient, &g_z, |parameters, z, i| {
            let (image, log_det) = Case::new(spec, dim, parameters, "").forward(z);
            dot(&image.point(i), &g.point(i)) + k[i] * log_det[i]
        });
    });
}

/// The same for the way back: those of Σ (g·f⁻¹(x) + k log det). Families in single precision are
/// no exception, since their inverses run in double. The points end where they started, at x.
#[test]
fn gradients_of_the_inverse() {
    every_case(9, |spec, dim, scale, parameters, random| {
        let x = random.batch(dim, 7, 1.0);
        let g = random.batch(dim, 7, 1.0);
        let k = random.normals(7, 1.0);
        let mut case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let (gradient, g_x, again) = case.backward_inverse(&x, &g, &k);
        for i in 0..x.len() {
            // Steps back are undone with the numbers that they were made with: a rounding each, of
            // the size of what was moved.
            let most = 1.0 + norm(x.point(i)) + norm(case.inverse(&x).0.point(i));
            let off = distance(&again, &x, i);
            assert!(off < 1e-13 * most, "{}: the image is off by {off:e}", case.label);
        }
        compare(&case, &x, &gradient, &g_x, |parameters, x, i| {
            let (z, log_det) = Case::new(spec, dim, parameters, "").inverse(x);
            dot(&z.point(i), &g.point(i)) + k[i] * log_det[i]
        });
    });
}

/// Gradients in the parameters and in the points against differences of `value`, which gives a
/// point's part of the sum. In many dimensions some of them stand for all.
fn compare(
    case: &Case,
    points: &Batch,
    gradient: &[f64],
    g_points: &Batch,
    value: impl Fn(&[f64], &Batch, usize) -> f64,
) {
    let (parameters, dim, len) = (&case.parameters, points.dim(), points.len());
    let (mut all, mut sharp) = (0, 0);
    let mut check = |found: f64, difference: Difference, what: String| {
        let bound = 1e-6 * difference.value.abs() + 10.0 * difference.error;
        assert!(
            (found - difference.value).abs() <= bound,
            "{} {what}: {found} is not {} to {bound:e}",
            case.label,
            difference.value
        );
        all += 1;
        sharp += usize::from(bound <= 1e-4 * found.abs());
    };
    for p in (0..parameters.len()).step_by(1 + parameters.len() / 128) {
        let difference = Difference::of(parameters[p], |x| {
            let mut moved = parameters.clone();
            moved[p] = x;
            (0..len).map(|i| value(&moved, points, i)).sum()
        });
        check(gradient[p], difference, format!("parameter {p}"));
    }
    for number in (0..dim * len).step_by(1 + dim * len / 100) {
        let (d, i) = (number / len, number % len);
        let difference = Difference::of(points.row(d)[i], |x| {
            let mut moved = points.clone();
            moved.row_mut(d)[i] = x;
            value(parameters, &moved, i)
        });
        check(g_points.row(d)[i], difference, format!("coordinate {d} of point {i}"));
    }
    // The differences must be good enough to find fault: to four digits almost everywhere.
    assert!(20 * sharp >= 19 * all, "{}: {sharp} of {all} checked sharply", case.label);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Raw parameters 0 are the identity, to rounding and to the order of coordinates.
#[test]
fn identity_at_zero() {
    for spec in all_families() {
        for dim in LAW_DIMENSIONS {
            let stack = spec.build(dim).unwrap();
            let case = Case::new(&spec, dim, &vec![0.0; stack.parameter_len()], "zero");
            let z = Random(4).batch(dim, 9, 2.0);
            let (image, log_det) = case.forward(&z);
            for i in 0..z.len() {
                for (a, b) in in_order(&spec, &image, i).iter().zip(in_order(&spec, &z, i)) {
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

/// Point `i`, with its coordinates sorted if the family reorders them.
fn in_order(spec: &FlowSpec, batch: &Batch, i: usize) -> Vec<f64> {
    let mut point = batch.point(i);
    if reorders(spec) {
        point.sort_by(f64::total_cmp);
    }
    point
}

/// Training starts near the identity: at scale ε a row of a layer has up to d + 1 raw numbers of
/// size ε, which move a coordinate of z by ε (1 + |z|) and a point by √d times as much. Ten times
/// that leaves room for several layers and rare numbers; the plain softplus, whose layers contract
/// by a third whatever ε, would be far outside.
#[test]
fn starts_near_the_identity() {
    let scale = 1e-3;
    for spec in all_families() {
        for dim in LAW_DIMENSIONS {
            let stack = spec.build(dim).unwrap();
            let mut random = Random(10);
            let mut parameters = vec![f64::NAN; stack.parameter_len()];
            stack.initialise(scale, &mut || random.normal(), &mut parameters);
            let case = Case::new(&spec, dim, &parameters, "start");
            let z = random.batch(dim, 40, 1.0);
            let (image, log_det) = case.forward(&z);
            let most = 10.0 * scale * (dim as f64).sqrt();
            for i in 0..z.len() {
                let (from, to) = (in_order(&spec, &z, i), in_order(&spec, &image, i));
                let moved = norm(from.iter().zip(&to).map(|(a, b)| a - b));
                let size = norm(from);
                assert!(moved < most * (1.0 + size), "{}: moved by {moved}", case.label);
                assert!(log_det[i].abs() < most, "{}: log det {}", case.label, log_det[i]);
            }
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

/// Points of size 1e3 and more come out finite either way, and come back.
#[test]
fn far_points_come_back() {
    every_case(6, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        for spread in [1e3, 1e6] {
            let z = random.batch(dim, 50, spread);
            let (image, log_det) = case.forward(&z);
            assert!(is_finite(&image) && log_det.iter().all(|x| x.is_finite()), "{}", case.label);
            for x in [&image, &z] {
                let (base, log_det) = case.inverse(x);
                assert!(
                    is_finite(&base) && log_det.iter().all(|x| x.is_finite()),
                    "{}",
                    case.label
                );
            }
            let (back, _) = case.inverse(&image);
            // Far out layers hardly bend: each rounds the coordinates at most four times a way, at
            // the size of the point, and only a linear map magnifies what came before.
            for i in 0..z.len() {
                let roundings = (2 * 4 * LAYERS) as f64 * condition(&case, &z.point(i), spread);
                let bound = roundings * case.unit * norm(z.point(i));
                let off = distance(&back, &z, i);
                assert!(off <= bound, "{} point {i}: off by {off:e} > {bound:e}", case.label);
            }
        }
    });
}

/// |J| |J⁻¹|/d in the Frobenius norm, from differences at a point: 1 where the map is the identity.
fn condition(case: &Case, z: &[f64], spread: f64) -> f64 {
    let dim = z.len();
    let slopes = |at: &[f64], map: &dyn Fn(&Batch) -> Batch| {
        let h = 1e-3 * spread;
        let moved = |step: f64| {
            let points: Vec<_> = (0..dim)
                .map(|d| {
                    let mut point = at.to_vec();
                    point[d] += step;
                    point
                })
                .collect();
            map(&Batch::from_points(dim, &points))
        };
        let (up, down) = (moved(h), moved(-h));
        norm((0..dim).map(|i| distance(&up, &down, i) / (2.0 * h)))
    };
    let image = case.forward(&Batch::from_points(dim, &[z])).0.point(0);
    let there = slopes(z, &|z| case.forward(z).0);
    let back = slopes(&image, &|x| case.inverse(x).0);
    there * back / dim as f64
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
