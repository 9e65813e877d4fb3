//! Columns that are derived, joined or transformed on the left of a line, and weights of rows.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use adaann::Batch;
use adaann::model::{Model, Notation};
use adaann::registry::Table;
use std::fs;
use std::path::Path;

const HEAD: &str = "[data]\ny = [1.5, 0.4, 2.5]\nx = [1, 2, 4]\nw = [1, 0, 2.5]\n";
const PARAMETERS: &str = "[parameters]\na = \"normal(0, 1)\"\ns = \"lognormal(0, 0.3)\"\n";
const Y: [f64; 3] = [1.5, 0.4, 2.5];
const X: [f64; 3] = [1.0, 2.0, 4.0];

#[test]
fn rows_count_by_their_weights() {
    let line = "[likelihood]\ny = { law = \"normal(a * x, s)\", weight = \"2 * w\" }\n";
    let model = parse(&format!("{HEAD}{PARAMETERS}{line}"));
    assert_terms_within(1e-13, &model, |p| {
        let row = |i: usize, weight: f64| weight * normal(Y[i], p[0] * X[i], p[1]);
        vec![row(0, 2.0), row(2, 5.0)]
    });
    let shown = model.mathematics(Notation::Plain).join("\n");
    assert!(shown.contains("counted 2·w times"), "{shown}");
    let said = model.check_replicable().expect_err("weights").to_string();
    assert!(said.contains("rows have weights"), "{said}");
}

#[test]
fn columns_are_made_of_columns_and_constants() {
    let model = parse(&format!(
        "{HEAD}derived = {{ late = \"x > 1.5\", z = \"(x - middle) / 2\", log_y = \"log(y)\" }}\n\
         [constants]\nmiddle = \"mean(x)\"\ntop = \"max(z)\"\n{PARAMETERS}[likelihood]\n\
         log_y = \"normal(a * z + top * late, s)\"\n"
    ));
    let z = X.map(|x| (x - 7.0 / 3.0) / 2.0);
    assert_terms_within(1e-13, &model, |p| {
        let late = [0.0, 1.0, 1.0];
        (0..3).map(|i| normal(Y[i].ln(), p[0] * z[i] + z[2] * late[i], p[1])).collect()
    });
    assert_eq!(model.measured(), ["log_y"]);
    // New inputs contain the columns that derived columns depend on.
    let inputs = Table { names: vec!["x".to_owned()], rows: vec![vec![1.0], vec![9.0]] };
    let mut expected = Vec::new();
    let mut see = |prediction: adaann::model::Prediction<'_>| {
        expected.push(prediction.expected[0]);
        true
    };
    let point = Batch::from_points(2, &[[0.5, 1.0]]);
    model.predict(&point, Some(&inputs), 1, &mut see).unwrap();
    let exact = [1.0, 9.0].map(|x| 0.5 * (x - 7.0 / 3.0) / 2.0 + z[2] * f64::from(x > 1.5));
    for (found, exact) in expected.iter().zip(exact) {
        assert!((found - exact).abs() < 1e-12, "{expected:?}");
    }
    let made = model.replicate(2).unwrap().model.data().unwrap();
    let column = |name: &str| made.names.iter().position(|known| known == name).unwrap();
    assert!(made.rows.iter().zip(X).all(|(row, x)| row[column("x")] == x));
    assert!(made.rows.iter().zip(Y).all(|(row, y)| row[column("log_y")] != y.ln()));
}

#[test]
fn a_function_of_a_column_on_the_left() {
    let model = parse(&format!("{HEAD}{PARAMETERS}[likelihood]\n\"log(y)\" = \"normal(a, s)\"\n"));
    assert_terms_within(1e-13, &model, |p| Y.iter().map(|y| normal(y.ln(), p[0], p[1])).collect());
    let shown = model.mathematics(Notation::Plain).join("\n");
    assert!(shown.contains("log(y) ~ normal(a, s), for 3 rows"), "{shown}");
    // If a state and a column have the same name, the left side means the column.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("left");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("decay.csv"), "t,u\n1,0.4\n2,0.1\n").unwrap();
    let text = "[data]\nfile = \"decay.csv\"\n[parameters]\nk = \"lognormal(0, 0.1)\"\n\
                [ode]\nrtol = 1e-10\natol = 1e-12\n[ode.states]\nu = { start = 1, rate = \"-k * u\" }\n\
                [likelihood]\n\"log(u)\" = \"normal(log(u), 0.5)\"\n";
    let path = folder.join("model.toml");
    fs::write(&path, text).unwrap();
    let model = Model::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
    assert_terms_within(1e-7, &model, |p| {
        vec![normal(0.4_f64.ln(), -p[0], 0.5), normal(0.1_f64.ln(), -2.0 * p[0], 0.5)]
    });
}

#[test]
fn tables_are_joined_by_a_key() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("joined");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("visits.csv"), "who,y\n2,1.5\n1,0.4\n2,2.5\n").unwrap();
    fs::write(folder.join("people.csv"), "who,x\n1,10\n2,20\n").unwrap();
    let text = format!(
        "[data]\nfile = \"visits.csv\"\njoin = [{{ file = \"people.csv\", by = \"who\" }}]\n\
         {PARAMETERS}[likelihood]\ny = \"normal(a * x, s)\"\n"
    );
    let path = folder.join("model.toml");
    fs::write(&path, text).unwrap();
    let model = Model::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
    let terms = |p: &[f64]| {
        let rows = [(1.5, 20.0), (0.4, 10.0), (2.5, 20.0)];
        rows.iter().map(|(y, x)| normal(*y, p[0] * x, p[1])).collect::<Vec<f64>>()
    };
    assert_terms_within(1e-13, &model, terms);
    // A run keeps one file, which is not joined again.
    let copy = folder.join("copy.csv");
    fs::write(&copy, model.data_text().unwrap()).unwrap();
    let again = Model::read_copy(&path, Path::new("/nowhere"), &copy);
    assert_terms_within(1e-13, &again.unwrap_or_else(|errors| panic!("{errors}")), terms);
    // Other data is joined with the same table.
    let other = folder.join("other.csv");
    fs::write(&other, "who,y\n1,0.4\n").unwrap();
    let other = Model::read_with_data(&path, Some(&other));
    assert_eq!(other.unwrap_or_else(|errors| panic!("{errors}")).data().unwrap().rows.len(), 1);
}
