//! Microseconds per parameter update of flows built on networks, alone or beside JAX.

use adaann::{
    Program, Settings,
    fit::fit,
    flow::{Autoregressive, FlowSpec, Hidden, RealNvp, SplineSpec},
    program::log_sum_exp,
    schedule::{Schedule, Work},
    simd::Instructions,
    target::Target,
};
use std::{f64::consts::PI, time::Instant};

/// A problem: the same in `peers/jax_flows.py`.
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    points: usize,
    flow: FlowSpec,
    target: Program,
    /// Multiplications of the dense layers for a point, there and back: three for each weight.
    products: usize,
}

/// Entries of networks with two hidden layers.
fn weights(inputs: usize, hidden: usize, outputs: usize) -> usize {
    inputs * hidden + hidden * hidden + hidden * outputs
}

fn problems() -> Vec<Problem> {
    let mixture = || {
        Program::record(2, |z| {
            let mode =
                |u: f64| (8.0 / PI).ln() - 16.0 * ((z[0] - u).square() + (z[1] - 0.5).square());
            log_sum_exp(&[mode(-1.5), mode(1.5)])
        })
    };
    let gaussian = || {
        Program::record(10, |z| {
            let mut sum = -z[0].square();
            for i in 1..10 {
                sum = sum + 0.8 * z[i - 1] * z[i] - z[i].square();
            }
            sum
        })
    };
    let units = |units| Hidden { units, ..Hidden::default() };
    let realnvp = |name, layers, hidden| Problem {
        name,
        points: 100,
        flow: FlowSpec::RealNvp(RealNvp { layers, hidden: units(hidden), ..RealNvp::default() }),
        target: mixture(),
        products: 3 * 2 * layers * weights(1, hidden, 1),
    };
    let iaf = |name, hidden: Hidden, products| Problem {
        name,
        points: 500,
        flow: FlowSpec::Iaf(Autoregressive { layers: 5, hidden, ..Autoregressive::default() }),
        target: gaussian(),
        products,
    };
    vec![
        realnvp("realnvp-large", 12, 100),
        realnvp("realnvp-small", 6, 10),
        // Masks leave about half of the products.
        iaf("iaf-1", Hidden { layers: 1, ..units(100) }, 3 * 5 * (100 * 10 + 100 * 20) / 2),
        iaf("iaf-2", units(100), 3 * 5 * (100 * 10 + 100 * 100 * 10 / 9 + 100 * 20) / 2),
        Problem {
            name: "spline",
            points: 500,
            flow: FlowSpec::Spline(SplineSpec {
                layers: 4,
                hidden: units(64),
                bound: 5.0,
                ..SplineSpec::default()
            }),
            target: gaussian(),
            products: 3 * 4 * weights(5, 64, 5 * 23),
        },
    ]
}

/// Prints the table, and the ratios to JAX if asked.
pub(crate) fn run(only: Option<&str>) {
    println!("one update: noise, flow, density, gradient, Adam; {}", Instructions::current());
    println!("problem          d     N    us x1    us x2   products at x2, Gflop/s");
    for problem in problems().iter().filter(|problem| only.is_none_or(|only| only == problem.name))
    {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..9 {
            for (best, threads) in best.iter_mut().zip([1, 2]) {
                *best = best.min(microseconds(problem, threads));
            }
        }
        let flops = 2.0 * (problem.products * problem.points) as f64;
        println!(
            "{:<14} {:>3} {:>5} {:>8.0} {:>8.0}   {:>6.1} {:>6.1}",
            problem.name,
            problem.target.dim(),
            problem.points,
            best[0],
            best[1],
            flops / best[0] / 1e3,
            flops / best[1] / 1e3,
        );
    }
}

/// Time per update over about a tenth of a second.
fn microseconds(problem: &Problem, threads: usize) -> f64 {
    let updates = (3_000_000_000 / (problem.products * problem.points)).clamp(20, 2000);
    let settings = Settings {
        flow: problem.flow.clone(),
        schedule: Schedule::None,
        work: Work { warmup: 0, anneal: 1, refine: updates },
        refine_samples: problem.points,
        lr: 0.001,
        ..Settings::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let start = Instant::now();
        fit(&problem.target, &settings, &mut ()).expect("the problem is well posed");
        start.elapsed().as_secs_f64() * 1e6 / updates as f64
    })
}
