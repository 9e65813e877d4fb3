//! Systems with a trajectory for each subject, compared with closed forms and with single subjects.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use crate::support::common::evaluate;
use adaann::Batch;
use adaann::model::Model;
use adaann::registry::Table;
use adaann::target::{Target, Weights};

const LIKELIHOOD: Weights = Weights { prior: 0.0, likelihood: 1.0 };

/// Subject, its index in vectors, weight, dose, time and measurement; the rows of subjects are
/// interleaved.
type Row = (f64, usize, f64, f64, f64, f64);
const ROWS: [Row; 9] = [
    (2.5, 2, 60.0, 3.0, 1.0, 1.9),
    (1.0, 1, 80.0, 4.0, 2.0, 1.1),
    (7.0, 3, 70.0, 2.0, 0.5, 1.8),
    (2.5, 2, 60.0, 3.0, 0.25, 2.7),
    (1.0, 1, 80.0, 4.0, 0.5, 3.0),
    (1.0, 1, 80.0, 4.0, 4.0, 0.4),
    (7.0, 3, 70.0, 2.0, 3.0, 0.3),
    (2.5, 2, 60.0, 3.0, 1.0, 2.1),
    (7.0, 3, 70.0, 2.0, 0.0, 2.2),
];

fn data(rows: &[Row]) -> String {
    let column = |cell: fn(&Row) -> f64| {
        rows.iter().map(|row| cell(row).to_string()).collect::<Vec<_>>().join(", ")
    };
    format!(
        "[data]\nid = [{}]\nnumber = [{}]\nwt = [{}]\ndose = [{}]\nt = [{}]\ny = [{}]\n",
        column(|r| r.0),
        column(|r| r.1 as f64),
        column(|r| r.2),
        column(|r| r.3),
        column(|r| r.4),
        column(|r| r.5)
    )
}

const PARAMETERS: &str = "[parameters]\nmu = \"normal(-0.5, 0.3)\"\nomega = \"half_normal(0.3)\"\n\
     k = { prior = \"lognormal(mu, omega)\", size = 3 }\n\
     b = { prior = \"normal(0, 0.1)\", size = 3 }\nsigma = \"lognormal(-1, 0.2)\"\n";
const LIKELIHOODS: &str = "[likelihood]\ny = \"normal(level + b[number] * t, sigma)\"\n";
const SOLVERS: [(&str, f64); 4] = [
    ("rtol = 1e-11\natol = 1e-12", 1e-8),
    ("solver = \"dopri5\"\nrtol = 1e-11\natol = 1e-12", 1e-8),
    ("solver = \"stiff\"\nrtol = 1e-10\natol = 1e-12", 1e-7),
    ("solver = \"rk4\"\nstep = 0.015625", 1e-6),
];

fn equations(solver: &str) -> String {
    format!(
        "[ode]\ngroup = \"id\"\n{solver}\n[quantities]\nloss = \"k[number] * (wt / 70)^0.75\"\n\
         level = \"x / (1 + b[number]^2)\"\n[ode.states]\n\
         x = {{ start = \"dose * exp(b[number])\", rate = \"-loss * x\" }}\n"
    )
}

/// x = dose e^(e − loss t).
fn terms(p: &[f64]) -> Vec<f64> {
    let (k, e, sigma) = (&p[2..5], &p[5..8], p[8]);
    let term = |&(_, number, wt, dose, t, y): &Row| {
        let (k, e) = (k[number - 1], e[number - 1]);
        let x = dose * (e - k * (wt / 70.0_f64).powf(0.75) * t).exp();
        normal(y, x / (1.0 + e * e) + e * t, sigma)
    };
    ROWS.iter().map(term).collect()
}

fn grouped(solver: &str) -> Model {
    parse(&format!("{}{PARAMETERS}{}{LIKELIHOODS}", data(&ROWS), equations(solver)))
}

#[test]
fn every_subject_has_its_trajectory() {
    for (solver, tolerance) in SOLVERS {
        assert_terms_within(tolerance, &grouped(solver), terms);
    }
}

/// Each subject alone is a model of its rows; the log densities and their gradients sum to those of the
/// whole.
#[test]
fn subjects_add_up() {
    for (solver, _) in SOLVERS {
        let model = grouped(solver);
        let draws = model.prior_draws(40, 5).unwrap();
        let points: Vec<Vec<f64>> = (0..40).map(|i| draws.point(i)).collect();
        let found = evaluate(&*model.target(), &points, LIKELIHOOD);
        let mut sums = vec![vec![0.0; 10]; 40];
        for id in [1.0, 2.5, 7.0] {
            let rows: Vec<Row> = ROWS.into_iter().filter(|row| row.0 == id).collect();
            let (_, number, wt, dose, ..) = rows[0];
            let equations = format!(
                "[ode]\n{solver}\n[quantities]\nlevel = \"x / (1 + b[{number}]^2)\"\n[ode.states]\n\
                 x = {{ start = \"{dose} * exp(b[{number}])\", \
                 rate = \"-k[{number}] * ({wt} / 70)^0.75 * x\" }}\n"
            );
            let own = parse(&format!("{}{PARAMETERS}{equations}{LIKELIHOODS}", data(&rows)));
            let own = evaluate(&*own.target(), &points, LIKELIHOOD);
            for (i, sums) in sums.iter_mut().enumerate() {
                sums[0] += own.log_likelihood[i];
                let slopes = own.gradient.point(i);
                sums[1..].iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let own = [vec![found.log_likelihood[i]], found.gradient.point(i)].concat();
            for (own, sum) in own.iter().zip(sums) {
                // The same steps, with sums in another order.
                assert!((own - sum).abs() < 1e-9 * (1.0 + sum.abs()), "{solver}: {own}, not {sum}");
            }
        }
    }
}

/// A sample that explodes in one subject has no density; other samples are unaffected.
#[test]
fn a_trajectory_that_is_lost_loses_its_sample() {
    let model = parse(
        "[data]\nid = [1, 2, 3]\nt = [1, 1, 1]\ny = [1, 1, 1]\n[parameters]\n\
         k = { prior = \"normal(0, 3)\", size = 3 }\n[ode]\ngroup = \"id\"\nmax-steps = 100\n\
         [ode.states]\nx = { start = 1, rate = \"k[id] * x^2\" }\n[likelihood]\ny = \"normal(x, 1)\"",
    );
    // x = 1 / (1 - k t) has a pole at t = 1 / k.
    let points = vec![vec![0.5, -1.0, 0.2], vec![0.5, 1.5, 0.2], vec![-1.0, 0.1, 0.3]];
    let found = evaluate(&*model.target(), &points, LIKELIHOOD);
    for (i, point) in points.iter().enumerate() {
        let expected: f64 = point.iter().map(|k| normal(1.0, 1.0 / (1.0 - k), 1.0)).sum();
        if i == 1 {
            assert_eq!(found.log_likelihood[i], f64::NEG_INFINITY);
            assert_eq!(found.gradient.point(i), [0.0; 3]);
        } else {
            assert!((found.log_likelihood[i] - expected).abs() < 1e-4);
        }
    }
}

#[test]
fn predictions_and_replicates_follow_the_subjects() {
    let model = grouped("rtol = 1e-9");
    let point = model.prior_draws(1, 3).unwrap().point(0);
    let (k, e) = (&point[2..5], &point[5..8]);
    let level = |number: usize, wt: f64, dose: f64, t: f64| {
        let e = e[number - 1];
        let x = dose * (e - k[number - 1] * (wt / 70.0_f64).powf(0.75) * t).exp();
        x / (1.0 + e * e) + e * t
    };
    let points = Batch::from_points(point.len(), &[&point[..]]);
    let mut seen = 0;
    let data = model.data().unwrap();
    model
        .predict(&points, None, 1, &mut |prediction| {
            let row = &data.rows[prediction.row];
            let expected = level(row[1] as usize, row[2], row[3], row[4]);
            assert!((prediction.expected[0] - expected).abs() < 1e-6);
            seen += 1;
            true
        })
        .unwrap();
    assert_eq!(seen, ROWS.len());
    // Other doses and weights, with the subjects in another order.
    let names = ["t", "dose", "wt", "number", "id"].map(str::to_owned).to_vec();
    let rows = vec![vec![2.0, 1.5, 90.0, 3.0, 8.0], vec![1.0, 1.0, 50.0, 1.0, 4.0]];
    let inputs = Table { names, rows: rows.clone() };
    model
        .predict(&points, Some(&inputs), 1, &mut |prediction| {
            let row = &rows[prediction.row];
            let expected = level(row[3] as usize, row[2], row[1], row[0]);
            assert!((prediction.expected[0] - expected).abs() < 1e-6);
            true
        })
        .unwrap();
    let made = model.replicate(7).unwrap();
    let mut total = 0.0;
    let (truth, table) = (&made.truth, made.model.data().unwrap());
    for row in &table.rows {
        let number = row[1] as usize - 1;
        let (k, e) = (truth[2 + number], truth[5 + number]);
        let x = row[3] * (e - k * (row[2] / 70.0_f64).powf(0.75) * row[4]).exp();
        total += ((row[5] - x / (1.0 + e * e) - e * row[4]) / truth[8]).powi(2);
    }
    // A chi-squared variable with nine degrees of freedom.
    assert!((1.0..35.0).contains(&total), "{total}");
    assert_eq!(made.model.target().dim(), 9);
}

#[test]
fn new_rows_that_no_subject_can_have_are_refused() {
    let model = grouped("rtol = 1e-6");
    let point = model.prior_draws(1, 3).unwrap().point(0);
    let points = Batch::from_points(point.len(), &[&point[..]]);
    let names = ["t", "dose", "wt", "number", "id"].map(str::to_owned).to_vec();
    for (rows, words) in [
        (vec![vec![2.0, 1.5, 90.0, 3.0, 8.0], vec![1.0, 1.5, 50.0, 3.0, 8.0]], "for subject 8"),
        (vec![vec![2.0, 1.5, 90.0, 4.0, 8.0]], "must be from 1 to 3"),
        (vec![vec![-2.0, 1.5, 90.0, 3.0, 8.0]], "not before the start"),
    ] {
        let inputs = Table { names: names.clone(), rows };
        let error = model.predict(&points, Some(&inputs), 1, &mut |_| true).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let without = Table { names: names[..4].to_vec(), rows: vec![vec![1.0, 1.0, 60.0, 1.0]] };
    let error = model.predict(&points, Some(&without), 1, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("no column id"), "{error}");
}

/// The inputs of a line include the inputs of its subjects' trajectories.
#[test]
fn inputs_of_a_line_are_those_of_its_subjects() {
    assert_eq!(grouped("rtol = 1e-6").inputs(0), ["id", "number", "wt", "dose"]);
}
