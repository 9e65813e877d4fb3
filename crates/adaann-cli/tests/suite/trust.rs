//! Every run ends with a verdict: its text, its places, and the effect of `--strict`.

use crate::support::common;
use common::{Place, stderr, stdout, table};
use serde_json::Value;

/// A flow that starts with both modes and fits them quickly.
const GOOD: &str = "run bimodal --base-components 2 --base-means=-3.7,-0.3 --base-sd 0.4 \
    --train-base --schedule none --refine 150 --layers 2 --refine-samples 100 --lr 0.01 \
    --draws 1000 --check-particles 200";

/// A flow that starts at one of two equal modes and never finds the other, at -4.
const COLLAPSED: &str = "run mixture1d-asymmetric --base-sd 0.5 --schedule none --refine 60 \
    --layers 2 --refine-samples 50 --draws 1000 --check-particles 200";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_good_run_is_reliable() {
    let place = Place::new();
    let output = place.adaann(&format!("{GOOD} --strict --out r"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    for word in ["Verdict  RELIABLE\n", "log Z ", "ESS", "Pareto k-hat", "particles", "truth"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    let summary = place.summary("r");
    assert_eq!(summary["verdict"]["trust"], "reliable");
    assert_eq!(summary["verdict"]["reasons"], Value::Array(Vec::new()));
    // Within five standard errors: such a close flow has no bias.
    let (log_z, error) = (number(&summary["log_z"]), number(&summary["log_z_error"]));
    assert!(error < 0.05 && (log_z - number(&summary["true_log_z"])).abs() < 5.0 * error);
    let kl = number(&summary["neg_elbo"]) + log_z;
    assert!((number(&summary["kl"]) - kl).abs() < 1e-9);
    assert!(number(&summary["ess"]) > 400.0 && number(&summary["ess_share"]) <= 1.0);
    assert!(number(&summary["k_hat"]) < number(&summary["k_hat_threshold"]));
    let check = &summary["check"];
    assert_eq!(check["particles"], 5 * 200, "of all sweeps that are kept");
    assert!(number(&check["lacking"]) < 0.01 && check["target_evaluations"].as_u64() > Some(1000));
    for key in ["log_z", "log_z_error", "lacking_error", "forward_kl"] {
        assert!(check[key].is_f64(), "{key} in {check}");
    }
    let found = summary["found_modes"].as_array().unwrap();
    assert_eq!(found.len(), 2);
    for mode in found {
        // The peaks are at -2 ± √3, with variance 1/24 from their curvature and half of the mass each.
        let at = number(&mode["location"][0]);
        assert!(((at + 2.0).abs() - 3_f64.sqrt()).abs() < 1e-3, "{at}");
        let variance = number(&mode["covariance"][0]);
        assert!(variance > 0.5 / 24.0 && variance < 3.0 / 24.0, "{variance}");
        for (share, error) in [("weight", "weight_error"), ("particles", "particles_error")] {
            let off = (number(&mode[share]) - 0.5).abs();
            assert!(off < 5.0 * number(&mode[error]), "{share}: {mode}");
        }
    }
    let page = place.read("r/report.html");
    assert!(page.contains("judgement good") && page.contains("Verdict: reliable"));
}

#[test]
fn a_collapsed_run_is_not_and_says_where() {
    let place = Place::new();
    let output = place.adaann(&format!("{COLLAPSED} --strict --out r"), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("Verdict  DO NOT TRUST\n") && said.contains("    try: "), "{said}");
    let summary = place.summary("r");
    let reasons = summary["verdict"]["reasons"].as_array().unwrap();
    let lost = reasons.iter().find(|reason| reason["finding"].to_string().contains("is lost"));
    let lost = lost.unwrap_or_else(|| panic!("{reasons:?}"));
    assert_eq!(lost["trust"], "distrust");
    assert!(lost["finding"].to_string().contains("the mode at z = -4.0"), "{lost}");
    assert_eq!(lost["finding_code"], "mode-lost");
    assert_eq!(lost["remedy_code"], "anneal-more");
    assert!(lost["remedy"].as_str().unwrap().contains("--method ladder"), "{lost}");
    // The weights alone do not show it.
    assert!(number(&summary["k_hat"]) < 0.7 && number(&summary["found_modes"][1]["weight"]) < 0.01);
    assert!(number(&summary["check"]["lacking"]) > 0.3);
    // The mode is listed, although it has no draws.
    let modes = summary["found_modes"].as_array().unwrap();
    assert!(
        modes.iter().any(|mode| (number(&mode["location"][0]) + 4.0).abs() < 1e-3),
        "{modes:?}"
    );
    let page = place.read("r/report.html");
    assert!(page.contains("judgement bad") && page.contains("<strong>try:</strong>"));
    // Without --strict the run succeeds.
    let output = place.adaann(&format!("{COLLAPSED} --quiet --out s"), &[]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
    let record = place.read("r/run.toml");
    assert!(record.contains("check-particles = 200\n") && record.contains("strict = true\n"));
    assert!(place.read("s/run.toml").contains("strict = false\n"));
    // `compare` shows the evidence of both.
    let compared = stdout(&place.adaann("compare r s", &[]));
    assert!(compared.contains("do not trust") && compared.contains("log Z"), "{compared}");
}

#[test]
fn weights_stand_with_the_draws_and_behind_the_numbers() {
    let place = Place::new();
    let output = place.adaann(&format!("{GOOD} --quiet --out r"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = place.summary("r");
    let (header, rows) = table(&place.read("r/draws.csv"));
    assert_eq!((header.as_str(), rows.len()), ("z,log_p,log_q,weight", 1000));
    let sum: f64 = rows.iter().map(|row| row[3]).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    let mean: f64 = rows.iter().map(|row| row[3] * row[0]).sum();
    let mean_q: f64 = rows.iter().map(|row| row[0]).sum::<f64>() / 1000.0;
    let z = &summary["parameters"][0];
    assert!(
        (number(&z["mean"]) - mean).abs() < 1e-9 && (number(&z["mean_q"]) - mean_q).abs() < 1e-9
    );
    assert!(mean != mean_q);
    let above: f64 = rows.iter().filter(|row| row[0] > -2.0).map(|row| row[3]).sum();
    let known = summary["modes"].as_array().unwrap();
    let right = known.iter().find(|mode| number(&mode["location"][0]) > -2.0).unwrap();
    assert!((number(&right["weight"]) - above).abs() < 1e-9);
    // Draws of the flow have a column of weights, with a note; an export repeats the run's own draws.
    let output = place.adaann("sample r -n 50 --unweighted", &[]);
    let (header, more) = table(&stdout(&output));
    assert_eq!((header.as_str(), more.len()), ("z,log_p,log_q,weight", 50));
    assert!(stderr(&output).contains("unweighted draws of the flow"));
    let output = place.adaann("export r --out e.csv --unweighted", &[]);
    assert!(stdout(&output).contains("unweighted draws of the flow"));
    assert_eq!(place.read("e.csv"), place.read("r/draws.csv"));
}

/// The posterior of mu is N(1, 0.8), but its flow stays at the prior, N(0, 2²): all results refer to the
/// posterior.
#[test]
fn every_answer_is_the_weighted_one() {
    let place = Place::new();
    let model = "[parameters]\nmu = \"normal(0, 2)\"\n[data]\ny = [1.25]\n[likelihood]\n\
                 y = \"normal(mu, 1)\"\n";
    place.write("m.toml", model);
    // The base is in units of the prior.
    let stuck = "fit m.toml --schedule none --refine 1 --lr 1e-9 --initial-scale 1e-6 \
                 --base-mean 0 --base-sd 1 --draws 4000 --check-particles 0 --quiet --out r";
    let output = place.adaann(stuck, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mu = &place.summary("r")["parameters"][0];
    let (mean, sd) = (number(&mu["mean"]), number(&mu["sd"]));
    assert!((mean - 1.0).abs() < 5.0 * number(&mu["mean_error"]), "{mu}");
    assert!(number(&mu["mean_q"]).abs() < 0.2, "the flow is elsewhere: {mu}");
    // Resampled draws have the weighted mean up to sd/√n, with n at most 4,000.
    let average = |rows: &[Vec<f64>], column: usize| {
        rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64
    };
    assert!(place.adaann("export r --out e.csv --force", &[]).status.success());
    let (header, rows) = table(&place.read("e.csv"));
    assert_eq!((header.as_str(), rows.len()), ("mu,log_p", 4000));
    assert!((average(&rows, 0) - mean).abs() < 5.0 * sd / 4000_f64.sqrt());
    let predicted = |words: &str| {
        let output =
            place.adaann(&format!("predict r --draws 2000 --out p.csv --force{words}"), &[]);
        let text = place.read("p.csv");
        let column = text.lines().next().unwrap().split(',').position(|c| c == "expected");
        let cell = text.lines().nth(1).unwrap().split(',').nth(column.unwrap()).unwrap();
        (cell.parse::<f64>().unwrap(), stdout(&output))
    };
    let (weighted, said) = predicted("");
    assert!((weighted - mean).abs() < 5.0 * sd / 2000_f64.sqrt(), "{weighted}");
    assert!(!said.contains("unweighted draws"), "{said}");
    let (own, said) = predicted(" --unweighted");
    assert!(own.abs() < 5.0 * 2.0 / 2000_f64.sqrt(), "{own}");
    assert!(said.contains("unweighted draws of the flow"), "{said}");
    // Figures name the kind of draws; a page of flow draws must be written outside the folder.
    assert!(place.read("r/report.html").contains("weighted draws (columns)"));
    assert!(place.adaann("report r --unweighted --out page.html", &[]).status.success());
    assert!(place.read("page.html").contains("unweighted draws of the flow"));
    for words in ["report r --unweighted", "predict r --unweighted"] {
        assert_eq!(place.adaann(words, &[]).status.code(), Some(2), "{words}");
    }
}

/// Draws of a base that is too wide and shifted by a standard deviation of the target.
#[test]
fn resampled_draws_are_those_of_the_target() {
    let place = Place::new();
    let stuck = "run gaussian --param dim=1 --schedule none --refine 1 --lr 1e-9 --initial-scale \
                 1e-6 --base-mean 0 --base-sd 2 --draws 500 --check-particles 0 --quiet --out r";
    let output = place.adaann(stuck, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let draws = |words: &str| table(&stdout(&place.adaann(words, &[])));
    let (header, rows) = draws("sample r -n 2000");
    let (name, rest) = header.split_once(',').unwrap();
    assert_eq!((rest, rows.len()), ("log_p", 2000), "{name}");
    let moments = |rows: &[Vec<f64>]| {
        let mean = rows.iter().map(|row| row[0]).sum::<f64>() / rows.len() as f64;
        let square = rows.iter().map(|row| (row[0] - mean).powi(2)).sum::<f64>();
        (mean, (square / rows.len() as f64).sqrt())
    };
    // E_q[w²] = 4/√7 exp(1/7) = 1.74 for these two Gaussians, so that 8,000 draws are worth more than
    // 4,000, and 2,000 of them have a mean within 5/√2000 + 5/√4000 = 0.19, and a standard deviation
    // within as much.
    let truth = &place.summary("r")["parameters"][0];
    assert_eq!((number(&truth["true_mean"]), number(&truth["true_sd"])), (1.0, 1.0));
    let (mean, sd) = moments(&rows);
    assert!((mean - 1.0).abs() < 0.19 && (sd - 1.0).abs() < 0.19, "{mean} ± {sd}");
    let (mean, sd) = moments(&draws("sample r -n 2000 --unweighted").1);
    assert!(mean.abs() < 0.25 && (sd - 2.0).abs() < 0.25, "those of the flow: {mean} ± {sd}");
    assert_eq!(draws("sample r -n 20").1.len(), 20);
    let again = |seed: &str| draws(&format!("sample r -n 20 --seed {seed}")).1;
    assert!(again("1") == again("1") && again("1") != again("2"), "the seed fixes them");
}

#[test]
fn a_run_without_particles_says_that_nobody_looked() {
    let place = Place::new();
    let output = place.adaann(&format!("{GOOD} --check-particles 0 --out r"), &[]);
    assert_eq!(output.status.code(), Some(2), "a flag twice: {}", stderr(&output));
    let words =
        GOOD.replace("--check-particles 200", "--check-particles 0 --strict --json --out r");
    let output = place.adaann(&words, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(summary["verdict"]["trust"], "care");
    assert!(summary["verdict"].to_string().contains("no independent check"), "{summary}");
    assert_eq!(summary["check"], Value::Null);
    assert_eq!(summary["found_modes"].as_array().unwrap().len(), 2, "from the draws alone");
}

#[test]
fn flags_are_checked() {
    let place = Place::new();
    for (words, message) in [
        ("run bimodal --check-particles 9", "--check-particles is 9, but must be 0, or from 10 to"),
        ("run bimodal --check-particles -1", "must be a whole number"),
        ("run bimodal --check-particles 1e3", "must be a whole number, written as 1000"),
        ("run bimodal --strict=yes", "unexpected value 'yes' for '--strict'"),
        ("sample nowhere --unweighted", "nowhere is not a run folder"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{words}: {}", stderr(&output));
    }
    assert_eq!(place.entries(), [""; 0]);
}
