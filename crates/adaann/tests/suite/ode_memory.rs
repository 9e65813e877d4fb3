//! Memory of evaluating a posterior: no allocation after the first call, and at most linear growth.

use crate::support::systems;
use adaann::Batch;
use adaann::ode::{Differentiation, Observations, Solver};
use adaann::ode::{Noise, Scatter};
use adaann::posterior::OdePosterior;
use adaann::prior::Prior;
use adaann::target::{Evaluation, Target, Weights};

const ROSENBROCK: Solver =
    Solver::Rosenbrock { relative: 1e-6, absolute: 1e-9, most_steps: 10_000 };

const WEIGHTS: Weights = Weights { prior: 1.0, likelihood: 1.0 };

/// Allocations and bytes for evaluating `points` points, the first and the second time.
fn measure(posterior: &OdePosterior, points: usize) -> [allocation_counter::AllocationInfo; 2] {
    let case = systems::hiv();
    let points = Batch::from_points(3, &vec![case.points[0].clone(); points]);
    let mut out = Evaluation::zeros(3, points.len());
    [(); 2].map(|()| {
        allocation_counter::measure(|| {
            posterior.evaluate(&points, Some(WEIGHTS), &mut out).unwrap();
        })
    })
}

fn hiv(solver: Solver, way: Differentiation) -> OdePosterior {
    systems::hiv().posterior(solver).with_differentiation(way).unwrap()
}

#[test]
fn a_second_evaluation_allocates_nothing() {
    for solver in [Solver::Rk4 { step: 0.05 }, Solver::ADAPTIVE, Solver::AUTO, ROSENBROCK] {
        for way in [Differentiation::Forward, Differentiation::Adjoint] {
            let [first, second] = measure(&hiv(solver, way), 100);
            assert!(first.count_total > 0, "the counter sees nothing");
            assert_eq!(second.count_total, 0, "{solver:?} {way:?}");
        }
    }
}

/// The tape: states before each step of a block of 32 samples, up to 4 MiB; beyond that only one
/// checkpoint per window.
#[test]
fn memory_grows_with_the_steps_up_to_a_window() {
    let bytes = |step: f64| {
        let posterior = hiv(Solver::Rk4 { step }, Differentiation::Adjoint);
        measure(&posterior, 100)[0].bytes_max as f64
    };
    let (short, long, longer) = (bytes(0.05), bytes(0.000_5), bytes(0.000_25));
    // 4,000 steps of 3 rows of 256 bytes, against 40.
    let tape = 3_960.0 * 3.0 * 256.0;
    // A growing buffer briefly holds both its old and its new content.
    assert!(long - short > 0.9 * tape && long - short < 3.2 * tape, "{short} {long}");
    assert!(longer < 4.0 * (4 << 20) as f64, "{longer}");
    // Blocks of samples run one after another, so their number does not matter.
    let posterior = hiv(Solver::Rk4 { step: 0.05 }, Differentiation::Adjoint);
    let (few, many) = (measure(&posterior, 32)[1], measure(&posterior, 3_200)[1]);
    assert_eq!((few.bytes_max, many.bytes_max), (0, 0));
}

#[test]
fn observations_cost_memory_in_proportion() {
    let case = systems::hiv();
    let bytes = |count: usize| {
        let times: Vec<f64> = (1..=count).map(|i| 2.0 * i as f64 / count as f64).collect();
        let noise = Noise::Gaussian(Scatter::Variance(0.1));
        let values = vec![1.0; count];
        let solver = Solver::Rk4 { step: 2.0 / count as f64 };
        allocation_counter::measure(|| {
            let data = Observations::of_states(&case.system, &["x3"], noise, &times, &values);
            OdePosterior::new(&case.system, solver, data.unwrap(), &[Prior::Flat; 3]).unwrap();
        })
        .bytes_max as f64
    };
    let (a, b, c) = (bytes(1_500), bytes(3_000), bytes(6_000));
    assert!(b < 2.1 * a && c < 2.1 * b, "{a} {b} {c}");
}
