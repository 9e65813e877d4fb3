//! Errors are reported with their locations, give exit code 2, and leave no files behind.

use super::{QUICK, refuse, succeed};
use crate::support::common::{Place, stderr};

#[test]
fn mistakes_leave_nothing_behind() {
    let place = Place::new();
    place.write(
        "m.toml",
        "[data]\nx = [1, 2]\n[parameters]\na = \"norml(0, 1)\"\nb = \"normal(0, c)\"\n\
         [likelihood]\nx = \"poisson(a, b)\"\ny = \"normal(a, 1)\"\n",
    );
    for command in ["check m.toml", "fit m.toml"] {
        let said = refuse(&place, command, 2);
        for words in
            ["m.toml:4:6", "m.toml:5:16", "m.toml:7:6", "m.toml:8:1", "did you mean `normal`?"]
        {
            assert!(said.contains(words), "{command}: {words} is not in\n{said}");
        }
        assert_eq!(said.matches("error: ").count(), 4, "{said}");
    }
    for (words, reason) in [
        ("check nowhere.toml", "nowhere.toml"),
        ("fit nowhere.toml", "nowhere.toml"),
        ("fit m.toml --tua 1", "--tua"),
        ("predict nowhere", "is not a run folder"),
        ("sample nowhere", "is not a run folder"),
        ("export nowhere", "is not a run folder"),
        ("compare nowhere m.toml", "is not a run folder"),
        ("init nowhere/m.toml", "nowhere"),
    ] {
        let said = refuse(&place, words, 2);
        assert!(said.contains(reason), "{words}: {said}");
    }
    assert_eq!(place.entries(), ["m.toml"]);
}

#[test]
fn a_program_that_fails_leaves_nothing_behind() {
    let place = Place::new();
    for (run, words) in [("./nowhere", "nowhere"), ("sh -c false", "sh")] {
        place
            .write("m.toml", &format!("command = \"{run}\"\n[parameters]\na = \"normal(0, 1)\"\n"));
        let output = place.adaann("fit m.toml --out run", QUICK);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: ") && said.contains(words), "{said}");
        assert_eq!(said.matches("the target failed").count(), 1, "{said}");
        assert_eq!(place.entries(), ["m.toml"]);
    }
}

#[test]
fn exports_and_predictions_are_refused_before_work() {
    let place = Place::new();
    succeed(&place, "init m.toml");
    super::fit(&place, "m.toml --out run");
    place.write("few.csv", "z\n1\n");
    place.write("word.csv", "x\none\n");
    place.write("hole.csv", "x\n1\n\"\"\n");
    for (words, reason) in [
        ("export run --out draws.xlsx", ".nc"),
        ("export run --out nowhere/draws.nc", "nowhere"),
        ("predict run --at few.csv", "no column x"),
        ("predict run --at word.csv", "word.csv"),
        ("predict run --at hole.csv", "missing"),
        ("predict run --at nowhere.csv", "nowhere.csv"),
        ("sample run -n 0", "-n is 0"),
        ("fit m.toml --out run", "exists"),
    ] {
        let said = refuse(&place, words, 2);
        assert!(said.contains(reason), "{words}: {said}");
    }
    let mut entries = place.entries();
    entries.retain(|name| !name.ends_with(".csv"));
    assert_eq!(entries, ["m.toml", "run"]);
    assert!(!place.path("run/predictions.csv").exists());
}
