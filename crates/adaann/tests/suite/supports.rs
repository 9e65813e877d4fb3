//! Bounded coordinates in unconstrained form, and the Laplace approximation there.

use crate::support::common;
use adaann::{
    Batch, Program, Result,
    registry::Gaussian,
    support::hand,
    target::{Evaluation, Support, Target, Unconstrained, Weights, Workspace, laplace},
};
use common::assert_close;

const SUPPORTS: [Support; 5] = [
    Support::Real,
    Support::Above(-1.5),
    Support::Below(2.0),
    Support::Between(-3.0, 1.0),
    Support::Between(1e3, 1e3 + 1e-2),
];

/// A density whose coordinates live in the given supports.
struct Bounded(Program, Vec<Support>);

impl Target for Bounded {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        weights: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, weights, out)
    }

    fn has_prior(&self) -> bool {
        self.0.has_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.1[d].clone()
    }
}

/// Prior and likelihood without symmetry, on one coordinate.
fn on_a(support: Support) -> Bounded {
    let program = Program::record_parts(1, |x| {
        (-0.5 * (x[0] - 0.3).square(), (0.7 * x[0]).sin() - 0.1 * x[0].square())
    });
    Bounded(program, vec![support])
}

const AT: [f64; 7] = [-20.0, -3.0, -0.4, 0.0, 0.7, 2.5, 15.0];

fn single(values: &[f64]) -> Batch {
    Batch::from_points(1, &values.iter().map(|x| [*x]).collect::<Vec<_>>())
}

#[test]
fn onto_the_support_and_back() {
    for support in SUPPORTS {
        let target = on_a(support.clone());
        let target = Unconstrained::new(&target).unwrap();
        let (theta, _) = target.constrain(&single(&AT));
        let inner = [-3.0, -0.4, 0.0, 0.7, 2.5];
        let (inside, _) = target.constrain(&single(&inner));
        assert!(
            inside.row(0).iter().all(|x| Support::contain(std::slice::from_ref(&support), &[*x])),
            "{support}"
        );
        let back = target.unconstrain(&inside).unwrap();
        for (z, again) in inner.iter().zip(back.row(0)) {
            // Near 1000, a unit in the last place of theta is 1e-11 of the narrow support.
            let tolerance = if support == SUPPORTS[4] { 1e-9 } else { 1e-13 };
            assert_close(*z, *again, tolerance, &support.to_string());
        }
        let falls = matches!(support, Support::Below(_));
        assert!(theta.row(0).windows(2).all(|pair| (pair[0] < pair[1]) != falls), "{support}");
    }
}

#[test]
fn the_jacobian_is_the_derivative_of_the_map() {
    for support in &SUPPORTS[..4] {
        let target = on_a(support.clone());
        let target = Unconstrained::new(&target).unwrap();
        let h = 1e-4;
        let shifted = |by: f64| target.constrain(&single(&AT.map(|z| z + by))).0;
        let (_, log_jacobian) = target.constrain(&single(&AT));
        let steps = [shifted(2.0 * h), shifted(h), shifted(-h), shifted(-2.0 * h)];
        for i in 0..AT.len() {
            let [up2, up, down, down2] = steps.each_ref().map(|batch| batch.row(0)[i]);
            let slope = ((down2 - up2) + 8.0 * (up - down)) / (12.0 * h);
            // Far out theta is so near its bound that differences have few digits.
            let digits = if AT[i].abs() > 10.0 { 1e-2 } else { 1e-9 };
            assert_close(
                log_jacobian[i],
                slope.abs().ln(),
                digits,
                &format!("{support} {}", AT[i]),
            );
        }
    }
}

#[test]
fn gradients_pass_through_the_map() {
    let weights = Weights { prior: 0.8, likelihood: 0.3 };
    for support in &SUPPORTS[..4] {
        let bounded = on_a(support.clone());
        let target = Unconstrained::new(&bounded).unwrap();
        for jacobian in [1.0, 0.4] {
            let value = |z: f64| {
                let mut work = Workspace::zeros(1, 1);
                target.evaluate(&single(&[z]), Some((weights, jacobian)), &mut work).unwrap();
                let out = &work.evaluation;
                let value = weights.prior * out.log_prior[0]
                    + weights.likelihood * out.log_likelihood[0]
                    + jacobian * work.log_jacobian[0];
                (value, out.gradient.row(0)[0])
            };
            for z in [-3.0, -0.4, 0.0, 0.7, 2.5] {
                let h = 1e-3;
                let (near, far) =
                    (value(z + h).0 - value(z - h).0, value(z + 2.0 * h).0 - value(z - 2.0 * h).0);
                let slope = (8.0 * near - far) / (12.0 * h);
                assert_close(value(z).1, slope, 1e-8, &format!("{support} at {z}"));
            }
        }
    }
}

#[test]
fn what_is_outside_or_no_support_is_refused() {
    let target = on_a(Support::Between(0.0, 1.0));
    let target = Unconstrained::new(&target).unwrap();
    let error = target.unconstrain(&single(&[0.5, 1.5])).unwrap_err().to_string();
    assert!(error.contains("point 2, coordinate 1: ") && error.contains("1.5"), "{error}");
    for bad in [Support::Between(1.0, 1.0), Support::Above(f64::NAN), Support::Below(f64::INFINITY)]
    {
        assert!(Unconstrained::new(&on_a(bad.clone())).is_err(), "{bad:?}");
    }
}

fn mean_and_covariance(target: &dyn Target, start: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mode = laplace(&Unconstrained::new(target).unwrap(), start).unwrap();
    (mode.mean, mode.covariance)
}

#[test]
fn laplace_is_exact_for_a_gaussian() {
    let (mean, covariance) = ([3.0, -1.0, 0.5], [4.0, 1.2, 0.1, 1.2, 1.0, -0.3, 0.1, -0.3, 0.5]);
    let target = Gaussian::new(&mean, &covariance).unwrap();
    for start in [[0.0; 3], [100.0, -50.0, 7.0]] {
        let (m, c) = mean_and_covariance(&target, &start);
        m.iter().zip(&mean).for_each(|(a, b)| assert_close(*a, *b, 1e-6, "mean"));
        c.iter().zip(&covariance).for_each(|(a, b)| assert_close(*a, *b, 1e-6, "covariance"));
    }
}

/// log p is convex between the modes, and its gradient vanishes at the minimum −2.
#[test]
fn laplace_climbs_from_where_log_p_is_not_concave() {
    for start in [-2.0, -2.0 + 1e-9, -2.3, -1.2, 0.5, 6.0] {
        let (mean, variance) = mean_and_covariance(&hand::Bimodal, &[start]);
        assert_close((mean[0] + 2.0).abs(), 3.0_f64.sqrt(), 1e-6, &format!("from {start}"));
        // (log p)'' = −12 s² + 12 = −24 at s² = 3
        assert_close(variance[0], 1.0 / 24.0, 1e-6, &format!("from {start}"));
    }
    // A saddle: concave along x + y, convex along x − y.
    let saddle = Program::record(2, |z| {
        let (s, d) = (z[0] + z[1], z[0] - z[1]);
        -s.square() - (d.square() - 2.0).square()
    });
    let (mean, _) = mean_and_covariance(&saddle, &[0.0, 0.0]);
    assert_close((mean[0] - mean[1]).abs(), 2.0_f64.sqrt(), 1e-6, "saddle");
    assert_close(mean[0] + mean[1], 0.0, 1e-6, "saddle");
}

#[test]
fn laplace_says_why_it_fails() {
    let fails = |target: &dyn Target, start: &[f64]| {
        laplace(&Unconstrained::new(target).unwrap(), start).unwrap_err().to_string()
    };
    let constant = Program::record(2, |z| 0.0 * z[0] + 1.0);
    assert!(fails(&constant, &[0.0, 0.0]).contains("flat in some direction"));
    let valley = Program::record(2, |z| -z[0].square());
    assert!(fails(&valley, &[1.0, 1.0]).contains("flat in some direction"));
    let slope = Program::record(1, |z| z[0]);
    assert!(fails(&slope, &[0.0]).contains("move base-mean"));
    let half_line = Program::record(1, |z| z[0].lt(0.0).select(f64::NEG_INFINITY, -z[0].square()));
    assert!(fails(&half_line, &[-1.0]).contains("inside the support"));
}

/// Inside a box the mode of the unconstrained density includes log|J|.
#[test]
fn laplace_sees_the_jacobian() {
    let flat = Bounded(Program::record(1, |x| 0.0 * x[0]), vec![Support::Between(-1.0, 3.0)]);
    // log|J| alone: the logistic density, mode 0, curvature 1/2.
    let (mean, variance) = mean_and_covariance(&flat, &[1.3]);
    assert_close(mean[0], 0.0, 1e-6, "mean");
    assert_close(variance[0], 2.0, 1e-6, "variance");
}
