//! Systems with their data, for the tests of solvers and gradients.
#![allow(dead_code, reason = "every test file uses some of them")]

use adaann::Batch;
use adaann::ode::{Noise, Observations, Scatter, Solver, System, solve};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;

/// A system with points to look at it, times, and what is observed of it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) system: System,
    pub(crate) points: Vec<Vec<f64>>,
    pub(crate) times: Vec<f64>,
    pub(crate) observed: Vec<&'static str>,
    pub(crate) step: f64,
}

/// Prey and predators; the prey at the start is a parameter.
pub(crate) fn lotka_volterra() -> Case {
    let system = System::record(
        &["prey", "predators"],
        &["a", "b", "c", "d", "prey_0"],
        |_, x, p| {
            let eaten = x[0] * x[1];
            vec![p[0] * x[0] - p[1] * eaten, p[3] * eaten - p[2] * x[1]]
        },
        0.0,
        |p| vec![p[4], 0.5.into()],
    );
    Case {
        name: "Lotka-Volterra",
        system: system.unwrap(),
        points: vec![vec![1.1, 0.4, 0.7, 0.2, 3.0], vec![0.9, 0.6, 1.3, 0.3, 1.5]],
        times: vec![0.3, 1.0, 1.7, 3.0, 3.0, 4.1],
        observed: vec!["prey", "predators"],
        step: 0.02,
    }
}

/// The paper's fourth example.
pub(crate) fn lorenz() -> Case {
    let system = System::record(
        &["x", "y", "z"],
        &["s", "b", "r"],
        |_, x, p| {
            vec![p[0] * (x[1] - x[0]), x[0] * (p[2] - x[2]) - x[1], x[0] * x[1] - p[1] * x[2]]
        },
        0.0,
        |_| vec![1.0.into(); 3],
    );
    Case {
        name: "Lorenz",
        system: system.unwrap(),
        points: vec![vec![10.2, 2.6, 27.5], vec![9.0, 3.1, 20.0]],
        times: (1..=15).map(|i| 0.05 * i as f64).collect(),
        observed: vec!["x", "y", "z"],
        step: 0.025,
    }
}

/// The paper's fifth example; an initial state is a parameter.
pub(crate) fn hiv() -> Case {
    let system = System::record(
        &["x1", "x2", "x3"],
        &["p1", "p2", "x2_0"],
        |_, x, p| {
            let infected = 4.1 * x[0] * x[2];
            vec![
                p[0] - p[1] * x[0] - infected,
                infected - 10.2 * x[1],
                10.2 * p[0] * x[1] - 2.6 * x[2],
            ]
        },
        0.0,
        |p| vec![0.0.into(), p[2], 1.0.into()],
    );
    Case {
        name: "HIV",
        system: system.unwrap(),
        points: vec![vec![1.3, 0.7, 1.4], vec![-0.8, 1.5, -2.0]],
        times: (1..=40).map(|i| 0.05 * i as f64).collect(),
        observed: vec!["x3"],
        step: 0.05,
    }
}

/// Twenty states, each feeding the next: x_i' = k_{i−1} x_{i−1} − k_i x_i, from x_0 = 1.
pub(crate) fn chain() -> Case {
    const STATES: [&str; 20] = [
        "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x18", "x19",
    ];
    const RATES: [&str; 20] = [
        "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11", "k12", "k13",
        "k14", "k15", "k16", "k17", "k18", "k19",
    ];
    let system = System::record(
        &STATES,
        &RATES,
        |_, x, k| {
            let mut derivative = vec![-k[0] * x[0]];
            derivative.extend((1..20).map(|i| k[i - 1] * x[i - 1] - k[i] * x[i]));
            derivative
        },
        0.0,
        |_| (0..20).map(|i| if i == 0 { 1.0.into() } else { 0.0.into() }).collect(),
    );
    let rate = |i: usize| 1.0 + 0.13 * i as f64;
    Case {
        name: "chain",
        system: system.unwrap(),
        points: vec![(0..20).map(rate).collect(), (0..20).map(|i| rate(19 - i)).collect()],
        times: vec![0.5, 2.0, 5.0],
        observed: vec!["x0", "x3", "x19"],
        step: 0.05,
    }
}

/// The solution of [`chain`] for rates that differ (Bateman's):
/// x_n(t) = k_0 ⋯ k_{n−1} Σ_i e^{−k_i t} / Π_{j≠i} (k_j − k_i).
pub(crate) fn bateman(k: &[f64], n: usize, t: f64) -> f64 {
    let rates = &k[..=n];
    let factor: f64 = rates[..n].iter().product();
    let term = |i: usize| {
        let others = rates.iter().enumerate().filter(|(j, _)| *j != i);
        (-rates[i] * t).exp() / others.map(|(_, kj)| kj - rates[i]).product::<f64>()
    };
    factor * (0..=n).map(term).sum::<f64>()
}

/// x' = cos(t) x with a time that matters: x(t) = x_0 e^(a sin t).
pub(crate) fn driven() -> System {
    System::record(
        &["x"],
        &["a", "x_0"],
        |t, x, p| vec![p[0] * t.cos() * x[0]],
        0.0,
        |p| vec![p[1]],
    )
    .unwrap()
}

/// x' = a x² from 1, which ends at t = 1/a.
pub(crate) fn explosive() -> System {
    System::record(&["x"], &["a"], |_, x, p| vec![p[0] * x[0] * x[0]], 0.0, |_| vec![1.0.into()])
        .unwrap()
}

impl Case {
    /// Data that no point fits exactly, with every seventh measurement missing.
    pub(crate) fn observations(&self) -> Observations {
        let truth = Batch::from_points(self.points[0].len(), &self.points[..1]);
        let solution = solve(&self.system, &Solver::ADAPTIVE, &truth, &self.times).unwrap();
        let mut values = Vec::new();
        for states in &solution.states {
            for name in &self.observed {
                let row = self.system.states().iter().position(|state| state == name).unwrap();
                let n = values.len();
                let y = states.row(row)[0] * (1.0 + 0.1 * (n as f64).sin()) + 0.01;
                values.push(if n % 7 == 5 { f64::NAN } else { y });
            }
        }
        let noise = Noise::Gaussian(Scatter::Variance(0.3));
        Observations::of_states(&self.system, &self.observed, noise, &self.times, &values).unwrap()
    }

    pub(crate) fn posterior(&self, solver: Solver) -> OdePosterior {
        let priors = vec![Prior::Normal { mean: 1.0, sd: 10.0 }; self.system.parameters().len()];
        OdePosterior::new(&self.system, solver, self.observations(), &priors).unwrap()
    }
}
