//! The index of a run folder: changed files are detected and not used.

use crate::support::common;
use common::{Place, TINY, stderr, stdout};
use std::fs;

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

fn verify(place: &Place, code: i32) -> String {
    let output = place.adaann("verify r", &[]);
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn what_differs_is_named() {
    let place = place();
    assert!(verify(&place, 0).contains("files are unchanged"));
    place.write("r/notes.txt", "mine");
    let said = verify(&place, 0);
    assert!(said.contains("new      notes.txt"), "{said}");
    place.write("r/draws.csv", &place.read("r/draws.csv").replacen('1', "2", 1));
    fs::remove_file(place.path("r/trace.csv")).unwrap();
    let said = verify(&place, 1);
    for line in ["changed  draws.csv", "missing  trace.csv", "new      notes.txt"] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    assert_eq!(said.lines().count(), 4, "{said}");
}

#[test]
fn every_file_that_is_read_is_checked() {
    let place = place();
    let all = [
        "report r",
        "sample r -n 5",
        "export r",
        "predict r",
        "density r points.csv",
        "compare r r",
    ];
    for (file, readers) in [
        ("run.toml", &all[..]),
        ("model.toml", &all),
        ("data.csv", &all),
        ("draws.csv", &all[..4]),
        ("flow.safetensors", &all[..5]),
        ("summary.json", &["report r", "compare r r"]),
        ("schedule.csv", &["report r"]),
        ("trace.csv", &["report r"]),
    ] {
        let path = place.path(&format!("r/{file}"));
        let before = fs::read(&path).unwrap();
        let mut changed = before.clone();
        // A trailing blank, which any parser of the format would accept.
        changed.push(b'\n');
        fs::write(&path, changed).unwrap();
        for words in readers {
            let output = place.adaann(words, &[]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{file} {words}: {said}");
            assert!(said.contains(file) && said.contains("`adaann verify r`"), "{said}");
        }
        fs::write(&path, before).unwrap();
    }
    for words in all {
        assert!(place.adaann(words, &[]).status.success(), "{words}");
    }
}

#[test]
fn what_is_made_again_is_taken_over() {
    let place = place();
    place.write("r/report.html", "spoiled");
    verify(&place, 1);
    for words in ["report r", "predict r", "export r"] {
        assert!(place.adaann(words, &[]).status.success(), "{words}");
        let said = verify(&place, 0);
        assert_eq!(said.lines().count(), 1, "{words}: {said}");
    }
}

#[test]
fn folders_without_an_index_are_read() {
    let place = place();
    fs::remove_file(place.path("r/index.json")).unwrap();
    place.write("r/trace.csv", &(place.read("r/trace.csv") + "\n"));
    for words in ["report r", "sample r", "export r", "compare r r"] {
        assert!(place.adaann(words, &[]).status.success(), "{words}");
    }
    let output = place.adaann("verify r", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("r has no index.json"), "{}", stderr(&output));
    assert!(!place.path("r/index.json").exists(), "an index that was made now would say nothing");
    let output = place.adaann("verify nowhere", &[]);
    assert_eq!(output.status.code(), Some(2));
}

/// Exit code 2 is for wrong requests; a damaged run folder gives another code.
#[test]
fn a_damaged_folder_is_an_answer() {
    type Damage = fn(&std::path::Path);
    let cases: [(&str, Damage); 8] = [
        ("index.json", |r| fs::write(r.join("index.json"), "{\"files\": {").unwrap()),
        ("index.json", |r| fs::write(r.join("index.json"), "[]").unwrap()),
        ("index.json", |r| fs::write(r.join("index.json"), [0xff, 0xfe]).unwrap()),
        ("index.json", |r| fs::remove_file(r.join("index.json")).unwrap()),
        ("index.json", |r| {
            fs::remove_file(r.join("index.json")).unwrap();
            fs::create_dir(r.join("index.json")).unwrap();
        }),
        ("summary.json", |r| fs::write(r.join("summary.json"), "{").unwrap()),
        ("run.toml", |r| fs::remove_file(r.join("run.toml")).unwrap()),
        ("draws.csv", |r| {
            fs::remove_file(r.join("summary.json")).unwrap();
            fs::remove_file(r.join("draws.csv")).unwrap();
        }),
    ];
    for (file, damage) in cases {
        let place = place();
        damage(&place.path("r"));
        let output = place.adaann("verify r", &[]);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(file), "{said}");
    }
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    for folder in ["other", "nowhere"] {
        assert_eq!(place.adaann(&format!("verify {folder}"), &[]).status.code(), Some(2));
    }
}

#[test]
fn particles_have_an_index_too() {
    let place = Place::new();
    let output = place.adaann("smc bimodal --particles 100 --out r --quiet", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    verify(&place, 0);
    place.write("r/stages.csv", "");
    assert!(verify(&place, 1).contains("changed  stages.csv"));
}
