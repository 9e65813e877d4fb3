//! Densities with and without an integral, distinguished by a few hundred evaluations.

use adaann::{
    Batch, Expr, Program, Result,
    target::{Evaluation, Support, Tails, Target, Unconstrained, Weights, tails},
};

fn identity(dim: usize) -> Vec<f64> {
    (0..dim * dim).map(|i| f64::from(u8::from(i % (dim + 1) == 0))).collect()
}

fn look(target: &dyn Target, at: &[f64], factor: &[f64]) -> Tails {
    let found = tails(&Unconstrained::new(target).unwrap(), at, factor).unwrap();
    assert!(found.evaluations < 5_000, "{}", found.evaluations);
    found
}

fn is_proper(target: &dyn Target, at: &[f64]) -> bool {
    look(target, at, &identity(at.len())).endless.is_none()
}

#[test]
fn powers_have_an_integral_from_one_on() {
    // (1 + x²)^(−c) with c above and below one half.
    for (c, proper) in [(1.0, true), (0.6, true), (0.5, false), (0.45, false), (0.1, false)] {
        let power = Program::record(1, move |x| -c * (1.0 + x[0].square()).ln());
        assert_eq!(is_proper(&power, &[0.0]), proper, "{c}");
    }
}

#[test]
fn products_and_joint_tails_are_told_apart() {
    let cauchy = Program::record(5, |x| x.iter().map(|x| -(1.0 + x.square()).ln()).sum());
    assert!(is_proper(&cauchy, &[0.0; 5]));
    // (1 + |x|²)^(−c) in 4 dimensions: along every line it falls fast enough for c > 1/2, but the
    // integral is finite only for c > 2.
    for (c, proper) in [(2.5, true), (1.8, false)] {
        let joint = Program::record(4, move |x| {
            let square: Expr<'_> = x.iter().map(|x| x.square()).sum();
            -c * (1.0 + square).ln()
        });
        assert_eq!(is_proper(&joint, &[0.0; 4]), proper, "{c}");
    }
}

#[test]
fn gaussians_are_proper_whatever_their_scale() {
    let gaussian = Program::record(3, |x| {
        let y = x[0] * 1e-5 + x[1];
        -0.5 * (y.square() + (1e3 * x[1]).square() + (x[2] - 7.0).square())
    });
    assert!(is_proper(&gaussian, &[0.0, 0.0, 7.0]));
    let scaled = [1e5, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(look(&gaussian, &[0.0, 0.0, 7.0], &scaled).endless, None);
}

/// The data determines only a − b; a + b is free. The weights add rounding to the direction.
#[test]
fn a_flat_direction_is_named() {
    let flat = Program::record(3, |x| {
        let (difference, other) = (0.3 * x[0] - 0.7 * x[1], x[2]);
        -0.5 * (difference - 1.1).square() - 50.0 * (other - difference).square()
    });
    let found = look(&flat, &[1.1 / 0.3, 0.0, 1.1], &identity(3)).endless.unwrap();
    assert_eq!(found.parameters, ["z1", "z2"]);
    let said = found.refusal().to_string();
    assert!(said.contains("combination of z1, z2") && said.contains("a proper prior"), "{said}");
}

/// The likelihood of a logistic regression depends only on the sum of two coefficients.
#[test]
fn collinear_predictors_are_improper_and_a_prior_mends_them() {
    let data = [(0.3, 1.0), (-1.2, 0.0), (0.8, 0.0), (2.0, 1.0), (-0.5, 1.0), (1.4, 1.0)];
    let posterior = |precision: f64| {
        Program::record(2, move |b| {
            let prior = -0.5 * precision * (b[0].square() + b[1].square());
            let term = |&(x, y): &(f64, f64)| {
                let eta = (b[0] + b[1]) * x;
                eta * y - eta.softplus()
            };
            prior + data.iter().map(term).sum::<Expr<'_>>()
        })
    };
    assert!(!is_proper(&posterior(0.0), &[0.2, 0.2]));
    assert!(is_proper(&posterior(1.0), &[0.2, 0.2]));
    assert!(is_proper(&posterior(1e-8), &[0.2, 0.2]));
}

/// A density of one coordinate with a given support.
struct On(Program, Support);

impl Target for On {
    fn dim(&self) -> usize {
        1
    }
    fn evaluate(&self, x: &Batch, of: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        self.0.evaluate(x, of, out)
    }
    fn support(&self, _: usize) -> Support {
        self.1.clone()
    }
}

#[test]
fn supports_count() {
    let flat = || Program::record(1, |x| 0.0 * x[0]);
    assert!(is_proper(&On(flat(), Support::Between(-3.0, 8.0)), &[0.0]));
    assert!(!is_proper(&On(flat(), Support::Above(0.0)), &[0.0]));
    assert!(!is_proper(&On(flat(), Support::Real), &[0.0]));
    let inverse = Program::record(1, |x| -x[0].ln());
    assert!(!is_proper(&On(inverse, Support::Above(0.0)), &[0.0]));
    let gamma = Program::record(1, |x| -0.5 * x[0].ln() - x[0]);
    assert!(is_proper(&On(gamma, Support::Above(0.0)), &[-0.5]));
    let half_cauchy = Program::record(1, |x| -(1.0 + x[0].square()).ln());
    assert!(is_proper(&On(half_cauchy, Support::Above(0.0)), &[0.0]));
}

/// A floor far below the peak diverges only formally.
#[test]
fn floors_harm_nobody() {
    let floored = Program::record(1, |z| (-50.0 * z[0].square()).max(-1e6));
    assert!(is_proper(&floored, &[0.0]));
}
