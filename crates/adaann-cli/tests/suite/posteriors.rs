//! Targets with data: Lorenz and HIV from a seed or a file.

use crate::support::common;
use common::{Place, TINY, stderr, stdout, table};

/// Tiny settings for a posterior. At the start, most draws have a negligible density.
fn run(place: &Place, words: &str) -> std::process::Output {
    place.adaann(
        &format!("run {words} --tau 50"),
        &[
            TINY[0],
            "4",
            "--warmup",
            "20",
            "--updates",
            "1",
            "--refine",
            "20",
            "--samples",
            "64",
            "--refine-samples",
            "64",
            "--draws",
            "500",
        ],
    )
}

#[test]
fn data_comes_from_a_seed_and_stays_with_the_run() {
    let place = Place::new();
    for (out, words) in [
        ("a", "lorenz --data-seed 3"),
        ("b", "lorenz --data-seed 3"),
        ("c", "lorenz --data-seed 4"),
        ("d", "lorenz --data-seed 3 --noise-variance 0.001"),
    ] {
        let output = run(&place, &format!("{words} --out {out}"));
        assert!(output.status.success(), "{words}: {}", stderr(&output));
    }
    let data = |out: &str| place.read(&format!("{out}/data.csv"));
    assert_eq!(data("a"), data("b"));
    assert_ne!(data("a"), data("c"));
    let (header, rows) = table(&data("a"));
    assert_eq!(header, "t,x,y,z");
    assert_eq!(rows.len(), 30);
    // The same noise, scaled by √(0.001/0.2), around the same solution.
    let (_, quiet) = table(&data("d"));
    let scale = (0.001_f64 / 0.2).sqrt();
    for (loud, quiet) in rows.iter().zip(&quiet) {
        for c in 1..4 {
            let truth = (quiet[c] - scale * loud[c]) / (1.0 - scale);
            assert!((loud[c] - truth).abs() < 6.0 * 0.2_f64.sqrt(), "{loud:?} {quiet:?}");
            assert!((quiet[c] - truth).abs() < 6.0 * 0.001_f64.sqrt());
        }
    }
    let record = place.read("a/run.toml");
    assert!(
        record.contains("data-seed = 3") && record.contains("noise-variance = 0.2"),
        "{record}"
    );
    assert!(record.contains("preset = \"default\""), "{record}");
}

#[test]
fn data_is_read_from_a_file_and_density_uses_it_again() {
    let place = Place::new();
    // Out of order, with a missing measurement, a subset of the states.
    place.write("mine.csv", "z,t,x\n1.4,0.1,2.1\n1.0,0.05,\n2.2,0.15,3.8\n");
    let output = run(&place, "lorenz --data mine.csv --noise-variance 0.3 --out r");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.read("r/data.csv"), "z,t,x\n1.4,0.1,2.1\n1.0,0.05,\n2.2,0.15,3.8\n");
    // log p at the run's own draws equals the stored values, although the data file is gone.
    std::fs::remove_file(place.path("mine.csv")).unwrap();
    let output = place.adaann("density r r/draws.csv", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let ((_, before), (_, after)) = (table(&place.read("r/draws.csv")), table(&stdout(&output)));
    assert_eq!(before.len(), 500);
    for (a, b) in before.iter().zip(&after) {
        let same = a[3] == b[3] || (a[3] - b[3]).abs() <= 1e-9 * a[3].abs();
        assert!(same, "{a:?} {b:?}");
    }
}

#[test]
fn the_summary_counts_lost_points_and_says_how_gradients_are_made() {
    let place = Place::new();
    let output = run(&place, "hiv --preset paper --out r");
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = place.summary("r");
    // The paper's cap keeps every point.
    for stage in ["before_1", "at_1", "draws"] {
        assert_eq!(summary["lost"][stage], 0.0);
    }
    assert!(summary["notes"][0].as_str().unwrap().starts_with("gradient by "), "{summary}");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("a prior is flat"), "{warnings}");
    assert_eq!(summary["modes"].as_array().unwrap().len(), 2);
    // Without the cap some trajectories diverge.
    let output = run(&place, "hiv --base-sd 6 --out wide");
    if output.status.success() {
        assert!(place.summary("wide")["lost"]["before_1"].as_f64().unwrap() > 0.01);
    } else {
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("per cent of the points"), "{}", stderr(&output));
    }
    let (header, _) = table(&place.read("r/schedule.csv"));
    assert_eq!(header, "step,t,epsilon,std_b,updates,lost,ess");
}

#[test]
fn bad_data_is_refused_with_its_place() {
    let place = Place::new();
    for (text, message) in [
        ("", "d.csv is empty"),
        ("t,x\n", "the data has no measurements"),
        ("0.1,2\n0.2,3\n", "line 1: the first line must name the columns"),
        ("t,w\n0.1,2\n", "column 'w', but only these columns are known: t, x, y, z"),
        ("x\n0.1\n", "no column t"),
        ("t,x,x\n0.1,2,2\n", "two columns of the data are called x"),
        ("t,x\n0.1\n", "line 2: 1 columns instead of 2"),
        ("t,x\n0.1,two\n", "line 2: x is 'two', which is not a number"),
        ("t,x\n-0.1,2\n", "row 1 of the data has time -0.1"),
        ("t,x\n,2\n", "has time NaN"),
        ("t,x\n0.1,inf\n", "x in row 1 of the data is inf"),
        ("t,x\n0.1,\n", "every value is missing"),
        ("t;x\n0.1;2\n", "separated by ',', not by ';'"),
    ] {
        place.write("d.csv", text);
        let output = place.adaann("run lorenz --data d.csv", &[]);
        assert_eq!(output.status.code(), Some(2), "{text:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{text:?}: {}", stderr(&output));
    }
    for (words, message) in [
        ("run lorenz --data none.csv", "none.csv"),
        ("run lorenz --data .", "it is a folder"),
        ("run lorenz --data d.csv --data-seed 1", "pass only one of them"),
        ("run bimodal --data-seed 1", "bimodal takes no data"),
        ("run bimodal --noise-variance 1", "--noise-variance does not apply to bimodal"),
        ("run hiv --noise-variance 0", "--noise-variance is 0, but must be positive"),
        ("run hiv --noise-variance -1", "--noise-variance is -1, but must be positive"),
        ("run hiv --preset papper", "--preset is papper, but must be default or paper"),
        ("run bimodal --preset default", "--preset is default, but must be paper"),
        ("run hiv --point-clip 0.5", "--point-clip is 0.5, but must be at least 1"),
    ] {
        let output = place.adaann(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{words}: {}", stderr(&output));
    }
    assert_eq!(place.entries(), ["d.csv"]);
}
