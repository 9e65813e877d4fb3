//! Predictions row by row, and simulated series.

use super::{column, returns};
use crate::models::likelihoods::parse;
use adaann::Batch;
use adaann::model::{Model, Notation};

const SMOOTH: &str = "[parameters]\na = \"uniform(0, 1)\"\nc = \"normal(0, 1)\"\n\
     [series]\norder = \"t\"\n[series.states]\nm = { start = \"c\", next = \"m + a * (before(y) - m)\" }\n\
     [likelihood]\ny = \"normal(m, 1e-9)\"\n";

fn smooth(y: &[f64]) -> Model {
    // The file has its rows in reverse order.
    let t: Vec<f64> = (0..y.len()).map(|i| (y.len() - i) as f64).collect();
    parse(&format!("[data]\n{}{}{SMOOTH}", column("t", &t), column("y", y)))
}

#[test]
fn rows_are_predicted_from_the_rows_before_them() {
    let y = returns(5, 2);
    let model = smooth(&y);
    assert_eq!(model.time(), Some("t"));
    let points = [[0.3, 0.5], [0.9, -1.0]];
    let expected = |data: &[f64], [a, c]: [f64; 2]| {
        let mut m = c;
        let mut all = vec![m];
        for y in data.iter().rev().take(data.len() - 1) {
            m += a * (y - m);
            all.push(m);
        }
        all.reverse();
        all
    };
    let other = returns(3, 7);
    let rows = other.iter().enumerate().map(|(i, y)| format!("{y},{}\n", -(i as f64)));
    let table = format!("y,t\n{}", rows.collect::<String>());
    let table = model.read_inputs("new.csv", &table).unwrap_or_else(|errors| panic!("{errors}"));
    for (data, inputs) in [(&y, None), (&other, Some(&table))] {
        let mut seen = 0;
        let see = &mut |prediction: adaann::model::Prediction<'_>| {
            for (i, &point) in points.iter().enumerate() {
                let known = expected(data, point)[prediction.row];
                assert!((prediction.expected[i] - known).abs() < 1e-12);
                assert!((prediction.simulated[i] - known).abs() < 1e-8);
            }
            seen += 1;
            true
        };
        model.predict(&Batch::from_points(2, &points), inputs, 1, see).unwrap();
        assert_eq!(seen, data.len());
    }
}

#[test]
fn rows_that_are_skipped_are_not_predicted() {
    let model = parse(
        "[data]\ny = [1, 2, 4, 8]\n[parameters]\na = \"normal(0, 1)\"\n[series]\nskip = 2\n\
         [likelihood]\ny = \"normal(a * before(y, 2), 1)\"\n",
    );
    assert!(model.mathematics(Notation::Plain)[1].ends_with("for 2 rows of the data"));
    let mut seen = Vec::new();
    let see = &mut |prediction: adaann::model::Prediction<'_>| {
        seen.push((prediction.row, prediction.expected[0]));
        true
    };
    model.predict(&Batch::from_points(1, &[[3.0]]), None, 1, see).unwrap();
    assert_eq!(seen, [(2, 3.0), (3, 6.0)]);
}

#[test]
fn data_is_made_row_by_row() {
    let y = returns(6, 3);
    let model = smooth(&y);
    let made = model.replicate(4).unwrap();
    let data = made.model.data().unwrap();
    let made_y: Vec<f64> = data.rows.iter().rev().map(|row| row[1]).collect();
    let (a, mut m) = (made.truth[0], made.truth[1]);
    for (t, &y) in made_y.iter().enumerate() {
        if t > 0 {
            m += a * (made_y[t - 1] - m);
        }
        // Seven standard deviations: a row is simulated from its own past, not from the file's.
        assert!((y - m).abs() < 7e-9, "row {t}: {y} is not {m}");
    }
    assert_ne!(made_y[1], y[1]);
}

#[test]
fn rows_that_are_skipped_stay_and_gaps_stay_gaps() {
    let model = parse(
        "[data]\nmissing = \"skip\"\ny = [1, 2, 4, nan, 16]\n[parameters]\na = \"normal(0, 1)\"\n\
         [series]\nskip = 1\n[likelihood]\ny = \"normal(a * before(y, 1, 10), 1e-9)\"\n",
    );
    let made = model.replicate(2).unwrap();
    let y: Vec<f64> = made.model.data().unwrap().rows.iter().map(|row| row[0]).collect();
    let a = made.truth[0];
    assert_eq!(y[0], 1.0);
    assert!((y[1] - a).abs() < 7e-9 && (y[2] - a * y[1]).abs() < 7e-9);
    assert!(y[3].is_nan() && (y[4] - 10.0 * a).abs() < 7e-9);
}

#[test]
fn what_a_series_cannot_make_is_refused() {
    let head = "[data]\nx = [1, 2]\ny = [3, 4]\n[parameters]\na = \"normal(0, 1)\"\n";
    let own = "[series.states]\nm = { start = \"y\", next = \"y - a * m\" }\n\
               [likelihood]\ny = \"normal(m, 1)\"\n";
    let last = "[series]\nfinal = \"-m^2\"\n[series.states]\nm = { start = \"x\", next = \"x - a * m\" }\n\
                [likelihood]\ny = \"normal(m, 1)\"\n";
    for (text, words) in [(own, "in the same row"), (last, "cannot be simulated")] {
        let model = parse(&format!("{head}{text}"));
        let said = model.check_replicable().unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    // A column that depends on no state comes first, then the states that depend on it.
    let first = "[series.states]\nm = { start = \"x\", next = \"x - a * m\" }\n\
                 [likelihood]\ny = \"normal(m, 1e-9)\"\nx = \"normal(a, 1)\"\n";
    let made = parse(&format!("{head}{first}")).replicate(1).unwrap();
    let rows = made.model.data().unwrap().rows;
    assert!((rows[0][1] - rows[0][0]).abs() < 7e-9, "{rows:?}");
    assert!((rows[1][1] - rows[1][0] + made.truth[0] * rows[0][0]).abs() < 7e-9, "{rows:?}");
}

#[test]
fn mathematics_has_rows() {
    let model = smooth(&[1.0, 2.0, 3.0]);
    let plain = model.mathematics(Notation::Plain);
    assert!(plain.contains(&"m[1] = c".to_owned()), "{plain:?}");
    assert!(plain.contains(&"m[t] = m[t−1] + a·(y[t−1] − m[t−1])".to_owned()), "{plain:?}");
    let latex = model.mathematics(Notation::Latex);
    let next = "{m}_{t} = {m}_{t-1} + a \\cdot \\left({y}_{t-1} - {m}_{t-1}\\right)";
    assert!(latex.contains(&next.to_owned()), "{latex:?}");
}
