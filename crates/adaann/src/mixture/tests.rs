//! Fits compared with known mixtures, and fits to nearly degenerate points.

use super::*;
use crate::rng::{Purpose, Stream};

/// Independent draws of a mixture in the plane, with the component of each.
fn draws(seed: u64, count: usize, truth: &Mixture) -> (Batch, Vec<usize>) {
    let stream = Stream::new(seed, Purpose::MonteCarlo);
    let mut z = Batch::zeros(2, count);
    stream.fill_normals(0, 0, &mut z);
    let mut of = Vec::with_capacity(count);
    for i in 0..count {
        let uniform = stream.point_uniform_at(1, i as u64);
        let shares = truth.components.iter().map(|component| component.log_weight.exp());
        let below = shares.scan(0.0, |sum, w| {
            *sum += w;
            Some(*sum)
        });
        let k = below.take_while(|sum| *sum <= uniform).count().min(truth.components.len() - 1);
        let normals = z.point(i);
        let mut point = [0.0; 2];
        truth.components[k].place(&normals, 1.0, &mut point);
        z.set_point(i, &point);
        of.push(k);
    }
    (z, of)
}

fn mixture(components: &[(f64, [f64; 2], [f64; 4])]) -> Mixture {
    let gaussian = |(weight, mean, covariance): &(f64, [f64; 2], [f64; 4])| {
        Gaussian::new(*weight, mean.to_vec(), covariance).unwrap()
    };
    Mixture { components: components.iter().map(gaussian).collect(), dim: 2 }
}

/// Three components with different weights, widths and correlations, at least six standard deviations
/// apart.
fn three() -> Mixture {
    mixture(&[
        (0.5, [-6.0, 1.0], [1.0, 0.7, 0.7, 1.5]),
        (0.3, [4.0, 5.0], [0.3, -0.1, -0.1, 0.2]),
        (0.2, [3.0, -7.0], [2.0, 0.0, 0.0, 0.1]),
    ])
}

fn equal(count: usize) -> Vec<f64> {
    vec![1.0 / count as f64; count]
}

/// The fitted component nearest to a mean.
fn nearest(found: &[Component], mean: &[f64]) -> Component {
    let square =
        |c: &Component| -> f64 { c.mean.iter().zip(mean).map(|(a, b)| (a - b).powi(2)).sum() };
    found.iter().min_by(|a, b| square(a).total_cmp(&square(b))).unwrap().clone()
}

/// Fails if the weights, means or covariances of a fit deviate from the truth by more than five
/// standard errors of n draws: √(w (1 − w)/n), √(Σ_dd/(n w)) and √((Σ_ii Σ_jj + Σ_ij²)/(n w)), plus the
/// shrinkage of covariances between coordinates, 2/(n w).
fn assert_close(found: &[Component], truth: &Mixture, n: f64) {
    assert_eq!(found.len(), truth.components.len(), "{found:?}");
    assert!((found.iter().map(|c| c.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    for exact in truth.to_components() {
        let found = nearest(found, &exact.mean);
        let w = exact.weight;
        let own = n * w;
        let error = (w * (1.0 - w) / n).sqrt();
        // A single component has weight 1 up to rounding.
        assert!((found.weight - w).abs() < 5.0 * error + 1e-12, "{found:?}");
        for i in 0..2 {
            let error = (exact.covariance[3 * i] / own).sqrt();
            assert!((found.mean[i] - exact.mean[i]).abs() < 5.0 * error, "{found:?}");
            for j in 0..2 {
                let entry = exact.covariance[2 * i + j];
                let product = exact.covariance[3 * i] * exact.covariance[3 * j];
                let error = ((product + entry * entry) / own).sqrt();
                let off = (found.covariance[2 * i + j] - entry).abs();
                assert!(off < 5.0 * error + 2.0 / own * entry.abs(), "{found:?}");
            }
        }
    }
}

#[test]
fn known_mixtures_are_recovered() {
    for seed in 1..=3 {
        let (z, _) = draws(seed, 3_000, &three());
        let fit = Mixture::fit(&z, &equal(3_000), None);
        assert_close(&fit.to_components(), &three(), 3_000.0);
        // Start from an earlier fit, even one to other points.
        let (other, _) = draws(seed + 10, 300, &three());
        let earlier = Mixture::fit(&other, &equal(300), None);
        let fit = Mixture::fit(&z, &equal(3_000), Some(&earlier));
        assert_close(&fit.to_components(), &three(), 3_000.0);
    }
    let one = mixture(&[(1.0, [3.0, -2.0], [2.0, 1.2, 1.2, 1.0])]);
    let (z, _) = draws(4, 2_000, &one);
    let fit = Mixture::fit(&z, &equal(2_000), None);
    assert_close(&fit.to_components(), &one, 2_000.0);
}

/// Draws of a mixture with other weights than the truth, and importance weights that correct this. The
/// weights of the components are then known to the precision of Σ W² of their draws, which are at most
/// twice as heavy as others.
#[test]
fn weights_of_points_count() {
    let even = mixture(&[
        (0.5, [-6.0, 1.0], [1.0, 0.7, 0.7, 1.5]),
        (0.25, [4.0, 5.0], [0.3, -0.1, -0.1, 0.2]),
        (0.25, [3.0, -7.0], [2.0, 0.0, 0.0, 0.1]),
    ]);
    let truth = mixture(&[
        (0.2, [-6.0, 1.0], [1.0, 0.7, 0.7, 1.5]),
        (0.5, [4.0, 5.0], [0.3, -0.1, -0.1, 0.2]),
        (0.3, [3.0, -7.0], [2.0, 0.0, 0.0, 0.1]),
    ]);
    let count = 4_000;
    let (z, of) = draws(5, count, &even);
    let weight = |k: &usize| [0.2 / 0.5, 0.5 / 0.25, 0.3 / 0.25][*k];
    let total: f64 = of.iter().map(weight).sum();
    let weights: Vec<f64> = of.iter().map(|k| weight(k) / total).collect();
    let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let fit = Mixture::fit(&z, &weights, None).to_components();
    assert_close(&fit, &truth, effective);
    // Without the weights the fit is another mixture.
    let unweighted = Mixture::fit(&z, &equal(count), None).to_components();
    assert!(nearest(&unweighted, &[-6.0, 1.0]).weight > 0.45);
}

/// Bit for bit: the sums only gain zeros.
#[test]
fn points_of_weight_0_change_nothing() {
    let (z, _) = draws(6, 1_000, &three());
    let fit = Mixture::fit(&z, &equal(1_000), None);
    let mut more = Batch::zeros(2, 1_500);
    more.copy_points(0, &z, 0, 1_000);
    (1_000..1_500).for_each(|i| more.set_point(i, &[1e3 + i as f64, -2e3]));
    let mut weights = equal(1_000);
    weights.resize(1_500, 0.0);
    let with = Mixture::fit(&more, &weights, None);
    assert_eq!(with.to_components(), fit.to_components());
}

/// On a line the covariance has no inverse; a billionth of the variance and the shrinkage between
/// coordinates make it invertible. Long clusters may be split along the line, but no component leaves
/// it.
#[test]
fn clusters_on_a_line_have_a_density() {
    let truth = mixture(&[
        (0.6, [-5.0, 0.0], [1.0, 0.0, 0.0, 1.0]),
        (0.4, [5.0, 0.0], [0.25, 0.0, 0.0, 1.0]),
    ]);
    let (mut z, of) = draws(7, 2_000, &truth);
    for i in 0..2_000 {
        let x = z.row(0)[i];
        z.set_point(i, &[x, 2.0 * x + 1.0]);
    }
    let fit = Mixture::fit(&z, &equal(2_000), None);
    let found = fit.to_components();
    for component in &found {
        let [x, y] = component.mean[..] else { panic!("two coordinates") };
        assert!((y - (2.0 * x + 1.0)).abs() < 1e-9, "{component:?}");
        assert!(component.covariance.iter().all(|entry| entry.is_finite()), "{component:?}");
    }
    // The clusters are eight standard deviations apart.
    let left: f64 = found.iter().filter(|c| c.mean[0] < 0.0).map(|c| c.weight).sum();
    let own = of.iter().filter(|k| **k == 0).count() as f64 / 2_000.0;
    assert!((left - own).abs() < 1e-3, "{left} is not {own}");
    assert!(fit.log_student(&z).iter().all(|log_q| log_q.is_finite()));
}

/// d + 4 points are the fewest that may form a component: 5 distant points do not, 60 do.
#[test]
fn a_few_points_far_away_are_no_component() {
    let (near, _) = draws(8, 1_000, &mixture(&[(1.0, [0.0, 0.0], [1.0, 0.3, 0.3, 0.5])]));
    let with = |count: usize| {
        let mut z = Batch::zeros(2, 1_000 + count);
        z.copy_points(0, &near, 0, 1_000);
        for i in 0..count {
            let point = [50.0 + 0.1 * near.row(1)[i], -30.0 + 0.2 * near.row(0)[i]];
            z.set_point(1_000 + i, &point);
        }
        Mixture::fit(&z, &equal(1_000 + count), None).to_components()
    };
    let few = with(5);
    assert!(few.iter().all(|c| (c.mean[0] - 50.0).abs() > 1.0), "{few:?}");
    assert!(few.iter().all(|c| c.covariance.iter().all(|x| x.is_finite())), "{few:?}");
    let many = with(60);
    assert_eq!(many.len(), 2);
    let far = nearest(&many, &[50.0, -30.0]);
    // The distance is ten standard deviations of the main component: responsibilities are 0 and 1.
    assert!((far.weight - 60.0 / 1_060.0).abs() < 1e-9, "{far:?}");
}

/// Mean and variance of one coordinate under a whole mixture.
fn moments(components: &[Component], d: usize) -> (f64, f64) {
    let mean: f64 = components.iter().map(|c| c.weight * c.mean[d]).sum();
    let variance = |c: &Component| c.weight * (c.covariance[3 * d] + (c.mean[d] - mean).powi(2));
    (mean, components.iter().map(variance).sum())
}

/// Resampled particles are copies. Five copies of each may yield more components than one, since they
/// look like five times the evidence. The mixture as a whole preserves mean and variance: each step of
/// EM does, up to a billionth that keeps covariances definite. Two points become two components of
/// minimal width.
#[test]
fn duplicates_keep_the_moments_and_are_no_reason_to_fail() {
    let (z, _) = draws(9, 300, &mixture(&[(1.0, [1.0, -2.0], [1.0, 0.5, 0.5, 2.0])]));
    let mut five = Batch::zeros(2, 1_500);
    (0..1_500).for_each(|i| five.set_point(i, &z.point(i / 5)));
    let once = Mixture::fit(&z, &equal(300), None).to_components();
    let copies = Mixture::fit(&five, &equal(1_500), None).to_components();
    for d in [0, 1] {
        let ((mean, variance), (of_copies, variance_of_copies)) =
            (moments(&once, d), moments(&copies, d));
        assert!((mean - of_copies).abs() < 1e-9, "{mean} {of_copies}");
        assert!(
            (variance_of_copies / variance - 1.0).abs() < 1e-7,
            "{variance} {variance_of_copies}"
        );
    }

    let mut two = Batch::zeros(2, 200);
    (0..200).for_each(|i| two.set_point(i, if i < 60 { &[1.0, 2.0] } else { &[-3.0, 4.0] }));
    let found = Mixture::fit(&two, &equal(200), None).to_components();
    assert_eq!(found.len(), 2, "{found:?}");
    let first = nearest(&found, &[1.0, 2.0]);
    assert!((first.weight - 0.3).abs() < 1e-12, "{first:?}");
    assert!((first.mean[0] - 1.0).abs() < 1e-12 && (first.mean[1] - 2.0).abs() < 1e-12);
    // The total variance is 0.3 · 0.7 · 4² in one coordinate and · 2² in the other.
    assert!((first.covariance[0] / (1e-9 * 3.36) - 1.0).abs() < 1e-6, "{first:?}");
    assert!((first.covariance[3] / (1e-9 * 0.84) - 1.0).abs() < 1e-6, "{first:?}");
}

#[test]
fn one_point_is_one_component() {
    for copies in [1, 7, 500] {
        let z = Batch::from_points(2, &vec![[3.0, -1e6]; copies]);
        let found = Mixture::fit(&z, &equal(copies), None).to_components();
        assert_eq!(found.len(), 1);
        assert!((found[0].weight - 1.0).abs() < 1e-12);
        assert!((found[0].mean[0] - 3.0).abs() < 1e-12);
        assert!((found[0].mean[1] + 1e6).abs() < 1e-6);
        let [a, b, c, d] = found[0].covariance[..] else { panic!("two by two") };
        assert!(a > 0.0 && d > 0.0 && a <= 1e-11 && d <= 1e-11, "{found:?}");
        // Rounding shifts all points from their mean equally.
        assert!(b.abs() <= 1e-11 && b == c, "{found:?}");
    }
}

#[test]
fn shares_sum_to_1_and_know_their_own() {
    let (z, of) = draws(11, 200, &three());
    let shares = three().log_shares(&z);
    for i in 0..200 {
        let sum: f64 = shares.iter().map(|row| row[i].exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!(shares[of[i]][i] > -1e-3);
    }
}

/// The quartiles and 5 per cent quantiles of Student's t with four degrees of freedom are at 0.740697
/// and 2.131847; proportions of 20,000 draws have standard errors below 0.0036. Components are picked
/// by weight.
#[test]
fn student_draws_have_the_tails_of_their_density() {
    let count = 20_000;
    let stream = Stream::new(12, Purpose::MonteCarlo);
    let mixture = mixture(&[
        (0.3, [-900.0, 0.0], [4.0, 0.0, 0.0, 1.0]),
        (0.7, [900.0, 0.0], [1.0, 0.0, 0.0, 1.0]),
    ]);
    let mut z = Batch::zeros(2, count);
    stream.fill_normals(0, 0, &mut z);
    for i in 0..count {
        let uniforms = [1, 2, 3].map(|which| stream.point_uniform_at(which, i as u64));
        let mut point = [0.0; 2];
        mixture.place_student(uniforms, &z.point(i), &mut point);
        z.set_point(i, &point);
    }
    let left: Vec<f64> = z.row(0).iter().copied().filter(|x| *x < 0.0).collect();
    let own = left.len() as f64;
    assert!((own / count as f64 - 0.3).abs() < 5.0 * 0.0033, "{own}");
    for (edge, share) in [(0.740_697, 0.5), (2.131_847, 0.9)] {
        let within = left.iter().filter(|x| (**x + 900.0).abs() < 2.0 * edge).count() as f64;
        let error = (share * (1.0 - share) / own).sqrt();
        assert!((within / own - share).abs() < 5.0 * error, "{within} of {own}");
    }
    // (1 + |L⁻¹(x − μ)|²/4)^−3 in two dimensions.
    let at = Batch::from_points(2, &[[900.0, 0.0], [903.0, 2.0], [-900.0, 0.0]]);
    let [middle, off, other] = mixture.log_student(&at)[..] else { panic!("three points") };
    assert!((off - middle + 3.0 * (13.0_f64 / 4.0).ln_1p()).abs() < 1e-12);
    // The ratio of weight to determinant of L.
    assert!((other - middle - (0.3_f64 / 0.7 / 2.0).ln()).abs() < 1e-12);
}

/// Student draws in three dimensions: the fit finds the nearest candidate degrees of freedom, and none
/// for a Gaussian.
#[test]
fn tails_are_those_of_the_points() {
    let identity = [1.0, 0.3, 0.0, 0.3, 2.0, 0.0, 0.0, 0.0, 0.5];
    for (degrees, range) in [(Some(4.0), 3.0..=6.0), (None, 50.0..=f64::INFINITY)] {
        let base = Base::student_mixture(&[1.0], &[1.0, -1.0, 0.0], &identity, &[degrees]).unwrap();
        let (mut noise, mut z) = (crate::flow::Noise::zeros(3, 4_000), Batch::zeros(3, 4_000));
        base.draw(&Stream::new(8, Purpose::MonteCarlo), 0, 0, &mut noise);
        base.forward(&noise, &mut z, &mut vec![0.0; 4_000]);
        let start = Mixture::of(&[Component {
            weight: 1.0,
            mean: vec![0.0; 3],
            covariance: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            degrees: Some(20.0),
        }])
        .unwrap();
        let fit = start.adapt(&z, &equal(4_000)).to_components();
        assert_eq!(fit.len(), 1, "{fit:?}");
        assert!(range.contains(&fit[0].degrees.unwrap_or(f64::INFINITY)), "{fit:?}");
        // The covariance of the core, within five errors of √(2/n) and the contribution of tails with 4
        // degrees.
        for (found, exact) in fit[0].covariance.iter().zip(identity) {
            assert!((found - exact).abs() < 0.25, "{fit:?}");
        }
    }
}

/// Two modes ten standard deviations apart are separated in thirty dimensions, where separate
/// covariances would cost more than they gain.
#[test]
fn modes_are_split_in_many_dimensions() {
    let (dim, count) = (30, 2_000);
    let mut z = Batch::zeros(dim, count);
    Stream::new(2, Purpose::MonteCarlo).fill_normals(0, 0, &mut z);
    for i in (0..count).step_by(4) {
        for d in 0..dim {
            z.row_mut(d)[i] += 10.0 / (dim as f64).sqrt();
        }
    }
    let fit = Mixture::fit(&z, &equal(count), None).to_components();
    assert_eq!(fit.len(), 2, "{} components", fit.len());
    let light = fit.iter().map(|component| component.weight).fold(1.0, f64::min);
    assert!((light - 0.25).abs() < 0.01, "{light}");
}
