//! Maps fitted to draws of densities that they can describe exactly.

use super::Warp;
use crate::{
    Batch,
    flow::Base,
    rng::{Purpose, Stream},
};

/// Standard normal variates, one row per coordinate.
fn normals(dim: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let stream = Stream::new(seed, Purpose::Modes);
    let row = |d: usize| (0..count).map(|i| stream.normal_at((d * count + i) as u64)).collect();
    (0..dim).map(row).collect()
}

fn batch(rows: &[Vec<f64>]) -> (Batch, Vec<f64>) {
    let count = rows[0].len();
    let mut z = Batch::zeros(rows.len(), count);
    for (d, row) in rows.iter().enumerate() {
        z.row_mut(d).copy_from_slice(row);
    }
    (z, vec![1.0 / count as f64; count])
}

/// Mean and variance of a row.
fn moments(row: &[f64]) -> (f64, f64) {
    let count = row.len() as f64;
    let mean = row.iter().sum::<f64>() / count;
    (mean, row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

/// A funnel whose axis is the last coordinate, not centred at 0, and a ridge that bends over it in one
/// direction.
#[test]
fn a_funnel_and_a_bent_ridge_become_normal() {
    let count = 4_000;
    let n = normals(4, count, 3);
    let at = |d: usize, i: usize| n[d][i];
    let rows = [
        (0..count).map(|i| 2.0 + (1.2 * at(3, i)).exp() * at(0, i)).collect::<Vec<_>>(),
        (0..count).map(|i| 0.5 * (5.0 + at(2, i)).powi(2) + 0.1 * at(1, i)).collect(),
        (0..count).map(|i| 5.0 + at(2, i)).collect(),
        (0..count).map(|i| -3.0 + at(3, i)).collect(),
    ];
    let (z, weights) = batch(&rows);
    let warp = Warp::fit(&z, &weights).expect("neither is a Gaussian");
    let place = |d: usize| warp.order.iter().position(|own| *own == d).unwrap();
    assert!(place(3) < place(0) && place(2) < place(1), "{:?}", warp.order);
    let (straight, _) = warp.straighten(&z);
    for d in 0..4 {
        let row = straight.row(d);
        let (mean, variance) = moments(row);
        // Standard errors of 4,000 draws are 0.016 and 0.022.
        assert!(mean.abs() < 0.07 && (variance - 1.0).abs() < 0.1, "{d}: {mean}, {variance}");
        let fourth = row.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / count as f64;
        // For a normal it is 3 ± 0.16; the funnel itself exceeds 100.
        assert!((fourth / variance.powi(2) - 3.0).abs() < 0.8, "{d}: {fourth}");
    }
}

/// Coordinates with two humps each, of different weight and width: 2⁶ modes.
#[test]
fn a_product_of_humps_becomes_normal() {
    let (dim, count) = (6, 4_000);
    let (n, which) = (normals(dim, count, 5), normals(dim, count, 6));
    let rows: Vec<Vec<f64>> = (0..dim)
        .map(|d| {
            let hump = |i: usize| match which[d][i] > 0.5 {
                true => 4.0 + 0.3 * n[d][i],
                false => -2.0 + 0.8 * n[d][i],
            };
            (0..count).map(hump).collect()
        })
        .collect();
    let (z, weights) = batch(&rows);
    let warp = Warp::fit(&z, &weights).expect("it has 64 modes");
    let (straight, _) = warp.straighten(&z);
    for d in 0..dim {
        let row = straight.row(d);
        let (mean, variance) = moments(row);
        assert!(mean.abs() < 0.07 && (variance - 1.0).abs() < 0.1, "{d}: {mean}, {variance}");
        // Two humps have no mass in the middle; a normal has 38.3 ± 0.8 per cent within half a unit.
        let middle = row.iter().filter(|x| x.abs() < 0.5).count() as f64 / count as f64;
        assert!((middle - 0.383).abs() < 0.04, "{d}: {middle}");
    }
}

/// The flow is consistent with the map: its log density at a point is that of the mapped point minus
/// the log-determinant.
#[test]
fn the_flow_and_the_map_are_the_same() {
    let count = 3_000;
    let (n, which) = (normals(3, count, 8), normals(1, count, 9));
    let rows = [
        (0..count).map(|i| 1.0 + n[0][i]).collect::<Vec<_>>(),
        (0..count).map(|i| (0.8 * n[0][i]).exp() * n[1][i]).collect(),
        (0..count).map(|i| if which[0][i] > 0.3 { 6.0 } else { 0.0 } + n[2][i]).collect(),
    ];
    let (z, weights) = batch(&rows);
    let warp = Warp::fit(&z, &weights).unwrap();
    assert!(warp.quadratic.is_some() && warp.marginals.is_some());
    let flow = warp.flow(Base::standard(3)).unwrap();
    let (straight, log_det) = warp.straighten(&z);
    let log_q = flow.log_density(&z).unwrap();
    for i in (0..count).step_by(37) {
        let square: f64 = (0..3).map(|d| straight.row(d)[i].powi(2)).sum();
        let normal = -0.5 * square - 1.5 * std::f64::consts::TAU.ln();
        let expected = normal - log_det[i];
        assert!((log_q[i] - expected).abs() < 1e-9, "{i}: {} is not {expected}", log_q[i]);
    }
    let draws = flow.sample(500, 1);
    let again = flow.log_density(&draws.points).unwrap();
    for (there, back) in draws.log_q.iter().zip(&again) {
        assert!((there - back).abs() < 1e-8, "{there} is not {back}");
    }
}

/// A Gaussian with strong correlations, and too few points, yield no map.
#[test]
fn a_gaussian_needs_no_map() {
    let n = normals(3, 4_000, 11);
    let rows = [
        n[0].clone(),
        n[0].iter().zip(&n[1]).map(|(a, b)| 3.0 * a + 0.1 * b).collect::<Vec<_>>(),
        n[1].iter().zip(&n[2]).map(|(a, b)| a - 2.0 * b).collect(),
    ];
    let (z, weights) = batch(&rows);
    assert!(Warp::fit(&z, &weights).is_none());
    let (few, weights) = batch(&normals(3, 10, 12));
    assert!(Warp::fit(&few, &weights).is_none());
}
