//! Every mistake in a model file is reported, all at once, each at its place.
//!
//! A `¦` marks where a message belongs, in the model or in its data; it is taken out before the file
//! is read. The messages follow in the order of the marks.

mod data;
mod formulas;
mod matrices;
mod observations;
mod parameters;
mod series;
mod subjects;
mod trajectories;

use adaann::model::Model;
use std::fs;
use std::path::Path;

/// A text without its marks, and the line and column of each.
fn unmarked(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut plain, mut marks) = (String::new(), Vec::new());
    let (mut line, mut column) = (1, 1);
    for c in text.chars() {
        match c {
            '¦' => {
                marks.push((line, column));
                continue;
            }
            '\n' => (line, column) = (line + 1, 1),
            _ => column += 1,
        }
        plain.push(c);
    }
    (plain, marks)
}

/// The first difference between the messages of a model and the expected ones, if any; the places
/// must match exactly.
fn difference(name: &str, model: &str, data: &str, expected: &[&str]) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes").join(name);
    fs::create_dir_all(&folder).unwrap();
    let (model, in_model) = unmarked(model);
    let (data, in_data) = unmarked(data);
    let path = folder.join("model.toml");
    fs::write(&path, model).unwrap();
    fs::write(folder.join("data.csv"), data).unwrap();
    let Err(errors) = Model::read(&path) else { return Some(format!("{name}: nothing is said")) };
    let mut found = Vec::new();
    for error in errors.shown() {
        let place = error.place.as_ref().map_or((0, 0), |place| (place.line, place.column));
        let help = error.help.as_deref().unwrap_or_default();
        found.push((error.file == "data.csv", place, format!("{} | {help}", error.message)));
    }
    found.sort();
    let places = in_model.into_iter().map(|at| (false, at));
    let places: Vec<_> = places.chain(in_data.into_iter().map(|at| (true, at))).collect();
    assert_eq!(places.len(), expected.len(), "{name}: marks and messages");
    for (&(is_data, at), fragment) in places.iter().zip(expected) {
        let is_said = |(own, place, text): &(bool, (usize, usize), String)| {
            (*own, *place) == (is_data, at) && text.contains(fragment)
        };
        if !found.iter().any(is_said) {
            return Some(format!("{name}: {fragment:?} at {at:?} is not in\n{errors}"));
        }
    }
    let is_all = found.len() == expected.len();
    (!is_all).then(|| format!("{name}: more than expected in\n{errors}"))
}

/// Panics if there are differences.
#[track_caller]
fn assert_none(differences: Vec<String>) {
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// One file with a mistake of nearly every kind.
#[test]
fn all_mistakes_are_said_at_once() {
    let model = "\
[constants]
¦a = \"b\"
b = \"a\"
c = \"mean(x) + ¦d\"
[data]
file = \"data.csv\"
vectors = { v = [\"x\", ¦\"z\"] }
[parameters]
m = { prior = ¦\"half_normal(1)\", lower = -1 }
n = ¦\"poisson(3)\"
¦o = { prior = \"normal(0, 1)\", lower = 2, upper = 1 }
p = { prior = \"normal(0, ¦s)\" }
q = { prior = ¦\"von_mises(m, 1)\", lower = 0 }
[quantities]
r = ¦\"r + 1\"
u = \"[1, 2] * 3 + ¦sqr(m)\"
[likelihood]
y = \"normal(¦mm * x, 1)\"
x = \"¦normal(m)\"
¦w = \"normal(m, 1)\"
k = \"poisson(m)\"
";
    let expected = [
        "the constant `a` depends on itself",
        "unknown name `d`",
        "the data has no column `z`",
        "no density below 0",
        "a discrete distribution",
        "leave no room",
        "unknown name `s`",
        "the probability of this prior",
        "`r` depends on itself: r -> r",
        "unknown function `sqr`",
        "unknown name `mm`",
        "write normal(mean, sd)",
        "the data has no column `w`",
        "`k` is -2 in row 2",
    ];
    let difference = difference("all", model, "x,y,k\n1,2,3\n2,3,¦-2\n", &expected);
    assert_none(difference.into_iter().collect());
}

/// A mistake that is found last is reported with the rest.
#[test]
fn a_circle_of_priors_is_said_with_the_rest() {
    let model = "density = \"¦sqr(a)\"\n[parameters]\n¦a = \"normal(twice, 1)\"\nb = \"normal(a, 1)\"\n\
                 [quantities]\ntwice = \"2 * b\"\n";
    let expected = ["unknown function `sqr`", "the prior of `a` depends on itself"];
    assert_none(difference("circle", model, "", &expected).into_iter().collect());
}
