//! Censored and truncated measurements, categories, and zero-inflated counts, compared with the same
//! mathematics in plain numbers.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use crate::support::common::evaluate;
use adaann::model::Model;
use adaann::target::Weights;

const LIKELIHOOD: Weights = Weights { prior: 0.0, likelihood: 1.0 };

/// Φ(u) by Simpson's rule, to 1e-12.
fn below(u: f64) -> f64 {
    const PARTS: usize = 4_000;
    let (low, density) =
        (-12.0, |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt());
    let step = (u - low) / PARTS as f64;
    let weight = |i: usize| match i {
        0 | PARTS => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=PARTS).map(|i| weight(i) * density(low + step * i as f64)).sum::<f64>() * step / 3.0
}

fn logistic(x: f64) -> f64 {
    (1.0 + (-x).exp()).recip()
}

const Y: [f64; 6] = [0.3, -1.2, 0.9, 2.0, -1.0, 1.6];

fn model(more: &str, line: &str) -> Model {
    parse(&format!(
        "[data]\ny = {Y:?}\nx = [1, 2, 3, 4, 5, 6]\nlimit = [5, 5, 0.8, 5, 5, 1.6]\n{more}\n\
         [parameters]\na = \"normal(0.2, 0.5)\"\ns = \"lognormal(0, 0.3)\"\n{line}"
    ))
}

#[test]
fn limits_of_detection_on_both_sides() {
    let line = "y = \"censored(normal(a, s), lower = -1, upper = limit)\"";
    let lines = model("", &format!("[likelihood]\n{line}"));
    let terms = |p: &[f64]| {
        let [a, s] = [p[0], p[1]];
        let low = below((-1.0 - a) / s).ln();
        let high = |limit: f64| below((a - limit) / s).ln();
        vec![normal(0.3, a, s), low, high(0.8), normal(2.0, a, s), low, high(1.6)]
    };
    assert_terms_within(1e-10, &lines, terms);
    // The same as one formula, whose limits are evaluated row by row.
    let text = "y = [0.3, -1.2, 0.9, 2, -1, 1.6]\nlimit = [5, 5, 0.8, 5, 5, 1.6]\n[parameters]\n\
                a = \"normal(0.2, 0.5)\"\ns = \"lognormal(0, 0.3)\"";
    let formula = "logpdf(censored(normal(a, s), lower = -1, upper = limit), y)";
    let one = parse(&format!("log-likelihood = \"{formula}\"\n[data]\n{text}"));
    assert_terms_within(1e-10, &one, terms);
    // With a limit that is a parameter.
    let unknown = line.replace("lower = -1", "lower = -1 + 0 * a");
    assert_terms_within(1e-10, &model("", &format!("[likelihood]\n{unknown}")), terms);
}

#[test]
fn survival_times_with_an_event() {
    let times = [3.0, 0.7, 1.1, 4.2, 2.0];
    let text = "[data]\ntime = [3, 0.7, 1.1, 4.2, 2]\nevent = [1, 0, 1, 1, 0]\n[parameters]\n\
                k = \"lognormal(0.3, 0.2)\"\ns = \"lognormal(1, 0.3)\"\n[likelihood]\n";
    let model = parse(&format!("{text}time = \"censored(weibull(k, s), right = event == 0)\""));
    assert_terms_within(1e-12, &model, |p| {
        let [k, s] = [p[0], p[1]];
        let row = |(i, &t): (usize, &f64)| {
            let hazard = (t / s).powf(k);
            if [1, 4].contains(&i) { -hazard } else { (k * hazard / t).ln() - hazard }
        };
        times.iter().enumerate().map(row).collect()
    });
    assert_eq!(model.inputs(0), ["event"]);
    // From the other side, with a column of zeros and ones as the condition.
    let model = parse(&format!("{text}time = \"censored(log_logistic(s, k), left = event)\""));
    assert_terms_within(1e-12, &model, |p| {
        let [k, s] = [p[0], p[1]];
        let row = |(i, &t): (usize, &f64)| {
            let odds = (t / s).powf(k);
            let share = odds / (1.0 + odds);
            if [1, 4].contains(&i) { (k / t * share * (1.0 - share)).ln() } else { share.ln() }
        };
        times.iter().enumerate().map(row).collect()
    });
}

#[test]
fn between_two_visits() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("visits");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("visits.csv"), "seen,next\n1,2.5\n0,1\n3,\n").unwrap();
    let path = folder.join("model.toml");
    let text = "[data]\nfile = \"visits.csv\"\n[parameters]\nk = \"lognormal(0.3, 0.2)\"\n\
                s = \"lognormal(1, 0.3)\"\n[likelihood]\n\
                seen = \"censored(weibull(k, s), until = next)\"\n";
    std::fs::write(&path, text).unwrap();
    let model = Model::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
    assert_terms_within(1e-12, &model, |p| {
        let above = |t: f64| (-(t / p[1]).powf(p[0])).exp();
        vec![(above(1.0) - above(2.5)).ln(), (1.0 - above(1.0)).ln(), above(3.0).ln()]
    });
    // Counts above the first and up to the second.
    let line = "[likelihood]\nn = \"censored(poisson(s), until = n + 2)\"";
    assert_terms_within(1e-11, &model_of_counts(line), |p| {
        let log_p = |n: i32| (p[1].powi(n) / f64::from((1..=n).product::<i32>())).ln() - p[1];
        [1, 1, 4, 2, 1, 3].map(|n| (log_p(n + 1).exp() + log_p(n + 2).exp()).ln()).to_vec()
    });
}

fn model_of_counts(line: &str) -> Model {
    model("n = [1, 1, 4, 2, 1, 3]", line)
}

#[test]
fn what_is_cut_off_is_normalised_again() {
    let line = "[likelihood]\ny = \"truncated(normal(a, s), lower = -1.5, upper = 2 + s)\"";
    assert_terms_within(1e-10, &model("", line), |p| {
        let [a, s] = [p[0], p[1]];
        let mass = below((2.0 + s - a) / s) - below((-1.5 - a) / s);
        Y.iter().map(|&y| normal(y, a, s) - mass.ln()).collect()
    });
    let line = "[likelihood]\nn = \"truncated(poisson(s), lower = 1)\"";
    let counts = [1.0, 1.0, 4.0, 2.0, 1.0, 3.0];
    assert_terms_within(1e-11, &model(&format!("n = {counts:?}"), line), |p| {
        let factorial = |n: f64| (1..=n as u32).map(f64::from).product::<f64>();
        let log_p = |n: f64| n * p[1].ln() - p[1] - factorial(n).ln();
        counts.iter().map(|&n| log_p(n) - (-(-p[1]).exp_m1()).ln()).collect()
    });
}

#[test]
fn categories_have_their_probabilities() {
    let text = "[data]\nc = [1, 3, 2, 2, 3]\nx = [0.5, 1, -1, 2, 0]\n[parameters]\n\
                b = { prior = \"normal(0, 1)\", size = 2 }\n\
                k = { prior = \"normal(0, 2)\", size = 2, support = \"ordered\" }\n[likelihood]\n";
    let (c, x) = ([1, 3, 2, 2, 3], [0.5, 1.0, -1.0, 2.0, 0.0]);
    let eta = |p: &[f64], i: usize| [0.0, p[0] + p[1] * x[i], p[1]];
    let by_logits = |p: &[f64]| {
        let row = |i: usize| {
            let eta = eta(p, i);
            eta[c[i] - 1] - eta.iter().map(|e| e.exp()).sum::<f64>().ln()
        };
        (0..5).map(row).collect::<Vec<f64>>()
    };
    for line in [
        "c = \"categorical_logit([0, b[1] + b[2] * x, b[2]])\"",
        "c = \"categorical(softmax([0, b[1] + b[2] * x, b[2]]))\"",
    ] {
        assert_terms_within(1e-12, &parse(&format!("{text}{line}")), by_logits);
    }
    let model = parse(&format!("{text}c = \"ordered_logistic(b[1] * x, k)\""));
    assert_terms_within(1e-12, &model, |p| {
        let row = |i: usize| {
            let at = |c: f64| logistic(c - p[0] * x[i]);
            match c[i] {
                1 => at(p[2]).ln(),
                2 => (at(p[3]) - at(p[2])).ln(),
                _ => (1.0 - at(p[3])).ln(),
            }
        };
        (0..5).map(row).collect()
    });
    // As one formula, with the category evaluated row by row.
    let formula = "log-likelihood = \"logpdf(categorical_logit([0, b[1] + b[2] * x, b[2]]), c)\"\n";
    let text = text.replace("[likelihood]\n", "");
    assert_terms_within(1e-12, &parse(&format!("{formula}{text}")), by_logits);
}

#[test]
fn zeros_of_their_own() {
    let counts = [0.0, 2.0, 0.0, 1.0, 4.0];
    let log_p =
        |n: f64, m: f64| n * m.ln() - m - (1..=n as u32).map(|k| f64::from(k).ln()).sum::<f64>();
    let text = format!(
        "[data]\nn = {counts:?}\n[parameters]\np = \"beta(2, 3)\"\nm = \"lognormal(0.5, 0.3)\"\n"
    );
    for is_hurdle in [false, true] {
        let law = if is_hurdle { "hurdle(p, poisson(m))" } else { "zero_inflated(p, poisson(m))" };
        let terms = |p: &[f64]| {
            let [p, m] = [p[0], p[1]];
            let row = |&n: &f64| match (is_hurdle, n == 0.0) {
                (true, true) => p.ln(),
                (true, false) => (1.0 - p).ln() + log_p(n, m) - (-(-m).exp_m1()).ln(),
                (false, true) => (p + (1.0 - p) * (-m).exp()).ln(),
                (false, false) => (1.0 - p).ln() + log_p(n, m),
            };
            counts.iter().map(row).collect::<Vec<f64>>()
        };
        let lines = parse(&format!("{text}[likelihood]\nn = \"{law}\""));
        assert_terms_within(1e-12, &lines, terms);
        let one = parse(&format!("log-likelihood = \"logpdf({law}, n)\"\n{text}"));
        assert_terms_within(1e-12, &one, terms);
    }
}

#[test]
fn conditions_are_numbers_in_arithmetic() {
    let line = "[likelihood]\ny = \"normal(a * (x == 2) - 2 * (x > 4) + (not x < 3), s)\"";
    assert_terms_within(1e-13, &model("", line), |p| {
        let row = |(i, &y): (usize, &f64)| {
            let (x, one) = (i + 1, |c: bool| f64::from(u8::from(c)));
            normal(y, p[0] * one(x == 2) - 2.0 * one(x > 4) + one(x >= 3), p[1])
        };
        Y.iter().enumerate().map(row).collect()
    });
}

#[test]
fn a_truncated_prior_has_parameters_in_it() {
    let model = parse(
        "density = \"0\"\n[parameters]\nmu = \"normal(0.5, 1)\"\n\
         x = \"truncated(normal(mu, 2), lower = 0)\"\n",
    );
    let points = [[0.3, 1.2], [-4.0, 0.01], [2.0, 7.0]].map(|point| point.to_vec());
    let found = evaluate(&*model.target(), &points, LIKELIHOOD);
    for (i, point) in points.iter().enumerate() {
        let (mu, x) = (point[0], point[1]);
        let exact = normal(mu, 0.5, 1.0) + normal(x, mu, 2.0) - below(mu / 2.0).ln();
        assert!((found.log_prior[i] - exact).abs() < 1e-9, "{} {exact}", found.log_prior[i]);
    }
    let draws = model.prior_draws(2_000, 3).unwrap();
    assert!(draws.row(1).iter().take(2_000).all(|x| *x > 0.0));
}

/// Checks that shares of draws are within five standard errors of their expected values.
#[track_caller]
fn assert_share(found: usize, all: usize, share: f64) {
    let error = (share * (1.0 - share) / all as f64).sqrt();
    let found = found as f64 / all as f64;
    assert!((found - share).abs() < 5.0 * error, "{found} is not {share}");
}

#[test]
fn what_is_simulated_is_cut_as_the_data_is() {
    let rows = 3_000;
    let data = |law: &str| {
        let y: Vec<f64> = vec![1.0; rows];
        parse(&format!(
            "[data]\ny = {y:?}\n[parameters]\na = \"normal(0, 1e-9)\"\n[likelihood]\ny = \"{law}\"\n"
        ))
    };
    let made = |law: &str| -> Vec<f64> {
        let model = data(law).replicate(5).unwrap().model;
        model.data().unwrap().rows.iter().map(|row| row[0]).collect()
    };
    let limited = made("censored(normal(a, 1), lower = -0.5, upper = 1)");
    assert!(limited.iter().all(|y| (-0.5..=1.0).contains(y)));
    let count = |y: f64| limited.iter().filter(|x| **x == y).count();
    assert_share(count(-0.5), rows, below(-0.5));
    assert_share(count(1.0), rows, below(-1.0));
    // So far out that no draw of the whole distribution is there.
    let far = made("truncated(normal(a, 1), lower = 1, upper = 9)");
    assert_share(far.iter().filter(|y| **y > 2.0).count(), rows, below(-2.0) / below(-1.0));
    let far = made("truncated(normal(a - 9, 1), lower = 1)");
    // About e^(−10 d) beyond 1.
    assert_share(far.iter().filter(|y| **y > 1.1).count(), rows, below(-10.1) / below(-10.0));
    let zeros = made("zero_inflated(0.3, poisson(2 + a))");
    let share = 0.3 + 0.7 * (-2.0_f64).exp();
    assert_share(zeros.iter().filter(|y| **y == 0.0).count(), rows, share);
    let hurdle = made("hurdle(0.3, poisson(2 + a))");
    assert_share(hurdle.iter().filter(|y| **y == 0.0).count(), rows, 0.3);
    let categories = made("categorical_logit([0, a + 1, 0])");
    let share = 1.0_f64.exp() / (2.0 + 1.0_f64.exp());
    assert_share(categories.iter().filter(|y| **y == 2.0).count(), rows, share);
}

#[test]
fn predictions_have_the_mean_of_what_is_written_down() {
    let phi = |u: f64| (-0.5 * u * u).exp() / (2.0 * std::f64::consts::PI).sqrt();
    for (law, exact) in [
        // E max(X, −½) = −½ Φ(−½) + φ(½)
        ("censored(normal(a, 1), lower = -0.5)", -0.5 * below(-0.5) + phi(0.5)),
        ("censored(normal(a, 1), upper = -0.5)", -0.5 * below(0.5) - phi(0.5)),
        (
            "censored(normal(a, 1), lower = -0.5, upper = 2)",
            -0.5 * below(-0.5) + phi(0.5) - phi(2.0) + 2.0 * below(-2.0),
        ),
        ("censored(normal(a, 1), upper = -3)", -3.0 * below(3.0) - phi(3.0)),
        // 1 − e^−u of an exponential variable, with most of its mass beyond the limit u
        ("censored(weibull(1, 1 + a), upper = 0.1)", -(-0.1_f64).exp_m1()),
        ("censored(logistic(a, 1), upper = -3)", -3.0 - (-3.0_f64).exp().ln_1p()),
        ("truncated(normal(a, 1), lower = -0.5)", phi(0.5) / below(0.5)),
        ("truncated(normal(a, 1), lower = -1.5, upper = 1.5)", 0.0),
        ("truncated(poisson(2 + a), lower = 1)", 2.0 / -(-2.0_f64).exp_m1()),
        ("hurdle(0.3, poisson(2 + a))", 0.7 * 2.0 / -(-2.0_f64).exp_m1()),
        ("zero_inflated(0.3, poisson(2 + a))", 1.4),
        ("ordered_logistic(a, [-1, 1])", 2.0),
    ] {
        let model = parse(&format!(
            "[data]\ny = [1]\n[parameters]\na = \"normal(0, 1)\"\n[likelihood]\ny = \"{law}\"\n"
        ));
        let point = adaann::Batch::from_points(1, &[[0.0]]);
        let mut seen = 0;
        let mut see = |prediction: adaann::model::Prediction<'_>| {
            seen += 1;
            let found = prediction.expected[0];
            assert!((found - exact).abs() < 1e-9, "{law}: {found} is not {exact}");
            assert!(prediction.simulated[0].is_finite(), "{law}");
            true
        };
        model.predict(&point, None, 1, &mut see).unwrap();
        assert_eq!(seen, 1);
    }
}
