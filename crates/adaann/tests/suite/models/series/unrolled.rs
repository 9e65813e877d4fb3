//! A table of series has the density of the same model written out row by row.

use super::{column, returns};
use crate::models::likelihoods::parse;
use crate::support::common::{WHOLE, evaluate};
use adaann::model::Model;
use std::fmt::Write as _;

/// Tolerance relative to the size of the density and of the gradient.
const TOLERANCE: f64 = 1e-10;

fn assert_same(series: &Model, unrolled: &Model) {
    let draws = unrolled.prior_draws(70, 5).unwrap();
    let points: Vec<Vec<f64>> = (0..draws.len()).map(|i| draws.point(i)).collect();
    let (own, known) = (
        evaluate(&*series.target(), &points, WHOLE),
        evaluate(&*unrolled.target(), &points, WHOLE),
    );
    for (i, point) in points.iter().enumerate() {
        let [a, b] = [&own, &known].map(|of| of.log_prior[i] + of.log_likelihood[i]);
        assert!((a - b).abs() <= TOLERANCE * b.abs().max(1.0), "{a} is not {b} at {point:?}");
        let (own, known) = (own.gradient.point(i), known.gradient.point(i));
        let length = known.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (a, b) in own.iter().zip(&known) {
            assert!((a - b).abs() <= TOLERANCE * length.max(1.0), "{own:?} is not {known:?}");
        }
    }
    // Without a gradient, the rows are summed in reverse order.
    let batch = adaann::Batch::from_points(series.target().dim(), &points);
    let mut plain = adaann::target::Evaluation::zeros(batch.dim(), batch.len());
    series.target().evaluate(&batch, None, &mut plain).unwrap();
    for (i, &log_p) in own.log_likelihood.iter().take(points.len()).enumerate() {
        let other = plain.log_likelihood[i];
        assert!((other - log_p).abs() <= 1e-12 * log_p.abs().max(1.0), "{other} is not {log_p}");
    }
}

const GARCH: &str = "[parameters]\nmu = \"normal(0, 1)\"\nalpha0 = \"lognormal(0, 0.5)\"\n\
                     alpha1 = \"uniform(0, 0.6)\"\nbeta1 = \"uniform(0, 0.4)\"\n";

#[test]
fn garch() {
    let y = returns(60, 3);
    let mut quantities = "h1 = \"1.5^2\"\n".to_owned();
    let mut density = "logpdf(normal(mu, sqrt(h1)), y[1])".to_owned();
    for t in 2..=y.len() {
        let before = t - 1;
        writeln!(
            quantities,
            "h{t} = \"alpha0 + alpha1 * (y[{before}] - mu)^2 + beta1 * h{before}\""
        )
        .unwrap();
        write!(density, " + logpdf(normal(mu, sqrt(h{t})), y[{t}])").unwrap();
    }
    let constants = format!("[constants]\n{}", column("y", &y));
    let unrolled =
        parse(&format!("density = \"{density}\"\n{constants}{GARCH}[quantities]\n{quantities}"));
    let series = parse(&format!(
        "[data]\n{}{GARCH}[series.states]\n\
         h = {{ start = \"1.5^2\", next = \"alpha0 + alpha1 * (before(y) - mu)^2 + beta1 * h\" }}\n\
         [likelihood]\ny = \"normal(mu, sqrt(h))\"\n",
        column("y", &y)
    ));
    assert_same(&series, &unrolled);
}

const HIDDEN: &str = "[parameters]\ntheta1 = { size = 2, support = \"simplex\" }\n\
                      theta2 = { size = 2, support = \"simplex\" }\n\
                      mu = { prior = \"normal([3, 10], 1)\", size = 2 }\n";

/// The forward algorithm, row by row.
fn hidden_unrolled(y: &[f64]) -> Model {
    let mut quantities = "a1 = \"log(0.5) + logpdf(normal(mu[1], 1), y[1])\"\n\
                          b1 = \"log(0.5) + logpdf(normal(mu[2], 1), y[1])\"\n"
        .to_owned();
    for t in 2..=y.len() {
        let before = t - 1;
        for (name, k) in [("a", 1), ("b", 2)] {
            writeln!(
                quantities,
                "{name}{t} = \"log_add_exp(a{before} + log(theta1[{k}]), \
                 b{before} + log(theta2[{k}])) + logpdf(normal(mu[{k}], 1), y[{t}])\""
            )
            .unwrap();
        }
    }
    let n = y.len();
    parse(&format!(
        "density = \"log_add_exp(a{n}, b{n})\"\n[constants]\n{}{HIDDEN}[quantities]\n{quantities}",
        column("y", y)
    ))
}

/// Two levels, each lasting for several rows.
fn levels(count: usize) -> Vec<f64> {
    let noise = returns(count, 8);
    noise
        .iter()
        .enumerate()
        .map(|(i, x)| if i / 7 % 3 == 0 { 3.0 } else { 9.0 } + 0.5 * x)
        .collect()
}

#[test]
fn hidden_markov_models_in_logarithms() {
    let y = levels(50);
    let series = parse(&format!(
        "[data]\n{}{HIDDEN}[quantities]\n\
         emission = \"[logpdf(normal(mu[1], 1), y), logpdf(normal(mu[2], 1), y)]\"\n\
         [series]\nfinal = \"logsumexp(log_alpha)\"\n[series.states.log_alpha]\nsize = 2\n\
         start = \"log(0.5) + emission\"\n\
         next = \"\"\"emission + [logsumexp(log_alpha + log([theta1[1], theta2[1]])),\n\
         logsumexp(log_alpha + log([theta1[2], theta2[2]]))]\"\"\"\n",
        column("y", &y)
    ));
    assert_same(&series, &hidden_unrolled(&y));
}

#[test]
fn hidden_markov_models_by_beliefs() {
    let y = levels(50);
    // The distribution of the hidden state before the row is observed, given the previous row.
    let series = parse(&format!(
        "[data]\n{}{HIDDEN}[quantities]\n\
         seen = \"softmax(log(belief) + [logpdf(normal(mu[1], 1), before(y)), \
         logpdf(normal(mu[2], 1), before(y))])\"\n\
         [series.states.belief]\nsize = 2\nstart = 0.5\n\
         next = \"seen[1] * theta1 + seen[2] * theta2\"\n\
         [likelihood]\ny = \"mixture(belief, normal(mu[1], 1), normal(mu[2], 1))\"\n",
        column("y", &y)
    ));
    assert_same(&series, &hidden_unrolled(&y));
}

#[test]
fn a_series_longer_than_the_tape_is_walked_again() {
    // The tape holds 16,384 state values: 40 rows of 400.
    let (size, y) = (400, returns(150, 4));
    let text = |state: &str, mean: &str| {
        format!(
            "[data]\n{}[parameters]\na = \"uniform(-0.9, 0.9)\"\nb = \"normal(0, 1)\"\n\
             [series.states]\nm = {{ {state}start = \"b\", next = \"a * m + b * before(y) + sin(m)\" }}\n\
             [likelihood]\ny = \"normal({mean}, 2)\"\n",
            column("y", &y)
        )
    };
    let wide = parse(&text(&format!("size = {size}, "), "mean(m)"));
    assert_same(&wide, &parse(&text("", "m")));
}
