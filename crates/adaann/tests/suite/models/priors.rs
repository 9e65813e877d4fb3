//! Priors integrate to 1: with bounds, ordered, on a simplex, and with unknown scales.

use crate::support::common::{WHOLE, assert_close, evaluate};
use adaann::model::Model;
use std::f64::consts::{FRAC_PI_2, PI};

/// A model whose data does not depend on its parameters.
fn prior(parameters: &str) -> Model {
    let text = format!(
        "[data]\ny = [0]\n[parameters]\n{parameters}\n[likelihood]\ny = \"normal(0, 1)\"\n"
    );
    Model::parse("priors.toml", &text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn log_prior(model: &Model, points: &[Vec<f64>]) -> Vec<f64> {
    let evaluation = evaluate(&*model.target(), points, WHOLE);
    evaluation.log_prior.to_vec()
}

/// Points and weights of a double exponential rule between two bounds, which may be infinite.
fn rule(low: f64, high: f64, step: f64) -> Vec<(f64, f64)> {
    let count = (4.0 / step) as i32;
    let node = |i: i32| {
        let t = f64::from(i) * step;
        let (u, slope) = (FRAC_PI_2 * t.sinh(), step * FRAC_PI_2 * t.cosh());
        match (low.is_finite(), high.is_finite()) {
            (true, true) => {
                // Compute from the nearer end, to keep precision.
                let share = 1.0 / (1.0 + (2.0 * u.abs()).exp());
                let width = high - low;
                let x = if u < 0.0 { low + width * share } else { high - width * share };
                (x, 0.5 * width * slope / u.cosh().powi(2))
            }
            (true, false) => (low + u.exp(), slope * u.exp()),
            (false, true) => (high - u.exp(), slope * u.exp()),
            (false, false) => (u.sinh(), slope * u.cosh()),
        }
    };
    let inside = |&(x, weight): &(f64, f64)| low < x && x < high && weight.is_normal();
    (-count..=count).map(node).filter(inside).collect()
}

fn integral(model: &Model, low: f64, high: f64) -> f64 {
    let rule = rule(low, high, 1.0 / 64.0);
    let points: Vec<Vec<f64>> = rule.iter().map(|(x, _)| vec![*x]).collect();
    log_prior(model, &points).iter().zip(&rule).map(|(log_p, (_, w))| w * log_p.exp()).sum()
}

const INF: f64 = f64::INFINITY;

#[test]
fn what_bounds_leave_has_mass_1() {
    for (entry, ends) in [
        ("{ prior = \"normal(1, 0.5)\", lower = 0 }", &[0.0, INF][..]),
        ("{ prior = \"normal(-2, 1.5)\", upper = -1 }", &[-INF, -1.0]),
        ("{ prior = \"normal(0.3, 2)\", lower = -1, upper = 3 }", &[-1.0, 3.0]),
        ("{ prior = \"normal(0, 1)\", lower = 8 }", &[8.0, INF]),
        ("{ prior = \"normal(1, 2)\", support = \"positive\" }", &[0.0, INF]),
        ("{ prior = \"normal(1, 2)\", support = \"unit\" }", &[0.0, 1.0]),
        ("{ prior = \"student_t(3, 1, 2)\", lower = 0 }", &[0.0, INF]),
        ("{ prior = \"cauchy(1, 2)\", lower = -1, upper = 4 }", &[-1.0, 4.0]),
        ("{ prior = \"lognormal(0.5, 0.7)\", lower = 1 }", &[1.0, INF]),
        ("{ prior = \"lognormal(0.5, 0.7)\", upper = 2 }", &[0.0, 2.0]),
        ("{ prior = \"gamma(2.5, 1.5)\", lower = 0.5, upper = 4 }", &[0.5, 4.0]),
        ("{ prior = \"inv_gamma(3, 2)\", upper = 1 }", &[0.0, 1.0]),
        ("{ prior = \"beta(2, 3)\", lower = 0.2 }", &[0.2, 1.0]),
        ("{ prior = \"exponential(2)\", upper = 1 }", &[0.0, 1.0]),
        ("{ prior = \"weibull(1.5, 2)\", lower = 1 }", &[1.0, INF]),
        ("{ prior = \"laplace(1, 2)\", lower = 0 }", &[0.0, 1.0, INF]),
        ("{ prior = \"logistic(1, 0.5)\", lower = 0 }", &[0.0, INF]),
        ("{ prior = \"half_normal(2)\", upper = 1.5 }", &[0.0, 1.5]),
        ("{ prior = \"half_cauchy(1)\", lower = 0.5 }", &[0.5, INF]),
        ("{ prior = \"half_student_t(4, 2)\", upper = 3 }", &[0.0, 3.0]),
        ("{ prior = \"uniform(0, 4)\", lower = 1 }", &[1.0, 4.0]),
        ("{ prior = \"log_uniform(1, 10)\", upper = 5 }", &[1.0, 5.0]),
        ("{ lower = -1, upper = 2 }", &[-1.0, 2.0]),
        ("\"mixture(0.3, normal(-2, 0.5), 0.7, normal(1, 1.5))\"", &[-INF, INF]),
        ("\"mixture([0.2, 0.8], gamma(2, 1), lognormal(0, 1))\"", &[0.0, INF]),
    ] {
        let model = prior(&format!("p = {entry}"));
        let mass: f64 = ends.windows(2).map(|pair| integral(&model, pair[0], pair[1])).sum();
        // The rule has about ten digits for the heaviest tails.
        assert_close(mass, 1.0, 1e-9, entry);
        let just_outside: Vec<Vec<f64>> = [ends[0], *ends.last().unwrap()]
            .into_iter()
            .zip([-0.1, 0.1])
            .filter(|(end, _)| end.is_finite())
            .map(|(end, step)| vec![end + step])
            .collect();
        let support = model.target().support(0);
        assert_eq!(support == adaann::target::Support::Real, just_outside.is_empty(), "{entry}");
    }
}

/// With a bound at the centre, one half remains for every value of an unknown scale.
#[test]
fn halves_with_an_unknown_scale_have_mass_1() {
    for (entry, low, high) in [
        ("{ prior = \"normal(0, tau)\", lower = 0 }", 0.0, INF),
        ("{ prior = \"student_t(4, -1, tau)\", upper = -1 }", -INF, -1.0),
        ("{ prior = \"cauchy(2, 3 * tau)\", lower = 2 }", 2.0, INF),
        ("{ prior = \"logistic(0.5, tau)\", lower = 0.5 }", 0.5, INF),
        ("\"half_normal(tau)\"", 0.0, INF),
    ] {
        let model = prior(&format!("tau = \"exponential(1.5)\"\np = {entry}"));
        for tau in [0.2_f64, 1.7] {
            let rule = rule(low, high, 1.0 / 64.0);
            let points: Vec<Vec<f64>> = rule.iter().map(|(x, _)| vec![tau, *x]).collect();
            let values = log_prior(&model, &points);
            let mass: f64 = values.iter().zip(&rule).map(|(log_p, (_, w))| w * log_p.exp()).sum();
            assert_close(mass, 1.5 * (-1.5 * tau).exp(), 1e-9, entry);
        }
    }
}

/// The mass of all vectors whose elements come from `rule`, each given the previous ones.
fn mass(model: &Model, dim: usize, bounds: impl Fn(&[f64]) -> (f64, f64), step: f64) -> f64 {
    let mut points: Vec<(Vec<f64>, f64)> = vec![(Vec::new(), 1.0)];
    for _ in 0..dim {
        let mut longer = Vec::new();
        for (start, weight) in &points {
            let (low, high) = bounds(start);
            for (x, w) in rule(low, high, step) {
                longer.push(([&start[..], &[x]].concat(), weight * w));
            }
        }
        points = longer;
    }
    let weights: Vec<f64> = points.iter().map(|(_, weight)| *weight).collect();
    let points: Vec<Vec<f64>> = points.into_iter().map(|(point, _)| point).collect();
    let values = log_prior(model, &points);
    values.iter().zip(&weights).map(|(log_p, weight)| weight * log_p.exp()).sum()
}

/// Bounds that depend on earlier parameters, alone and with a prior restricted to them.
#[test]
fn what_moving_bounds_leave_has_mass_1() {
    type Ends = fn(&[f64]) -> (f64, f64);
    let below_rest: Ends = |before| (0.0, 1.0 - before.iter().sum::<f64>());
    let unit_then = |ends: Ends| move |b: &[f64]| if b.is_empty() { (0.0, 1.0) } else { ends(b) };
    let cases: [(&str, usize, Ends); 7] = [
        ("p = { lower = 0, upper = \"1 - a\" }", 2, below_rest),
        (
            "p = { prior = \"normal(0.3, 0.5)\", lower = \"2 * a - 1\", upper = \"a / 2 + 1\" }",
            2,
            |b| (2.0 * b[0] - 1.0, 0.5 * b[0] + 1.0),
        ),
        ("p = { prior = \"gamma(2, 1.5)\", lower = \"a\" }", 2, |b| (b[0], INF)),
        ("p = { prior = \"normal(a, 1 + a)\", upper = \"3 - a\" }", 2, |b| (-INF, 3.0 - b[0])),
        (
            "p = { prior = \"mixture(0.3, normal(-2, 0.5), 0.7, normal(1, 1))\", lower = \"-a\" }",
            2,
            |b| (-b[0], INF),
        ),
        (
            "p = { prior = \"normal(1, 2)\", size = 2, support = \"ordered\", lower = \"a\" }",
            3,
            |b| (*b.last().unwrap(), INF),
        ),
        (
            "b = { lower = 0, upper = \"rest\" }\np = { lower = 0, upper = \"rest - b\" }\n\
             [quantities]\nrest = \"1 - a\"",
            3,
            below_rest,
        ),
    ];
    for (entry, dim, ends) in cases {
        let model = prior(&format!("a = \"beta(2, 3)\"\n{entry}"));
        let step = if dim == 2 { 1.0 / 16.0 } else { 1.0 / 8.0 };
        let error = if dim == 2 { 1e-6 } else { 1e-4 };
        assert_close(mass(&model, dim, unit_then(ends), step), 1.0, error, entry);
        let draws = model.prior_draws(500, 1_000).unwrap_or_else(|| panic!("{entry}: no draws"));
        for i in 0..draws.len() {
            let point = draws.point(i);
            for d in 1..dim {
                let (low, high) = ends(&point[..d]);
                assert!(low < point[d] && point[d] < high, "{entry}: {point:?}");
            }
        }
    }
}

/// Gradients in unconstrained coordinates, where the Jacobian depends on the parameters in the bounds.
#[test]
fn moving_bounds_have_the_gradients_of_differences() {
    let model = prior(
        "a = \"beta(2, 3)\"\ns = \"half_normal(2)\"\n\
         p = { prior = \"normal(0.3, s)\", lower = \"2 * a - 1\", upper = \"a / 2 + s + 1\" }\n\
         q = { prior = \"gamma(2, 1.5)\", size = 2, lower = \"a\" }\n\
         r = { upper = \"p - q[2]\", prior = \"student_t(4, a, s)\" }",
    );
    let target = model.target();
    let on_line = adaann::target::Unconstrained::new(&*target).unwrap();
    let dim = target.dim();
    let value = |z: &[f64]| {
        let mut work = adaann::target::Workspace::zeros(dim, 1);
        let z = adaann::Batch::from_points(dim, &[z]);
        on_line.evaluate(&z, Some((WHOLE, 1.0)), &mut work).unwrap();
        let sum = work.evaluation.log_prior[0] + work.evaluation.log_likelihood[0];
        (sum + work.log_jacobian[0], work.evaluation.gradient.point(0))
    };
    for shift in [0.0, 0.9, -1.4] {
        let z: Vec<f64> = (0..dim).map(|d| shift + 0.4 - 0.3 * d as f64).collect();
        let (_, gradient) = value(&z);
        for d in 0..dim {
            let at = |step: f64| {
                let mut moved = z.clone();
                moved[d] += step;
                value(&moved).0
            };
            // Of fourth order: the error is of order h⁴ plus ε/h.
            let h = 1e-3;
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            assert_close(gradient[d], slope, 1e-8 * slope.abs().max(1.0), "gradient");
        }
    }
}

#[test]
fn ordered_vectors_have_mass_1() {
    // The rule is coarse in three dimensions; a wrong factor would be off by 1 or more.
    for (entry, dim, low, step, error) in [
        ("support = \"ordered\", size = 2, prior = \"normal(1, 2)\"", 2, -INF, 1.0 / 16.0, 1e-6),
        (
            "support = \"ordered\", size = 2, prior = \"normal(1, 2)\", lower = 0.5",
            2,
            0.5,
            1.0 / 16.0,
            1e-6,
        ),
        (
            "support = \"positive-ordered\", size = 2, prior = \"gamma(2, 1.5)\"",
            2,
            0.0,
            1.0 / 16.0,
            1e-6,
        ),
        (
            "support = \"positive-ordered\", size = 2, prior = \"normal(1, 1)\"",
            2,
            0.0,
            1.0 / 16.0,
            1e-6,
        ),
        (
            "support = \"ordered\", size = 3, prior = \"logistic(-1, 0.5)\"",
            3,
            -INF,
            1.0 / 8.0,
            1e-4,
        ),
    ] {
        let model = prior(&format!("p = {{ {entry} }}"));
        let bounds = |before: &[f64]| (before.last().copied().unwrap_or(low), INF);
        assert_close(mass(&model, dim, bounds, step), 1.0, error, entry);
    }
}

#[test]
fn simplexes_have_mass_1() {
    for (entry, size) in [
        ("size = 2, prior = \"dirichlet([1.5, 4])\"", 2),
        ("size = 3, prior = \"dirichlet([2, 3.5, 1.2])\"", 3),
        ("size = 3", 3),
    ] {
        let model = prior(&format!("p = {{ support = \"simplex\", {entry} }}"));
        assert_eq!(model.target().dim(), size - 1);
        let bounds = |before: &[f64]| (0.0, 1.0 - before.iter().sum::<f64>());
        assert_close(mass(&model, size - 1, bounds, 1.0 / 16.0), 1.0, 1e-8, entry);
    }
}

#[test]
fn vectors_have_the_priors_of_their_elements() {
    let model = prior(
        "a = { prior = \"normal([1, -2, 0.5], [1, 2, 3])\", size = 3 }\n\
         b = { prior = \"multi_normal([1, -1], [[2, 0.6], [0.6, 0.5]])\", size = 2 }\n\
         c = { prior = \"mixture(0.25, normal(0, 1), 0.75, normal(3, 2))\", size = 2 }",
    );
    let normal = |x: f64, mean: f64, sd: f64| {
        -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * (2.0 * PI).ln()
    };
    let point = vec![0.3, 1.1, -4.0, 0.2, 0.7, 1.5, -0.4];
    let mut expected = normal(0.3, 1.0, 1.0) + normal(1.1, -2.0, 2.0) + normal(-4.0, 0.5, 3.0);
    // The covariance has determinant 0.64.
    let (u, v) = (0.2 - 1.0, 0.7 + 1.0);
    expected -= 0.5 * (0.5 * u * u - 1.2 * u * v + 2.0 * v * v) / 0.64;
    expected -= 0.5 * 0.64_f64.ln() + (2.0 * PI).ln();
    for x in [1.5, -0.4] {
        let (one, other) = (normal(x, 0.0, 1.0).exp(), normal(x, 3.0, 2.0).exp());
        expected += (0.25 * one + 0.75 * other).ln();
    }
    assert_close(log_prior(&model, &[point])[0], expected, 1e-14, "log prior");
}
