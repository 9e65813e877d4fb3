//! Shapes in the plane: crescents, rings, a valley, a box of eggs.

use super::{
    Distance, Known, Mode, Problem,
    entry::{Build, Entry},
    labelled::Labelled,
};
use crate::{
    Expr, Program, Result,
    answer::Method,
    fit::Settings,
    flow::{BaseSpec, FlowSpec},
    path::PathKind,
    program::log_sum_exp,
    schedule::{AdaAnn, Schedule, Work},
    target::{Support, hand},
};
use std::f64::consts::{PI, TAU};

pub(super) const TWO_MOONS: Entry = Entry {
    name: "two-moons",
    summary: "two crescents on a circle of radius 2",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(two_moons),
};

pub(super) const RINGS: Entry = Entry {
    name: "rings",
    summary: "four rings around the origin, radii 1 to 4, the outer ones heavier",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(rings),
};

pub(super) const ROSENBROCK: Entry = Entry {
    name: "rosenbrock",
    summary: "Rosenbrock's valley as a density: a thin parabola",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(rosenbrock),
};

pub(super) const EGGBOX: Entry = Entry {
    name: "eggbox",
    summary: "eighteen sharp peaks in a square, ten of them cut by its edges",
    parameters: &[],
    presets: &["default"],
    method: Method::Ladder,
    build: Build::Density(eggbox),
};

/// log p = −((r − 2)/0.2)²/2 + log(e^(−((x − 2)/0.3)²/2) + e^(−((x + 2)/0.3)²/2))
fn two_moons(_: &[f64]) -> Result<Problem> {
    let mode = |x| Mode::new(vec![x, 0.0], 0.5);
    Ok(Problem {
        target: Box::new(Labelled::new(hand::TwoMoons, ["x", "y"])),
        known: Known {
            log_z: Some(0.804_214_448_631_75),
            mean: Some(vec![0.0, 0.0]),
            sd: Some(vec![1.894_276_287_677_9, 0.832_679_409_815_7]),
            modes: vec![mode(-2.0), mode(2.0)],
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(50),
            // A small initial scale and many points: the shares of the modes are settled early, and
            // otherwise by chance.
            initial_scale: 0.05,
            work: Work { warmup: 1_000, anneal: 10, refine: 4_000 },
            samples: 500,
            lr: 0.001,
            ..Settings::default()
        },
    })
}

/// Half the width of a ring.
const RING_SD: f64 = 0.15;

/// log p = log Σ e^(−((r − k)/0.15)²/2) over the radii k = 1, 2, 3, 4.
///
/// A ring has mass 2π ∫ r e^(−((r − k)/s)²/2) dr = 2π k s √2π, up to a relative error of 10⁻¹⁰ at
/// the origin.
fn rings(_: &[f64]) -> Result<Problem> {
    let radii = [1.0, 2.0, 3.0, 4.0];
    let target = Program::record(2, |z| {
        let r = norm(z, &[0.0; 2]);
        log_sum_exp(&radii.map(|k| -0.5 * ((r - k) / RING_SD).square()))
    });
    // E[x²] = E[r²]/2, and E[r²] on ring k is k² + 3 s².
    let square: f64 = radii.iter().map(|k| k * (k * k + 3.0 * RING_SD * RING_SD) / 10.0).sum();
    let mode = |k: f64| Mode::new(vec![k, 0.0], k / 10.0);
    Ok(Problem {
        target: Box::new(Labelled::new(target, ["x", "y"])),
        known: Known {
            log_z: Some((TAU * 10.0 * RING_SD * TAU.sqrt()).ln()),
            mean: Some(vec![0.0, 0.0]),
            sd: Some(vec![(square / 2.0).sqrt(); 2]),
            modes: radii.map(mode).to_vec(),
            distance: Distance::Radial,
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(150),
            base: BaseSpec { sd: vec![2.5], ..BaseSpec::default() },
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.005 }),
            samples: 300,
            work: Work { warmup: 500, anneal: 5, refine: 8_000 },
            ..Settings::default()
        },
    })
}

/// |x − centre|, with gradient 0 at the centre.
pub(super) fn norm<'g>(x: &[Expr<'g>], centre: &[f64]) -> Expr<'g> {
    let square: Expr<'_> = x.iter().zip(centre).map(|(x, c)| (x - *c).square()).sum();
    // Too small to change any other value, but large enough to avoid 0/0 in the gradient.
    (square + f64::MIN_POSITIVE).sqrt()
}

/// log p = −100 (y − x²)² − (1 − x)²: x is N(1, 1/2), and y given x is N(x², 1/200).
fn rosenbrock(_: &[f64]) -> Result<Problem> {
    let target = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        -100.0 * (y - x * x).square() - (1.0 - x).square()
    });
    Ok(Problem {
        target: Box::new(Labelled::new(target, ["x", "y"])),
        known: Known {
            log_z: Some((PI / 10.0).ln()),
            mean: Some(vec![1.0, 1.5]),
            // Var x² = 4 E[x]² Var x + 2 (Var x)²
            sd: Some(vec![0.5_f64.sqrt(), (2.5_f64 + 1.0 / 200.0).sqrt()]),
            modes: vec![Mode::new(vec![1.0, 1.0], 1.0)],
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(75),
            work: Work { warmup: 500, anneal: 5, refine: 8_000 },
            ..Settings::default()
        },
    })
}

/// log likelihood (2 + cos(x/2) cos(y/2))⁵ under a uniform prior on [0, 10π]².
///
/// Peaks are where both cosines are 1 or both −1; edges cut some peaks in halves, corners in
/// quarters.
fn eggbox(_: &[f64]) -> Result<Problem> {
    let side = 10.0 * PI;
    let target = Program::record_parts(2, |z| {
        let (x, y) = (z[0], z[1]);
        let likelihood = (2.0 + (0.5 * x).cos() * (0.5 * y).cos()).powi(5);
        let low = x.min(y).ge(0.0);
        let inside = low.select(x.max(y).le(side).select(1.0, 0.0), 0.0);
        (inside.gt(0.5).select(-2.0 * side.ln(), f64::NEG_INFINITY), likelihood)
    });
    let mut modes = Vec::new();
    for (k, m) in (0..6).flat_map(|k| (0..6).map(move |m| (k, m))).filter(|(k, m)| (k + m) % 2 == 0)
    {
        let kept = |k| if k == 0 || k == 5 { 0.5 } else { 1.0 };
        let location = vec![TAU * f64::from(k), TAU * f64::from(m)];
        modes.push(Mode::new(location, 0.08 * kept(k) * kept(m)));
    }
    Ok(Problem {
        target: Box::new(Labelled::new(target, ["x", "y"]).on(Support::Between(0.0, side))),
        known: Known {
            log_z: Some(235.855_940_332_25),
            mean: Some(vec![side / 2.0; 2]),
            sd: Some(vec![9.398_682_857_855; 2]),
            modes,
            ..Known::default()
        },
        data: None,
        dynamics: None,
        settings: Settings {
            flow: FlowSpec::planar(200),
            path: PathKind::Likelihood,
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.0, tau: 0.005 }),
            work: Work { warmup: 1_000, anneal: 5, refine: 4_000 },
            samples: 200,
            ..Settings::default()
        },
    })
}
