//! Draws that would not fit into memory are refused before any work is done.

use crate::support::common;
use common::{Place, names, stderr};
use std::process::Command;

/// Runs with a limit on the address space, in kB.
fn limited(place: &Place, kilobytes: usize, words: &str) -> std::process::Output {
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_adaann")]).current_dir(place.path(""));
    command.output().expect("a shell")
}

#[test]
fn more_than_fits_is_refused_with_both_numbers() {
    let place = Place::new();
    place.run("bimodal --out r");
    for (words, flag) in [
        ("run bimodal --out x --draws 100000000", "--draws is 100000000"),
        ("run two-moons --method mixture --out x --draws 100000000", "--draws is 100000000"),
        (
            "run two-moons --method mixture --out x --target-ess 100000000 --most-draws 100000000",
            "--target-ess is 100000000",
        ),
        ("sample r -n 100000000", "-n is 100000000"),
        ("smc bimodal --out x --particles 10000000", "--particles is 10000000"),
    ] {
        let output = limited(&place, 1_500_000, words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(flag) && said.contains("of memory, but "), "{words}: {said}");
        assert!(said.lines().count() == 1 && place.entries() == ["r"], "{words}: {said}");
    }
    // Draws that fit are taken.
    let output = limited(&place, 3_000_000, "sample r -n 1000");
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Predictions of so much data have no figure, but `predict` succeeds.
#[test]
fn data_of_many_rows_is_fitted() {
    let place = Place::new();
    let rows: String = (0..260_000).map(|i| format!("{}\n", f64::from(i % 7) - 3.0)).collect();
    place.write("d.csv", &format!("y\n{rows}"));
    let model = "[data]\nfile = \"d.csv\"\n[parameters]\nm = \"normal(0, 5)\"\n\
                 [likelihood]\ny = \"normal(m, 2)\"\n";
    place.write("m.toml", model);
    let output = place.adaann("fit m.toml --out r --max-evaluations 2000", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(place.path("r/report.html").exists());
    let figures = names(&place.path("r/figures"));
    assert!(!figures.iter().any(|name| name.starts_with("predictions")), "{figures:?}");
}

/// Memory suffices for the two columns that the model names, not for all twenty of the table.
#[test]
fn columns_that_no_model_names_take_no_memory() {
    let place = Place::new();
    let others = ",1.5".repeat(18);
    let names: String = (0..18).map(|i| format!(",c{i}")).collect();
    let rows: String = (0..300_000).map(|i| format!("{},{}{others}\n", i % 5, i % 7)).collect();
    place.write("d.csv", &format!("x,y{names}\n{rows}"));
    let model = "[data]\nfile = \"d.csv\"\n[parameters]\na = \"normal(0, 5)\"\nb = \"normal(0, 5)\"\n\
                 [likelihood]\ny = \"normal(a + b*x, 2)\"\n";
    place.write("m.toml", model);
    let words = "fit m.toml --out r --max-evaluations 2000 --threads 1";
    let output = limited(&place, 700_000, words);
    assert!(output.status.success(), "{}", stderr(&output));
    let kept = place.read("r/data.csv");
    assert!(kept.starts_with("x,y\n0,0\n1,1\n2,2\n") && kept.lines().count() == 300_001);
}
