//! Calibration and predictive checks with the real binary.

use super::{copy, fit, refuse, succeed};
use crate::support::common::{Place, stderr, stdout};

/// A normal mean with a known spread: a linear flow is exact.
const MEAN: &str = "[data]\ny = [0.3, -1.2, 2, 0.9]\n[parameters]\nmu = \"normal(1, 2)\"\n\
                    [likelihood]\ny = \"normal(mu, 1.5)\"\n";

/// Settings that take a moment.
const QUICK: &str = "--flow linear --warmup 40 --updates 5 --refine 80 --samples 32 \
                     --refine-samples 64 --variance-samples 64";

#[test]
fn a_right_fit_is_calibrated_and_a_killed_one_goes_on() {
    let place = Place::new();
    place.write("mean.toml", MEAN);
    let command = |threads| {
        format!("calibrate mean.toml -n 20 --draws 49 --threads {threads} --out c -- {QUICK}")
    };
    let said = stdout(&succeed(&place, &command(2)));
    for words in ["20 fits of simulated data", "mu ", "log_p ", "calibrated"] {
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
    let summary = place.summary("c");
    let parameters = summary["parameters"].as_array().expect("a list");
    assert_eq!(parameters.len(), 2);
    for parameter in parameters {
        assert_eq!(parameter["judgement"], "calibrated", "{parameter}");
        assert_eq!(parameter["inside_band"], true);
    }
    assert_eq!((&summary["finished"], &summary["failed"]), (&20.into(), &0.into()));
    for file in ["figures/ranks.svg", "figures/ranks.png", "figures/ecdf.svg", "report.html"] {
        assert!(place.path("c").join(file).is_file(), "{file}");
    }
    // A kill in the middle of a line; repeated trials give the same results on one thread.
    let (trials, page) = (place.read("c/trials.csv"), place.read("c/report.html"));
    assert_eq!(trials.lines().count(), 21);
    assert!(trials.starts_with("trial,fingerprint,k_hat,ess_share,mu,log_p,failure\n1,"));
    let kept: Vec<&str> = trials.split_inclusive('\n').take(18).collect();
    place.write("c/trials.csv", &(kept.concat() + "18,"));
    let output = succeed(&place, &command(1));
    assert!(stderr(&output).contains("17 of 20 trials are already done"), "{}", stderr(&output));
    assert_eq!(place.read("c/trials.csv"), trials);
    assert!(place.read("c/report.html") == page, "another page");
    assert!(place.summary("c") == summary);
    // Another seed is another calibration.
    let other = command(1).replace("--out c", "--out c --seed 2");
    let said = refuse(&place, &other, 2);
    assert!(said.contains("20 trials of another model") && said.contains("--force"), "{said}");
    assert_eq!(place.read("c/trials.csv"), trials);
}

#[test]
fn what_cannot_be_calibrated_is_refused_with_the_reason() {
    let place = Place::new();
    copy(&place, &["example1.toml", "election.toml", "outside.toml"]);
    place.write("flat.toml", &MEAN.replace("\"normal(1, 2)\"", "{}"));
    place.write("mean.toml", MEAN);
    std::fs::create_dir(place.path("full")).expect("a folder");
    place.write("full/thesis.tex", "");
    for (words, reason) in [
        ("example1.toml", "the model has no data"),
        ("election.toml", "the log density is given by a formula"),
        ("outside.toml", "a command computes the likelihood"),
        ("flat.toml", "give every parameter a prior that is not flat"),
        ("mean.toml -n 0", "-n is 0, but must be from 1"),
        ("mean.toml --draws 0", "--draws is 0, but must be from 1"),
        ("mean.toml --out full", "not the folder of a calibration"),
        ("mean.toml -- --tau -1", "--tau is -1"),
    ] {
        let said = refuse(&place, &format!("calibrate {words}"), 2);
        assert!(said.contains(reason), "{words}: {said}");
    }
    assert!(!place.path("runs").exists(), "nothing is written");
}

#[test]
fn trials_that_fail_are_counted_and_told() {
    let place = Place::new();
    // exp(mu) is infinite above mu = 709.
    place.write(
        "far.toml",
        &MEAN.replace("normal(1, 2)", "normal(800, 1)").replace("(mu,", "(exp(mu),"),
    );
    let said = refuse(&place, &format!("calibrate far.toml -n 3 --out c --quiet -- {QUICK}"), 1);
    assert!(said.contains("all 3 trials failed") && said.contains("`y` in row 1"), "{said}");
    let trials = place.read("c/trials.csv");
    assert_eq!(trials.lines().filter(|line| line.ends_with("use narrower priors\"")).count(), 3);
}

#[test]
fn data_that_a_model_does_not_predict_is_warned_of() {
    let place = Place::new();
    place.write("mean.toml", MEAN);
    place.write("narrow.toml", &MEAN.replace("1.5)", "0.1)"));
    for (model, unlikely) in [("mean", 0), ("narrow", 3)] {
        let output = fit(&place, &format!("{model}.toml --out {model}"));
        assert_eq!(stderr(&output), "");
        let summary = place.summary(model);
        let checks = summary["predictive_checks"].as_array().expect("a list");
        let statistics: Vec<&str> =
            checks.iter().map(|check| check["statistic"].as_str().expect("a name")).collect();
        assert_eq!(statistics, ["mean", "sd", "smallest value", "largest value"]);
        let is_unlikely = |check: &&serde_json::Value| {
            let p = |key: &str| check[key].as_f64().expect("a share");
            p("p_value") < 0.01 || p("p_value_below") < 0.01
        };
        assert_eq!(checks.iter().filter(is_unlikely).count(), unlikely, "{model}: {checks:?}");
        let warnings = summary["warnings"].as_array().expect("a list");
        let of_predictions = |w: &&serde_json::Value| w.to_string().contains("the model predicts");
        assert_eq!(warnings.iter().filter(of_predictions).count(), unlikely, "{warnings:?}");
    }
}
