//! Tests of full covariances.

use super::*;
use crate::flow::base::Base;

/// q₀ of [`leaning`] by the inverses and determinants of its matrices.
fn direct(point: &[f64; DIM]) -> f64 {
    let mixture = leaning();
    let mut sum = 0.0;
    for (k, [a, b, _, d]) in LEANING.into_iter().enumerate() {
        let [x, y] = [0, 1].map(|i| point[i] - mixture.mean[k * DIM + i]);
        let determinant = a * d - b * b;
        let square = (d * x * x - 2.0 * b * x * y + a * y * y) / determinant;
        let weight = WEIGHTS[k] / WEIGHTS.iter().sum::<f64>();
        sum += weight * (-0.5 * square).exp() / (std::f64::consts::TAU * determinant.sqrt());
    }
    sum
}

#[test]
fn the_density_is_the_direct_formula() {
    let points = [[0.0, 0.0], [1.0, -2.0], [-1.3, 2.2], [0.4, 0.1]];
    let log_q = log_density(&leaning(), &Batch::from_points(DIM, &points));
    for (point, log_q) in points.iter().zip(&log_q) {
        let exact = direct(point).ln();
        assert!((log_q - exact).abs() < 1e-13, "{point:?}: {log_q} {exact}");
    }
}

/// Far from all components the densities underflow but the log density stays finite. Farther out it
/// overflows to −∞; it is NaN only for a NaN coordinate.
#[test]
fn points_may_be_anywhere() {
    let mixture = space();
    let infinite = f64::INFINITY;
    let far = [[1e5, -3e4, 2e5], [-1e100, 1e90, 0.0], [0.0, 0.0, 1e150]];
    let beyond = [[1e200, 0.0, -1e200], [infinite, 0.0, 0.0], [-infinite, infinite, infinite]];
    for log_q in log_density(&mixture, &Batch::from_points(3, &far)) {
        assert!(log_q.is_finite() && log_q < -1e9, "{log_q}");
    }
    for log_q in log_density(&mixture, &Batch::from_points(3, &beyond)) {
        assert_eq!(log_q, f64::NEG_INFINITY);
    }
    let nowhere = Batch::from_points(3, &[[0.0, f64::NAN, 0.0], [0.0, 0.0, 0.0]]);
    let log_q = log_density(&mixture, &nowhere);
    assert!(log_q[0].is_nan() && log_q[1].is_finite(), "{log_q:?}");

    // The nearest component determines the gradient: −Σ⁻¹(z − μ), of length 1e5 here.
    let z = Batch::from_points(3, &far[..1]);
    let (mut g_z, mut gradient) = (Batch::zeros(3, 1), vec![0.0; mixture.parameter_len()]);
    mixture.pull_log_density(&z, &[1.0], &mut g_z, &mut gradient);
    assert!(g_z.point(0).iter().chain(&gradient).all(|g| g.is_finite()));
    assert!(g_z.point(0).iter().any(|g| g.abs() > 1e4), "{:?}", g_z.point(0));
}

/// In one dimension the bound is that of the diagonal mixture's test. In two, a spacing of 0.25 is
/// at most 0.55 of the narrowest direction's standard deviation: the trapezoid rule errs by
/// exp(−2π²/0.55²) < 1e-28.
#[test]
fn the_density_integrates_to_1() {
    let line = Mixture::full(&[0.2, 1.4, 0.4], &[-3.0, 0.1, 2.0], &[0.25, 0.04, 2.25]).unwrap();
    let grid: Vec<_> = (-2000..=2200).map(|i| [f64::from(i) * 0.01]).collect();
    let log_q = log_density(&line, &Batch::from_points(1, &grid));
    let mass: f64 = log_q.iter().map(|log_q| log_q.exp() * 0.01).sum();
    assert!((mass - 1.0).abs() < 1e-12, "{mass}");

    let (mixture, spacing) = (leaning(), 0.25);
    let axis = |i: i32| f64::from(i) * spacing;
    let grid: Vec<_> = (-80..=80).flat_map(|i| (-80..=80).map(move |j| [i, j].map(axis))).collect();
    let log_q = log_density(&mixture, &Batch::from_points(DIM, &grid));
    let (mut mass, mut product, mut exact) = (0.0, 0.0, 0.0);
    for (z, log_q) in grid.iter().zip(&log_q) {
        let own = log_q.exp() * spacing * spacing;
        mass += own;
        product += z[0] * z[1] * own;
    }
    for (k, weight) in mixture.weights().iter().enumerate() {
        exact += weight * (LEANING[k][1] + mixture.mean[k * DIM] * mixture.mean[k * DIM + 1]);
    }
    assert!((mass - 1.0).abs() < 1e-12, "{mass}");
    assert!((product - exact).abs() < 1e-12, "{product} {exact}");
}

/// Means and covariances of each component's draws within 4 standard errors, √(Σ_ii/n) and
/// √((Σ_ii Σ_jj + Σ_ij²)/n).
#[test]
fn draws_have_the_moments_of_their_component() {
    const N: usize = 30_000;
    let mixture = leaning();
    let stream = Stream::new(8, Purpose::Posterior);
    let mut noise = Noise::zeros(DIM, N);
    stream.fill_normals(0, 0, &mut noise.normal);
    mixture.choose(&stream, 0, 0, &mut noise);
    let mut z = Batch::zeros(DIM, N);
    let mut log_q = vec![0.0; z.padded_len()];
    mixture.forward(&noise, &mut z, &mut log_q);
    log_q.truncate(N);
    assert_eq!(log_q, log_density(&mixture, &z));
    for (k, covariance) in LEANING.iter().enumerate() {
        let own: Vec<_> = (0..N).filter(|n| noise.component[*n] == k).collect();
        let n = own.len() as f64;
        let from_mean = |i: usize, n: usize| z.row(i)[n] - mixture.mean[k * DIM + i];
        for i in 0..DIM {
            let mean = own.iter().map(|n| from_mean(i, *n)).sum::<f64>() / n;
            let off = mean / (covariance[i * DIM + i] / n).sqrt();
            assert!(off.abs() < 4.0, "component {k}, mean {i}: {off} standard errors off");
            for j in 0..=i {
                let found =
                    own.iter().map(|n| from_mean(i, *n) * from_mean(j, *n)).sum::<f64>() / n;
                let exact = covariance[i * DIM + j];
                let variance = covariance[i * DIM + i] * covariance[j * DIM + j] + exact * exact;
                let off = (found - exact) / (variance / n).sqrt();
                assert!(off.abs() < 4.0, "component {k}, entry {i} {j}: {off} standard errors off");
            }
        }
    }
}

/// Compares numbers that two computations may have rounded differently.
fn assert_near(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{what} {i}: {a} {b}");
    }
}

/// Base points from the same noise, log q₀ there, and its gradients in the points and in the
/// parameters.
fn all_of(base: &Base) -> [Vec<f64>; 4] {
    const N: usize = 75;
    let dim = base.dim();
    let mut noise = Noise::zeros(dim, N);
    base.draw(&Stream::new(3, Purpose::Training), 1, 0, &mut noise);
    let (mut z, mut g_z) = (Batch::zeros(dim, N), Batch::zeros(dim, N));
    let mut work = z.clone();
    let mut log_q = vec![0.0; z.padded_len()];
    base.forward(&noise, &mut z, &mut log_q);
    base.log_density(&z, &mut work, &mut vec![0.0; z.padded_len()]);
    let k: Vec<_> = (0..N as i32).map(|n| 0.3 * f64::from(n % 5) - 0.5).collect();
    let mut gradient = vec![0.0; base.parameter_len()];
    base.pull_log_density(&z, &work, &k, &mut g_z, &mut gradient);
    log_q.truncate(N);
    let rows = |batch: &Batch| (0..dim).flat_map(|i| batch.row(i).to_vec()).collect();
    [rows(&z), log_q, rows(&g_z), gradient]
}

#[test]
fn one_component_is_the_full_gaussian() {
    let mean = [0.3, -1.0, 2.0];
    let covariance = [4.0, 1.0, 0.5, 1.0, 2.0, -0.3, 0.5, -0.3, 0.7];
    let gaussian = all_of(&Base::full(&mean, &covariance).unwrap().trained());
    let mut mixture = all_of(&Base::full_mixture(&[2.0], &mean, &covariance).unwrap().trained());
    // The single weight is 1 for every logit.
    let g_logit = mixture[3].remove(0);
    assert!(g_logit.abs() < 1e-12, "{g_logit}");
    for (what, i) in [("points", 0), ("log q", 1), ("in the points", 2), ("in parameters", 3)] {
        assert_near(&mixture[i], &gaussian[i], what);
    }
}

#[test]
fn diagonal_matrices_make_the_diagonal_mixture() {
    let means = [-1.0, 0.5, 1.2, -0.7, 0.3, 2.0];
    let sds = [0.6_f64, 1.3, 0.9, 0.4, 1.7, 0.8];
    let covariances: Vec<_> =
        sds.chunks(DIM).flat_map(|sd| [sd[0] * sd[0], 0.0, 0.0, sd[1] * sd[1]]).collect();
    let diagonal = Base::mixture(&WEIGHTS, &means, &sds).unwrap().trained();
    let expected = all_of(&diagonal);
    let full = Base::full_mixture(&WEIGHTS, &means, &covariances).unwrap().trained();
    for base in [full, diagonal.with_full_factor()] {
        let mut found = all_of(&base);
        let below = found[3].split_off(expected[3].len());
        assert_eq!(below.len(), COMPONENTS);
        assert!(below.iter().all(|g| g.abs() > 1e-3), "training may lean it: {below:?}");
        for (what, i) in [("points", 0), ("log q", 1), ("in the points", 2), ("in parameters", 3)] {
            assert_near(&found[i], &expected[i], what);
        }
    }
}

#[test]
fn what_is_no_full_mixture_is_refused() {
    let refused = |weights: &[f64], means: &[f64], covariances: &[f64]| {
        Mixture::full(weights, means, covariances).unwrap_err().to_string()
    };
    let (good, bad) = ([2.0, 0.5, 0.5, 1.0], [1.0, 2.0, 2.0, 1.0]);
    let second = refused(&[1.0; 2], &[0.0; 4], &[good, bad].concat());
    assert!(
        second.contains("not positive definite (pivot -3 in row 2) for component 2"),
        "{second}"
    );
    let first = refused(&[1.0; 2], &[0.0; 4], &[[1.0, 0.5, 0.1, 1.0], good].concat());
    assert!(first.contains("not symmetric") && first.contains("component 1"), "{first}");
    let nan = refused(&[1.0; 2], &[0.0; 4], &[good, [f64::NAN; 4]].concat());
    assert!(nan.contains("component 2"), "{nan}");
    let few = refused(&[1.0; 2], &[0.0; 4], &good);
    assert!(few.contains("a list of 4, but must be 2 matrices of 2 rows"), "{few}");
    assert!(refused(&[], &[0.0; 4], &good).contains("base-components"));
    assert!(refused(&[1.0, -1.0], &[0.0; 4], &[good, good].concat()).contains("weight"));
    assert!(refused(&[1.0, 1.0], &[0.0; 3], &good).contains("multiple of 2"));
    assert!(refused(&[1.0], &[0.0, f64::INFINITY], &good).contains("base-mean"));
    assert!(refused(&[1.0], &[], &[]).contains("dim"));

    let file = |below: &[f64], covariance| {
        let (logit, means) = (vec![0.0; 2], vec![0.0; 4]);
        let (scales, below, degrees) = (means.clone(), below.to_vec(), Vec::new());
        Mixture::from_file(logit, means, scales, below, covariance, degrees, false)
    };
    assert!(file(&[0.1, 0.2], Covariance::Full).is_ok());
    for (below, covariance) in [
        (&[0.1][..], Covariance::Full),
        (&[0.1, f64::NAN], Covariance::Full),
        (&[0.1, 0.2], Covariance::Diagonal),
    ] {
        assert!(file(below, covariance).unwrap_err().contains("below the diagonal"));
    }
}
