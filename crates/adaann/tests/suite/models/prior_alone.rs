//! Priors without data: exact draws, their moments in closed form, and log Z = 0.

use crate::models::likelihoods::parse;
use adaann::{
    answer::{Answer, Method, Settings, approximate},
    diagnostics::Trust,
    importance::Estimate,
    model::Model,
};
use std::f64::consts::PI;

/// Bounded, ordered, on a simplex, dependent on each other, with heavy tails and with two modes.
const PRIORS: &str = "[parameters]\n\
    mu = \"normal(1, 2)\"\n\
    theta = { prior = \"normal(mu, 3)\", size = 2 }\n\
    cut = { prior = \"normal(1, 0.5)\", lower = 0.5 }\n\
    flat = { lower = -1, upper = 2 }\n\
    order = { support = \"ordered\", size = 2, prior = \"normal(0, 2)\" }\n\
    share = { support = \"simplex\", size = 3, prior = \"dirichlet([1, 2, 5])\" }\n\
    mixed = \"mixture(0.3, normal(-4, 0.5), 0.7, normal(3, 1))\"\n\
    heavy = \"student_t(3, 0, 1)\"\n";

fn answered(model: &Model, settings: &Settings) -> Answer {
    approximate(&*model.target(), settings, &mut ()).unwrap()
}

#[test]
fn a_prior_without_data_is_drawn_from() {
    let model = parse(PRIORS);
    let target = model.target();
    // phi(1) / Phi(1), for a normal variable truncated one standard deviation below its mean.
    let ratio = (-0.5_f64).exp() / (2.0 * PI).sqrt() / 0.841_344_746_068_542_9;
    let beta_sd = |a: f64, b: f64| (a * b / ((a + b).powi(2) * (a + b + 1.0))).sqrt();
    for seed in 1..=3 {
        let answer = answered(&model, &Settings { seed, ..Settings::default() });
        assert_eq!(answer.method, Method::Prior);
        assert_eq!(answer.log_z, Some(Estimate { value: 0.0, error: 0.0 }));
        let [rung] = &answer.rungs[..] else { panic!("{:?}", answer.rungs) };
        assert_eq!((rung.method, rung.ess_share), (Method::Prior, Some(1.0)));
        assert_eq!(answer.evaluations, 10_000);
        let found = answer.examination.as_ref().unwrap();
        assert_eq!(found.verdict.trust, Trust::Reliable, "{:?}", found.verdict);
        assert_eq!((found.ess, found.log_z.value), (10_000.0, 0.0));
        let (x, count) = (answer.sample.x(), answer.sample.len() as f64);
        assert!(answer.sample.log_p().iter().all(|log_p| log_p.is_finite()));
        for (name, mean, sd) in [
            ("theta[1]", 1.0, 13.0_f64.sqrt()),
            ("cut", 1.0 + 0.5 * ratio, 0.5 * (1.0 - ratio - ratio * ratio).sqrt()),
            ("flat", 0.5, 3.0 / 12.0_f64.sqrt()),
            ("order[1]", -2.0 / PI.sqrt(), 2.0 * (1.0 - 1.0 / PI).sqrt()),
            ("share[1]", 1.0 / 8.0, beta_sd(1.0, 7.0)),
            ("mixed", 0.9, (0.3 * 16.25 + 0.7 * 10.0 - 0.81_f64).sqrt()),
        ] {
            let d = target.names().iter().position(|known| known == name).unwrap();
            let found = x.row(d).iter().sum::<f64>() / count;
            // One in three million correct means is further off than five standard errors.
            assert!((found - mean).abs() < 5.0 * sd / count.sqrt(), "{name}: {found}, not {mean}");
        }
    }
    let other = answered(&model, &Settings { seed: 2, ..Settings::default() });
    let again = answered(&model, &Settings { seed: 2, ..Settings::default() });
    assert_eq!(other.sample.x().row(0), again.sample.x().row(0), "the seed fixes the draws");
}

/// The draws agree with the density: log Z and the mean, by weighted draws of a mixture.
#[test]
fn draws_and_density_agree() {
    let model = parse(
        "[parameters]\nk = { prior = \"normal(1, 0.5)\", lower = 0.5 }\n\
         order = { support = \"ordered\", size = 2, prior = \"normal(0, k)\" }\n",
    );
    let exact = answered(&model, &Settings::default());
    let settings = Settings { method: Method::Mixture, ..Settings::default() };
    let weighted = answered(&model, &settings);
    assert_eq!(weighted.method, Method::Mixture);
    let log_z = weighted.log_z.unwrap();
    assert!(log_z.value.abs() < 4.0 * log_z.error && log_z.error < 0.03, "{log_z:?}");
    let [a, b] = [&exact, &weighted].map(|answer| answer.sample.coordinates().unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert!(a.mean.minus(b.mean).z_score().abs() < 4.0, "{:?} {:?}", a.mean, b.mean);
    }
}

#[test]
fn few_draws_are_drawn_and_said_to_be_few() {
    let answer = answered(&parse(PRIORS), &Settings { draws: Some(5), ..Settings::default() });
    assert_eq!((answer.method, answer.sample.len()), (Method::Prior, 5));
    let verdict = answer.examination.unwrap().verdict;
    assert_eq!(verdict.reasons[0].finding.code(), "few-effective-draws");
}

/// The integral is unknown for ordered elements with different distributions: the ladder estimates
/// it.
#[test]
fn a_prior_whose_integral_is_not_known_is_left_to_the_ladder() {
    let model = parse(
        "[parameters]\n\
         a = { prior = \"normal([0, 0.5], 1)\", support = \"ordered\", size = 2 }\n",
    );
    let answer = answered(&model, &Settings::default());
    assert_ne!(answer.method, Method::Prior);
    // log of the probability that a normal variable with mean 0.5 and variance 2 is positive.
    let (log_z, exact) = (answer.log_z.unwrap(), -0.449_161);
    assert!((log_z.value - exact).abs() < 4.0 * log_z.error, "{log_z:?}");
}

#[test]
fn flat_priors_without_data_and_data_beside_the_prior_are_refused() {
    let said = |text: &str| Model::parse("m.toml", text).err().unwrap().to_string();
    let flat = said("[parameters]\na = \"normal(0, 1)\"\nb = \"flat()\"\nc = {}\n");
    for name in ["b", "c"] {
        let message =
            format!("nothing constrains `{name}`: its prior is flat, and there is no data");
        assert!(flat.contains(&message), "{flat}");
    }
    assert!(!flat.contains("`a`") && flat.contains("m.toml:3:1"), "{flat}");
    let model = parse("density = \"-a^2\"\n[parameters]\na = \"normal(0, 1)\"\n");
    let settings = Settings { method: Method::Prior, ..Settings::default() };
    let refused = approximate(&*model.target(), &settings, &mut ()).unwrap_err();
    assert_eq!(refused.setting(), Some("method"));
}
