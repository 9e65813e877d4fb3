//! `adaann report` redraws a finished run, and reports damage to its folder.

use crate::support::common;
use common::{Place, names, stderr, stdout};
use std::fs;

fn report(place: &Place, words: &str) {
    let output = place.adaann(&format!("report {words}"), &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    assert!(stdout(&output).starts_with("written to "), "{}", stdout(&output));
}

#[test]
fn the_same_folder_gives_the_same_page() {
    let place = Place::new();
    for target in ["bimodal", "two-moons --seeds 2", "gaussian --param dim=6", "rings"] {
        place.run(&format!("{target} --out r --force"));
        let page = place.read("r/report.html");
        let figures = names(&place.path("r/figures"));
        let bytes = |name: &String| fs::read(place.path(&format!("r/figures/{name}"))).unwrap();
        let drawn: Vec<_> = figures.iter().map(bytes).collect();
        fs::remove_file(place.path("r/report.html")).unwrap();
        fs::remove_dir_all(place.path("r/figures")).unwrap();
        report(&place, "r");
        assert!(place.read("r/report.html") == page, "{target}: another page");
        assert_eq!(names(&place.path("r/figures")), figures);
        assert!(figures.iter().map(bytes).collect::<Vec<_>>() == drawn, "{target}: other figures");
    }
    assert_eq!(place.entries(), ["r"], "nothing is left beside it");
}

#[test]
fn another_place_leaves_the_folder_alone() {
    let place = Place::new();
    place.run("bimodal --out r");
    let page = place.read("r/report.html");
    fs::remove_dir_all(place.path("r/figures")).unwrap();
    place.write("r/report.html", "mine");
    report(&place, "r --out page.html");
    assert!(place.read("page.html") == page);
    assert_eq!(place.read("r/report.html"), "mine");
    assert!(!place.path("r/figures").exists());
}

#[test]
fn posteriors_show_data_and_solutions() {
    let place = Place::new();
    // A narrow base near the truth and tiny steps: from the prior most trajectories diverge.
    let near = "--base-sd 0.05 --base-mean 2.3,0.98,3.33 --schedule none --lr 1e-9 --layers 4 \
                --initial-scale 1e-6 --refine 20 --refine-samples 64 --draws 500 --quiet";
    let output = place.adaann(&format!("run lorenz {near} --out l"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = place.read("l/report.html");
    for words in ["Solutions at ", "5 to 95 per cent", ">data<", ">truth<", "the true parameters"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(place.path("l/figures/trajectories.png").is_file());
    report(&place, "l");
    assert!(place.read("l/report.html") == page);
    // The true parameters of given data are unknown.
    place.write("mine.csv", "t,x\n0.1,2.1\n0.2,6.0\n0.3,15.0\n");
    let output = place.adaann(&format!("run lorenz --data mine.csv {near} --out m"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = place.read("m/report.html");
    assert!(page.contains("Solutions at ") && !page.contains(">truth<"));
}

#[test]
fn the_verdict_of_the_summary_is_shown() {
    let place = Place::new();
    place.run("bimodal --out r");
    let mut summary = place.summary("r");
    let reason = serde_json::json!({ "trust": "care", "finding": "a < b", "remedy": "`--tau 1`" });
    summary["verdict"] = serde_json::json!({ "trust": "care", "reasons": [reason] });
    // Values that a run could not compute are null in its file.
    summary["neg_elbo"] = serde_json::Value::Null;
    summary["log_z"] = serde_json::Value::Null;
    summary["found_modes"][0]["weight"] = serde_json::Value::Null;
    place.forget_index("r");
    place.write("r/summary.json", &summary.to_string());
    report(&place, "r");
    let page = place.read("r/report.html");
    assert!(page.contains("<div class=\"judgement doubtful\" role=\"note\">"));
    assert!(page.contains("<strong>Verdict: use with care</strong>"));
    assert!(page.contains("a &lt; b; <strong>try:</strong> <code>--tau 1</code>"));
    assert!(page.contains("NaN"));
}

/// The power of the search survives the file, and `report` and `compare` show it.
#[test]
fn a_local_verdict_has_its_own_tone_and_says_its_power() {
    let place = Place::new();
    place.run("bimodal --out r");
    let mut summary = place.summary("r");
    summary["verdict"] = serde_json::json!({
        "trust": "local", "reasons": [], "power": 0.625, "power_basis": "planted"
    });
    place.forget_index("r");
    place.write("r/summary.json", &summary.to_string());
    report(&place, "r");
    let page = place.read("r/report.html");
    assert!(page.contains("<div class=\"judgement partial\" role=\"note\">"));
    assert!(page.contains("<strong>Verdict: local</strong>"));
    assert!(page.contains("<strong>search coverage:</strong> would have found 62 % of modes"));
    let compared = stdout(&place.adaann("compare r r", &[]));
    assert!(compared.contains("local, power 62 %"), "{compared}");
}

#[test]
fn what_is_wrong_with_a_folder_is_told_with_the_file() {
    let place = Place::new();
    place.run("bimodal --out r");
    place.forget_index("r");
    let page = place.read("r/report.html");
    let refuse = |words: &str, message: &str| {
        let output = place.adaann(&format!("report {words}"), &[]);
        let said = stderr(&output);
        assert!(!output.status.success(), "{words}");
        assert!(said.starts_with("error: ") && said.contains(message), "{words}: {said}");
    };
    refuse("nothing", "nothing is not a run folder: it has no run.toml");
    refuse("r/draws.csv", "r/draws.csv is not a run folder");
    refuse("r --out no/page.html", "which is in a folder that does not exist");
    refuse("r --out r", "--out is 'r', which is a folder");
    for (file, broken, message) in [
        ("run.toml", "target = 3", "cannot read r/run.toml"),
        ("summary.json", "{\"version\": 1}", "r/summary.json is not the summary of a run"),
        (
            "draws.csv",
            "z,log_p,log_q,weight\n1,x,0,1\n",
            "r/draws.csv, line 2: log_p is 'x', which is not a number",
        ),
        ("draws.csv", "y\n1\n", "r/draws.csv has no column z"),
        ("schedule.csv", "", "r/schedule.csv is empty"),
        ("trace.csv", "update,t,neg_elbo\n1\n", "r/trace.csv, line 2: 1 columns instead of 3"),
        ("flow.safetensors", "broken", "flow.safetensors"),
    ] {
        let whole = fs::read(place.path(&format!("r/{file}"))).unwrap();
        place.write(&format!("r/{file}"), broken);
        refuse("r", message);
        fs::remove_file(place.path(&format!("r/{file}"))).unwrap();
        refuse("r", file);
        fs::write(place.path(&format!("r/{file}")), whole).unwrap();
    }
    assert!(place.read("r/report.html") == page, "nothing was written");
    report(&place, "r");
}
