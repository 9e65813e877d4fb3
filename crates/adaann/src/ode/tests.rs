//! What only the room can see: windows of the adjoint's tape.

use super::*;
use crate::Batch;
use crate::prior::Prior;
use crate::target::{Evaluation, Target, Weights};

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
    let points = Batch::from_points(2, &[[0.8, 1.3], [1.1, 0.4], [0.1, 2.0]]);
    for solver in [Solver::Rk4 { step: 0.05 }, Solver::ADAPTIVE] {
        let gradient = |window: Option<usize>| {
            let posterior =
                Posterior::with_window(&system, solver, &data, &[Prior::Flat; 2], window)
                    .unwrap()
                    .with_differentiation(Differentiation::Adjoint)
                    .unwrap();
            let mut out = Evaluation::zeros(2, 3);
            let weights = Weights { prior: 1.0, likelihood: 1.0 };
            // Twice, since the second call finds the tape of the first.
            for _ in 0..2 {
                posterior.evaluate(&points, Some(weights), &mut out).unwrap();
            }
            (0..3).map(|i| out.gradient.point(i)).collect::<Vec<_>>()
        };
        let whole = gradient(None);
        for window in [1, 2, 7, 30, 31] {
            assert_eq!(gradient(Some(window)), whole, "{solver:?}, window {window}");
        }
    }
}
