//! What only the room can see: windows of the adjoint's tape.

use super::*;
use crate::batch::PAD;
use crate::program::{Block, Rows};
use crate::simd::{Kernel, dispatch};
use fearless_simd::Simd;

/// Log likelihood and derivatives of a block of samples, twice, since the second run finds the tape of
/// the first.
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

/// Windows that are shorter than the solution must not change a bit of the gradient.
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

/// Nor where samples go over from one method to another on the way, each at its own time.
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
