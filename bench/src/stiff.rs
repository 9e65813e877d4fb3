//! Solvers on a stiff posterior, and the cost of their steps by the number of states.

use adaann::Batch;
use adaann::ode::{Noise, Observations, Scatter, Solver, System, solve};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::target::{Evaluation, Target, Weights};
use std::f64::consts::LN_10;
use std::time::Instant;

/// The number of points of a batch.
const POINTS: usize = 256;

/// Prints both tables.
pub(crate) fn run() {
    robertson();
    states();
}

/// Robertson's reactions with data at three times, in decimal logarithms of the rates.
fn robertson() {
    println!("Robertson to t = 400, {POINTS} points with gradient");
    println!("solver      relative  steps  milliseconds");
    let system = System::record(
        &["a", "b", "c"],
        &["k1", "k2", "k3"],
        |_, x, p| {
            let k = [0, 1, 2].map(|j| (LN_10 * p[j]).exp());
            let lost = k[0] * x[0] - k[2] * x[1] * x[2];
            let made = k[1] * x[1] * x[1];
            vec![-lost, lost - made, made]
        },
        0.0,
        |_| vec![1.0.into(), 0.0.into(), 0.0.into()],
    )
    .expect("three states");
    let rates = [0.04_f64, 3e7, 1e4].map(f64::log10);
    let times = [0.4, 40.0, 400.0];
    for relative in [1e-4, 1e-6, 1e-8] {
        let absolute = 1e-6 * relative;
        type Make = fn(f64, f64, usize) -> Solver;
        let solvers: [(&str, Make); 3] = [
            ("Rosenbrock", |relative, absolute, most_steps| Solver::Rosenbrock {
                relative,
                absolute,
                most_steps,
            }),
            ("auto", |relative, absolute, most_steps| Solver::Auto {
                relative,
                absolute,
                most_steps,
            }),
            ("explicit", |relative, absolute, most_steps| Solver::DormandPrince {
                relative,
                absolute,
                most_steps,
            }),
        ];
        for (name, solver) in solvers {
            // Half a million steps at any tolerance, which takes a minute each.
            if name == "explicit" && relative != 1e-6 {
                continue;
            }
            let steps = steps(&system, &rates, &times, |most| solver(relative, absolute, most));
            let posterior = posterior(&system, solver(relative, absolute, 10 * steps), &times);
            let time = milliseconds(&posterior, &around(&rates, 0.2));
            println!("{name:<11} {relative:>8.0e} {steps:>6} {time:>13.2}");
        }
    }
}

/// Systems in which every state depends on all others.
fn states() {
    println!("\n50 times, 64 points with gradient, five parameters");
    println!("states  solver      compile  milliseconds");
    for states in [3, 8, 16, 32] {
        let names: Vec<String> = (0..states).map(|i| format!("x{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let system = System::record(
            &names,
            &["a", "b", "c", "d", "e"],
            |_, x, p| {
                let rate = |i: usize| {
                    let weight = |j: usize| ((i * 7 + j * 3) as f64).sin() / states as f64;
                    let seen = (0..states).map(|j| weight(j) * p[1 + (i + j) % 4] * x[j] * x[i]);
                    p[0] * (1.0 - x[i]) + 0.1 * p[i % 5] + seen.sum::<adaann::Expr<'_>>()
                };
                (0..states).map(rate).collect()
            },
            0.0,
            |_| vec![0.5.into(); states],
        )
        .expect("a rate for each state");
        let times: Vec<f64> = (1..=50).map(|i| 0.02 * f64::from(i)).collect();
        let (relative, absolute, most_steps) = (1e-6, 1e-9, 10_000);
        for (name, solver) in [
            ("explicit", Solver::ADAPTIVE),
            ("Rosenbrock", Solver::Rosenbrock { relative, absolute, most_steps }),
        ] {
            let start = Instant::now();
            let posterior = posterior(&system, solver, &times);
            let compile = start.elapsed().as_secs_f64() * 1e3;
            let points = around(&[1.0, 0.5, 0.4, 0.3, 0.2], 0.05);
            let time = milliseconds(&posterior, &points[..64]);
            println!("{states:>6}  {name:<11} {compile:>7.1} {time:>13.2}");
        }
    }
}

/// Data close to the solution at the true parameters.
fn posterior(system: &System, solver: Solver, times: &[f64]) -> OdePosterior {
    let values = vec![0.5; times.len()];
    let noise = Noise::Gaussian(Scatter::Variance(0.01));
    let first = system.states()[0].as_str();
    let data = Observations::of_states(system, &[first], noise, times, &values).expect("finite");
    let priors = vec![Prior::Normal { mean: 0.0, sd: 10.0 }; system.parameters().len()];
    OdePosterior::new(system, solver, data, &priors).expect("settings in range")
}

fn around(middle: &[f64], spread: f64) -> Vec<Vec<f64>> {
    let of = |i: usize, j: usize| middle[j] + spread * ((i * 7 + j * 13) as f64 * 0.37).sin();
    (0..POINTS).map(|i| (0..middle.len()).map(|j| of(i, j)).collect()).collect()
}

/// The smallest number of steps with a finite result.
fn steps(system: &System, point: &[f64], times: &[f64], solver: impl Fn(usize) -> Solver) -> usize {
    let point = Batch::from_points(point.len(), &[point]);
    let suffices =
        |most| !solve(system, &solver(most), &point, times).expect("settings in range").lost[0];
    let mut most = 1;
    while !suffices(most) {
        most *= 2;
    }
    let (mut few, mut many) = (most / 2, most);
    while few + 1 < many {
        let middle = (few + many) / 2;
        if suffices(middle) { many = middle } else { few = middle }
    }
    many
}

/// The fastest of some calls.
fn milliseconds(posterior: &OdePosterior, points: &[Vec<f64>]) -> f64 {
    let points = Batch::from_points(points[0].len(), points);
    let mut out = Evaluation::zeros(points.dim(), points.len());
    let weights = Weights { prior: 1.0, likelihood: 1.0 };
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        posterior.evaluate(&points, Some(weights), &mut out).expect("same shape");
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        if best > 1e3 {
            break;
        }
    }
    best
}
