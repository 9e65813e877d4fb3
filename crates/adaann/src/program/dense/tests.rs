//! Compares dense routines with the same functions unrolled, and their gradients with differences.

use super::CovarianceKind;
use crate::Batch;
use crate::program::{
    CovarianceSettings, Expr, Program, Way, cholesky, covariances, in_triangle, lower_times,
    normal_residuals, solve_lower, triangle,
};
use crate::rng::{Purpose, Stream};
use crate::target::{Evaluation, Target, Weights};

/// Values and gradients at some points.
fn evaluate(program: &Program, points: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let dim = points[0].len();
    let batch = Batch::from_points(dim, points);
    let mut out = Evaluation::zeros(dim, points.len());
    let weights = Weights { prior: 1.0, likelihood: 1.0 };
    program.evaluate(&batch, Some(weights), &mut out).unwrap();
    let mut alone = Evaluation::zeros(dim, points.len());
    program.evaluate(&batch, None, &mut alone).unwrap();
    (0..points.len())
        .map(|i| {
            let (with, without) = (out.log_likelihood[i], alone.log_likelihood[i]);
            assert!(
                with.to_bits() == without.to_bits(),
                "{with} with a gradient, {without} without"
            );
            (with, out.gradient.point(i).to_vec())
        })
        .collect()
}

fn agree(dense: &Program, unrolled: &Program, points: &[Vec<f64>], what: &str) {
    for ((a, da), (b, db)) in evaluate(dense, points).into_iter().zip(evaluate(unrolled, points)) {
        assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{what}: {a} is not {b}");
        let size = db.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for (k, (x, y)) in da.iter().zip(&db).enumerate() {
            assert!((x - y).abs() <= 1e-10 * size, "{what}: slope {k} is {x}, not {y}");
        }
    }
}

/// Differences of fourth order.
fn holds_against_differences(program: &Program, points: &[Vec<f64>], what: &str) {
    const STEP: f64 = 1e-3;
    for (point, (_, slopes)) in points.iter().zip(evaluate(program, points)) {
        for d in 0..point.len() {
            let moved: Vec<Vec<f64>> = [-2.0, -1.0, 1.0, 2.0]
                .iter()
                .map(|by| {
                    let mut moved = point.clone();
                    moved[d] += by * STEP;
                    moved
                })
                .collect();
            let f: Vec<f64> =
                evaluate(program, &moved).into_iter().map(|(value, _)| value).collect();
            let difference = (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * STEP);
            let error = (difference - slopes[d]).abs();
            assert!(
                error <= 1e-7 * (1.0 + difference.abs()),
                "{what}: {difference} in {d}, not {}",
                slopes[d]
            );
        }
    }
}

/// Triangles of positive definite matrices, 40 of them: more than a block.
fn covariance_triangles(n: usize) -> Vec<Vec<f64>> {
    let stream = Stream::new(7, Purpose::Prediction);
    let mut number = 0;
    let mut uniform = || {
        number += 1;
        stream.uniform_at(number - 1) - 0.5
    };
    (0..40)
        .map(|_| {
            let b: Vec<f64> = (0..n * n).map(|_| uniform()).collect();
            let mut a = vec![0.0; triangle(n)];
            for i in 0..n {
                for j in 0..=i {
                    let dot: f64 = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum();
                    a[in_triangle(i, j)] = dot + if i == j { 0.5 } else { 0.0 };
                }
            }
            a
        })
        .collect()
}

/// A sum whose weights distinguish every result from the others.
fn weighted<'g>(results: &[Expr<'g>]) -> Expr<'g> {
    results
        .iter()
        .enumerate()
        .map(|(k, &x)| (1.0 + (k % 7) as f64 * 0.3) * (x + 0.2 * x.square()))
        .sum()
}

const SIZES: [usize; 8] = [1, 2, 3, 4, 5, 8, 11, 17];

#[test]
fn a_factor_and_its_reverse_rule() {
    for n in SIZES {
        let points = covariance_triangles(n);
        let [dense, unrolled] = [Way::Dense, Way::Unrolled]
            .map(|way| Program::record(triangle(n), |z| weighted(&cholesky(z, n, way))));
        agree(&dense, &unrolled, &points, &format!("cholesky of {n}"));
        if n < 6 {
            holds_against_differences(&dense, &points[..3], &format!("cholesky of {n}"));
        }
    }
}

#[test]
fn a_normal_density_and_its_slopes() {
    for n in SIZES {
        let points: Vec<Vec<f64>> = covariance_triangles(n)
            .into_iter()
            .map(|a| (0..n).map(|i| 0.3 * i as f64 - 0.7).chain(a).collect())
            .collect();
        let dense = Program::record(n + triangle(n), |z| normal_residuals(&z[..n], &z[n..]));
        let unrolled = Program::record(n + triangle(n), |z| {
            let l = cholesky(&z[n..], n, Way::Unrolled);
            let u = solve_lower(&l, &z[..n]);
            let logs: Expr<'_> = (0..n).map(|i| l[in_triangle(i, i)].ln()).sum();
            -0.5 * u.iter().map(|u| u.square()).sum::<Expr<'_>>()
                - logs
                - 0.5 * n as f64 * std::f64::consts::TAU.ln()
        });
        agree(&dense, &unrolled, &points, &format!("multi_normal of {n}"));
        if n < 6 {
            holds_against_differences(&dense, &points[..3], &format!("multi_normal of {n}"));
        }
    }
}

#[test]
fn a_triangle_times_a_vector() {
    for n in SIZES {
        let points: Vec<Vec<f64>> = covariance_triangles(n)
            .into_iter()
            .map(|a| a.into_iter().chain((0..n).map(|i| 0.3 * i as f64 - 0.7)).collect())
            .collect();
        let [dense, unrolled] = [Way::Dense, Way::Unrolled].map(|way| {
            Program::record(n + triangle(n), |z| {
                let (l, x) = z.split_at(triangle(n));
                weighted(&lower_times(l, x, way))
            })
        });
        agree(&dense, &unrolled, &points, &format!("lower times {n}"));
    }
}

#[test]
fn covariance_functions() {
    use CovarianceKind::*;
    let distances: Vec<f64> = [0.0, 0.1, 0.7, 2.0, 5.5].into();
    let points: Vec<Vec<f64>> =
        (0..40).map(|i| [0.5, 0.8, 2.7].map(|x| x + 0.05 * i as f64).into()).collect();
    for kind in [ExpQuad, Matern32, Matern52, Periodic] {
        let [dense, unrolled] = [Way::Dense, Way::Unrolled].map(|way| {
            Program::record(3, |z| {
                let period = (kind == Periodic).then_some(z[2]);
                let settings = CovarianceSettings { variance: z[0], length_scale: z[1], period };
                let distances: Vec<Expr<'_>> = distances.iter().map(|&d| d.into()).collect();
                weighted(&covariances(kind, settings, &distances, way))
            })
        });
        agree(&dense, &unrolled, &points, &format!("{kind:?}"));
        holds_against_differences(&dense, &points[..3], &format!("{kind:?}"));
    }
}

/// With constant operands nothing is recorded, and the numbers are those of a program.
#[test]
fn constants_fold_to_what_runs() {
    for n in SIZES {
        let point = covariance_triangles(n).remove(0);
        let program = Program::record(triangle(n), |z| weighted(&cholesky(z, n, Way::Dense)));
        let constants: Vec<Expr<'_>> = point.iter().map(|&x| x.into()).collect();
        let folded = weighted(&cholesky(&constants, n, Way::Dense)).as_constant().unwrap();
        let (value, _) = evaluate(&program, std::slice::from_ref(&point)).remove(0);
        assert!((value - folded).abs() <= 1e-14 * value.abs(), "{value} is not {folded}");
    }
}

/// A matrix that is not a covariance has no density, and does not affect its neighbours in the
/// block.
#[test]
fn what_is_not_positive_definite_is_left_out() {
    let n = 5;
    let mut points = covariance_triangles(n);
    points[1][in_triangle(3, 3)] = -1.0;
    points[2][0] = f64::NAN;
    let density = Program::record(triangle(n), |z| {
        let residuals: Vec<Expr<'_>> = (0..n).map(|i| (i as f64).into()).collect();
        normal_residuals(&residuals, z)
    });
    let factor = Program::record(triangle(n), |z| weighted(&cholesky(z, n, Way::Dense)));
    for (program, is_nan) in [(&density, false), (&factor, true)] {
        let found = evaluate(program, &points);
        assert_eq!(found[1].0.is_nan(), is_nan, "{}", found[1].0);
        assert!(!found[1].0.is_finite() && found[2].0.is_nan());
        for lost in &found[1..3] {
            assert!(lost.1.iter().all(|&slope| slope == 0.0), "{:?}", lost.1);
        }
        assert!(found.iter().skip(3).all(|(value, _)| value.is_finite()));
        assert!(found[0].0.is_finite());
    }
}
