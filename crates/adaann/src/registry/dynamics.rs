//! Examples 4 and 5 of the paper: posteriors of dynamical systems.

use super::data::{Data, Design};
use super::{
    Dynamics, Known, Mode, Problem,
    entry::{Build, Entry, Parameter},
    quadrature,
};
use crate::ode::{Noise, Observations, Scatter, Solver, System};
use crate::posterior::OdePosterior;
use crate::prior::Prior;
use crate::{
    Result,
    answer::Method,
    error,
    fit::Settings,
    flow::{BaseSpec, FlowSpec},
    optim::RateRule,
    path::PathKind,
    schedule::{AdaAnn, Guarded, Schedule, Work},
};

pub(super) const LORENZ: Entry = Entry {
    name: "lorenz",
    summary: "the paper's Example 4: three parameters of the Lorenz attractor, from data",
    parameters: &[Parameter {
        name: "noise-variance",
        default: 0.2,
        description: "variance of the measurements; 0.2 and 0.001 in the paper",
    }],
    presets: &["default", "paper"],
    method: Method::Ladder,
    build: Build::Posterior(lorenz),
};

pub(super) const HIV: Entry = Entry {
    name: "hiv",
    summary: "the paper's Example 5: two mirrored modes of an HIV model, from its virus load",
    parameters: &[Parameter {
        name: "noise-variance",
        default: 0.000_5,
        description: "variance of the measurements",
    }],
    presets: &["default", "paper"],
    method: Method::Ladder,
    build: Build::Posterior(hiv),
};

/// The paper's runs replace larger sums of squares by this value.
const PAPER_CAP: f64 = 10_000.0;

/// Example 4: x' = s(y − x), y' = x(r − z) − y, z' = xy − bz from (1, 1, 1).
fn lorenz(parameters: &[f64], preset: &str, data: &Data) -> Result<Problem> {
    let noise_variance = variance(parameters[0])?;
    let system = System::record(
        &["x", "y", "z"],
        &["s", "b", "r"],
        |_, x, p| {
            let (s, b, r) = (p[0], p[1], p[2]);
            vec![s * (x[1] - x[0]), x[0] * (r - x[2]) - x[1], x[0] * x[1] - b * x[2]]
        },
        0.0,
        |_| vec![1.0.into(); 3],
    )?;
    let design = Design {
        system: &system,
        solver: Solver::Rk4 { step: 0.025 },
        truth: &[10.0, 8.0 / 3.0, 28.0],
        times: (1..=30).map(|i| f64::from(i) / 20.0).collect(),
        observed: &["x", "y", "z"],
        noise_variance,
    };
    let paper = Settings {
        flow: FlowSpec::planar(250),
        base: BaseSpec { mean: vec![10.0], sd: vec![2.0], ..BaseSpec::default() },
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.5 }),
        work: Work { warmup: 500, anneal: 5, refine: 5_000 },
        samples: 100,
        refine_samples: 200,
        variance_samples: 100,
        lr: 0.000_5,
        refine_lr_rule: RateRule::Step { every: 500, factor: 0.75 },
        ..Settings::default()
    };
    // All three are positive; a factor of e either way around 10. The base is the prior.
    let proper = Prior::LogNormal { log_mean: 10.0_f64.ln(), log_sd: 1.0 };
    let own = Settings {
        base: BaseSpec { mean: vec![10.0_f64.ln()], sd: vec![1.0], ..BaseSpec::default() },
        // The posterior is a hundredth to a ten-thousandth as wide as the prior: a rate that falls
        // by a factor of 4,000 removes the jitter of the layers from the result. With the paper's
        // rates the standard deviations are 1.2 to 2.9 times too wide.
        work: Work { warmup: 500, anneal: 10, refine: 12_000 },
        lr: 0.002,
        refine_lr_rule: RateRule::Exponential { factor: 0.999_3 },
        point_clip: Some(10.0),
        ..likelihood_path(&paper, 0.5)
    };
    let choice = if preset == "paper" { ([Prior::Flat; 3], paper) } else { ([proper; 3], own) };
    finish(&design, data, choice, None, &[])
}

/// Example 5: target cells, infected cells and virus; the virus is observed. Changing the signs of
/// p1 and x2_0 together does not change the virus.
fn hiv(parameters: &[f64], preset: &str, data: &Data) -> Result<Problem> {
    let noise_variance = variance(parameters[0])?;
    let (p3, p4, p5) = (4.1, 10.2, 2.6);
    let system = System::record(
        &["x1", "x2", "x3"],
        &["p1", "p2", "x2_0"],
        |_, x, p| {
            let infected = p3 * x[0] * x[2];
            vec![p[0] - p[1] * x[0] - infected, infected - p4 * x[1], p4 * p[0] * x[1] - p5 * x[2]]
        },
        0.0,
        |p| vec![0.0.into(), p[2], 1.0.into()],
    )?;
    let design = Design {
        system: &system,
        solver: Solver::Rk4 { step: 0.05 },
        truth: &[1.2, 0.8, 1.5],
        times: (1..=40).map(|i| f64::from(i) / 20.0).collect(),
        observed: &["x3"],
        noise_variance,
    };
    let paper = Settings {
        flow: FlowSpec::planar(250),
        base: BaseSpec { mean: vec![0.0], sd: vec![2.0], ..BaseSpec::default() },
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.000_05, tau: 0.005 }),
        work: Work { warmup: 1_000, anneal: 5, refine: 5_000 },
        samples: 100,
        refine_samples: 200,
        variance_samples: 100,
        lr: 0.000_5,
        refine_lr_rule: RateRule::Step { every: 1_000, factor: 0.75 },
        ..Settings::default()
    };
    let own = Settings {
        base: BaseSpec { mean: vec![0.0], sd: vec![2.0, 3.0, 2.0], ..BaseSpec::default() },
        // Layers that start at random prefer a side, and the modes' weights inherit that
        // preference: start nearer the identity than the paper does.
        initial_scale: 0.01,
        // Where trajectories almost explode, the gradient is longer than elsewhere by a factor of a
        // million. Shorter limits let the flow escape to where they explode and no gradient pulls
        // it back.
        point_clip: Some(100.0),
        work: Work { warmup: 1_000, anneal: 10, refine: 16_000 },
        samples: 200,
        refine_samples: 400,
        variance_samples: 400,
        refine_lr_rule: RateRule::Exponential { factor: 0.999_7 },
        ..likelihood_path(&paper, 0.05)
    };
    let proper = [2.0, 3.0, 2.0].map(|sd| Prior::Normal { mean: 0.0, sd });
    let choice = if preset == "paper" { ([Prior::Flat; 3], paper) } else { (proper, own) };
    finish(
        &design,
        data,
        choice,
        (preset == "paper").then_some(PAPER_CAP),
        &[[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0]],
    )
}

/// Anneals the likelihood alone, starting from the prior, with an estimate of the spread that is
/// robust to trajectories near an explosion.
fn likelihood_path(paper: &Settings, tau: f64) -> Settings {
    Settings {
        path: PathKind::Likelihood,
        schedule: Guarded { t0: 0.0, tau, ..Guarded::default() }.into(),
        ..paper.clone()
    }
}

fn variance(value: f64) -> Result<f64> {
    if value > 0.0 { Ok(value) } else { Err(error::setting("noise-variance", value, "positive")) }
}

/// Assembles the problem. `mirrors` are the sign changes that map one mode to the others.
fn finish(
    design: &Design,
    data: &Data,
    (priors, settings): ([Prior; 3], Settings),
    cap: Option<f64>,
    mirrors: &[[f64; 3]],
) -> Result<Problem> {
    let table = design.table(data)?;
    let noise = Noise::Gaussian(Scatter::Variance(design.noise_variance));
    let observations = design.observations(&table, noise)?;
    let floor = cap.map(|cap| capped(&observations, design.noise_variance, cap));
    let mut posterior = OdePosterior::new(design.system, design.solver, observations, &priors)?;
    let known = known(&posterior, design.truth, mirrors);
    if let Some(floor) = floor {
        posterior = posterior.with_floor(floor);
    }
    posterior = posterior.with_its_steps();
    let dynamics = Some(Dynamics::new(design, &table.names));
    Ok(Problem { target: Box::new(posterior), known, settings, data: Some(table), dynamics })
}

/// The log likelihood of a sum of squares.
fn capped(observations: &Observations, variance: f64, sum_of_squares: f64) -> f64 {
    let count = observations.count() as f64;
    -0.5 * (sum_of_squares / variance + count * (std::f64::consts::TAU * variance).ln())
}

/// Exact moments by quadrature around the mode near the truth, and around its mirror images.
fn known(posterior: &OdePosterior, truth: &[f64], mirrors: &[[f64; 3]]) -> Known {
    let Some(one) = quadrature::moments(posterior, truth) else { return Known::default() };
    let images = if mirrors.is_empty() { &[[1.0; 3]][..] } else { mirrors };
    let share = 1.0 / images.len() as f64;
    let turned = |values: &[f64], signs: &[f64; 3]| -> Vec<f64> {
        values.iter().zip(signs).map(|(x, sign)| x * sign).collect()
    };
    let mode = |signs| {
        Mode::new(turned(&one.peak, signs), share)
            .with_moments(turned(&one.mean, signs), one.sd.clone())
    };
    let modes: Vec<Mode> = images.iter().map(mode).collect();
    let over_images = |d: usize, power: i32| -> f64 {
        images.iter().map(|signs| share * (signs[d] * one.mean[d]).powi(power)).sum()
    };
    let mean: Vec<f64> = (0..3).map(|d| over_images(d, 1)).collect();
    let sd = (0..3).map(|d| (one.sd[d].powi(2) + over_images(d, 2) - mean[d].powi(2)).sqrt());
    Known {
        log_z: Some(one.log_z + (images.len() as f64).ln()),
        sd: Some(sd.collect()),
        mean: Some(mean),
        modes,
        ..Known::default()
    }
}
