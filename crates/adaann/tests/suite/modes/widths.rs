//! Points get the modes they belong to, whatever the modes' widths, and modes their shares.

use super::{build, common::Numbers, find, find_from};
use adaann::{
    Batch, Expr, Program,
    modes::{Settings, shares},
    program::log_sum_exp,
    registry::mode_weights,
    target::Unconstrained,
};
use std::f64::consts::PI;

/// Σ w_k N(m_k, s_k² I), normalised.
struct Mixture {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    sds: Vec<f64>,
}

impl Mixture {
    fn record(&self) -> Program {
        let dim = self.means[0].len();
        Program::record(dim, |x| {
            let term = |k: usize| {
                let square: Expr<'_> =
                    x.iter().zip(&self.means[k]).map(|(x, m)| (x - *m).square()).sum();
                let scale = -(dim as f64) * self.sds[k].ln() + self.weights[k].ln();
                square * (-0.5 / self.sds[k].powi(2)) + scale
            };
            log_sum_exp(&(0..self.means.len()).map(term).collect::<Vec<_>>())
        })
    }

    fn draws(&self, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut numbers = Numbers(seed);
        let mut draw = || {
            let mut left = numbers.uniform();
            let is_it = |w: &f64| {
                left -= w;
                left < 0.0
            };
            let k = self.weights.iter().position(is_it).unwrap_or(self.weights.len() - 1);
            self.means[k].iter().map(|m| m + self.sds[k] * numbers.normal()).collect()
        };
        (0..count).map(|_| draw()).collect()
    }
}

#[test]
fn a_narrow_mode_does_not_reach_into_a_wide_one() {
    // In the plane, and in twenty dimensions, where the midplane cuts off 2% of the wide one.
    for (dim, apart) in [(2, 1.5), (20, 4.0)] {
        let mut there = vec![0.0; dim];
        there[0] = apart;
        let mixture = Mixture {
            weights: vec![0.3, 0.7],
            means: vec![vec![0.0; dim], there],
            sds: vec![0.05, 1.0],
        };
        let draws = mixture.draws(20_000, 7);
        let modes = find(&mixture.record(), &draws, &Settings::default());
        assert_eq!(modes.len(), 2, "{:?}", modes.peaks());
        // The narrow peak is the higher one by far.
        let points = Batch::from_points(dim, &draws);
        let found = shares(2, &modes.assign(&points), &vec![1.0; draws.len()]).unwrap();
        // What lies under the narrow one, within four of its widths, is 1% of the wide one.
        let off = (found[0].value - 0.3).abs();
        assert!(off < 4.0 * found[0].error + 0.01, "{dim} dimensions: {found:?}");
    }
}

#[test]
fn shares_of_equal_modes_are_equal_and_samples_agree() {
    let means: Vec<_> = (0..5).map(|k| vec![4.0 * f64::from(k), f64::from(k * k)]).collect();
    let mixture = Mixture { weights: vec![0.2; 5], means, sds: vec![0.5; 5] };
    let [first, second] = [1, 2].map(|seed| mixture.draws(10_000, seed));
    let modes = find(&mixture.record(), &first, &Settings::default());
    assert_eq!(modes.len(), 5);
    let share = |draws: &[Vec<f64>]| {
        shares(5, &modes.assign(&Batch::from_points(2, draws)), &vec![1.0; draws.len()]).unwrap()
    };
    let (a, b) = (share(&first), share(&second));
    for share in a.iter().chain(&b) {
        // The means are at least eight standard deviations apart: nothing but counting is noisy.
        assert!((share.value - 0.2).abs() < 4.0 * share.error, "{share:?}");
        assert!((share.error - (0.16 / 10_000.0_f64).sqrt()).abs() < 1e-4, "{share:?}");
    }
    assert!(a.iter().zip(&b).all(|(a, b)| a.minus(*b).z_score().abs() < 4.0));
    // Weights that count one mode's draws twice move its share to 1/3.
    let of = modes.assign(&Batch::from_points(2, &first));
    let twice: Vec<f64> = of.iter().map(|m| if *m == Some(3) { 2.0 } else { 1.0 }).collect();
    let tilted = shares(5, &of, &twice).unwrap();
    let exact = 2.0 * a[3].value / (1.0 + a[3].value);
    assert!((tilted[3].value - exact).abs() < 1e-12);
    assert!(tilted[3].minus(a[3]).z_score() > 10.0);
}

#[test]
fn points_have_the_modes_that_are_known() {
    let problem = build("eight-gaussians");
    let mut numbers = Numbers(8);
    let sd = 2.0 / 3.0 * (PI / 8.0).sin();
    let around = |i: usize| -> Vec<f64> {
        problem.known.modes[i % 8].location.iter().map(|m| m + sd * numbers.normal()).collect()
    };
    let draws: Vec<_> = (0..4_000).map(around).collect();
    let modes = find_from(&problem, &draws);
    let points = Batch::from_points(2, &draws);
    let target = Unconstrained::new(&*problem.target).unwrap();
    let summaries = modes.summarise(&target, &points, &vec![1.0; 4_000]).unwrap();
    let known = mode_weights(&problem.known, &points);
    for summary in &summaries {
        let mode = problem.known.mode_of(&summary.position).unwrap();
        // Beyond three standard deviations, where the midplanes are, is 0.5% of a mode's mass.
        assert!((summary.share.value - known[mode]).abs() < 0.005 / 8.0 + 1e-3);
        let mean = summary.mean.as_ref().unwrap();
        for (mean, exact) in mean.iter().zip(&problem.known.modes[mode].location) {
            assert!((mean - exact).abs() < 5.0 * sd / 500.0_f64.sqrt());
        }
        let covariance = summary.covariance.as_ref().unwrap();
        for (entry, exact) in covariance.iter().zip([1.0, 0.0, 0.0, 1.0]) {
            // √(2/500) for a variance, √(1/500) for a covariance; and what the midplanes cut off.
            assert!((entry / (sd * sd) - exact).abs() < 5.0 * 0.064, "{covariance:?}");
        }
    }
}
