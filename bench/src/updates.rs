//! Microseconds per parameter update of planar flows, with an optional comparison with JAX and PyTorch.

use crate::peers;
use adaann::{
    Instructions, Program, Settings,
    fit::fit,
    flow::{Activation, BaseSpec, FlowSpec, Precision},
    program::log_sum_exp,
    registry::{self, Choices},
    schedule::{Schedule, Work},
    target::Target,
};
use std::{f64::consts::PI, time::Instant};

/// A problem: the same in `peers/problems.py`.
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    pub(crate) layers: usize,
    pub(crate) points: usize,
    base: BaseSpec,
    target: Box<dyn Target>,
}

/// Which problems to measure.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Closed forms, whose time is mostly that of the flow.
    Densities,
    /// Posteriors of dynamical systems, and a closed form of their dimension.
    Odes,
}

impl Kind {
    /// The arguments of the scripts of peers.
    pub(crate) fn flag(self) -> Option<&'static str> {
        (self == Self::Odes).then_some("--odes")
    }

    fn problems(self) -> Vec<Problem> {
        match self {
            Self::Densities => densities(),
            Self::Odes => odes(),
        }
    }
}

/// The posteriors of the paper with its settings. The last closed form measures the flow alone.
fn odes() -> Vec<Problem> {
    let posterior = |name: &'static str| {
        let choices = Choices { preset: Some("paper".into()), ..Choices::default() };
        let problem = registry::find(name).and_then(|entry| entry.choose(&choices));
        let registry::Problem { target, settings, .. } = problem.expect("registered");
        Problem { name, layers: 250, points: 100, base: settings.base, target }
    };
    let mut problems = vec![posterior("hiv"), posterior("lorenz")];
    problems.extend(densities().pop());
    problems
}

fn densities() -> Vec<Problem> {
    let bimodal = || Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    let mixture = Program::record(2, |z| {
        let mode = |u: f64| (8.0 / PI).ln() - 16.0 * ((z[0] - u).square() + (z[1] - 0.5).square());
        log_sum_exp(&[mode(-1.5), mode(1.5)])
    });
    let gaussian = Program::record(3, |z| {
        0.8 * (z[0] * z[1] + z[1] * z[2]) - (z[0].square() + z[1].square() + z[2].square())
    });
    let problem = |name, layers, points, target: Program| Problem {
        name,
        layers,
        points,
        base: BaseSpec::default(),
        target: Box::new(target),
    };
    vec![
        problem("bimodal", 50, 100, bimodal()),
        problem("bimodal", 50, 1000, bimodal()),
        problem("mixture", 75, 100, mixture),
        problem("gaussian", 250, 100, gaussian),
    ]
}

/// A variant of a problem: threads and precision.
#[derive(Clone, Copy)]
struct Variant {
    threads: usize,
    precision: Precision,
}

const VARIANTS: [Variant; 4] = [
    Variant { threads: 1, precision: Precision::Double },
    Variant { threads: 2, precision: Precision::Double },
    Variant { threads: 1, precision: Precision::Single },
    Variant { threads: 2, precision: Precision::Single },
];

/// Prints the table, with the ratios to the peers on request.
pub(crate) fn run(kind: Kind, with_peers: bool) {
    println!(
        "one update: noise, planar flow, density, gradient, Adam; {}; best of 15 runs",
        Instructions::current()
    );
    println!(
        "                            |      microseconds per update        | ns per point and layer"
    );
    println!(
        "problem     d    L     N     |  f64 x1   f64 x2   f32 x1   f32 x2 |  f64 x1   f32 x1"
    );
    let problems = kind.problems();
    let mut ours = Vec::new();
    for problem in &problems {
        let mut best = [f64::INFINITY; 4];
        // Alternate, so that other load on the machine slows down all of them.
        for _ in 0..15 {
            for (best, variant) in best.iter_mut().zip(VARIANTS) {
                *best = best.min(microseconds(problem, variant));
            }
        }
        let per_point = |us: f64| us * 1e3 / (problem.points * problem.layers) as f64;
        println!(
            "{:<9} {:>3} {:>4} {:>5}     |{:>8.2} {:>8.2} {:>8.2} {:>8.2} |{:>8.2} {:>8.2}",
            problem.name,
            problem.target.dim(),
            problem.layers,
            problem.points,
            best[0],
            best[1],
            best[2],
            best[3],
            per_point(best[0]),
            per_point(best[2])
        );
        ours.push(best);
    }
    if kind == Kind::Odes {
        let alone = ours.last().expect("the flow alone is measured");
        for (problem, best) in problems.iter().zip(&ours) {
            let ratios: Vec<_> =
                best.iter().zip(alone).map(|(a, b)| format!("{:.2}", a / b)).collect();
            println!("{:<9} over the flow alone: {}", problem.name, ratios.join("  "));
        }
    }
    if with_peers {
        peers::compare(kind, &problems, &ours);
    }
}

/// Time per update over about a fiftieth of a second.
fn microseconds(problem: &Problem, variant: Variant) -> f64 {
    let updates = (4_000_000 / (problem.points * problem.layers)).max(20);
    let settings = Settings {
        flow: FlowSpec::Planar {
            layers: problem.layers,
            activation: Activation::Tanh,
            precision: variant.precision,
        },
        schedule: Schedule::None,
        work: Work { warmup: 0, anneal: 1, refine: updates },
        refine_samples: problem.points,
        base: problem.base.clone(),
        ..Settings::default()
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(variant.threads).build().expect("threads");
    pool.install(|| {
        let start = Instant::now();
        fit(&*problem.target, &settings, &mut ()).expect("the problem is well posed");
        start.elapsed().as_secs_f64() * 1e6 / updates as f64
    })
}
