//! `adaann run` writes a complete and reproducible run folder, and prints its results.

use crate::support::common;
use adaann::flow::FlowSpec;
use common::{Place, TINY, names, stderr, stdout, table};
use serde_json::Value;

/// Every figure exists in two formats.
fn files_of(figures: &[&str]) -> Vec<String> {
    figures.iter().flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect()
}

#[test]
fn the_folder_is_whole() {
    let place = Place::new();
    let output = place.run("bimodal --out r");
    assert_eq!(place.entries(), ["r"], "nothing hidden is left behind");
    let files = [
        "draws.csv",
        "figures",
        "final",
        "flow.safetensors",
        "flow_at_1.safetensors",
        "index.json",
        "report.html",
        "run.toml",
        "schedule.csv",
        "summary.json",
        "trace.csv",
    ];
    assert_eq!(names(&place.path("r")), files);
    assert_eq!(names(&place.path("r/figures")), files_of(&["density", "loss", "schedule"]));
    let said = stdout(&output);
    for word in ["steps", "updates", "neg-ELBO", "KL(q||p)", "truth", "written to r"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert!(!said.contains('\x1b'), "no colours outside a terminal");
}

#[test]
fn the_tables_agree_with_the_summary() {
    let place = Place::new();
    place.run("bimodal --out r");
    let summary = place.summary("r");
    let (header, draws) = table(&place.read("r/draws.csv"));
    assert_eq!((header.as_str(), draws.len()), ("z,log_p,log_q,weight", 500));
    for draw in &draws {
        let log_p = -((draw[0] + 2.0).powi(2) - 3.0).powi(2);
        assert!((draw[1] - log_p).abs() < 1e-9 * (1.0 + log_p.abs()), "{draw:?}");
    }
    let mean = |column: &dyn Fn(&Vec<f64>) -> f64| draws.iter().map(column).sum::<f64>() / 500.0;
    let close = |value: &Value, x: f64| (value.as_f64().unwrap() - x).abs() < 1e-9;
    assert!(close(&summary["neg_elbo"], mean(&|draw| draw[2] - draw[1])));
    let m = mean(&|draw| draw[0]);
    assert!(close(&summary["parameters"][0]["mean_q"], m));
    let sd = (mean(&|draw| (draw[0] - m).powi(2)) * 500.0 / 499.0).sqrt();
    assert!(close(&summary["parameters"][0]["sd_q"], sd));
    assert_eq!(summary["parameters"][0]["name"], "z");

    let (header, steps) = table(&place.read("r/schedule.csv"));
    assert_eq!(header, "step,t,epsilon,std_b,updates,lost,ess");
    assert_eq!(summary["steps"], steps.len());
    assert_eq!((steps[0][1], steps[steps.len() - 1][1]), (0.01, 1.0));
    assert!(steps[0][3] > 0.0 && steps[steps.len() - 1][3].is_nan());
    let (header, trace) = table(&place.read("r/trace.csv"));
    assert_eq!(header, "update,t,neg_elbo");
    assert_eq!(summary["updates"], trace.len());
    assert_eq!(trace.len(), 20 + (steps.len() - 2) + 30, "T_0 + (K - 2) T + T_1");
    assert_eq!(
        summary["target_evaluations"],
        (20 + steps.len() - 2) * 20 + 30 * 200 + (steps.len() - 1) * 50
    );

    let modes = summary["modes"].as_array().unwrap();
    let weight: f64 = modes.iter().map(|mode| mode["weight"].as_f64().unwrap()).sum();
    assert!(modes.len() == 2 && (weight - 1.0).abs() < 1e-9);
    assert!((modes[0]["location"][0].as_f64().unwrap() + 2.0).abs() > 1.7);
    assert_eq!((&summary["stopped"], &summary["seed"]), (&Value::Bool(false), &Value::from(1)));
    assert!(summary["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_threads() {
    let place = Place::new();
    place.run("bimodal --out a --threads 1 --seed 7");
    place.run("bimodal --out b --threads 2 --seed 7");
    place.run("bimodal --out c --threads 2 --seed 7");
    place.run("bimodal --out d --threads 2 --seed 8");
    for file in ["draws.csv", "trace.csv", "schedule.csv", "run.toml"] {
        let read = |run: &str| place.read(&format!("{run}/{file}"));
        assert_eq!(read("a"), read("b"), "{file}");
        assert_eq!(read("b"), read("c"), "{file}");
        assert_ne!(read("c"), read("d"), "{file}: the seed matters");
    }
}

#[test]
fn a_folder_is_replaced_only_if_asked() {
    let place = Place::new();
    place.run("bimodal");
    place.write("runs/bimodal-1/note.txt", "mine");
    let again = place.adaann("run bimodal", TINY);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("runs/bimodal-1 exists; replace it with --force"),
        "{}",
        stderr(&again)
    );
    assert_eq!(place.read("runs/bimodal-1/note.txt"), "mine");
    // Only files of the run are removed.
    std::fs::create_dir(place.path("runs/bimodal-1/figures/mine")).unwrap();
    place.write("runs/bimodal-1/figures/mine/a.svg", "mine");
    let before = place.read("runs/bimodal-1/summary.json");
    let refused = place.adaann("run bimodal --force", TINY);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains(
        "figures/mine/a.svg, note.txt; move them away, or choose another folder with --out"
    ));
    assert_eq!(place.read("runs/bimodal-1/note.txt"), "mine");
    assert_eq!(place.read("runs/bimodal-1/summary.json"), before);
    std::fs::remove_dir_all(place.path("runs/bimodal-1/figures/mine")).unwrap();
    std::fs::remove_file(place.path("runs/bimodal-1/note.txt")).unwrap();
    place.write("runs/bimodal-1/draws.csv", "spoiled");
    place.run("bimodal --force");
    assert!(place.read("runs/bimodal-1/draws.csv").starts_with("z,"));
    assert_eq!(names(&place.path("runs")), ["bimodal-1"]);
}

#[test]
fn force_replaces_nothing_but_runs() {
    let place = Place::new();
    std::fs::create_dir(place.path("thesis")).unwrap();
    place.write("thesis/chapter1.tex", "mine");
    let output = place.adaann("run bimodal --out thesis --force", TINY);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not a run folder"), "{}", stderr(&output));
    assert_eq!(place.read("thesis/chapter1.tex"), "mine");
}

#[test]
fn json_is_the_summary_and_nothing_else() {
    let place = Place::new();
    let output = place.run("bimodal --out r --json");
    assert_eq!(stdout(&output), place.read("r/summary.json"));
    let parsed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(parsed["target"], "bimodal");
    assert_eq!(stderr(&output), "");
}

#[test]
fn quiet_is_silent() {
    let place = Place::new();
    let output = place.run("bimodal --out r --quiet");
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
}

#[test]
fn a_dry_run_shows_what_the_folder_will_say() {
    let place = Place::new();
    let shown = stdout(&place.run("bimodal --schedule guarded --dry-run --out r"));
    assert_eq!(place.entries(), [""; 0]);
    place.run("bimodal --schedule guarded --out r");
    assert_eq!(shown, place.read("r/run.toml"));
    assert!(shown.contains("[settings.schedule.guarded]") && shown.contains("tau = 0.3"));
}

/// The paths of these targets start at t = 0, which some rules and the power path do not support.
#[test]
fn rules_and_paths_that_cannot_start_at_0_have_their_own_start() {
    let place = Place::new();
    for (flags, t0) in [
        ("", "t0 = 0.0\n"),
        ("--schedule exponential", "t0 = 0.01\n"),
        ("--schedule guarded", "t0 = 0.0\n"),
        ("--path power", "t0 = 0.01\n"),
        ("--path power --schedule linear", "t0 = 0.01\n"),
        ("--path power --t0 0.2", "t0 = 0.2\n"),
    ] {
        for target in ["shells", "eggbox"] {
            let words = format!("run {target} --method adaann {flags} --dry-run");
            let output = place.adaann(&words, &[]);
            assert!(output.status.success(), "{target} {flags}: {}", stderr(&output));
            assert!(stdout(&output).contains(t0), "{target} {flags}: {}", stdout(&output));
        }
    }
    // Setting it gives a message.
    let output = place.adaann("run shells --path power --t0 0 --dry-run", &[]);
    assert!(stderr(&output).contains("--t0 is 0, but must be above 0"), "{}", stderr(&output));
}

#[test]
fn the_record_has_the_covariance_that_is_used() {
    let place = Place::new();
    let shown = stdout(&place.run("bimodal --base laplace --dry-run"));
    assert!(shown.contains("start = \"laplace\"") && shown.contains("covariance = \"full\""));
}

#[test]
fn several_seeds_are_compared_and_the_best_is_kept() {
    let place = Place::new();
    let said = stdout(&place.run("bimodal --seeds 3 --seed 5 --out r"));
    let summary = place.summary("r");
    let seeds = summary["seeds"].as_array().unwrap();
    let mut numbers: Vec<_> = seeds.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(summary["seed"], numbers[0], "best first");
    let losses: Vec<_> = seeds.iter().map(|run| run["neg_elbo"].as_f64().unwrap()).collect();
    assert!(losses.is_sorted(), "{losses:?}");
    numbers.sort();
    assert_eq!(numbers, [5, 6, 7]);
    assert!(said.contains("best seed"), "{said}");
    // The best seed gives the same results alone.
    place.run(&format!("bimodal --seed {} --out alone", summary["seed"]));
    assert_eq!(place.read("r/draws.csv"), place.read("alone/draws.csv"));
}

#[test]
fn a_spread_far_from_the_known_one_is_a_warning() {
    let place = Place::new();
    // A flow with tiny steps from a far too wide base.
    let stuck = "--schedule none --refine 1 --lr 1e-9 --initial-scale 1e-6 --draws 500 --base-sd";
    for (sd, warned) in [("50", true), ("1", false)] {
        let words = format!("run mixture1d --out sd{sd} {stuck} {sd} --base-mean 0");
        let output = place.adaann(&words, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stdout(&output);
        assert_eq!(said.contains("the flow's sd of "), warned, "{said}");
    }
    let summary = place.summary("sd50");
    let said = summary["warnings"].as_array().unwrap();
    assert!(said.iter().any(|line| line.as_str().unwrap().contains("more --layers")), "{said:?}");
}

#[test]
fn every_schedule_flow_and_optimizer_runs() {
    let place = Place::new();
    let small = "--warmup 3 --refine 3 --samples 8 --refine-samples 8 --variance-samples 20 --draws 50 --layers 2 --quiet";
    for (i, choice) in [
        "--schedule none",
        "--schedule linear --epsilon 0.3",
        "--schedule exponential --steps 3 --flow radial",
        "--schedule logarithmic --steps 3 --optimizer sgd --momentum 0.5 --lr 1e-4",
        "--schedule list --temperatures 0.2,0.6,1 --optimizer rmsprop",
        "--schedule guarded --tau 0.5 --no-robust --activation algebraic",
        "--schedule ess --ess 0.5 --precision f32",
        "--path bridge --t0 0 --schedule linear --epsilon 0.5 --train-base",
        "--base laplace --base-mean -3.5 --base-covariance full --tau 0.5 --clip 1 --lr-rule cosine:5",
    ]
    .iter()
    .enumerate()
    {
        let output = place.adaann(&format!("run bimodal {choice} {small} --out r{i}"), &[]);
        assert!(output.status.success(), "{choice}: {}", stderr(&output));
        assert_eq!(place.summary(&format!("r{i}"))["draws"], 50);
    }
    let (_, steps) = table(&place.read("r4/schedule.csv"));
    assert_eq!(steps.iter().map(|step| step[1]).collect::<Vec<_>>(), [0.2, 0.6, 1.0]);
}

#[test]
fn every_family_runs() {
    let place = Place::new();
    let small = "--schedule none --refine 3 --refine-samples 20 --draws 50 --quiet";
    let composed = ["linear+spline", "affine+planar", "planar --base-components 3 --train-base"];
    let names = FlowSpec::ALL.iter().map(|(name, _)| *name).chain(composed);
    for (i, flow) in names.enumerate() {
        let output = place.adaann(&format!("run two-moons --flow {flow} {small} --out r{i}"), &[]);
        assert!(output.status.success(), "{flow}: {}", stderr(&output));
        assert_eq!(place.summary(&format!("r{i}"))["draws"], 50);
    }
    let settings = "--hidden 5 --hidden-layers 1 --hidden-activation tanh --mask 1 --bins 4";
    let output =
        place.adaann(&format!("run two-moons --flow spline {settings} {small} --out s"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let record = place.read("s/run.toml");
    for line in ["units = 5", "layers = 1", "activation = \"tanh\"", "bins = 4", "kept = [1]"] {
        assert!(record.contains(line), "{line}: {record}");
    }
}

#[test]
fn parameters_reach_the_target_and_the_record() {
    let place = Place::new();
    place.run("mixture1d --param mu=2 --out r");
    assert!(place.read("r/run.toml").contains("[parameters]\nmu = 2.0\n"));
    let mode = place.summary("r")["modes"][0]["location"][0].as_f64().unwrap();
    assert!((mode.abs() - 1.0).abs() < 1e-9, "{mode}");
    // Defaults are written too, since they may change.
    place.run("mixture1d --out s");
    assert!(place.read("s/run.toml").contains("mu = 4.0\n"));
}

#[test]
fn every_dimension_has_its_figures() {
    let place = Place::new();
    for (dim, figures) in [
        (2, &["density", "loss", "schedule"][..]),
        (3, &["corner", "loss", "schedule"]),
        (6, &["corner", "loss", "marginals", "schedule"]),
    ] {
        place.run(&format!("gaussian --param dim={dim} --out r{dim}"));
        assert_eq!(names(&place.path(&format!("r{dim}/figures"))), files_of(figures));
        for figure in figures {
            let svg = place.read(&format!("r{dim}/figures/{figure}.svg"));
            assert!(svg.starts_with("<svg viewBox=") && !svg.contains("NaN"), "{dim} {figure}");
            let png = std::fs::read(place.path(&format!("r{dim}/figures/{figure}.png"))).unwrap();
            let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
            assert!(png.starts_with(b"\x89PNG") && width >= 1600, "{dim} {figure}: {width}");
        }
    }
}

#[test]
fn the_report_needs_nothing_else() {
    let place = Place::new();
    place.run("bimodal --out r");
    let report = place.read("r/report.html");
    assert_eq!(report.matches("<figure ").count(), 3);
    assert!(report.contains("name=\"viewport\"") && report.contains("[settings.work]"));
    let own = report.replace("http://www.w3.org/2000/svg", "").replace("href=\"data:,\"", "");
    for link in ["src=", "href=", "@import", "url(", "http"] {
        assert!(!own.contains(link), "{link}");
    }
}

#[test]
fn the_list_names_everything() {
    let said = stdout(&Place::new().adaann("list", &[]));
    for name in ["bimodal", "mixture", "planar", "radial", "guarded", "bridge", "rmsprop"] {
        assert!(said.contains(&format!("  {name} ")), "{name} in {said}");
    }
}

#[test]
fn bounds_on_evaluations_hold_for_draws_and_check_as_well() {
    let place = Place::new();
    place.adaann("run bimodal --out r --draws 20000 --max-evaluations 3000", &[]);
    let summary = place.summary("r");
    let count = |name: &str| summary[name].as_u64().unwrap();
    let used = count("target_evaluations") + count("check_evaluations");
    assert!((1_000..3_500).contains(&used), "{used}");
    let codes = summary["verdict"]["reasons"].as_array().unwrap().iter();
    let codes: Vec<_> = codes.map(|reason| reason["finding_code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"stopped") || codes.contains(&"budget-spent"), "{codes:?}");
}
