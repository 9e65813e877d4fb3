//! Examples 1 to 3 of the paper, with its settings.

use super::{
    Known, Mode, Problem,
    entry::{Build, Entry, Parameter},
    gaussians::Equal,
    labelled::Labelled,
};
use crate::{
    Result,
    answer::Method,
    error,
    fit::Settings,
    flow::{BaseSpec, FlowSpec},
    optim::RateRule,
    schedule::{AdaAnn, Schedule, Work},
    target::hand,
};

pub(super) const BIMODAL: Entry = Entry {
    name: "bimodal",
    summary: "the paper's Example 1: two modes on a line, exp(-((z + 2)^2 - 3)^2)",
    parameters: &[],
    presets: &["paper"],
    method: Method::Adaann,
    build: Build::Density(bimodal),
};

pub(super) const MIXTURE1D: Entry = Entry {
    name: "mixture1d",
    summary: "the paper's Example 2, symmetric: two Gaussians of variance 1/16 on a line",
    parameters: &[Parameter {
        name: "mu",
        default: 4.0,
        description: "distance between the modes, at -mu/2 and mu/2",
    }],
    presets: &["paper"],
    method: Method::Adaann,
    build: Build::Density(mixture1d),
};

pub(super) const MIXTURE1D_ASYMMETRIC: Entry = Entry {
    name: "mixture1d-asymmetric",
    summary: "the paper's Example 2, asymmetric: one mode at the base's mean, one beside it",
    parameters: &[Parameter {
        name: "mu",
        default: 4.0,
        description: "distance between the modes, at -mu and 0",
    }],
    presets: &["paper"],
    method: Method::Adaann,
    build: Build::Density(mixture1d_asymmetric),
};

pub(super) const MIXTURE2D: Entry = Entry {
    name: "mixture2d",
    summary: "the paper's Example 3: two Gaussians of variance 1/32 in the plane",
    parameters: &[Parameter {
        name: "mu",
        default: 0.5,
        description: "moves the modes apart and up, at (-mu - 1, mu) and (mu + 1, mu)",
    }],
    presets: &["paper"],
    method: Method::Adaann,
    build: Build::Density(mixture2d),
};

/// Example 1. Its settings are the library's defaults, written out because they are the paper's.
fn bimodal(_: &[f64]) -> Result<Problem> {
    // Mean and standard deviation of either half, by quadrature.
    let mode = |side: f64| {
        Mode::new(vec![-2.0 + side * 3.0_f64.sqrt()], 0.5)
            .with_moments(vec![-2.0 + side * 1.690_854_517_670_523], vec![0.219_249_483_598_903])
    };
    Ok(Problem {
        target: Box::new(Labelled::new(hand::Bimodal, ["z"])),
        known: Known {
            log_z: Some(0.047_119_864_711_179_4),
            mean: Some(vec![-2.0]),
            sd: Some(vec![1.705_010_069_174_152]),
            modes: vec![mode(-1.0), mode(1.0)],
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(50),
            base: BaseSpec { sd: vec![2.0], ..BaseSpec::default() },
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.01 }),
            work: Work { warmup: 500, anneal: 2, refine: 8_000 },
            samples: 100,
            refine_samples: 1_000,
            variance_samples: 1_000,
            lr: 0.005,
            refine_lr_rule: RateRule::Step { every: 1_000, factor: 0.5 },
            ..Settings::default()
        },
    })
}

/// Example 2, symmetric.
fn mixture1d(parameters: &[f64]) -> Result<Problem> {
    let mu = distance(parameters[0])?;
    let lr = match mu {
        ..=2.0 => 0.02,
        ..=5.0 => 0.001,
        _ => 0.0005,
    };
    Ok(on_a_line([-mu / 2.0, mu / 2.0], 50, lr))
}

/// Example 2, asymmetric.
fn mixture1d_asymmetric(parameters: &[f64]) -> Result<Problem> {
    let mu = distance(parameters[0])?;
    let lr = match mu {
        ..=2.0 => 0.01,
        ..=3.0 => 0.002,
        _ => 0.001,
    };
    Ok(on_a_line([-mu, 0.0], 75, lr))
}

fn distance(mu: f64) -> Result<f64> {
    if mu >= 0.0 { Ok(mu) } else { Err(error::setting("mu", mu, "0 or more")) }
}

/// eq. GMM: two Gaussians of variance 1/16.
fn on_a_line(means: [f64; 2], layers: usize, lr: f64) -> Problem {
    let mixture = Equal { means: means.map(|z| vec![z]).to_vec(), sd: 0.25 };
    Problem {
        target: Box::new(Labelled::new(mixture.record(), ["z"])),
        known: mixture.known(),
        data: None,
        dynamics: None,
        settings: unrefined(layers, 4.0, 0.005, lr),
    }
}

/// Example 3.
fn mixture2d(parameters: &[f64]) -> Result<Problem> {
    let mu = distance(parameters[0])?;
    let lr = match mu {
        ..=0.0 => 0.001,
        ..=0.5 => 0.0008,
        ..=2.0 => 0.0005,
        _ => 0.0002,
    };
    let means = vec![vec![-mu - 1.0, mu], vec![mu + 1.0, mu]];
    let mixture = Equal { means, sd: (1.0_f64 / 32.0).sqrt() };
    Ok(Problem {
        target: Box::new(Labelled::new(hand::Mixture2d { mu }, ["z1", "z2"])),
        known: mixture.known(),
        data: None,
        dynamics: None,
        settings: unrefined(75, 2.0, 0.01, lr),
    })
}

/// Settings that Examples 2 and 3 share: t = 1 is trained like the earlier values of t.
fn unrefined(layers: usize, base_sd: f64, tau: f64, lr: f64) -> Settings {
    Settings {
        flow: FlowSpec::planar(layers),
        base: BaseSpec { sd: vec![base_sd], ..BaseSpec::default() },
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau }),
        work: Work { warmup: 500, anneal: 5, refine: 5 },
        samples: 100,
        refine_samples: 100,
        variance_samples: 1_000,
        lr,
        refine_lr_rule: RateRule::Constant,
        ..Settings::default()
    }
}
