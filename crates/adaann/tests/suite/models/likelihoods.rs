//! Likelihoods and formulas, compared with the same mathematics in plain numbers.

use crate::support::common::{Difference, assert_close, evaluate};
use adaann::Batch;
use adaann::model::Model;
use adaann::target::Weights;
use std::f64::consts::PI;
use std::fs;
use std::path::Path;

const LIKELIHOOD: Weights = Weights { prior: 0.0, likelihood: 1.0 };

pub(crate) fn parse(text: &str) -> Model {
    Model::parse("model.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Compares the log likelihood and its gradient with terms in plain numbers, at draws from the
/// prior. The tolerance of a sum is relative to the size of its terms.
fn assert_terms(model: &Model, terms: impl Fn(&[f64]) -> Vec<f64>) {
    assert_terms_within(1e-13, model, terms);
}

/// The same, for solvers that are less accurate than rounding.
pub(crate) fn assert_terms_within(
    tolerance: f64,
    model: &Model,
    terms: impl Fn(&[f64]) -> Vec<f64>,
) {
    let draws = model.prior_draws(40, 2).unwrap();
    let points: Vec<Vec<f64>> = (0..draws.len()).map(|i| draws.point(i)).collect();
    let found = evaluate(&*model.target(), &points, LIKELIHOOD);
    for (i, point) in points.iter().enumerate() {
        let terms_here = terms(point);
        let (sum, size) = terms_here.iter().fold((0.0, 1.0), |(s, a), x| (s + x, a + x.abs()));
        let own = found.log_likelihood[i];
        assert!((own - sum).abs() < tolerance * size, "{own} is not {sum} at {point:?}");
        let gradient = found.gradient.point(i);
        let length = gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
        for d in 0..point.len() {
            let along = |x: f64| {
                let mut moved = point.clone();
                moved[d] = x;
                terms(&moved).iter().sum()
            };
            let slope = Difference::of(point[d], along);
            let error = (gradient[d] - slope.value).abs();
            // Kinks and jumps can be closer than the step of the differences.
            let is_known = slope.error < 1e-3 * (1.0 + length);
            let bound = 10.0 * slope.error + 1e-7 * (1.0 + length);
            assert!(
                !is_known || error < bound,
                "slope {} is not {} along coordinate {d} at {point:?}",
                gradient[d],
                slope.value
            );
        }
    }
}

pub(crate) fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * (2.0 * PI).ln()
}

fn log_factorial(n: f64) -> f64 {
    (2..=n as u32).map(|i| f64::from(i).ln()).sum()
}

fn log_choose(n: f64, k: f64) -> f64 {
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

const X: [f64; 5] = [0.5, -1.0, 2.5, 3.0, 1.0];
const Y: [f64; 5] = [1.0, 0.2, -0.7, 2.0, 4.0];

fn data(more: &str) -> String {
    format!("[data]\nx = {X:?}\ny = {Y:?}\n{more}\n")
}

#[test]
fn rows_are_summed_over() {
    let model = parse(&format!(
        "{}[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 2)\"\ns = \"lognormal(0, 0.5)\"\n\
         [quantities]\nmean = \"a + slope * x\"\nslope = \"b / 2\"\n\
         [likelihood]\ny = \"normal(mean, s)\"\nx = \"student_t(3, a, 2 * s)\"",
        data("")
    ));
    assert_eq!(model.quantity_names(), ["slope"]);
    assert_eq!(model.measured(), ["y", "x"]);
    assert_eq!(model.inputs(0), ["x"]);
    // Γ(2) / (Γ(3/2) sqrt(3 π)) = 2 / (π sqrt 3)
    let t3 = |z: f64| (2.0 / (PI * 3.0_f64.sqrt())).ln() - 2.0 * (z * z / 3.0).ln_1p();
    assert_terms(&model, |p| {
        let lines = X.iter().zip(Y).flat_map(|(&x, y)| {
            let s = 2.0 * p[2];
            [normal(y, p[0] + p[1] / 2.0 * x, p[2]), t3((x - p[0]) / s) - s.ln()]
        });
        lines.collect()
    });
}

#[test]
fn elements_are_taken_by_the_row() {
    let model = parse(&format!(
        "{}[constants]\nc = [10, 20, 30]\n[parameters]\na = {{ prior = \"normal(0, 1)\", size = 3 }}\n\
         tau = \"exponential(1)\"\n[quantities]\ntheta = \"tau * a - [0, 1, 2]\"\n\
         [likelihood]\ny = \"normal(theta[g] + a[4 - g] * x, 1 + c[h] / 10)\"",
        data("g = [1, 3, 2, 3, 1]\nh = [2, 2, 3, 1, 1]")
    ));
    assert_eq!(model.quantity_names(), ["theta[1]", "theta[2]", "theta[3]"]);
    let (g, h) = ([1, 3, 2, 3, 1], [2.0, 2.0, 3.0, 1.0, 1.0]);
    assert_terms(&model, |p| {
        let row = |i: usize| {
            let theta = p[3] * p[g[i] - 1] - (g[i] as f64 - 1.0);
            normal(Y[i], theta + p[3 - g[i]] * X[i], 1.0 + h[i])
        };
        (0..5).map(row).collect()
    });
    let points = [[0.5, -1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.1]];
    let found = model.quantities(&Batch::from_points(4, &points)).unwrap();
    for (i, p) in points.iter().enumerate() {
        for d in 0..3 {
            assert_close(found.row(d)[i], p[3] * p[d] - d as f64, 1e-15, "theta");
        }
    }
}

#[test]
fn conditions_choose() {
    let flag = [1.0, 0.0, 0.0, 1.0, 0.0];
    let model = parse(&format!(
        "{}[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 2)\"\n[likelihood]\n\
         y = \"normal(if(x > 2 and not flag == 1 or x == 1, a, b * x), if(flag, 1, 2))\"\n\
         x = \"normal(if(a < b, 1, -1) * (if(not (a <= 0 or b != b), a, 2 * a)), 3)\"",
        data(&format!("flag = {flag:?}"))
    ));
    assert_terms(&model, |p| {
        let (a, b) = (p[0], p[1]);
        let row = |i: usize| {
            let mean = if X[i] > 2.0 && flag[i] != 1.0 || X[i] == 1.0 { a } else { b * X[i] };
            let sign = if a < b { 1.0 } else { -1.0 };
            let size = if a > 0.0 { a } else { 2.0 * a };
            [
                normal(Y[i], mean, if flag[i] == 1.0 { 1.0 } else { 2.0 }),
                normal(X[i], sign * size, 3.0),
            ]
        };
        (0..5).flat_map(row).collect()
    });
}

#[test]
fn missing_values_are_left_out_of_their_line() {
    let model = parse(
        "[data]\nmissing = \"skip\"\nx = [1, 2, 3, 4]\ny = [0.5, nan, 1.5, nan]\nz = [nan, 1, 2, nan]\n\
         [constants]\nm = \"mean(y) + length(z)\"\n\
         [parameters]\na = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a * x, 1)\"\nz = \"normal(a + m, x)\"",
    );
    // The mean of y is 1, and z takes two values.
    assert_terms(&model, |p| {
        vec![
            normal(0.5, p[0], 1.0),
            normal(1.5, 3.0 * p[0], 1.0),
            normal(1.0, p[0] + 3.0, 2.0),
            normal(2.0, p[0] + 3.0, 3.0),
        ]
    });
}

/// Other columns of a row that is left out do not matter.
#[test]
fn rows_that_are_left_out_need_no_inputs() {
    let model = parse(
        "[data]\nmissing = \"skip\"\ng = [1, nan, 2]\ny = [0.5, nan, 1.5]\n\
         [parameters]\na = { prior = \"normal(0, 1)\", size = 2 }\n[likelihood]\ny = \"normal(a[g], 1)\"",
    );
    assert_terms(&model, |p| vec![normal(0.5, p[0], 1.0), normal(1.5, p[1], 1.0)]);
}

#[test]
fn columns_have_other_names_and_stand_together() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("data.csv"),
        "\u{feff}who;\"Weight (kg)\";b;a\r\nme;1.5;2;3\r\n\"you; too\";-1;0.5;4\r\n",
    )
    .unwrap();
    let text = "[data]\nfile = \"data.csv\"\nrename = { weight = \"Weight (kg)\", a = \"b\", b = \"a\" }\n\
                vectors = { v = [\"weight\", \"a\"] }\n\
                [parameters]\nc = { prior = \"normal(0, 1)\", size = 2 }\n\
                [likelihood]\nb = \"normal(dot(c, v) + v[2], 1)\"";
    fs::write(folder.join("model.toml"), text).unwrap();
    let model = Model::read(&folder.join("model.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    // The columns a and b have exchanged their names.
    assert_terms(&model, |p| {
        let row = |weight: f64, a: f64, b: f64| normal(b, p[0] * weight + p[1] * a + a, 1.0);
        vec![row(1.5, 2.0, 3.0), row(-1.0, 0.5, 4.0)]
    });
}

#[test]
fn counts_have_their_probabilities() {
    let counts = [3.0, 0.0, 1.0, 7.0, 2.0];
    let trials = [4.0, 1.0, 6.0, 9.0, 2.0];
    let yes = [1.0, 0.0, 1.0, 1.0, 0.0];
    let head = data(&format!("k = {counts:?}\nn = {trials:?}\nb = {yes:?}"));
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let check = |line: &str, f: &dyn Fn(usize, &[f64]) -> f64| {
        let model = parse(&format!(
            "{head}[parameters]\na = \"normal(0, 1)\"\np = \"beta(2, 2)\"\n[likelihood]\n{line}"
        ));
        assert_terms(&model, |p| (0..5).map(|i| f(i, p)).collect());
    };
    let poisson = |k: f64, mean: f64| k * mean.ln() - mean - log_factorial(k);
    let binomial = |k: f64, n: f64, p: f64| log_choose(n, k) + k * p.ln() + (n - k) * (-p).ln_1p();
    check("k = \"poisson(p * exp(x))\"", &|i, p| poisson(counts[i], p[1] * X[i].exp()));
    check("k = \"poisson_log(a * x)\"", &|i, p| poisson(counts[i], (p[0] * X[i]).exp()));
    check("k = \"binomial(n, p)\"", &|i, p| binomial(counts[i], trials[i], p[1]));
    check("k = \"binomial_logit(n, a + x)\"", &|i, p| {
        binomial(counts[i], trials[i], logistic(p[0] + X[i]))
    });
    check("b = \"bernoulli(p)\"", &|i, p| binomial(yes[i], 1.0, p[1]));
    check("b = \"bernoulli_logit(a * x)\"", &|i, p| binomial(yes[i], 1.0, logistic(p[0] * X[i])));
    // With dispersion 2 the binomial coefficient is k + 1.
    check("k = \"neg_binomial(exp(a), 2)\"", &|i, p| {
        let (k, mean) = (counts[i], p[0].exp());
        (k + 1.0).ln() + 2.0 * (2.0 / (2.0 + mean)).ln() + k * (mean / (2.0 + mean)).ln()
    });
}

#[test]
fn terms_of_all_kinds_are_added() {
    let model = parse(&format!(
        "density = \"-a^4 + logpdf(multi_normal([a, 1], [[2, 0.6], [0.6, 0.5]]), [b, a])\"\n\
         log-likelihood = \"x * log(s) - s * abs(y)\"\n{}[parameters]\na = \"normal(0, 1)\"\n\
         b = \"normal(0, 2)\"\ns = \"lognormal(0, 0.5)\"\n\
         [likelihood]\ny = \"mixture(0.25, normal(a, s), 0.75, normal(b * x, 2))\"",
        data("")
    ));
    assert_terms(&model, |p| {
        let (a, b, s) = (p[0], p[1], p[2]);
        let (u, v) = (b - a, a - 1.0);
        let square = (0.5 * u * u - 1.2 * u * v + 2.0 * v * v) / 0.64;
        let mut terms = vec![-a.powi(4), -0.5 * square - 0.5 * 0.64_f64.ln() - (2.0 * PI).ln()];
        for (x, y) in X.into_iter().zip(Y) {
            let (one, other) = (normal(y, a, s), normal(y, b * x, 2.0));
            let most = one.max(other);
            let sum = 0.25 * (one - most).exp() + 0.75 * (other - most).exp();
            terms.extend([x * s.ln() - s * y.abs(), most, sum.ln()]);
        }
        terms
    });
}

/// Each formula with its meaning; all parameters are between 0 and 1.
#[test]
fn formulas_mean_what_they_say() {
    type Plain = fn(f64, f64) -> f64;
    let formulas: &[(&str, Plain)] = &[
        ("-a^2", |a, _| -(a * a)),
        ("2^-a + 2^3^a", |a, _| 2_f64.powf(-a) + 2_f64.powf(3_f64.powf(a))),
        ("a - b - 1", |a, b| a - b - 1.0),
        ("a / b / 4", |a, b| a / b / 4.0),
        ("-a * -b", |a, b| a * b),
        ("a * (b + 1) # behind\n - a", |a, b| a * b),
        ("1.5e-1 * a + .5 * pi + log(e)", |a, _| 0.15 * a + 0.5 * PI + 1.0),
        ("if(a < b, a, b) - if(inf > a, 1, 0)", |a, b| a.min(b) - 1.0),
        ("if(not a < b and a < 2, 1, 0)", |a, b| f64::from(a >= b)),
        ("if(a > 2 or a < 2 and a > b, 1, 0)", |a, b| f64::from(a > b)),
        ("exp(a) + expm1(b) + log(a) + log1p(b)", |a, b| a.exp() + b.exp_m1() + a.ln() + b.ln_1p()),
        ("sqrt(a) + square(b) + abs(a - b)", |a, b| a.sqrt() + b * b + (a - b).abs()),
        ("sin(a) + cos(b) + tan(a) + atan(b)", |a, b| a.sin() + b.cos() + a.tan() + b.atan()),
        ("sinh(a) + cosh(b) + tanh(a)", |a, b| a.sinh() + b.cosh() + a.tanh()),
        ("logistic(a) + inv_logit(b)", |a, b| 1.0 / (1.0 + (-a).exp()) + 1.0 / (1.0 + (-b).exp())),
        ("logit(a) + softplus(b)", |a, b| (a / (1.0 - a)).ln() + b.exp().ln_1p()),
        ("pow(a, b) + floor(3 * a)", |a, b| a.powf(b) + (3.0 * a).floor()),
        ("lgamma(a + 1) - lgamma(a) - digamma(b + 1) + digamma(b)", |a, b| a.ln() - 1.0 / b),
        ("erf(a) + erfc(a) + Phi(b) + Phi(-b)", |_, _| 2.0),
        ("log_beta(a, 1) + log_add_exp(a, b)", |a, b| -a.ln() + (a.exp() + b.exp()).ln()),
        ("min(a, b, 0.5) + max([a, b])", |a, b| a.min(b).min(0.5) + a.max(b)),
        ("sum([a, b, 2]) + prod([a, b, 2])", |a, b| a + b + 2.0 + 2.0 * a * b),
        ("mean([a, b]) + sd([a, b])", |a, b| (a + b) / 2.0 + (a - b).abs() / 2_f64.sqrt()),
        ("dot([a, 2], [3, b]) + length(v)", |a, b| 3.0 * a + 2.0 * b + 3.0),
        ("logsumexp([a, b, 1])", |a, b| (a.exp() + b.exp() + 1_f64.exp()).ln()),
        ("softmax([a, b])[2]", |a, b| b.exp() / (a.exp() + b.exp())),
        ("cumsum([a, b, 1])[2] + reverse([a, 7])[1]", |a, b| a + b + 7.0),
        ("sum(a * v + [b, 1, 1] / 2 - v^2)", |a, b| 6.0 * a + (b + 2.0) / 2.0 - 14.0),
        ("m[2, 1] * a + m[1][2] * b", |a, b| 3.0 * a + 2.0 * b),
        ("sum(v[2:3]) * a + sum(v[2:]) * b + v[-1]", |a, b| 5.0 * a + 5.0 * b + 3.0),
        ("sum(v[:2]) * a + sum(v[[1, 3]]) * b + v[-3:-2][2]", |a, b| 3.0 * a + 4.0 * b + 2.0),
        ("dot(range(2, 4), concat(a, [b, 1]))", |a, b| 2.0 * a + 3.0 * b + 4.0),
        ("dot(m[1, :], [a, b]) + dot(m[1:2, 2], [a, b])", |a, b| 3.0 * a + 6.0 * b),
        ("sum(m[:, [2]]) * a + sum(m[2]) * b + sum(m)", |a, b| 6.0 * a + 7.0 * b + 10.0),
        ("dot(m @ [a, b], [1, 10]) + dot([a, b] @ m, [1, 10])", |a, b| {
            (a + 2.0 * b) + 10.0 * (3.0 * a + 4.0 * b) + (a + 3.0 * b) + 10.0 * (2.0 * a + 4.0 * b)
        }),
        ("(m @ [[a, 0], [0, b]])[2, 1] + matmul(m, m)[1, 2]", |a, _| 3.0 * a + 10.0),
        ("transpose(m)[1, 2] * a + outer([a, b], [2, 3])[2, 1]", |a, b| 3.0 * a + 2.0 * b),
        ("sum(diag([a, b])) + sum(diag(m)) + trace(m)", |a, b| a + b + 10.0),
        ("sum(a * m + m / 2 - m^2) + sum(-m)", |a, _| 10.0 * a + 5.0 - 30.0 - 10.0),
        ("sum(add_diag(m, a)) + sum(add_diag(m, [a, b]))", |a, b| 20.0 + 3.0 * a + b),
        ("sum(identity(3)) + sum(concat(m, [[a, b]]))", |a, b| 13.0 + a + b),
        ("cholesky([[1 + a, b], [b, 2]])[2, 2]", |a, b| (2.0 - b * b / (1.0 + a)).sqrt()),
        ("log_det([[2, a, 0], [a, 3, b], [0, b, 4]])", |a, b| {
            (24.0 - 2.0 * b * b - 4.0 * a * a).ln()
        }),
        ("solve([[2, a], [a, 3]], [1, b])[1]", |a, b| (3.0 - a * b) / (6.0 - a * a)),
        ("solve([[2, 0], [a, 3]], [1, b])[2]", |a, b| (b - a / 2.0) / 3.0),
        ("solve([[2, a], [0, 3]], [1, b])[1]", |a, b| (1.0 - a * b / 3.0) / 2.0),
        ("sum(solve([[2, a], [a, 3]], [[2, a], [a, 3]]))", |_, _| 2.0),
        ("cov_exp_quad([0, 1, 3], a, b)[3, 1]", |a, b| a * a * (-4.5 / (b * b)).exp()),
        ("cov_exp_quad([0, 1, 3], a, b, 0.1)[2, 2]", |a, _| a * a + 0.1),
        ("cov_exp_quad([[0, 3], [4, 0]], a, b)[1, 2]", |a, b| a * a * (-12.5 / (b * b)).exp()),
        ("cov_exp_quad([a, b, 1], 1, 2)[2, 1]", |a, b| (-0.125 * (a - b) * (a - b)).exp()),
        ("cov_matern32([0, 2], a, b)[2, 1]", |a, b| {
            let s = 12_f64.sqrt() / b;
            a * a * (1.0 + s) * (-s).exp()
        }),
        ("cov_matern52([0, 2], a, b)[2, 1]", |a, b| {
            let s = 20_f64.sqrt() / b;
            a * a * (1.0 + s + s * s / 3.0) * (-s).exp()
        }),
        ("cov_periodic([0, 0.3], a, 2, b, 0.5)[2, 1]", |a, b| {
            a * a * (-0.5 * (0.3 * PI / b).sin().powi(2)).exp()
        }),
        // The 3 × 3 correlation matrices have the volume pi^2/2.
        ("logpdf(lkj(1), [[1, a, 0], [a, 1, 0], [0, 0, 1]])", |_, _| (2.0 / (PI * PI)).ln()),
        ("logpdf(normal(a, 2), b) + logpdf(normal(0, 1), [a, b])", |a, b| {
            normal(b, a, 2.0) + normal(a, 0.0, 1.0) + normal(b, 0.0, 1.0)
        }),
        ("logpdf(logistic(a, 1), b)", |a, b| (a - b) - 2.0 * (a - b).exp().ln_1p()),
    ];
    for (formula, plain) in formulas {
        let model = parse(&format!(
            "density = \"\"\"{formula}\"\"\"\n[constants]\nv = [1, 2, 3]\nm = [[1, 2], [3, 4]]\n\
             [parameters]\na = \"uniform(0, 1)\"\nb = \"uniform(0, 1)\""
        ));
        let found = evaluate(&*model.target(), &[vec![0.3, 0.8], vec![0.9, 0.15]], LIKELIHOOD);
        for (i, (a, b)) in [(0.3, 0.8), (0.9, 0.15)].into_iter().enumerate() {
            let expected = plain(a, b);
            let own = found.log_likelihood[i];
            // The terms of a formula are at most a few dozen.
            assert!((own - expected).abs() < 1e-13, "{formula}: {own} is not {expected}");
        }
    }
}

#[test]
fn the_last_part_of_a_simplex_is_reported() {
    let model = parse(
        "density = \"w[3]\"\n[parameters]\nw = { support = \"simplex\", size = 3 }\n\
         [quantities]\nboth = \"w[1] + w[2]\"\nlist = \"[both, 2]\"",
    );
    assert_eq!(model.target().names(), ["w[1]", "w[2]"]);
    assert_eq!(model.quantity_names(), ["w[3]", "both", "list[1]", "list[2]"]);
    let found = model.quantities(&Batch::from_points(2, &[[0.2, 0.5]])).unwrap();
    for (d, expected) in [0.3, 0.7, 0.7, 2.0].into_iter().enumerate() {
        assert_close(found.row(d)[0], expected, 1e-15, "quantity");
    }
}
