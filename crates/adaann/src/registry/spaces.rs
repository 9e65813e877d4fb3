//! Densities in many dimensions: a funnel, wells, shells.

use super::{
    Known, Mode, Problem, Split,
    entry::whole,
    entry::{Build, Entry, Parameter},
    labelled::Labelled,
    planes::norm,
};
use crate::{
    Expr, Program, Result,
    answer::Method,
    error,
    fit::Settings,
    flow::{BaseSpec, FlowSpec},
    path::PathKind,
    program::log_sum_exp,
    schedule::{AdaAnn, Schedule, Work},
    target::Support,
};
use std::f64::consts::TAU;

pub(super) const FUNNEL: Entry = Entry {
    name: "funnel",
    summary: "Neal's funnel: the first coordinate sets the scale of the others",
    parameters: &[Parameter { name: "dim", default: 10.0, description: "number of dimensions" }],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(funnel),
};

pub(super) const MANY_WELL: Entry = Entry {
    name: "many-well",
    summary: "a product of uneven double wells: 2^(dim/2) modes",
    parameters: &[Parameter {
        name: "dim",
        default: 32.0,
        description: "number of dimensions, even",
    }],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(many_well),
};

pub(super) const SHELLS: Entry = Entry {
    name: "shells",
    summary: "two thin spherical shells in a box, in any dimension",
    parameters: &[Parameter { name: "dim", default: 2.0, description: "number of dimensions" }],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(shells),
};

/// x1 is N(0, 9); the others, given x1, are N(0, e^x1).
///
/// Its only peak is far down the neck, where there is almost no mass, so it is not listed.
fn funnel(parameters: &[f64]) -> Result<Problem> {
    let dim = whole("dim", parameters[0], 2, 1_000)?;
    let others = (dim - 1) as f64;
    let constant = -3.0_f64.ln() - 0.5 * dim as f64 * TAU.ln();
    let target = Program::record(dim, |x| {
        let square: Expr<'_> = x[1..].iter().map(|x| x.square()).sum();
        // Bounded, to avoid 0 · ∞ on the axis.
        let precision = (-x[0]).min(700.0).exp();
        -x[0].square() / 18.0 - 0.5 * others * x[0] - 0.5 * square * precision + constant
    });
    let mut sd = vec![4.5_f64.exp().sqrt(); dim];
    sd[0] = 3.0;
    Ok(Problem {
        target: Box::new(Labelled::numbered(target)),
        known: Known {
            log_z: Some(0.0),
            mean: Some(vec![0.0; dim]),
            sd: Some(sd),
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(100),
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.1, tau: 0.05 }),
            work: Work { warmup: 500, anneal: 5, refine: 8_000 },
            refine_samples: 500,
            clip: Some(100.0),
            ..Settings::default()
        },
    })
}

/// log p = Σ over pairs of −(x⁴ − 6 x² − x/2) − y²/2
fn many_well(parameters: &[f64]) -> Result<Problem> {
    // Of the first coordinate of a pair, and log ∫ e^(−x⁴ + 6 x² + x/2) dx, by quadrature.
    const MEAN: f64 = 1.187_960_983_376_15;
    const SD: f64 = 1.244_409_415_130_30;
    const POSITIVE: f64 = 0.844_307_096_210_825;
    const LOG_WELL: f64 = 9.374_541_173_869_19;
    let dim = whole("dim", parameters[0], 2, 1_024)?;
    if dim % 2 == 1 {
        return Err(error::setting("dim", dim, "even: wells come in pairs of coordinates"));
    }
    let target = Program::record(dim, |x| {
        let pairs = x.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        pairs.map(|(x, y)| -(x.powi(4) - 6.0 * x.square() - 0.5 * x) - 0.5 * y.square()).sum()
    });
    let every_pair = |x: f64, y: f64| Some([x, y].repeat(dim / 2));
    let split = |pair| Split { coordinate: 2 * pair, at: 0.0, above: POSITIVE };
    Ok(Problem {
        target: Box::new(Labelled::numbered(target)),
        known: Known {
            log_z: Some((dim / 2) as f64 * (LOG_WELL + 0.5 * TAU.ln())),
            mean: every_pair(MEAN, 0.0),
            sd: every_pair(SD, 1.0),
            splits: (0..dim / 2).map(split).collect(),
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(200),
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.1 }),
            work: Work { warmup: 500, anneal: 5, refine: 2_000 },
            refine_samples: 400,
            ..Settings::default()
        },
    })
}

/// Shells around ±3.5 on the first axis, radius 2, width 0.1, under a uniform prior on [−6, 6]^d.
///
/// The mass of one is S_d E[ρ^(d−1)] with ρ ~ N(2, 0.1²) and S_d the surface of the unit sphere;
/// the box ends 5 standard deviations away.
fn shells(parameters: &[f64]) -> Result<Problem> {
    const CENTRE: f64 = 3.5;
    const RADIUS: f64 = 2.0;
    const WIDTH: f64 = 0.1;
    const BOX: f64 = 6.0;
    let dim = whole("dim", parameters[0], 2, 100)?;
    let log_prior = -(dim as f64) * (2.0 * BOX).ln();
    let target = Program::record_parts(dim, |x| {
        let shell = |centre: f64| {
            let mut c = vec![0.0; dim];
            c[0] = centre;
            -0.5 * ((norm(x, &c) - RADIUS) / WIDTH).square() - 0.5 * (TAU * WIDTH * WIDTH).ln()
        };
        let largest = x.iter().map(|x| x.abs()).reduce(|a, b| a.max(b)).expect("dim is positive");
        let prior = largest.le(BOX).select(log_prior, f64::NEG_INFINITY);
        (prior, log_sum_exp(&[shell(-CENTRE), shell(CENTRE)]))
    });
    let moments = normal_moments(RADIUS, WIDTH, dim + 1);
    let square = moments[dim + 1] / moments[dim - 1] / dim as f64;
    let mut sd = vec![square.sqrt(); dim];
    sd[0] = (CENTRE * CENTRE + square).sqrt();
    let mode = |side: f64| {
        let mut location = vec![0.0; dim];
        location[0] = side * (CENTRE + RADIUS);
        Mode::new(location, 0.5)
    };
    Ok(Problem {
        target: Box::new(Labelled::numbered(target).on(Support::Between(-BOX, BOX))),
        known: Known {
            log_z: Some(2.0_f64.ln() + log_sphere(dim) + moments[dim - 1].ln() + log_prior),
            mean: Some(vec![0.0; dim]),
            sd: Some(sd),
            modes: vec![mode(-1.0), mode(1.0)],
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(75),
            base: BaseSpec { sd: vec![1.5], ..BaseSpec::default() },
            initial_scale: 0.05,
            path: PathKind::Likelihood,
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.0, tau: 0.01 }),
            work: Work { warmup: 1_000, anneal: 5, refine: 6_000 },
            samples: 300,
            refine_samples: 500,
            lr: 0.002,
            ..Settings::default()
        },
    })
}

/// E[ρᵏ] for k up to `most` and ρ ~ N(mean, sd²): m_k = mean m_(k−1) + (k − 1) sd² m_(k−2).
fn normal_moments(mean: f64, sd: f64, most: usize) -> Vec<f64> {
    let mut moments = vec![1.0, mean];
    for k in 2..=most {
        moments.push(mean * moments[k - 1] + (k - 1) as f64 * sd * sd * moments[k - 2]);
    }
    moments
}

/// log of the surface of the unit sphere in `dim` dimensions, 2 π^(d/2)/Γ(d/2), by
/// S_(d+2) = S_d · 2π/d from S_1 = 2 and S_2 = 2π.
fn log_sphere(dim: usize) -> f64 {
    let mut log_surface = if dim % 2 == 1 { 2.0_f64.ln() } else { TAU.ln() };
    for d in ((2 - dim % 2)..dim).step_by(2) {
        log_surface += (TAU / d as f64).ln();
    }
    log_surface
}
