//! A run folder is self-contained: it does not need the files from which it was made.

use super::{QUICK, copy, fit, refuse, succeed};
use crate::support::common::{Place, names, stderr, stdout};
use crate::support::python;
use std::fs;

#[test]
fn a_run_folder_stands_alone() {
    let place = Place::new();
    for (model, data) in
        [("logistic_regression", "data/patients.csv"), ("eight_schools", "data/eight_schools.csv")]
    {
        let file = format!("{model}.toml");
        copy(&place, &[&file, data]);
        let text = place.read(data);
        fit(&place, &format!("{file} --out {model}"));
        assert_eq!(place.read(&format!("{model}/data.csv")), text);
        let page = place.read(&format!("{model}/report.html"));
        let all = |place: &Place| {
            succeed(place, &format!("report {model}"));
            succeed(place, &format!("predict {model} --draws 50 --out predicted.csv --force"));
            succeed(place, &format!("export {model} --out out.nc --predictions 20 --force"));
            let sample = stdout(&succeed(place, &format!("sample {model} -n 20")));
            let exported = fs::read(place.path("out.nc")).expect("an export");
            (place.read("predicted.csv"), sample, exported)
        };
        let before = all(&place);
        fs::remove_file(place.path(&file)).unwrap();
        fs::remove_dir_all(place.path("data")).unwrap();
        fs::rename(place.path(model), place.path("moved")).unwrap();
        fs::rename(place.path("moved"), place.path(model)).unwrap();
        assert!(all(&place) == before, "{model}: other numbers");
        assert!(place.read(&format!("{model}/report.html")) == page, "{model}: another page");
    }
}

#[test]
fn other_data_takes_the_place_of_the_file() {
    let place = Place::new();
    let model = "[data]\nfile = \"own.csv\"\n[parameters]\na = \"normal(0, 1)\"\n\
                 [likelihood]\ny = \"normal(a, 1)\"\n";
    place.write("m.toml", model);
    place.write("other.csv", "y\n5\n6\n7\n");
    let said = refuse(&place, "check m.toml", 2);
    assert!(said.contains("own.csv") && said.contains("m.toml:2:8"), "{said}");
    let checked = stdout(&succeed(&place, "check m.toml --data other.csv"));
    assert!(checked.contains("3 rows"), "{checked}");
    fit(&place, "m.toml --data other.csv --out run");
    assert_eq!(place.read("run/data.csv"), "y\n5\n6\n7\n");
    place.write("bad.csv", "y\n5\nsix\n");
    let said = refuse(&place, "fit m.toml --data bad.csv --out bad", 2);
    assert!(said.contains("bad.csv:3:1"), "the file that was given has the mistake: {said}");
    let inline = model.replace("file = \"own.csv\"", "y = [1, 2]");
    place.write("inline.toml", &inline);
    let said = refuse(&place, "check inline.toml --data other.csv", 2);
    assert!(said.contains("data"), "{said}");
    assert!(!place.path("bad").exists());
}

#[test]
fn threads_change_nothing() {
    let place = Place::new();
    copy(
        &place,
        &["logistic_regression.toml", "data/patients.csv", "sir.toml", "data/influenza.csv"],
    );
    // Several shards, so that threads have work to share.
    let mut flags = QUICK.to_vec();
    let at = flags.iter().position(|flag| *flag == "--samples").unwrap();
    flags[at + 1] = "200";
    for model in ["logistic_regression", "sir"] {
        for threads in [1, 2] {
            let words = format!("fit {model}.toml --threads {threads} --out {model}-{threads}");
            let output = place.adaann(&words, &flags);
            assert!(output.status.success(), "{words}: {}", stderr(&output));
        }
        for file in names(&place.path(&format!("{model}-1"))) {
            if !file.ends_with(".csv") && file != "flow.safetensors" {
                continue;
            }
            let read = |threads: usize| fs::read(place.path(&format!("{model}-{threads}/{file}")));
            assert!(read(1).unwrap() == read(2).unwrap(), "{model}: {file} differs");
        }
    }
}

#[test]
fn a_program_outside_is_fitted() {
    if !python::has_python() {
        return;
    }
    let place = Place::new();
    copy(&place, &["outside.toml", "simulate.py", "data/outbreak.csv"]);
    let checked = stdout(&succeed(&place, "check outside.toml"));
    assert!(checked.contains("3 unknowns"), "{checked}");
    fit(&place, "outside.toml --out run");
    let summary = place.summary("run");
    assert!(summary["neg_elbo"].as_f64().is_some_and(f64::is_finite), "{summary}");
    succeed(&place, "report run");
    let said = refuse(&place, "predict run", 2);
    assert!(said.contains("it has nothing to predict"), "{said}");
}

#[test]
fn the_files_of_inputs_go_along() {
    let place = Place::new();
    copy(&place, &["sir_weeks.toml", "data/weeks.csv", "data/contacts.csv"]);
    fit(&place, "sir_weeks.toml --out run");
    let contacts = place.read("data/contacts.csv");
    fs::remove_file(place.path("sir_weeks.toml")).unwrap();
    fs::remove_dir_all(place.path("data")).unwrap();
    assert_eq!(place.read("run/input-contacts.csv"), contacts);
    succeed(&place, "predict run --draws 20 --out predicted.csv");
    succeed(&place, "report run");
    // Another curve would be another model.
    place.write("run/input-contacts.csv", &contacts.replacen('1', "2", 1));
    let said = refuse(&place, "predict run --draws 20 --out again.csv", 2);
    assert!(said.contains("input-contacts.csv"), "{said}");
}

#[test]
fn the_files_of_constants_go_along() {
    let place = Place::new();
    place.write("apart.csv", "0,1,2\n1,0,1\n2,1,0\n");
    let model = "[constants]\napart = { file = \"apart.csv\" }\n[data]\ny = [1, 2, 4]\ni = [1, 2, 3]\n\
                 [parameters]\nlength = \"half_normal(2)\"\nz = { prior = \"normal(0, 1)\", size = 3 }\n\
                 [likelihood]\ny = \"normal(dot(exp(-apart[i] / length), z), 1)\"\n";
    place.write("m.toml", model);
    let said = stdout(&succeed(&place, "check m.toml"));
    assert!(said.contains("apart = the numbers of apart.csv"), "{said}");
    fit(&place, "m.toml --out run");
    fs::remove_file(place.path("apart.csv")).unwrap();
    fs::remove_file(place.path("m.toml")).unwrap();
    succeed(&place, "predict run --draws 20 --out predicted.csv");
    assert_eq!(place.read("run/input-apart.csv"), "0,1,2\n1,0,1\n2,1,0\n");
}
