//! Output files: nothing is replaced without permission, and links and pipes stay intact.

use crate::support::common;
use common::{Place, TINY, stderr, stdout};
use std::{fs, os::unix::fs::symlink, process::Command};

/// A folder with the run `r` of a model with data, and points.
fn place() -> Place {
    let place = Place::new();
    place.write("d.csv", "x,y\n1,1\n2,2\n3,2.5\n");
    place.write(
        "m.toml",
        "[data]\nfile = \"d.csv\"\n[parameters]\na = \"normal(0, 2)\"\n[likelihood]\ny = \"normal(a*x, 1)\"\n",
    );
    place.write("points.csv", "a\n1\n");
    let output = place.adaann("fit m.toml --out r --quiet", TINY);
    assert!(output.status.success(), "{}", stderr(&output));
    place
}

/// Every command that writes single files, with its flag for the path.
const COMMANDS: [(&str, &str); 6] = [
    ("sample r -n 10", "--out"),
    ("density r points.csv", "--out"),
    ("predict r --draws 10", "--out"),
    ("report r", "--out"),
    ("export r --predictions 0", "--out"),
    ("init new.toml", "--schema"),
];

fn refuse(place: &Place, words: &str) -> String {
    let output = place.adaann(words, &[]);
    assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
    stderr(&output)
}

fn succeed(place: &Place, words: &str) -> String {
    let output = place.adaann(words, &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let place = place();
    for (words, flag) in COMMANDS {
        let out = "mine.csv";
        place.write(out, "mine");
        let said = refuse(&place, &format!("{words} {flag} {out}"));
        assert!(said.contains(flag) && said.contains("--force"), "{said}");
        assert_eq!(place.read(out), "mine", "{words}");
        assert!(!place.path("new.toml").exists(), "nothing is left of an init that fails");
        succeed(&place, &format!("{words} {flag} {out} --force"));
        assert_ne!(place.read(out), "mine", "{words}");
        fs::remove_file(place.path(out)).unwrap();
        let _ = fs::remove_file(place.path("new.toml"));
    }
    // Files of the run folder itself are replaced.
    for words in ["report r", "predict r", "export r"] {
        succeed(&place, words);
        succeed(&place, words);
    }
}

#[test]
fn figures_beside_predictions_are_no_surprise() {
    let place = place();
    place.write("p.svg", "mine");
    let said = refuse(&place, "predict r --out p.csv");
    assert!(said.contains("'p.svg', which exists") && said.contains("--force"), "{said}");
    assert!(!place.path("p.csv").exists() && place.read("p.svg") == "mine");
    let said = succeed(&place, "predict r --out p.csv --force");
    assert!(said.contains("p.svg") && said.contains("p.png"), "{said}");
    assert!(refuse(&place, "predict r --out q.svg").contains("the name of the figure"));
}

#[test]
fn links_stay_and_pipes_are_written_to() {
    let place = place();
    for (words, flag) in COMMANDS {
        fs::write(place.path("target.csv"), "old").unwrap();
        symlink("target.csv", place.path("link.csv")).unwrap();
        let said = refuse(&place, &format!("{words} {flag} link.csv"));
        assert!(said.contains("--force"), "{said}");
        succeed(&place, &format!("{words} {flag} link.csv --force"));
        assert!(place.path("link.csv").is_symlink(), "{words}");
        assert_ne!(place.read("target.csv"), "old", "{words}");
        fs::remove_file(place.path("link.csv")).unwrap();
        let _ = fs::remove_file(place.path("new.toml"));

        let pipe = place.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        succeed(&place, &format!("{words} {flag} pipe.csv"));
        assert!(!reader.join().unwrap().is_empty(), "{words}");
        assert!(!fs::metadata(&pipe).unwrap().is_file(), "{words}");
        // Figures are written next to files, not next to pipes or in /dev.
        assert!(!place.path("pipe.svg").exists(), "{words}");
        fs::remove_file(&pipe).unwrap();
        let _ = fs::remove_file(place.path("new.toml"));
    }
}

#[test]
fn names_that_are_no_files_are_bad_requests() {
    let place = place();
    fs::create_dir(place.path("o")).unwrap();
    for (words, flag) in COMMANDS {
        for name in ["o", "o/", "o/.", ".", "..", "nowhere/x.csv", "new/"] {
            let said = refuse(&place, &format!("{words} {flag} {name}"));
            assert!(said.starts_with(&format!("error: {flag}")), "{words} {name}: {said}");
        }
        let more = [flag, ""];
        let output = place.adaann(words, &more);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
    }
    for name in ["o/.", ".", "..", "o/..", "/", "./"] {
        for force in ["", "--force"] {
            let said = refuse(&place, &format!("run bimodal --out {name} {force}"));
            assert!(said.contains("--out"), "{name}: {said}");
        }
    }
    assert_eq!(place.adaann("run bimodal", &["--out", ""]).status.code(), Some(2));
    // Shells append a slash to the name of a folder.
    place.run("bimodal --out slash/");
    assert!(place.path("slash/run.toml").is_file());
    assert!(!place.path("new.toml").exists() && !place.path("new").exists());
}

#[test]
fn what_would_be_ignored_is_refused() {
    let place = place();
    place.write("plain.toml", "[parameters]\na = \"normal(0, 2)\"\n");
    let most = u64::MAX;
    for (words, part) in [
        ("fit plain.toml --data nosuch.csv --out x".to_owned(), "nosuch.csv"),
        ("predict r --draws 0".to_owned(), "--draws is 0, but must be from 2 to"),
        ("predict r --draws 1".to_owned(), "--draws is 1, but must be from 2 to"),
        (format!("predict r --draws {most}"), "but must be from 2 to"),
        (format!("export r --predictions {most}"), "but must be 0, or from 2 to"),
        (format!("sample r -n {most}"), "but must be from 1 to"),
        (format!("calibrate m.toml --draws {most}"), "but must be from 1 to"),
        (format!("run bimodal --draws {most} --out x"), "but must be from 2 to"),
    ] {
        let said = refuse(&place, &words);
        assert!(said.contains(part), "{words}: {said}");
    }
    let said = succeed(&place, "predict r --draws 600");
    assert!(said.contains("from 500 draws, all that the run has"), "{said}");
}

/// Nobody writes to these pipes, so that opening one blocks forever.
#[test]
fn models_and_data_are_regular_files() {
    let place = place();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    symlink("pipe", place.path("link")).unwrap();
    symlink("d.csv", place.path("data-link.csv")).unwrap();
    for pipe in ["pipe", "link"] {
        for words in [
            format!("fit {pipe} --out x"),
            format!("check {pipe}"),
            format!("fit m.toml --data {pipe} --out x"),
            format!("run lorenz --data {pipe} --out x"),
            format!("density r {pipe}"),
            format!("predict r --at {pipe}"),
        ] {
            let said = refuse(&place, &words);
            assert!(said.contains(pipe) && said.contains("a pipe"), "{words}: {said}");
        }
    }
    succeed(&place, "check m.toml --data data-link.csv");
}

#[test]
fn files_of_a_run_that_lead_elsewhere_are_refused() {
    let place = Place::new();
    place.write("d.csv", "x,y\n1,2\n2,3\n");
    place.write(
        "m.toml",
        "[data]\nfile = \"d.csv\"\n[parameters]\na = \"normal(0, 2)\"\n[likelihood]\ny = \"normal(a * x, 1)\"\n",
    );
    let output = place.adaann("fit m.toml --method modes --out whole --quiet", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    for (words, name) in [
        ("report r", "report.html"),
        ("report r", "figures"),
        ("report r", "index.json"),
        ("export r", "draws.nc"),
        ("export r", "index.json"),
        ("predict r", "predictions.svg"),
        ("predict r", "index.json"),
    ] {
        for kind in ["link", "pipe"] {
            let mut copy = Command::new("cp");
            copy.args(["-r", "whole", "r"]).current_dir(place.path(""));
            assert!(copy.status().unwrap().success());
            let file = place.path("r").join(name);
            let _ = if file.is_dir() { fs::remove_dir_all(&file) } else { fs::remove_file(&file) };
            place.write("thesis", "years of work");
            match kind {
                "link" => symlink(place.path("thesis"), &file).unwrap(),
                _ => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            }
            let output = place.adaann(words, &[]);
            // A pipe in place of an input is damage; all other cases are errors of the request.
            let code = if (name, kind) == ("index.json", "pipe") { 1..=2 } else { 2..=2 };
            let found = output.status.code().expect("a code");
            assert!(code.contains(&found), "{words}, {name}, {found}: {}", stderr(&output));
            assert!(stderr(&output).contains(name), "{words}, {name}: {}", stderr(&output));
            assert_eq!(place.read("thesis"), "years of work", "{words}, {name}");
            fs::remove_dir_all(place.path("r")).unwrap();
        }
    }
}

#[test]
fn an_init_that_fails_leaves_the_schema_that_was_there() {
    let place = Place::new();
    place.write("schema.json", "mine");
    // Longer than the maximum length of a file name.
    let file = format!("{}.toml", "x".repeat(300));
    let output = place.adaann(&format!("init {file} --force --schema schema.json"), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(
        (place.read("schema.json"), place.entries()),
        ("mine".into(), vec!["schema.json".into()])
    );
    let output = place.adaann("init m.toml --force --schema schema.json", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.entries(), ["m.toml", "schema.json"]);
}
