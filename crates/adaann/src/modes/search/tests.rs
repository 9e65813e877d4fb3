//! Searches of densities whose peaks and curvatures are known.

use super::*;
use crate::{Program, flow::Base, path::lopsided::Lopsided, target::Target};

fn found(target: &dyn Target, seed: u64) -> Searched {
    let unconstrained = Unconstrained::new(target).unwrap();
    let base = Base::diagonal(&vec![0.0; target.dim()], &vec![3.0; target.dim()]).unwrap();
    search(&unconstrained, &base, &Search::new(target.dim()), seed).unwrap()
}

/// Weights 0.3 and 0.7, far apart: each peak has the Gaussian that it is, and its mass.
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
            // Differences of a quadratic are exact but for rounding, 1e-13 over a step of 1e-2.
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

/// A condition number of 1e8, along no axis.
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

/// x is N(0, 1) and log σ has no bound below: the density grows for ever.
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
