//! Unit tests of the adjoint's windows, which are private.

use super::*;
use crate::batch::PAD;
use crate::program::{Block, Function, Graph, Rows};
use crate::simd::{Kernel, dispatch};
use fearless_simd::Simd;

/// Log likelihood and derivatives of a block of samples, computed twice, since the second run
/// reuses the tape of the first.
struct Twice<'a>(&'a Likelihood, &'a [Block]);

impl Kernel for Twice<'_> {
    type Output = Vec<Block>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Block> {
        let Self(likelihood, parameters) = self;
        let (mut room, mut sums) = (likelihood.room(), Rows::zeros(1 + parameters.len()));
        for _ in 0..2 {
            let lost = likelihood.run(simd, &mut room, |j| parameters[j], PAD, true, &mut sums);
            assert_eq!(lost, [false; PAD]);
        }
        sums.to_vec()
    }
}

/// Windows shorter than the solution must not change a bit of the gradient.
#[test]
fn short_windows_give_the_same_gradient() {
    let system = System::record(
        &["x", "y"],
        &["a", "b"],
        |t, x, p| vec![p[0] * x[1] + t.cos(), -p[1] * x[0] * x[0]],
        0.0,
        |p| vec![p[0], 1.0.into()],
    )
    .unwrap();
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let times = [0.0, 0.3, 0.31, 1.0, 1.5];
    let data = Observations::of_states(&system, &["x"], noise, &times, &[1.0, 0.9, 1.1, 0.7, 0.2])
        .unwrap();
    let measured = data.measured(&system);
    let parameters =
        [[0.8, 1.1, 0.1], [1.3, 0.4, 2.0]].map(|row| std::array::from_fn(|i| row[i % 3]));
    let (relative, absolute, most_steps) = (1e-6, 1e-9, 10_000);
    for solver in [
        Solver::Rk4 { step: 0.05 },
        Solver::ADAPTIVE,
        Solver::Rosenbrock { relative, absolute, most_steps },
    ] {
        let gradient = |window: Option<usize>| {
            let mut likelihood = Likelihood::new(&system, &solver, &measured, window).unwrap();
            likelihood.set_differentiation(Differentiation::Adjoint).unwrap();
            dispatch(Twice(&likelihood, &parameters))
        };
        let whole = gradient(None);
        assert!(whole.as_flattened().iter().all(|x| x.is_finite() && *x != 0.0));
        for window in [1, 2, 7, 30, 31] {
            assert_eq!(gradient(Some(window)), whole, "{solver:?}, window {window}");
        }
    }
}

/// The same if samples switch methods, each at its own time.
#[test]
fn short_windows_give_the_same_gradient_of_samples_that_go_over() {
    let system = System::record(
        &["x", "y"],
        &["log_rate", "b"],
        |t, x, p| vec![p[0].exp() * (t.cos() - x[0]), p[1] * x[0] - x[1]],
        0.0,
        |p| vec![p[1], 0.0.into()],
    )
    .unwrap();
    let noise = Noise::Gaussian(Scatter::Variance(0.1));
    let data = Observations::of_states(&system, &["y"], noise, &[0.3, 2.0, 5.0], &[0.1, 0.7, 0.4]);
    let measured = data.unwrap().measured(&system);
    let parameters = [
        std::array::from_fn(|i| [1.0, 8.0, 5.5, 11.0][i % 4]),
        std::array::from_fn(|i| 1.0 + 0.1 * i as f64),
    ];
    let gradient = |window: Option<usize>| {
        let mut likelihood = Likelihood::new(&system, &Solver::AUTO, &measured, window).unwrap();
        likelihood.set_differentiation(Differentiation::Adjoint).unwrap();
        dispatch(Twice(&likelihood, &parameters))
    };
    let whole = gradient(None);
    assert!(whole.as_flattened().iter().all(|x| x.is_finite() && *x != 0.0));
    for window in [1, 7, 64, 250] {
        assert_eq!(gradient(Some(window)), whole, "window {window}");
    }
}

/// The same if states jump, at stops and at sample-dependent times, for two subjects.
#[test]
fn short_windows_give_the_same_gradient_through_events() {
    let states = ["x".to_owned(), "y".to_owned()];
    let jump = Jump {
        to: Function::record(5, |z| vec![z[0] / (1.0 + z[0] * z[2]), z[1] + z[4]]),
        numbers: 1,
    };
    let equations = |moves: bool| Equations {
        derivative: Function::record(6, |z| {
            vec![z[3] * z[2] + z[0].cos() + z[5], -z[4] * z[1] * z[1]]
        }),
        stretch: 1,
        start: 0.0,
        initial: Function::record(2, |p| vec![p[0], 1.0.into()]),
        jumps: vec![jump.clone()],
        moves,
    };
    let mut graph = Graph::new();
    let (x, y) = (graph.input(0), graph.uniform(0));
    let residual = graph.sub(x, y);
    let square = graph.mul(residual, residual);
    let stop = |time: f64, does: Does| Stop { time, stretch: vec![0.1 * time], does };
    let course = |shift: f64, moving: Vec<Moving>| Course {
        start: 0.0,
        arguments: vec![0, if shift > 0.0 { 1 } else { 2 }],
        stops: vec![
            stop(0.0, Does::Jump(0, vec![0.5])),
            stop(0.3 + shift, Does::Observe(0, vec![1.0])),
            stop(0.7, Does::Jump(0, vec![-0.3])),
            stop(0.7, Does::Observe(0, vec![0.8])),
            stop(0.7, Does::Jump(0, vec![0.2])),
            stop(1.5, Does::Observe(0, vec![0.2])),
        ],
        moving,
    };
    let late =
        |after: f64| Moving { at: 1, after, opens: f64::NEG_INFINITY, jump: 0, numbers: vec![0.4] };
    let parameters: [Block; 3] = [[0.8, 1.1, 0.1], [0.35, 0.4, 0.9], [1.3, 0.4, 0.7]]
        .map(|row| std::array::from_fn(|i| row[i % 3]));
    let (relative, absolute, most_steps) = (1e-6, 1e-9, 10_000);
    for (solver, moves) in [
        (Solver::Rk4 { step: 0.05 }, false),
        (Solver::ADAPTIVE, true),
        (Solver::AUTO, true),
        (Solver::Rosenbrock { relative, absolute, most_steps }, true),
    ] {
        let system = System::from_functions(&states, 2, equations(moves)).unwrap();
        let moving = if moves { vec![late(0.2), late(0.0)] } else { Vec::new() };
        let courses = vec![course(0.1, moving), course(0.0, Vec::new())];
        let measured = Measured { patterns: vec![(graph.clone(), square)], courses };
        let gradient = |window: Option<usize>, way: Differentiation| {
            let mut likelihood = Likelihood::new(&system, &solver, &measured, window).unwrap();
            likelihood.set_differentiation(way).unwrap();
            dispatch(Twice(&likelihood, &parameters))
        };
        let whole = gradient(None, Differentiation::Adjoint);
        assert!(whole.as_flattened().iter().all(|x| x.is_finite() && *x != 0.0));
        for window in [1, 2, 7, 30] {
            assert_eq!(
                gradient(Some(window), Differentiation::Adjoint),
                whole,
                "{solver:?}, {window}"
            );
        }
        // Both methods are exact, but sum in another order.
        let forward = gradient(None, Differentiation::Forward);
        for (a, b) in forward.as_flattened().iter().zip(whole.as_flattened()) {
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{solver:?}: {a} is not {b}");
        }
    }
}
