//! Microseconds per parameter update of flows built on networks, with an optional comparison with JAX.

use crate::peers;
use adaann::{
    Batch, Buffer, Instructions, Program, Settings,
    fit::{Event, Observer, fit},
    flow::{Autoregressive, FlowSpec, Hidden, RealNvp, SplineSpec, UnitActivation, Weights},
    program::log_sum_exp,
    schedule::{Schedule, Work},
    support::simd::{F64, Kernel, Lane},
    target::Target,
};
use fearless_simd::Simd;
use std::{
    collections::HashMap, f64::consts::PI, hint::black_box, ops::ControlFlow, time::Instant,
};

/// A problem: the same in `peers/jax_flows.py`.
pub(crate) struct Problem {
    pub(crate) name: &'static str,
    points: usize,
    flow: FlowSpec,
    target: Program,
    /// Multiplications of the dense layers for a point, forward and backward: three for each weight.
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
    let units = |units| Hidden { units, activation: UnitActivation::Relu, ..Hidden::default() };
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
        // Masks keep about half of the products.
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

/// Prints the table, with the ratios to JAX on request.
pub(crate) fn run(only: Option<&str>, with_peers: bool) {
    let peak = peak();
    println!("one update: noise, flow, density, gradient, Adam; {}", Instructions::current());
    println!("peak of multiply-adds: {:.1} Gflop/s x1, {:.1} x2", peak[0], peak[1]);
    println!("                          |   us per update   |  per cent of the peak: layers alone");
    println!("problem          d     N  |     x1       x2  |  x1, update x1, update x2");
    let mut fastest = HashMap::new();
    for problem in problems().iter().filter(|problem| only.is_none_or(|only| only == problem.name))
    {
        let mut best = [f64::INFINITY; 3];
        for _ in 0..7 {
            best[0] = best[0].min(microseconds(problem, 1));
            best[1] = best[1].min(microseconds(problem, 2));
            best[2] = best[2].min(layers_alone(problem));
        }
        let flops = 2.0 * (problem.products * problem.points) as f64;
        let share = |us: f64, peak: f64| 100.0 * flops / us / 1e3 / peak;
        println!(
            "{:<14} {:>3} {:>5}  |{:>8.0} {:>8.0}  |{:>5.0} {:>10.0} {:>10.0}",
            problem.name,
            problem.target.dim(),
            problem.points,
            best[0],
            best[1],
            share(best[2], peak[0]),
            share(best[0], peak[0]),
            share(best[1], peak[1]),
        );
        fastest.insert(problem.name, best[0].min(best[1]));
    }
    if !with_peers {
        return;
    }
    println!("\npeer         problem         microseconds   ratio   variant");
    for line in peers::lines("jax_flows.py", None) {
        let Some(ours) = fastest.get(line.problem.as_str()) else { continue };
        println!(
            "{:<12} {:<14} {:>13.1} {:>7.1}   {}",
            line.framework,
            line.problem,
            line.microseconds,
            line.microseconds / ours,
            line.variant
        );
    }
}

/// Microseconds of the layers alone for all points, forward and backward on one thread, without noise, density or
/// optimizer. Measured on one tile.
fn layers_alone(problem: &Problem) -> f64 {
    let dim = problem.target.dim();
    let stack = problem.flow.build(dim).expect("the flow is well posed");
    let points = problem.points.min(stack.grain().tile);
    let mut parameters = vec![0.0; stack.parameter_len()];
    // Arbitrary distinct numbers.
    let mut angle = 0.0_f64;
    let mut normal = || {
        angle += 1.0;
        (angle * angle).sin()
    };
    stack.initialise(0.1, &mut normal, &mut parameters);
    let mut derived = Buffer::zeros(stack.derived_len());
    stack.prepare(&parameters, &mut derived);
    let weights = Weights { parameters: &parameters, derived: &derived };
    let mut start = Batch::zeros(dim, points);
    for d in 0..dim {
        start.row_mut(d).fill_with(&mut normal);
    }
    let mut z = start.clone();
    let mut g_z = start.clone();
    let mut log_det = Buffer::zeros(z.padded_len());
    let mut tape = Buffer::zeros(stack.tape_len(z.padded_len()));
    let mut sums = Buffer::zeros(stack.sums_len());
    let rounds = 10;
    let mut pass = || {
        stack.forward(weights, &mut z, &mut log_det, Some(&mut tape));
        stack.clear(&mut sums);
        stack.backward(weights, &mut z, &mut g_z, &log_det, &tape, &mut sums);
    };
    pass();
    let clock = Instant::now();
    for _ in 0..rounds {
        pass();
    }
    let share = points as f64 / problem.points as f64;
    clock.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / share
}

/// Updates before the clock starts, to exclude the allocation of memory and the initial parameters.
const BEFORE: usize = 5;

/// Starts a clock after the first updates of a run.
#[derive(Default)]
struct Clock {
    updates: usize,
    start: Option<Instant>,
}

impl Observer for Clock {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::Update { .. } = event {
            self.updates += 1;
            if self.updates == BEFORE {
                self.start = Some(Instant::now());
            }
        }
        ControlFlow::Continue(())
    }
}

/// Time per update over about a fifth of a second.
fn microseconds(problem: &Problem, threads: usize) -> f64 {
    let updates = (4_000_000_000 / (problem.products * problem.points)).clamp(20, 2000);
    let settings = Settings {
        flow: problem.flow.clone(),
        schedule: Schedule::None,
        work: Work { warmup: 0, anneal: 1, refine: BEFORE + updates },
        refine_samples: problem.points,
        lr: 0.001,
        ..Settings::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let mut clock = Clock::default();
        fit(&problem.target, &settings, &mut clock).expect("the problem is well posed");
        let start = clock.start.expect("the run was long enough");
        start.elapsed().as_secs_f64() * 1e6 / updates as f64
    })
}

/// Gflop/s of independent fused multiply-adds, on one thread and on two at once.
fn peak() -> [f64; 2] {
    let alone = peak_of_one();
    let (a, b) = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("threads")
        .install(|| rayon::join(peak_of_one, peak_of_one));
    [alone, a + b]
}

fn peak_of_one() -> f64 {
    (0..20).map(|_| adaann::support::simd::dispatch(Multiply)).fold(0.0, f64::max)
}

struct Multiply;

impl Kernel for Multiply {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let factor = F64::<S>::splat(simd, black_box(0.999));
        let mut sums = [F64::<S>::splat(simd, black_box(1.0)); 12];
        let rounds = 1_000_000;
        let start = Instant::now();
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, factor);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let mut total = F64::<S>::splat(simd, 0.0);
        for sum in sums {
            total = total + sum;
        }
        black_box(total.add_lanes());
        (rounds * sums.len() * 2 * <F64<S> as Lane<S>>::LEN) as f64 / seconds / 1e9
    }
}
