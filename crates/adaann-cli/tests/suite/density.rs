//! `adaann density` evaluates a finished run at the user's points.

use crate::support::common;
use common::{Place, stderr, stdout, table};

#[test]
fn draws_come_back_with_their_own_log_densities() {
    let place = Place::new();
    place.run("bimodal --out r");
    let output = place.adaann("density r r/draws.csv", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (header, found) = table(&stdout(&output));
    let (_, draws) = table(&place.read("r/draws.csv"));
    assert_eq!((header.as_str(), found.len()), ("z,log_p,log_q", draws.len()));
    for (found, draw) in found.iter().zip(&draws) {
        assert_eq!(found[..2], draw[..2]);
        assert!((found[2] - draw[2]).abs() < 1e-6, "{found:?} {draw:?}");
    }
    let spread = draws.iter().map(|draw| draw[2]).fold(0.0, f64::min);
    assert!(spread < -3.0, "log q varies, so agreement means something");
}

#[test]
fn q_is_a_density() {
    let place = Place::new();
    place.run("bimodal --out r");
    let cell = 0.01;
    let points: String = (0..4000).map(|i| format!("{}\n", -22.0 + cell * i as f64)).collect();
    place.write("grid.csv", &points);
    assert!(place.adaann("density r grid.csv --out values.csv", &[]).status.success());
    let (_, values) = table(&place.read("values.csv"));
    let integral: f64 = values.iter().map(|value| value[2].exp() * cell).sum();
    assert!((integral - 1.0).abs() < 1e-3, "{integral}");
}

#[test]
fn points_without_density_are_not_a_failure() {
    let place = Place::new();
    place.run("bimodal --out r");
    place.write("points.csv", "name,z\nfar,inf\nnear,0.5\n");
    let output = place.adaann("density r points.csv", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(lines[1], "inf,-inf,-inf");
    assert!(lines[2].starts_with("0.5,-10.5625,"), "{}", lines[2]);
}

#[test]
fn points_outside_the_support_are_not_a_failure() {
    let place = Place::new();
    let small = "--draws 10 --warmup 2 --updates 1 --refine 2 --layers 2 --tau 0.5 --quiet";
    let output = place.adaann(&format!("run eggbox --out r {small}"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    // Other columns, in another order.
    place.write("points.csv", "y,id,x\n1,a,-1\n3,b,2\n40,c,2\n0,d,2\n");
    let output = place.adaann("density r points.csv", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (header, values) = table(&stdout(&output));
    assert_eq!(header, "x,y,log_p,log_q");
    assert_eq!(values[1][..2], [2.0, 3.0]);
    assert!(values[1][2].is_finite() && values[1][3].is_finite());
    for outside in [0, 2, 3] {
        assert_eq!(values[outside][2..], [f64::NEG_INFINITY; 2], "{outside}");
    }
}

#[test]
fn bad_points_are_named_with_their_line() {
    let place = Place::new();
    place.run("bimodal --out r");
    for (text, message) in [
        ("z\n1\ntwo\n", "bad.csv, line 3: z is 'two', which is not a number"),
        ("x\n1\n", "bad.csv, line 1: no column is called 'z'"),
        ("1,2\n", "bad.csv, line 1: 2 columns, but the 1 parameters are z"),
        ("", "bad.csv has no points"),
        ("z\n", "bad.csv has no points"),
        ("z;w\n1;2\n", "columns must be separated by ',', not by ';'"),
        ("# points\nz\n1\n", "comments are not supported"),
    ] {
        place.write("bad.csv", text);
        let output = place.adaann("density r bad.csv --out out.csv", &[]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(!place.path("out.csv").exists());
    }
}

/// All wrong paths are refused in the same way.
#[test]
fn files_that_are_no_points_are_refused() {
    let place = Place::new();
    place.run("bimodal --out r");
    place.write("points.csv", "1\n");
    std::fs::write(place.path("binary.csv"), [b'1', 0xff, b'\n']).unwrap();
    for (words, message) in [
        ("r missing.csv", "missing.csv: "),
        ("r r", "r: cannot read the points from this: it is a folder, not a regular file"),
        ("r binary.csv", "binary.csv: the points must be CSV text in UTF-8"),
        ("r points.csv --out r", "--out is 'r', which is a folder"),
        ("r points.csv --out no/values.csv", "which is in a folder that does not exist"),
        ("r/draws.csv points.csv", "r/draws.csv is not a run folder"),
    ] {
        let output = place.adaann(&format!("density {words}"), &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.starts_with("error: ") && said.contains(message), "{words}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.matches("os error").count() <= 1, "{said}");
    }
    assert_eq!(place.entries(), ["binary.csv", "points.csv", "r"]);
}

#[test]
fn causes_are_told_once() {
    let place = Place::new();
    place.run("bimodal --out r");
    place.write("points.csv", "1\n");
    std::fs::remove_file(place.path("r/flow.safetensors")).unwrap();
    let output = place.adaann("density r points.csv", &[]);
    let said = stderr(&output);
    assert_eq!(said.matches("flow.safetensors").count(), 1, "{said}");
}

#[test]
fn what_is_no_run_is_refused() {
    let place = Place::new();
    place.write("points.csv", "1\n");
    let output = place.adaann("density nothing points.csv", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nothing is not a run folder"), "{}", stderr(&output));
    place.run("bimodal --out r");
    place.forget_index("r");
    place.write("r/flow.safetensors", "broken");
    let output = place.adaann("density r points.csv", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("flow.safetensors"), "{}", stderr(&output));
}
