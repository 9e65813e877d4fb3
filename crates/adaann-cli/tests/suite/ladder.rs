//! The ladder is the default method, and all commands read its folder.

use crate::support::common;
use common::{Place, names, stderr, stdout, table};
use serde_json::Value;

/// A line through four points: a posterior that a mixture approximates quickly.
const LINE: &str = "[data]\nx = [1, 2, 3, 4]\ny = [2.1, 3.9, 6.2, 7.8]\n[parameters]\n\
                    a = \"normal(0, 10)\"\nb = \"normal(0, 10)\"\n[quantities]\nat_ten = \"a + 10 * b\"\n\
                    [likelihood]\ny = \"normal(a + b * x, 0.5)\"\n";

fn record(place: &Place, words: &str) -> toml::Table {
    let output = place.adaann(&format!("{words} --dry-run"), &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    toml::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{words}: {error}"))
}

#[test]
fn the_method_is_that_of_the_target_or_of_the_flags() {
    let place = Place::new();
    place.write("line.toml", LINE);
    place.write("annealed.toml", &format!("{LINE}[fit]\ntau = 0.2\nbase-sd = 3\n"));
    place.write("mixture.toml", &format!("{LINE}[fit]\nmethod = \"mixture\"\nbase-sd = 3\n"));
    for (words, method) in [
        ("fit line.toml", "ladder"),
        ("fit line.toml --auto", "ladder"),
        ("fit line.toml --seed 3 --base-sd 2 --draws 50", "ladder"),
        ("fit line.toml --method smc", "smc"),
        ("fit line.toml --tau 0.1", "adaann"),
        ("fit line.toml --seeds 2", "adaann"),
        ("fit line.toml --method adaann --tau 0.1", "adaann"),
        ("fit annealed.toml", "adaann"),
        ("fit annealed.toml --method ladder", "ladder"),
        ("fit annealed.toml --auto", "ladder"),
        ("fit mixture.toml", "mixture"),
        ("fit mixture.toml --flow linear", "adaann"),
        ("run bimodal", "adaann"),
        ("run bimodal --method ladder", "ladder"),
        ("run mixture1d", "adaann"),
        ("run mixture1d-asymmetric", "adaann"),
        ("run mixture2d", "adaann"),
        ("run hiv", "ladder"),
        ("run hiv --preset paper", "adaann"),
        ("run hiv --preset paper --method ladder", "ladder"),
        ("run lorenz", "ladder"),
        ("run two-moons", "ladder"),
        ("run two-moons --tau 0.1", "adaann"),
        ("run funnel --method flow", "flow"),
    ] {
        let record = record(&place, words);
        assert_eq!(record["method"].as_str(), Some(method), "{words}");
        let (own, other) =
            if method == "adaann" { ("settings", "answer") } else { ("answer", "settings") };
        assert!(record.contains_key(own) && !record.contains_key(other), "{words}: {record}");
    }
    let number = |record: &toml::Table, key: &str| record["answer"][key].clone();
    let given = record(&place, "run hiv --target-ess 500 --most-draws 9000 --check 0.2 --seed 9");
    assert_eq!(number(&given, "target-ess"), 500.0.into());
    assert_eq!(number(&given, "most-draws"), 9_000.into());
    assert_eq!(number(&given, "check"), 0.2.into());
    assert_eq!(number(&given, "seed"), 9.into());
    let base = record(&place, "fit annealed.toml --auto");
    assert_eq!(base["answer"]["base"]["sd"], vec![3.0].into(), "the file's base is everyone's");
}

#[test]
fn settings_of_two_methods_are_refused() {
    let place = Place::new();
    place.write("line.toml", LINE);
    for (words, said) in [
        (
            "fit line.toml --method mixture --tau 0.1",
            "--tau belongs to the method adaann, but --method asks for mixture",
        ),
        ("run hiv --method smc --flow maf", "--flow belongs to the method adaann"),
        (
            "run hiv --auto --tau 0.1",
            "--tau belongs to the method adaann, but --auto asks for ladder",
        ),
        ("run hiv --auto --seeds 2", "--seeds belongs to the method adaann"),
        ("run hiv --auto --method smc", "--auto asks for the ladder, and --method for smc"),
        ("run bimodal --target-ess 500", "--target-ess does not apply to the method adaann"),
        ("run hiv --tau 1 --check 0.1", "--check does not apply to the method adaann"),
        ("run hiv --target-ess 5", "--target-ess is 5, but must be from 100"),
        ("run hiv --most-draws 5", "--most-draws is 5, but must be at least target-ess"),
        ("run hiv --check 1", "--check is 1, but must be from 0 to 0.9"),
        ("run hiv --method mixtur", "did you mean 'mixture'?"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words}: {}", stderr(&output));
    }
    // In a file, the error names its line.
    place.write("both.toml", &format!("{LINE}[fit]\ntau = 0.2\nmethod = \"smc\"\n"));
    let output = place.adaann("fit both.toml", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("`tau` belongs to the method adaann, but `method` asks for smc"),
        "{said}"
    );
    assert!(said.contains("both.toml:12:1"), "{said}");
    assert_eq!(place.entries(), ["both.toml", "line.toml"]);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_climb_has_its_accounts_and_its_folder_is_read_like_others() {
    let place = Place::new();
    place.write("line.toml", LINE);
    let output = place.adaann("fit line.toml --out r", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (said, summary) = (stdout(&output), place.summary("r"));
    let method = summary["method"].as_str().expect("a name");
    assert!(said.starts_with(&format!("line: ladder, answered by {method}, seed 1\n")), "{said}");
    for word in ["rung ", "left because", "it gives the answer", "check evaluations"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    // The sum includes the cost of each rung, and one rung found the answer.
    let rungs = summary["rungs"].as_array().expect("a list");
    let cost: u64 = rungs.iter().map(|rung| rung["evaluations"].as_u64().unwrap()).sum();
    assert!(cost <= summary["target_evaluations"].as_u64().unwrap(), "{summary}");
    assert!(summary["check_evaluations"].is_u64(), "{summary}");
    let answered: Vec<_> = rungs.iter().filter(|rung| rung["left"] == "answered").collect();
    assert!(answered.len() == 1 && answered[0]["method"] == method, "{rungs:?}");
    assert!(rungs.iter().all(|rung| rung["found"].is_string() && rung.get("ess_share").is_some()));
    let trust = summary["verdict"]["trust"].as_str().unwrap();
    assert!(["reliable", "local", "care", "distrust"].contains(&trust), "{trust}");
    assert!((0.0..=1.0).contains(&number(&summary["ess_share"])), "{summary}");
    for key in ["log_z", "log_z_error", "neg_elbo"] {
        assert!(summary[key].is_f64(), "{key} in {summary}");
    }
    // The exact posterior of a line with known noise is normal; means are within five standard errors.
    let exact = [0.151_854, 1.939_220];
    for (parameter, truth) in summary["parameters"].as_array().unwrap().iter().zip(exact) {
        let off = (number(&parameter["mean"]) - truth).abs();
        assert!(off < 5.0 * number(&parameter["mean_error"]), "{parameter}");
    }
    // The page has the rungs, but no figures of training.
    let page = place.read("r/report.html");
    assert!(page.contains("left because") && page.contains("answered by"), "no rungs");
    assert!(page.contains("[answer]"), "no settings");
    let figures = names(&place.path("r/figures"));
    assert!(figures.iter().any(|name| name == "density.svg"), "{figures:?}");
    assert!(!figures.iter().any(|name| name.starts_with("loss") || name.starts_with("schedule")));
    assert_eq!(place.read("r/schedule.csv"), "step,t,epsilon,std_b,updates,lost,ess\n");
    assert_eq!(place.read("r/trace.csv"), "update,t,neg_elbo\n");
    assert_reads(&place, &page);
}

/// Every command that reads a run folder works.
fn assert_reads(place: &Place, page: &str) {
    let good = |words: &str| {
        let output = place.adaann(words, &[]);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        stdout(&output)
    };
    let draws = place.read("r/draws.csv");
    let (header, rows) = table(&draws);
    assert_eq!(header, "a,b,at_ten,log_p,log_q,weight");
    assert!((rows.iter().map(|row| row[5]).sum::<f64>() - 1.0).abs() < 1e-9);
    good("report r");
    assert!(place.read("r/report.html") == page, "another page");
    let (header, sampled) = table(&good("sample r -n 50"));
    assert_eq!((header.as_str(), sampled.len()), ("a,b,at_ten,log_p", 50));
    assert_eq!(table(&good("sample r -n 50 --unweighted")).1.len(), 50);
    good("predict r --draws 100");
    assert_eq!(place.read("r/predictions.csv").lines().count(), 5);
    good("export r --out out.nc --predictions 20 --unweighted");
    good("export r --out out.csv --unweighted");
    assert!(place.read("out.csv") == draws, "other draws");
    // The draws come from q.
    let (_, found) = table(&good("density r r/draws.csv"));
    for (found, row) in found.iter().zip(&rows) {
        assert!((found[2] - row[3]).abs() < 1e-9 * (1.0 + row[3].abs()), "{found:?} {row:?}");
        assert!((found[3] - row[4]).abs() < 1e-6 * (1.0 + row[4].abs()), "{found:?} {row:?}");
    }
    let quick = "--tau 1 --flow linear --warmup 20 --updates 1 --refine 20 --samples 16 \
                 --refine-samples 32 --variance-samples 64 --draws 300 --check-particles 100 --quiet";
    good(&format!("fit line.toml {quick} --out annealed"));
    let compared = good("compare r annealed");
    for word in ["ladder", "adaann", "verdict", "at_ten", "against the best"] {
        let is_there = compared.contains(word) || word == "ladder" && compared.contains("method");
        assert!(is_there, "{word} in {compared}");
    }
}

#[test]
fn threads_and_json_are_as_ever() {
    let place = Place::new();
    for threads in [1, 2] {
        let words = format!("run two-moons --threads {threads} --json --out r{threads}");
        let output = place.adaann(&words, &[]);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        assert_eq!(stdout(&output), place.read(&format!("r{threads}/summary.json")));
    }
    for file in ["draws.csv", "run.toml"] {
        assert!(place.read(&format!("r1/{file}")) == place.read(&format!("r2/{file}")), "{file}");
    }
}

#[test]
fn without_a_check_nobody_has_looked() {
    let place = Place::new();
    place.write("line.toml", LINE);
    let output = place.adaann("fit line.toml --check 0 --strict --json --out r", &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let summary = place.summary("r");
    assert_eq!(summary["check_evaluations"], 0);
    assert_eq!(summary["verdict"]["trust"], "care", "{summary}");
    let remedy = summary["verdict"]["reasons"][0]["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("leave --check at its default of 0.5: "), "{remedy}");
}

/// Priors are sampled directly; the rest of the run is as usual.
#[test]
fn priors_without_data_are_their_own_answer() {
    let place = Place::new();
    place.write(
        "prior.toml",
        "[parameters]\nk = { prior = \"normal(1, 0.5)\", lower = 0.5 }\n\
         w = { support = \"simplex\", size = 3, prior = \"dirichlet([1, 2, 5])\" }\n\
         [quantities]\ntwice = \"2 * k\"\n",
    );
    let output = place.adaann("fit prior.toml --strict --out r", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (said, summary) = (stdout(&output), place.summary("r"));
    assert!(said.starts_with("prior: ladder, answered by prior, seed 1\n"), "{said}");
    assert!(said.contains("RELIABLE") && said.contains("it gives the answer"), "{said}");
    assert_eq!((&summary["log_z"], &summary["log_z_error"]), (&0.0.into(), &0.0.into()));
    assert_eq!(summary["rungs"].as_array().unwrap().len(), 1);
    assert_eq!((&summary["method"], &summary["ess_share"]), (&"prior".into(), &1.0.into()));
    let (header, rows) = table(&place.read("r/draws.csv"));
    assert_eq!(header, "k,w[1],w[2],w[3],twice,log_p,log_q,weight");
    assert_eq!(rows.len(), 10_000);
    assert!(names(&place.path("r/figures")).iter().any(|name| name == "corner.svg"));
    for words in ["sample r -n 50", "report r", "export r --out out.csv", "check prior.toml"] {
        let output = place.adaann(words, &[]);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
    }
    place.write("line.toml", LINE);
    place.write("flat.toml", "[parameters]\na = \"normal(0, 1)\"\nb = {}\n");
    for (words, said) in [
        (
            "fit line.toml --method prior",
            "--method asks for draws of the prior, but the target has data",
        ),
        ("fit flat.toml", "nothing constrains `b`: its prior is flat"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words}: {}", stderr(&output));
    }
}
