//! Searches of densities with known peaks and curvatures.

use super::*;
use crate::{
    Batch, Program,
    flow::Base,
    path::lopsided::Lopsided,
    rng::{Purpose, Stream},
    target::Target,
};

fn found(target: &dyn Target, seed: u64) -> Searched {
    let unconstrained = Unconstrained::new(target).unwrap();
    let base = Base::diagonal(&vec![0.0; target.dim()], &vec![3.0; target.dim()]).unwrap();
    search(&unconstrained, &base, &Search::new(target.dim()), seed).unwrap()
}

/// Weights 0.3 and 0.7, far apart: each peak has its exact Gaussian, and its mass.
#[test]
fn peaks_have_their_places_covariances_and_masses() {
    let target = Program::record(2, |z| {
        let [x, y] = [z[0], z[1]];
        // Precision [[2, 0.5], [0.5, 1]] at (−5, 1), and [[1, 0], [0, 25]] at (5, −2).
        let (a, b) = (x + 5.0, y - 1.0);
        let left =
            0.3_f64.ln() + 0.5 * 1.75_f64.ln() - 0.5 * (2.0 * a.square() + a * b + b.square());
        let right =
            0.7_f64.ln() + 5_f64.ln() - 0.5 * ((x - 5.0).square() + 25.0 * (y + 2.0).square());
        crate::program::log_sum_exp(&[left, right])
    });
    let exact = [
        ([5.0, -2.0], [1.0, 0.0, 0.0, 0.04], 0.7),
        ([-5.0, 1.0], [4.0 / 7.0, -2.0 / 7.0, -2.0 / 7.0, 8.0 / 7.0], 0.3),
    ];
    for seed in 1..=3 {
        let found = found(&target, seed);
        assert_eq!((found.summits.len(), found.peaks(), found.adrift), (2, 2, 0));
        for (summit, (place, covariance, weight)) in found.summits.iter().zip(exact) {
            assert!(summit.is_peak);
            for (found, exact) in summit.z.iter().zip(place) {
                assert!((found - exact).abs() < 1e-4, "{summit:?}");
            }
            // Differences of a quadratic are exact up to rounding, 1e-13 over a step of 1e-2.
            for (found, exact) in summit.covariance.iter().zip(covariance) {
                assert!((found - exact).abs() < 1e-6, "{summit:?}");
            }
            // log det of a factor that carries 2π.
            let mass = (weight * std::f64::consts::TAU).ln();
            assert!((summit.log_mass - mass).abs() < 1e-5, "{}", summit.log_mass);
        }
    }
}

#[test]
fn evaluations_are_those_that_the_target_counts() {
    let target = Lopsided::default();
    let found = found(&target, 1);
    assert_eq!((found.evaluations, found.summits.len()), (target.count(), 1));
    // Of exp(3 x − eˣ − 2 (y − x²/2)²) the peak is at x = ln 3, y = x²/2.
    let x = 3_f64.ln();
    assert!((found.summits[0].z[0] - x).abs() < 1e-4 && found.summits[0].is_peak);
    assert!((found.summits[0].z[1] - 0.5 * x * x).abs() < 1e-4);
}

/// A condition number of 1e8, along no coordinate axis.
#[test]
fn a_narrow_ridge_is_one_peak() {
    let target = Program::record(3, |z| {
        let sum = z[0] + z[1] + z[2] - 3.0;
        let rest = (z[0] - z[1]).square() + (z[1] - z[2]).square();
        -0.5 * (1e8 * sum.square() + rest)
    });
    let found = found(&target, 1);
    assert_eq!((found.summits.len(), found.peaks()), (1, 1), "{found:?}");
    assert!(found.summits[0].z.iter().all(|z| (z - 1.0).abs() < 1e-2), "{:?}", found.summits[0]);
}

/// x is N(0, 1) and log σ has no lower bound: the density grows without bound.
#[test]
fn an_unbounded_density_has_ascents_adrift_and_no_peak() {
    let target = Program::record(3, |z| {
        let square = z[1].square() + z[2].square();
        -0.5 * square * (-2.0 * z[0]).exp() - 2.0 * z[0] + 0.1 * z[0]
    });
    let found = found(&target, 1);
    assert_eq!(found.peaks(), 0, "{found:?}");
}

/// Two to the tenth peaks: nearly every ascent has one of its own.
#[test]
fn peaks_without_end_are_said_to_be_so() {
    let target = Program::record(10, |z| {
        z.iter().fold(0.0 * z[0], |sum, z| sum - 4.0 * (z.square() - 4.0).square())
    });
    let found = found(&target, 1);
    assert!(found.is_endless && found.summits.len() > 20, "{}", found.summits.len());
}

#[test]
fn a_base_outside_the_support_is_named() {
    let target = Program::record(1, |z| z[0].gt(1e6).select(-z[0], f64::NEG_INFINITY));
    let unconstrained = Unconstrained::new(&target).unwrap();
    let error = search(&unconstrained, &Base::standard(1), &Search::new(1), 1).unwrap_err();
    assert!(error.to_string().contains("base-mean"), "{error}");
}

/// log p is so large that its digits swallow the share of mass below which a summit does not matter.
#[test]
fn a_summit_matters_whatever_its_mass() {
    let target = Program::record(1, |z| -((z[0] + 2_f64.powi(64)).square() - 3.0).square());
    let unconstrained = Unconstrained::new(&target).unwrap();
    let how = Search { effort: 10_000, ..Search::new(1) };
    let found = search(&unconstrained, &Base::standard(1), &how, 1).unwrap();
    assert!(found.that_matter().count() > 0, "{} summits", found.summits.len());
}

/// A map of the coordinates.
type Map = fn(&[f64]) -> Vec<f64>;

/// Two Gaussians of weights 0.6 and 0.4, eight widths apart; the lighter one is half as wide in the mapped coordinates.
fn pair(map: Map) -> impl Target {
    crate::target::pointwise_by_differences(5, move |x: &[f64]| {
        let y = map(x);
        let square = |at: f64| y.iter().map(|y| (y - at).powi(2)).sum::<f64>();
        // The distance along the diagonal is 8 = √5 · 3.578.
        let (wide, narrow) =
            (0.6_f64.ln() - 0.5 * square(1.0), square(1.0 + 3.577_708_763_999_663));
        let narrow = 0.4_f64.ln() + 5.0 * 2_f64.ln() - 2.0 * narrow;
        let most = wide.max(narrow);
        most + ((wide - most).exp() + (narrow - most).exp()).ln()
    })
}

/// A shift, a scale, a rotation, a reflection and a permutation change nothing: both modes are found.
#[test]
fn the_search_is_equivariant() {
    fn turned(x: &[f64]) -> Vec<f64> {
        // Householder's reflection along (1, 2, 0, −1, 1), then a permutation of the coordinates.
        let v = [1.0, 2.0, 0.0, -1.0, 1.0];
        let along = 2.0 * x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() / 7.0;
        let y: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x - along * v).collect();
        vec![y[3], y[0], y[4], y[1], y[2]]
    }
    let maps: [Map; 6] = [
        |x| x.to_vec(),
        |x| x.iter().map(|x| x - 100.0).collect(),
        |x| x.iter().map(|x| x / 1e3).collect(),
        |x| x.iter().map(|x| x / 1e-3).collect(),
        turned,
        |x| turned(x).iter().map(|x| -(x + 40.0) / 7.0).collect(),
    ];
    for (number, map) in maps.into_iter().enumerate() {
        for seed in 1..=2 {
            let target = pair(map);
            let unconstrained = Unconstrained::new(&target).unwrap();
            let settings = Search { effort: 20_000, ..Search::new(5) };
            let found = search(&unconstrained, &Base::standard(5), &settings, seed).unwrap();
            assert_eq!(found.peaks(), 2, "map {number}, seed {seed}");
            let [heavy, light] = &found.summits[..2] else { panic!("two") };
            // Masses are exact for Gaussians; gradients by differences leave an error of 1e-4.
            assert!((light.log_mass - heavy.log_mass - (2.0_f64 / 3.0).ln()).abs() < 1e-2);
        }
    }
}

/// The search finds as many real modes as its power claims for planted ones.
#[test]
fn power_is_the_share_of_planted_modes_that_are_found() {
    const DIM: usize = 8;
    let settings = Search { effort: 6_000, ..Search::new(DIM) };
    let alone =
        Program::record(DIM, |z| -0.5 * z.iter().fold(0.0 * z[0], |sum, z| sum + z.square()));
    let unconstrained = Unconstrained::new(&alone).unwrap();
    let plant = Plant { count: 400, narrowest: 0.35, has_prior: false, seed: 3 };
    let found = search(&unconstrained, &Base::standard(DIM), &settings, 5).unwrap();
    let claimed = caught(&found.starts, &found.summits, found.log_mass(), &plant) as f64 / 400.0;
    // Neither certain nor hopeless, so that the comparison is informative.
    assert!(claimed > 0.15 && claimed < 0.9, "{claimed}");

    let stream = Stream::new(9, Purpose::Modes);
    let uniform = |trial: u64, number| stream.point_uniform_of(0, trial, number);
    let trials = 60;
    let is_found = |trial: u64| {
        let mut direction = Batch::zeros(DIM, 1);
        stream.fill_normals(1 + trial, 0, &mut direction);
        let direction = direction.point(0);
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let distance = 6.0 + 6.0 * uniform(trial, 1);
        let centre: Vec<f64> = direction.iter().map(|x| x * distance / length).collect();
        let width = 0.35_f64.powf(uniform(trial, 2));
        let target = Program::record(DIM, |z| {
            let square = z.iter().fold(0.0 * z[0], |sum, z| sum + z.square());
            let other =
                z.iter().zip(&centre).fold(0.0 * z[0], |sum, (z, c)| sum + (*z - *c).square());
            let peak = 0.25_f64.ln() - DIM as f64 * width.ln();
            crate::program::log_sum_exp(&[-0.5 * square, peak - 0.5 * other / (width * width)])
        });
        let unconstrained = Unconstrained::new(&target).unwrap();
        search(&unconstrained, &Base::standard(DIM), &settings, trial).unwrap().peaks() == 2
    };
    let share = (0..trials).filter(|&trial| is_found(trial)).count() as f64 / trials as f64;
    // Three standard errors of 60 and 400 trials, and another tenth, since ascents near the edge of a basin may leave
    // it.
    let error = (0.25 * (1.0 / trials as f64 + 1.0 / 400.0)).sqrt();
    assert!((share - claimed).abs() < 3.0 * error + 0.1, "{share} for {claimed}");
}

/// Sixty peaks along one coordinate, of which a distant one is by far the highest.
#[test]
fn lines_find_the_highest_of_many_peaks() {
    let target = Program::record(3, |z| {
        let comb = 8.0 * (40.0 * z[0]).cos();
        let hill = 60.0 * (-0.5 * ((z[0] - 2.3) / 0.02).square()).exp();
        comb + hill - 0.5 * (z[1].square() + z[2].square()) - 0.05 * z[0].square()
    });
    let unconstrained = Unconstrained::new(&target).unwrap();
    for seed in 1..=3 {
        let settings = Search { effort: 20_000, ..Search::new(3) };
        let found = search(&unconstrained, &Base::standard(3), &settings, seed).unwrap();
        let best = found.highest().unwrap();
        assert!((best.z[0] - 2.3).abs() < 0.1, "seed {seed}: {:?}", best.z);
    }
}

/// Images of (1, 2, −3), each at a tenth of a width of 0.1: all signs flipped, one sign flipped, two coordinates
/// exchanged.
#[test]
fn images_are_flipped_and_exchanged() {
    let target = Program::record(3, |z| -(z[0].square() + z[1].square() + z[2].square()));
    let unconstrained = Unconstrained::new(&target).unwrap();
    let covariance: Vec<f64> = (0..9).map(|i| if i % 4 == 0 { 0.01 } else { 0.0 }).collect();
    let peak = Summit::of_gaussian(vec![1.0, 2.0, -3.0], covariance).unwrap();
    let images = kinds::images(&unconstrained, &[&peak], 256);
    for expected in [[-1.0, -2.0, 3.0], [1.0, -2.0, -3.0], [2.0, 1.0, -3.0]] {
        let is_it = |image: &Vec<f64>| {
            image.iter().zip(&expected).all(|(a, b)| (a - b - 0.01).abs() < 1e-12)
        };
        assert!(images.iter().any(is_it), "{expected:?}");
    }
}

/// A slab N(0, I) around a spike N(0, 0.02² I) of the same mass, in ten dimensions: the spike hides the slab's peak, and
/// no ascent on the whole ends there.
#[test]
fn a_term_that_another_one_hides_is_known_by_its_own_gaussian() {
    let target = Program::record(10, |z| {
        let square = z.iter().fold(0.0 * z[0], |sum, z| sum + z.square());
        crate::program::log_sum_exp(&[-0.5 * square, 10.0 * 50_f64.ln() - 0.5 * 2_500.0 * square])
    });
    let unconstrained = Unconstrained::new(&target).unwrap();
    let base = Base::diagonal(&[0.5; 10], &[3.0; 10]).unwrap();
    let settings = Search::new(10).with_effort(&unconstrained, 1.0);
    let found = search(&unconstrained, &base, &settings, 1).unwrap();
    assert!(found.terms.are_all_known());
    assert_eq!((found.summits.len(), found.hidden.len()), (1, 1));
    let components = found.components();
    assert_eq!(components.len(), 2);
    // Equal masses, and the covariances of both terms, which are 6 per cent wider here.
    for (component, variance) in components.iter().zip([4e-4, 1.0]) {
        assert!((component.weight - 0.5).abs() < 0.01, "{}", component.weight);
        assert!((component.covariance[0] / (1.06 * variance) - 1.0).abs() < 0.01);
    }
}
