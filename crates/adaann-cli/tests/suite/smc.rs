//! `adaann smc`: particles for named targets and model files, and their run folder.

use crate::support::common;
use common::{Place, names, stderr, stdout, table};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_named_target_has_evidence_and_modes() {
    let place = Place::new();
    let output = place.adaann("smc bimodal --particles 400 --seed 3", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = "runs/bimodal-smc-3";
    assert_eq!(
        names(&place.path(folder)),
        ["draws.csv", "final", "index.json", "run.toml", "stages.csv", "summary.json"]
    );
    let said = stdout(&output);
    for word in ["400 particles", "log Z (known)", "mode at", "truth", &format!("to {folder}")] {
        assert!(said.contains(word), "{word} in {said}");
    }
    let summary = place.summary(folder);
    assert_eq!((&summary["method"], &summary["seed"]), (&Value::from("smc"), &Value::from(3)));
    // Errors from the genealogy of 400 particles are rough, so allow five of them.
    let (log_z, error) = (number(&summary["log_z"]), number(&summary["log_z_error"]));
    assert!((log_z - 0.04712).abs() < 5.0 * error && error < 0.2, "{log_z} ± {error}");
    let z = &summary["parameters"][0];
    assert!((number(&z["mean"]) + 2.0).abs() < 5.0 * number(&z["mean_error"]), "{z}");
    assert!((number(&z["sd"]) - 1.705).abs() < 5.0 * number(&z["sd_error"]), "{z}");
    assert!(z.get("mean_q").is_none(), "there is no flow: {z}");
    let modes = summary["found_modes"].as_array().unwrap();
    assert_eq!(modes.len(), 2);
    for mode in modes {
        let off = (number(&mode["weight"]) - 0.5).abs();
        assert!(off < 5.0 * number(&mode["weight_error"]), "{mode}");
    }
    let (header, rows) = table(&place.read(&format!("{folder}/draws.csv")));
    assert_eq!((header.as_str(), rows.len()), ("z,log_p,weight", 5 * 400));
    let sum: f64 = rows.iter().map(|row| row[2]).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    for row in &rows {
        let log_p = -((row[0] + 2.0).powi(2) - 3.0).powi(2);
        assert!((row[1] - log_p).abs() < 1e-9 * (1.0 + log_p.abs()), "{row:?}");
    }
    let (header, stages) = table(&place.read(&format!("{folder}/stages.csv")));
    assert!(header.starts_with("t,start,std_b,ess,resampled,sweeps"), "{header}");
    assert_eq!(summary["stages"], stages.len());
    assert_eq!(stages.last().unwrap()[0], 1.0);
    // Commands that need a flow name the kind of the folder.
    let output = place.adaann(&format!("report {folder}"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is a run of `adaann smc`"), "{}", stderr(&output));
}

/// Exit code 130 means Ctrl-C in shells, so that a spent budget must not give it.
#[test]
fn a_budget_that_is_spent_is_no_interruption() {
    let place = Place::new();
    for budget in ["--max-evaluations 500", "--max-time 0.001s"] {
        let name = budget.trim_start_matches('-').replace(' ', "-");
        let words = format!("smc bimodal --particles 400 --out {name} {budget}");
        let output = place.adaann(&words, &[]);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        assert_eq!(place.summary(&name)["stopped"], Value::Bool(true), "{words}");
        assert!(stdout(&output).contains("the run was stopped at t ="), "{}", stdout(&output));
    }
}

/// A posterior in closed form: a normal mean with a normal prior.
#[test]
fn a_model_file_has_its_posterior_and_its_evidence() {
    let place = Place::new();
    place.write("d.csv", "y\n1.5\n2.5\n0.5\n3.5\n");
    place.write(
        "mean.toml",
        "[data]\nfile = \"d.csv\"\n[parameters]\nm = { prior = \"normal(0, 2)\" }\n\
         [likelihood]\ny = \"normal(m, 1)\"\n[quantities]\ntwice = \"2 * m\"\n\
         [fit]\nseed = 4\n",
    );
    let output = place.adaann("smc mean.toml --particles 400 --json", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let folder = "runs/mean-smc-4";
    assert_eq!(stdout(&output), place.read(&format!("{folder}/summary.json")));
    assert!(place.path(&format!("{folder}/model.toml")).is_file());
    let summary = place.summary(folder);
    // Precision 4 + 1/4, mean 8/4.25; y is jointly normal with covariance I + 4·11ᵀ of determinant 17,
    // and yᵀ(I − 4/17·11ᵀ)y = 21 − 4·64/17.
    let (mean, sd) = (8.0 / 4.25, 4.25_f64.sqrt().recip());
    let log_z = -2.0 * std::f64::consts::TAU.ln() - 0.5 * 17_f64.ln() - 0.5 * (21.0 - 256.0 / 17.0);
    let error = number(&summary["log_z_error"]);
    assert!((number(&summary["log_z"]) - log_z).abs() < 5.0 * error, "{summary}");
    let m = &summary["parameters"][0];
    assert!((number(&m["mean"]) - mean).abs() < 5.0 * number(&m["mean_error"]), "{m}");
    assert!((number(&m["sd"]) - sd).abs() < 5.0 * number(&m["sd_error"]), "{m}");
    let twice = &summary["quantities"][0];
    assert!((number(&twice["mean"]) - 2.0 * number(&m["mean"])).abs() < 1e-9);
    let (header, _) = table(&place.read(&format!("{folder}/draws.csv")));
    assert_eq!(header, "m,twice,log_p,weight");
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_threads_and_moves_matter() {
    let place = Place::new();
    for (out, more) in [
        ("a", "--threads 1"),
        ("b", "--threads 2"),
        ("c", "--threads 2 --seed 2"),
        ("d", "--move rwm --no-jumps"),
        ("e", "--schedule ess --ess 0.5 --path bridge --freshness 0.5 --most-sweeps 2"),
    ] {
        let words =
            format!("smc mixture2d --particles 50 --kept-sweeps 2 --quiet --out {out} {more}");
        let output = place.adaann(&words, &[]);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    }
    let draws = |run: &str| place.read(&format!("{run}/draws.csv"));
    assert_eq!(draws("a"), draws("b"));
    assert!(draws("b") != draws("c") && draws("b") != draws("d") && draws("b") != draws("e"));
    assert_eq!(table(&draws("a")).1.len(), 100);
    let record = place.read("e/run.toml");
    for line in ["path = \"bridge\"", "freshness = 0.5", "most-sweeps = 2", "ess = 0.5"] {
        assert!(record.contains(line), "{line}: {record}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new();
    place.write("m.toml", "[parameters]\nx = { prior = \"normal(0, 1)\" }\n");
    for (words, message) in [
        ("bimodl", "did you mean 'bimodal'?"),
        ("none.toml", "none.toml"),
        ("bimodal --particles 9", "--particles is 9, but must be from 10 to"),
        ("bimodal --move nuts", "must be rwm, mala, hmc or auto"),
        ("bimodal --freshness 1", "--freshness is 1, but must be between 0 and 1"),
        ("bimodal --most-sweeps 0", "--most-sweeps is 0, but must be"),
        ("bimodal --kept-sweeps 0", "--kept-sweeps is 0, but must be"),
        ("bimodal --resample-below 0", "--resample-below is 0, but must be"),
        ("bimodal --tau 0", "--tau is 0, but must be"),
        ("bimodal --ess 0.5", "--ess does not apply to the guarded schedule"),
        ("bimodal --t0 auto", "--t0 is auto, but must be a number"),
        ("bimodal --path likelihood", "--path is likelihood, but must be"),
        ("bimodal --threads 9999", "--threads is 9999, but must be"),
        ("bimodal --param mu=1", "mu"),
        ("m.toml --param mu=1", "--param does not apply to a model file"),
        ("m.toml --data-seed 1", "--data-seed does not apply to a model file"),
        ("bimodal --out .", "--out is '.', but must name a folder"),
    ] {
        let output = place.adaann(&format!("smc {words}"), &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{words}: {}", stderr(&output));
    }
    assert_eq!(place.entries(), ["m.toml"]);
}

/// Powers of a posterior with flat priors may have no integral: particles use the bridge, and other paths are
/// refused with a remedy.
#[test]
fn flat_priors_take_the_bridge() {
    let place = Place::new();
    place.write(
        "flat.toml",
        "[data]\nx = [1, 2, 3, 4]\ny = [2.1, 3.9, 6.2, 7.8]\n[parameters]\na = {}\n\
         sigma = { lower = 0 }\n[likelihood]\ny = \"normal(a * x, sigma)\"\n",
    );
    let output = place.adaann("smc flat.toml --particles 300 --out r", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.read("r/run.toml").contains("path = \"bridge\""));
    for (words, said) in [
        (
            "smc flat.toml --path power",
            "error: sigma has a flat prior, so that p^t has no integral at",
        ),
        ("smc flat.toml --path likelihood", "error: a and sigma have flat priors, so that prior *"),
        (
            "fit flat.toml --path likelihood --t0 0",
            "error: a and sigma have flat priors, so that prior",
        ),
    ] {
        let output = place.adaann(&format!("{words} --out s"), &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let found = stderr(&output);
        assert!(found.contains(said) && found.contains("--path bridge"), "{words}: {found}");
    }
}

/// Each island has its own evidence, and their spread gives the error of the mean.
#[test]
fn islands_are_told_one_by_one() {
    let place = Place::new();
    let output = place.adaann("smc bimodal --particles 800 --islands 4 --out r", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (said, summary) = (stdout(&output), place.summary("r"));
    assert!(said.contains("800 particles in 4 islands"), "{said}");
    assert!(said.contains("log Z (each island)") && said.contains("by their spread"), "{said}");
    assert!(place.read("r/run.toml").contains("islands = 4"));
    let each: Vec<f64> =
        summary["island_log_z"].as_array().expect("a list").iter().map(number).collect();
    assert_eq!(each.len(), 4, "{summary}");
    let mean = each.iter().sum::<f64>() / 4.0;
    let squares: f64 = each.iter().map(|log_z| (log_z - mean).powi(2)).sum();
    let error = number(&summary["island_error"]);
    assert!((error - (squares / 12.0).sqrt()).abs() < 1e-12 && error > 0.0, "{summary}");
    assert!(number(&summary["log_z_error"]) >= error, "{summary}");
    // Z is the mean of the islands' Z, and known.
    let z = each.iter().map(|log_z| log_z.exp()).sum::<f64>() / 4.0;
    assert!((number(&summary["log_z"]) - z.ln()).abs() < 1e-9, "{summary}");
    assert!((z.ln() - 0.047_12).abs() < 5.0 * number(&summary["log_z_error"]), "{summary}");
    let alone = place.adaann("smc bimodal --particles 800 --out s", &[]);
    assert!(alone.status.success() && place.summary("s").get("island_log_z").is_none());
    for count in ["0", "401"] {
        let output = place.adaann(&format!("smc bimodal --particles 800 --islands {count}"), &[]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = format!("--islands is {count}, but must be");
        assert!(stderr(&output).contains(&said), "{}", stderr(&output));
    }
}
