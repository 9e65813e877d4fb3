//! Draws from priors and predictions: their moments in closed form, over fixed seeds.

use crate::models::likelihoods::parse;
use crate::support::common::assert_close;
use adaann::Batch;
use adaann::model::Model;
use adaann::ode::{Solver, System, solve};
use adaann::registry::Table;
use std::f64::consts::PI;

/// Refuses a sample whose mean or standard deviation is more than five standard errors from the
/// expected value. The error of a standard deviation follows from the fourth moment.
#[track_caller]
fn assert_moments(sample: &[f64], mean: f64, sd: f64, what: &str) {
    let n = sample.len() as f64;
    let moment = |k: i32| sample.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let found = mean + moment(1);
    assert!((found - mean).abs() < 5.0 * sd / n.sqrt(), "{what}: mean {found} is not {mean}");
    let (square, fourth) = (moment(2), moment(4));
    let error = 5.0 * ((fourth - square * square) / n).sqrt();
    assert!((square - sd * sd).abs() < error, "{what}: variance {square} is not {}", sd * sd);
}

#[test]
fn priors_are_drawn_from() {
    let model = parse(
        "density = \"0\"\n[parameters]\n\
         theta = { prior = \"normal(mu, tau)\", size = 2 }\n\
         mu = \"normal(1, 2)\"\n\
         tau = \"half_normal(3)\"\n\
         cut = { prior = \"normal(1, 0.5)\", lower = 0.5 }\n\
         gamma = \"gamma(3, 2)\"\n\
         beta = \"beta(2, 5)\"\n\
         flat = { lower = -1, upper = 2 }\n\
         order = { support = \"ordered\", size = 2, prior = \"normal(0, 2)\" }\n\
         share = { support = \"simplex\", size = 3, prior = \"dirichlet([1, 2, 5])\" }\n\
         even = { support = \"simplex\", size = 4 }\n\
         mixed = \"mixture(0.3, normal(-2, 0.5), 0.7, normal(1, 1))\"\n\
         pair = { prior = \"multi_normal([1, -1], [[2, 0.6], [0.6, 0.5]])\", size = 2 }\n\
         wide = \"normal(spread, 1)\"\n\
         [quantities]\nspread = \"2 * mu\"",
    );
    let draws = model.prior_draws(40_000, 7).unwrap();
    let names = model.target().names();
    let row = |name: &str| draws.row(names.iter().position(|n| n == name).unwrap());
    // phi(1) / Phi(1), for a normal variable truncated one standard deviation below its mean.
    let ratio = (-0.5_f64).exp() / (2.0 * PI).sqrt() / 0.841_344_746_068_542_9;
    let beta_sd = |a: f64, b: f64| (a * b / ((a + b).powi(2) * (a + b + 1.0))).sqrt();
    for (name, mean, sd) in [
        ("theta[1]", 1.0, 13.0_f64.sqrt()),
        ("theta[2]", 1.0, 13.0_f64.sqrt()),
        ("mu", 1.0, 2.0),
        ("tau", 3.0 * (2.0 / PI).sqrt(), 3.0 * (1.0 - 2.0 / PI).sqrt()),
        ("cut", 1.0 + 0.5 * ratio, 0.5 * (1.0 - ratio - ratio * ratio).sqrt()),
        ("gamma", 1.5, 0.75_f64.sqrt()),
        ("beta", 2.0 / 7.0, beta_sd(2.0, 5.0)),
        ("flat", 0.5, 3.0 / 12.0_f64.sqrt()),
        ("order[1]", -2.0 / PI.sqrt(), 2.0 * (1.0 - 1.0 / PI).sqrt()),
        ("order[2]", 2.0 / PI.sqrt(), 2.0 * (1.0 - 1.0 / PI).sqrt()),
        ("share[1]", 1.0 / 8.0, beta_sd(1.0, 7.0)),
        ("share[2]", 2.0 / 8.0, beta_sd(2.0, 6.0)),
        ("even[3]", 0.25, beta_sd(1.0, 3.0)),
        ("mixed", 0.1, (0.3 * 0.25 + 0.7 + 0.3 * 0.7 * 9.0_f64).sqrt()),
        ("pair[1]", 1.0, 2.0_f64.sqrt()),
        ("pair[2]", -1.0, 0.5_f64.sqrt()),
        ("wide", 2.0, 17.0_f64.sqrt()),
    ] {
        assert_moments(row(name), mean, sd, name);
    }
    let product =
        |a: &str, b: &str| -> Vec<f64> { row(a).iter().zip(row(b)).map(|(a, b)| a * b).collect() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // E = covariance + product of means; the products have standard deviations below 14 and 4.
    let error = 5.0 / (draws.len() as f64).sqrt();
    assert!((mean(&product("theta[1]", "theta[2]")) - 5.0).abs() < 14.0 * error);
    assert!((mean(&product("pair[1]", "pair[2]")) - (0.6 - 1.0)).abs() < 4.0 * error);
    assert_eq!(model.prior_draws(5, 7).unwrap().point(4), draws.point(4));
    assert_ne!(model.prior_draws(5, 8).unwrap().point(4), draws.point(4));
}

/// Each element is truncated on its own: of twenty elements at once, a millionth would remain.
#[test]
fn long_vectors_with_bounds_are_drawn_from() {
    let model = parse(
        "density = \"0\"\n[parameters]\np = { prior = \"normal(0, 2)\", lower = 0, size = 20 }",
    );
    let draws = model.prior_draws(10_000, 3).expect("draws");
    let (mean, sd) = (2.0 * (2.0 / PI).sqrt(), 2.0 * (1.0 - 2.0 / PI).sqrt());
    assert_moments(draws.row(0), mean, sd, "the first");
    assert_moments(draws.row(19), mean, sd, "the last");
}

#[test]
fn flat_priors_are_not_drawn_from() {
    for parameters in ["p = {}", "p = { lower = 0 }", "p = \"flat()\""] {
        let model = parse(&format!("density = \"-p^2\"\n[parameters]\n{parameters}"));
        assert!(model.prior_draws(1, 1).is_none(), "{parameters}");
    }
}

/// All predictions as (row, line, simulated, expected).
fn predictions(
    model: &Model,
    points: &Batch,
    inputs: Option<&Table>,
) -> Vec<(usize, usize, Vec<f64>, Vec<f64>)> {
    let mut found = Vec::new();
    let mut see = |p: adaann::model::Prediction<'_>| {
        found.push((p.row, p.line, p.simulated.to_vec(), p.expected.to_vec()));
        true
    };
    model.predict(points, inputs, 11, &mut see).unwrap();
    found
}

#[test]
fn predictions_have_the_moments_of_their_distributions() {
    for (law, y, mean, sd) in [
        ("normal(a + x, 2)", "0", 4.5, 2.0),
        (
            "lognormal(a, 0.4)",
            "1",
            (1.5_f64 + 0.08).exp(),
            (1.5_f64 + 0.08).exp() * 0.16_f64.exp_m1().sqrt(),
        ),
        ("student_t(9, a, 2)", "0", 1.5, 2.0 * (9.0_f64 / 7.0).sqrt()),
        ("gamma(2 * a, x)", "1", 1.0, (1.0 / 3.0_f64).sqrt()),
        ("exponential(a)", "1", 1.0 / 1.5, 1.0 / 1.5),
        ("beta(a, x)", "0.5", 1.5 / 4.5, (1.5 * 3.0 / (4.5_f64.powi(2) * 5.5)).sqrt()),
        ("poisson(a * x)", "0", 4.5, 4.5_f64.sqrt()),
        ("poisson_log(a)", "0", 1.5_f64.exp(), 0.75_f64.exp()),
        ("binomial(10 * x, a / 4)", "0", 11.25, (30.0 * 0.375 * 0.625_f64).sqrt()),
        ("bernoulli(a / 2)", "0", 0.75, (0.75 * 0.25_f64).sqrt()),
        ("neg_binomial(a, 2)", "0", 1.5, (1.5 + 1.5 * 1.5 / 2.0_f64).sqrt()),
        (
            "mixture(0.3, normal(-a, 0.5), 0.7, normal(a, 1))",
            "0",
            0.6,
            (0.3 * 0.25 + 0.7 + 0.21 * 9.0_f64).sqrt(),
        ),
    ] {
        let model = parse(&format!(
            "[data]\nx = [3]\ny = [{y}]\n[parameters]\na = \"gamma(2, 1)\"\n[likelihood]\ny = \"{law}\""
        ));
        let points = Batch::from_points(1, &vec![[1.5]; 20_000]);
        let found = predictions(&model, &points, None);
        let [(0, 0, simulated, expected)] = &found[..] else { panic!("{law}: one prediction") };
        assert_moments(simulated, mean, sd, law);
        for x in expected {
            assert_close(*x, mean, 1e-14, law);
        }
    }
}

#[test]
fn new_inputs_are_predicted_at() {
    let model = parse(
        "[data]\nx = [1, 2]\ngroup = [1, 2]\ny = [1, 2]\nn = [1, 2]\n[parameters]\n\
         a = { prior = \"normal(0, 1)\", size = 2 }\n[quantities]\nmean = \"a[group] + c * x\"\n\
         [constants]\nc = \"mean(x)\"\n[likelihood]\ny = \"normal(mean, 1)\"\nn = \"poisson(exp(mean))\"",
    );
    let points = Batch::from_points(2, &[[0.5, -1.0], [2.0, 0.25]]);
    let columns = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    // In another order, with an additional column, and without the measured column.
    let rows = vec![vec![2.0, 9.0, 0.1], vec![1.0, 9.0, -0.5], vec![2.0, 9.0, 3.0]];
    let inputs = Table { names: columns(&["group", "other", "x"]), rows: rows.clone() };
    let found = predictions(&model, &points, Some(&inputs));
    assert_eq!(found.len(), 6);
    for (i, (row, line, _, expected)) in found.iter().enumerate() {
        assert_eq!((*row, *line), (i / 2, i % 2));
        for (a, expected) in [[0.5, -1.0], [2.0, 0.25]].iter().zip(expected) {
            // A constant is still computed from the data.
            let mean = a[rows[*row][0] as usize - 1] + 1.5 * rows[*row][2];
            let value = if *line == 0 { mean } else { mean.exp() };
            assert_close(*expected, value, 1e-14, "expected");
        }
    }
    let refused = |names: &[&str], rows: Vec<Vec<f64>>| {
        let inputs = Table { names: columns(names), rows };
        model.predict(&points, Some(&inputs), 1, &mut |_| true).unwrap_err().to_string()
    };
    assert!(refused(&["x"], vec![vec![1.0]]).contains("no column group"));
    let said = refused(&["group", "x"], vec![vec![1.0, 1.0], vec![1.0, f64::NAN]]);
    assert!(said.contains("x is missing in row 2"), "{said}");
    // A group that does not exist has no prediction.
    let inputs = Table { names: columns(&["group", "x"]), rows: vec![vec![3.0, 1.0]] };
    assert!(predictions(&model, &points, Some(&inputs))[0].3.iter().all(|x| x.is_nan()));
    let mut seen = 0;
    let mut stop = |_: adaann::model::Prediction<'_>| {
        seen += 1;
        seen < 2
    };
    model.predict(&points, None, 1, &mut stop).unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn systems_are_predicted_with_their_solution() {
    let text = |solver: &str| {
        format!(
            "[data]\ntime = [0.5, 0, 2, 1]\nn = [1, 1, 1, 1]\n[parameters]\nr = \"lognormal(0, 1)\"\n\
             k = \"lognormal(1, 1)\"\n[quantities]\nroom = \"1 - u / k\"\n[ode]\ntime = \"time\"\n\
             start = -0.5\n{solver}\n[ode.states]\nu = {{ start = \"k / 5\", rate = \"r * u * room\" }}\n\
             w = {{ start = 0, rate = \"u + time\" }}\n[likelihood]\nn = \"normal(u + w, 1)\""
        )
    };
    let system = System::record(
        &["u", "w"],
        &["r", "k"],
        |t, x, p| vec![p[0] * x[0] * (1.0 - x[0] / p[1]), x[0] + t],
        -0.5,
        |p| vec![p[1] / 5.0, 0.0.into()],
    )
    .unwrap();
    let times = [0.0, 0.25, 3.0];
    let inputs = Table { names: vec!["time".into()], rows: vec![vec![3.0], vec![0.0], vec![0.25]] };
    let points = Batch::from_points(2, &[[0.7, 3.0], [1.9, 0.4]]);
    for (words, solver) in [
        ("solver = \"rk4\"\nstep = 0.1", Solver::Rk4 { step: 0.1 }),
        (
            "rtol = 1e-9\natol = 1e-10\nmax-steps = 5000",
            Solver::DormandPrince { relative: 1e-9, absolute: 1e-10, most_steps: 5_000 },
        ),
    ] {
        let solution = solve(&system, &solver, &points, &times).unwrap();
        let found = predictions(&parse(&text(words)), &points, Some(&inputs));
        assert_eq!(found.len(), 3);
        for (row, _, _, expected) in &found {
            let at = times.iter().position(|t| *t == inputs.rows[*row][0]).unwrap();
            for (i, expected) in expected.iter().enumerate() {
                let states = &solution.states[at];
                let value = states.row(0)[i] + states.row(1)[i];
                assert_close(*expected, value, 1e-13, words);
            }
        }
    }
}
