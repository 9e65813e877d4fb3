//! One Gaussian and mixtures of many.

use super::{
    Known, Mode, Problem,
    entry::whole,
    entry::{Build, Entry, Parameter},
    labelled::Labelled,
};
use crate::{
    Expr, Program, Result,
    answer::Method,
    fit::Settings,
    flow::{BaseSpec, FlowSpec},
    program::log_sum_exp,
    registry::Gaussian,
    schedule::{AdaAnn, Schedule, Work},
};
use std::f64::consts::{FRAC_PI_4, FRAC_PI_8, TAU};

pub(super) const GAUSSIAN: Entry = Entry {
    name: "gaussian",
    summary: "a Gaussian with neighbouring coordinates correlated by 0.8",
    parameters: &[Parameter { name: "dim", default: 2.0, description: "number of dimensions" }],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(gaussian),
};

pub(super) const EIGHT: Entry = Entry {
    name: "eight-gaussians",
    summary: "eight equal Gaussians on a circle of radius 2",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(eight),
};

pub(super) const FORTY: Entry = Entry {
    name: "mixture40",
    summary: "forty equal Gaussians scattered over a square with sides of 80",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(forty),
};

/// Correlated neighbours, uneven scales and a mean away from the origin, so that no error hides
/// behind a symmetry.
fn gaussian(parameters: &[f64]) -> Result<Problem> {
    let dim = whole("dim", parameters[0], 1, 256)?;
    let mean: Vec<f64> = (0..dim).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let sd: Vec<f64> = (0..dim).map(|i| [1.0, 1.5, 2.0][i % 3]).collect();
    let mut covariance = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..dim {
            covariance[i * dim + j] = sd[i] * sd[j] * 0.8_f64.powi(i.abs_diff(j) as i32);
        }
    }
    Ok(Problem {
        target: Box::new(Labelled::numbered(Gaussian::new(&mean, &covariance)?)),
        known: Known {
            log_z: Some(0.0),
            mean: Some(mean.clone()),
            sd: Some(sd),
            modes: vec![Mode::new(mean, 1.0)],
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(4 * dim.max(5)),
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.1, tau: 0.05 }),
            work: Work { warmup: 500, anneal: 5, refine: 4_000 },
            refine_samples: 400,
            ..Settings::default()
        },
    })
}

/// Equal weights on a circle, six standard deviations apart.
fn eight(_: &[f64]) -> Result<Problem> {
    let angles = (0..8).map(|k| f64::from(k) * FRAC_PI_4);
    let means = angles.map(|a| vec![2.0 * a.cos(), 2.0 * a.sin()]).collect();
    let mixture = Equal { means, sd: 2.0 / 3.0 * FRAC_PI_8.sin() };
    Ok(Problem {
        target: Box::new(Labelled::new(mixture.record(), ["x", "y"])),
        known: mixture.known(),
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(100),
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.01 }),
            work: Work { warmup: 500, anneal: 5, refine: 5_000 },
            samples: 400,
            lr: 0.002,
            ..Settings::default()
        },
    })
}

/// The first seed that leaves all means more than 4 apart, so that there are forty modes.
const SEED: u64 = 10;

/// Means uniform on [−40, 40]², standard deviation log(1 + e).
fn forty(_: &[f64]) -> Result<Problem> {
    let mut uniform = uniforms(SEED);
    let means = (0..40).map(|_| vec![80.0 * uniform() - 40.0, 80.0 * uniform() - 40.0]).collect();
    let mixture = Equal { means, sd: 1.0_f64.exp().ln_1p() };
    Ok(Problem {
        target: Box::new(Labelled::new(mixture.record(), ["x", "y"])),
        known: mixture.known(),
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(200),
            base: BaseSpec { sd: vec![25.0], ..BaseSpec::default() },
            initial_scale: 0.3,
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.01 }),
            work: Work { warmup: 1_000, anneal: 5, refine: 8_000 },
            samples: 500,
            refine_samples: 500,
            lr: 0.002,
            ..Settings::default()
        },
    })
}

/// SplitMix64 (Steele, Lea and Flood) as numbers in [0, 1), so that the means are the same on every
/// platform.
fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Gaussians of equal weight and width, normalised.
pub(super) struct Equal {
    pub(super) means: Vec<Vec<f64>>,
    pub(super) sd: f64,
}

impl Equal {
    fn dim(&self) -> usize {
        self.means[0].len()
    }

    /// log p by log-sum-exp, so that it never underflows far from the means.
    pub(super) fn record(&self) -> Program {
        let variance = self.sd * self.sd;
        let count = self.means.len() as f64;
        let constant = -count.ln() - 0.5 * self.dim() as f64 * (TAU * variance).ln();
        Program::record(self.dim(), |x| {
            let term = |mean: &Vec<f64>| -> Expr<'_> {
                let square: Expr<'_> = x.iter().zip(mean).map(|(x, m)| (x - *m).square()).sum();
                square * (-0.5 / variance)
            };
            log_sum_exp(&self.means.iter().map(term).collect::<Vec<_>>()) + constant
        })
    }

    /// The moments are exact. The weights assume that each component exchanges the same mass with
    /// all its neighbours, as for two components or for eight on a circle.
    pub(super) fn known(&self) -> Known {
        let count = self.means.len() as f64;
        let moment = |f: &dyn Fn(usize, f64) -> f64, d| {
            self.means.iter().map(|mean| f(d, mean[d])).sum::<f64>() / count
        };
        let mean: Vec<f64> = (0..self.dim()).map(|d| moment(&|_, m| m, d)).collect();
        let variance = |d| self.sd * self.sd + moment(&|d, m| (m - mean[d]).powi(2), d);
        Known {
            log_z: Some(0.0),
            sd: Some((0..self.dim()).map(|d| variance(d).sqrt()).collect()),
            modes: self.modes(),
            mean: Some(mean),
            ..Known::default()
        }
    }

    /// The peaks reached from the means. Two means within two standard deviations share a peak.
    fn modes(&self) -> Vec<Mode> {
        let mut modes: Vec<Mode> = Vec::new();
        for mean in &self.means {
            let location = self.peak(mean);
            let same = |mode: &&mut Mode| {
                let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-3 * self.sd;
                !mode.location.iter().zip(&location).any(far)
            };
            match modes.iter_mut().find(same) {
                Some(mode) => mode.weight += 1.0 / self.means.len() as f64,
                None => modes.push(Mode::new(location, 1.0 / self.means.len() as f64)),
            }
        }
        modes
    }

    /// Mean shift: where the gradient vanishes, x is the average of the means, each weighted by its
    /// share of the density at x.
    fn peak(&self, start: &[f64]) -> Vec<f64> {
        let mut x = start.to_vec();
        for _ in 0..1_000 {
            let square = |m: &Vec<f64>| m.iter().zip(&x).map(|(m, x)| (m - x).powi(2)).sum();
            let squares: Vec<f64> = self.means.iter().map(square).collect();
            let least = squares.iter().fold(f64::INFINITY, |a, b| a.min(*b));
            let share = |s: &f64| (-0.5 * (s - least) / (self.sd * self.sd)).exp();
            let shares: Vec<f64> = squares.iter().map(share).collect();
            let total: f64 = shares.iter().sum();
            let pull = |d: usize| {
                self.means.iter().zip(&shares).map(|(m, w)| m[d] * w).sum::<f64>() / total
            };
            x = (0..x.len()).map(pull).collect();
        }
        x
    }
}
