//! Which models are proved to be log-concave, and that no proof is wrong.

use crate::models::{
    examples::{model, path},
    likelihoods::parse,
};
use crate::support::common::Numbers;
use adaann::{
    Batch,
    target::{Target, Unconstrained, Workspace},
};

const DATA: &str = "[data]\nx = [0.3, -1.2, 0.8, 2.0, -0.5, 1.4]\ny = [1, 0, 0, 1, 1, 1]\n\
                    count = [2, 0, 5, 1, 3, 0]\ngroup = [1, 1, 2, 2, 3, 3]\n";

const LINE: &str = "a = \"normal(0, 2)\"\nb = \"normal(0, 2)\"";

fn proved(parameters: &str, likelihood: &str) -> bool {
    let text = format!("{DATA}[parameters]\n{parameters}\n[likelihood]\n{likelihood}\n");
    let model = parse(&text);
    let target = model.target();
    if target.is_log_concave() {
        assert_no_valley(&*target, &text);
    }
    target.is_log_concave()
}

/// The middle of no random segment lies below the mean of its ends, in the original or in the unconstrained
/// coordinates: concavity was proved in one of them.
fn assert_no_valley(target: &dyn Target, name: &str) {
    const SEGMENTS: usize = 1_000;
    let (line, dim) = (Unconstrained::new(target).unwrap(), target.dim());
    let mut numbers = Numbers(7);
    let mut random = || (0..dim).map(|_| 1.5 * numbers.normal()).collect::<Vec<f64>>();
    let ends: Vec<Vec<f64>> = (0..2 * SEGMENTS).map(|_| random()).collect();
    let on_line = Batch::from_points(dim, &ends);
    let own = line.constrain(&on_line).0;
    let value = |z: &Batch, with_jacobian: bool| -> Vec<f64> {
        let mut work = Workspace::zeros(dim, z.len());
        line.evaluate(z, None, &mut work).unwrap();
        let log_p = |i: usize| {
            let parts = work.evaluation.log_prior[i] + work.evaluation.log_likelihood[i];
            parts + if with_jacobian { work.log_jacobian[i] } else { 0.0 }
        };
        (0..z.len()).map(log_p).map(|x| if x.is_nan() { f64::NEG_INFINITY } else { x }).collect()
    };
    let middles = |of: &Batch| {
        let middle = |i: usize| -> Vec<f64> {
            let (a, b) = (of.point(2 * i), of.point(2 * i + 1));
            a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect()
        };
        let all: Vec<Vec<f64>> = (0..SEGMENTS).map(middle).collect();
        Batch::from_points(dim, &all)
    };
    let valleys = |middle: Batch, with_jacobian: bool| {
        let (ends, middle) = (value(&on_line, with_jacobian), value(&middle, with_jacobian));
        let is_valley = |i: &usize| {
            let (a, b) = (ends[2 * i], ends[2 * i + 1]);
            middle[*i] < 0.5 * (a + b) - 1e-8 * (1.0 + a.abs() + b.abs())
        };
        (0..SEGMENTS).filter(is_valley).count()
    };
    let in_own = valleys(line.unconstrain(&middles(&own)).unwrap(), false);
    let in_line = valleys(middles(&on_line), true);
    assert_eq!(in_own.min(in_line), 0, "{name}: {in_own} and {in_line} of {SEGMENTS}");
}

#[test]
fn regressions_are_proved() {
    for (parameters, likelihood) in [
        (LINE, "y = \"bernoulli_logit(a + b * x)\""),
        (LINE, "y = \"bernoulli(Phi(a + b * x))\""),
        (LINE, "count = \"poisson(exp(a + b * x))\""),
        (LINE, "x = \"normal(a + b * count, 0.7)\""),
        ("a = \"laplace(0, 2)\"\nb = \"logistic(0, 1)\"", "y = \"bernoulli_logit(a + b * x)\""),
        ("a = { prior = \"normal(0, 1)\", size = 3 }", "y = \"bernoulli_logit(a[group] * x)\""),
        ("rate = \"gamma(2, 1)\"", "count = \"poisson(rate)\""),
        ("rate = \"lognormal(0, 1)\"", "count = \"poisson(rate)\""),
        ("p = \"beta(2, 3)\"", "y = \"bernoulli(p)\""),
        ("p = \"uniform(0, 1)\"", "y = \"bernoulli(p)\""),
    ] {
        assert!(proved(parameters, likelihood), "{parameters}\n{likelihood}");
    }
}

#[test]
fn others_are_not() {
    for (parameters, likelihood) in [
        (LINE, "x = \"normal(a * b, 1)\""),
        (LINE, "x = \"student_t(3, a + b * count, 1)\""),
        ("a = \"cauchy(0, 1)\"", "y = \"bernoulli_logit(a * x)\""),
        ("a = \"normal(0, 1)\"\ns = \"half_normal(1)\"", "x = \"normal(a, s)\""),
        ("a = \"normal(0, 1)\"", "x = \"normal(sin(a), 1)\""),
        ("p = \"beta(0.5, 0.5)\"", "y = \"normal(p, 1)\""),
    ] {
        assert!(!proved(parameters, likelihood), "{parameters}\n{likelihood}");
    }
}

/// Exactly these models of the gallery.
#[test]
fn the_gallery_is_judged() {
    let files = std::fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.map(|name| name.into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let model = model(&name);
        let target = model.target();
        if target.is_log_concave() {
            assert_no_valley(&*target, &name);
            found.push(name);
        }
    }
    assert_eq!(found, ["logistic_regression.toml"]);
}
