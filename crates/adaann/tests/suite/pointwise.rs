//! Plain functions of one point: equal to the recorded density, for any number of threads.

use crate::support::common::assert_close;
use adaann::{
    Batch, Error, Program, Settings, fit,
    flow::FlowSpec,
    schedule::{AdaAnn, Work},
    support::rng::{Purpose, Stream},
    target::{
        self, Evaluation, Pointwise, Support, Target, Unconstrained, Weights, compare_gradient,
    },
};
use std::sync::Arc;

/// A density without any symmetry: a bent ridge, and −∞ left of x = −4.
fn recorded() -> Program {
    Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let inside = -0.5 * (x - 0.7).square() - 2.0 * (y - 0.3 * x * x).square() + (0.5 * y).sin();
        x.gt(-4.0).select(inside, f64::NEG_INFINITY)
    })
}

fn value(x: &[f64]) -> f64 {
    if x[0] <= -4.0 {
        return f64::NEG_INFINITY;
    }
    let bend = x[1] - 0.3 * x[0] * x[0];
    -0.5 * (x[0] - 0.7).powi(2) - 2.0 * bend * bend + (0.5 * x[1]).sin()
}

fn by_hand() -> Pointwise<'static> {
    target::pointwise(2, |x, gradient| {
        let bend = x[1] - 0.3 * x[0] * x[0];
        gradient[0] = -(x[0] - 0.7) + 2.4 * bend * x[0];
        gradient[1] = -4.0 * bend + 0.5 * (0.5 * x[1]).cos();
        value(x)
    })
}

fn points() -> Batch {
    let mut points = Batch::zeros(2, 300);
    let stream = Stream::new(3, Purpose::Data);
    for d in 0..2 {
        for (i, x) in points.row_mut(d).iter_mut().enumerate() {
            *x = 2.5 * stream.normal_at((2 * i + d) as u64);
        }
    }
    points.set_point(17, &[-5.0, 1.0]);
    points
}

fn evaluate(target: &impl Target, points: &Batch, gradient: Option<Weights>) -> Evaluation {
    let mut out = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(points, gradient, &mut out).unwrap();
    out
}

const WEIGHTS: Weights = Weights { prior: 0.3, likelihood: 0.8 };

/// Differences with h = ∛ε have a truncation error of f'''h²/6, about 1e-10 here, and a rounding
/// error of values up to several hundred over h, 1e-8.
#[test]
fn values_and_gradients_are_those_of_the_recorded_density() {
    let points = points();
    let expected = evaluate(&recorded(), &points, Some(WEIGHTS));
    let cases = [(by_hand(), 1e-12), (target::pointwise_by_differences(2, value), 1e-7)];
    for (target, tolerance) in cases {
        let found = evaluate(&target, &points, Some(WEIGHTS));
        let values = evaluate(&target, &points, None);
        assert_eq!(found.log_likelihood[17], f64::NEG_INFINITY);
        for i in 0..points.len() {
            let (value, exact) = (found.log_likelihood[i], expected.log_likelihood[i]);
            assert!(value == exact || (value - exact).abs() < 1e-13 * (1.0 + exact.abs()));
            assert_eq!(values.log_likelihood[i].to_bits(), value.to_bits());
            assert_eq!(found.log_prior[i], 0.0);
            for d in 0..2 {
                let exact = expected.gradient.row(d)[i];
                let off = (found.gradient.row(d)[i] - exact).abs();
                assert!(off <= tolerance * (1.0 + exact.abs()), "point {i}: off by {off:e}");
            }
        }
    }
}

/// The gradient that a function writes on failure, or beside −∞, is ignored.
#[test]
fn lost_points_have_no_gradient() {
    let points = Batch::from_points(1, &[[1.0], [-1.0], [3.0]]);
    let with_gradient = target::pointwise(1, |x, gradient| {
        gradient[0] = f64::NAN;
        if x[0] < 0.0 { f64::NAN } else { f64::NEG_INFINITY }
    });
    let without = target::pointwise_by_differences(1, |x| x[0].ln());
    let out = evaluate(&with_gradient, &points, Some(WEIGHTS));
    assert!(out.log_likelihood[1].is_nan() && out.log_likelihood[0] == f64::NEG_INFINITY);
    assert_eq!(out.gradient.row(0), [0.0; 3]);
    let out = evaluate(&without, &points, Some(WEIGHTS));
    assert!(out.log_likelihood[1].is_nan());
    assert_eq!(out.gradient.row(0)[1], 0.0);
    assert_close(out.gradient.row(0)[2], 0.8 / 3.0, 1e-9, "the slope of log x");
}

/// Steps stay inside the supports, up to their bounds: log x is never evaluated at x ≤ 0.
#[test]
fn differences_keep_to_the_supports() {
    let inside = target::pointwise_by_differences(2, |x| {
        assert!(x[0] > 0.0 && x[1] > x[0], "outside at {x:?}");
        3.0 * x[0].ln() - x[0] - 0.5 * (x[1] - x[0]).powi(2)
    })
    .with_supports([Support::Above(0.0), Support::After])
    .unwrap();
    let far = Batch::from_points(2, &[[-30.0, -20.0], [0.4, 0.1], [3.0, -8.0]]);
    let target = Unconstrained::new(&inside).unwrap();
    let worst = compare_gradient(&target, &far, &[1.0, 1.0]).unwrap().unwrap();
    assert!(worst.error < 1e-6, "{worst:?}");
}

fn settings() -> Settings {
    Settings {
        flow: FlowSpec::planar(8),
        schedule: AdaAnn { t0: 0.05, tau: 0.3 }.into(),
        work: Work { warmup: 100, anneal: 5, refine: 200 },
        samples: 200,
        refine_samples: 200,
        ..Settings::default()
    }
}

/// The runs differ only by rounding, which grows to at most 1e-6 over a few hundred updates;
/// pointers to the target change nothing.
#[test]
fn a_fit_gives_the_answers_of_the_recorded_density() {
    let draws = |target: &dyn Target| {
        let outcome = fit(target, &settings(), &mut ()).unwrap();
        outcome.approximation(target).unwrap().sample(500, 2).unwrap()
    };
    let expected = draws(&recorded());
    let shared: Arc<dyn Target> = Arc::new(by_hand());
    let by_differences: Box<dyn Target> = Box::new(target::pointwise_by_differences(2, value));
    for (found, tolerance) in [(draws(&shared), 1e-6), (draws(&&by_differences), 1e-4)] {
        for i in 0..500 {
            for (found, exact) in found.x().point(i).iter().zip(expected.x().point(i)) {
                assert_close(*found, exact, tolerance, "a draw");
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let target = by_hand();
    let parameters = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| fit(&target, &settings(), &mut ())).unwrap();
        outcome.flow.parameters().iter().map(|p| p.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(parameters(1), parameters(3));
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let refused = |result: Result<Pointwise, Error>| match result {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted"),
    };
    assert!(refused(by_hand().with_names(["a"])).contains("2, one for each coordinate"));
    let three = [const { Support::Real }; 3];
    assert!(refused(by_hand().with_supports(three)).contains("2, one for each coordinate"));
    let reversed = [Support::Real, Support::Between(2.0, 1.0)];
    assert!(refused(by_hand().with_supports(reversed)).contains("in order"));
    let named = by_hand().with_names(["a", "b"]).unwrap();
    assert_eq!(named.names(), ["a", "b"]);
    let wide = Batch::zeros(3, 1);
    let mut out = Evaluation::zeros(3, 1);
    assert!(named.evaluate(&wide, None, &mut out).is_err());
}
