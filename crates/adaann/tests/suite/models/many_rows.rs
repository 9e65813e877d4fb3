//! A hundred thousand rows: correct, and compiled in memory proportional to the data.

use crate::support::common::{Numbers, assert_close, evaluate};
use adaann::Batch;
use adaann::model::Model;
use adaann::target::{Evaluation, Target, Weights};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const WEIGHTS: Weights = Weights { prior: 0.0, likelihood: 1.0 };

/// Rows of (x, group, n, k).
fn rows(count: usize) -> Vec<[f64; 4]> {
    let mut numbers = Numbers(4);
    (0..count)
        .map(|_| {
            let n = (20.0 * numbers.uniform()).ceil();
            let k = (n * numbers.uniform()).floor();
            [numbers.normal(), (50.0 * numbers.uniform()).ceil(), n, k]
        })
        .collect()
}

/// A model file beside its data.
fn write(name: &str, rows: &[[f64; 4]]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many-rows").join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut csv = String::from("x,group,n,k\n");
    for [x, group, n, k] in rows {
        writeln!(csv, "{x:?},{group},{n},{k}").unwrap();
    }
    fs::write(folder.join("data.csv"), csv).unwrap();
    let model = "[data]\nfile = \"data.csv\"\n\
                 [constants]\nmiddle = \"mean(x)\"\ncentred = \"x - middle\"\nspread = \"sd(centred)\"\n\
                 [parameters]\na = { prior = \"normal(0, 0.5)\", size = 50 }\nb = \"normal(0, 0.5)\"\n\
                 [likelihood]\nk = \"binomial_logit(n, a[group] + b * (x - middle) / spread)\"\n";
    let path = folder.join("model.toml");
    fs::write(&path, model).unwrap();
    path
}

#[test]
fn a_hundred_thousand_rows_are_summed_over() {
    let rows = rows(100_000);
    let model = Model::read(&write("sum", &rows)).unwrap_or_else(|errors| panic!("{errors}"));
    let draws = model.prior_draws(3, 1).unwrap();
    let points: Vec<Vec<f64>> = (0..3).map(|i| draws.point(i)).collect();
    let found = evaluate(&*model.target(), &points, WEIGHTS);
    let count = rows.len() as f64;
    let middle = rows.iter().map(|row| row[0]).sum::<f64>() / count;
    let squares: f64 = rows.iter().map(|row| (row[0] - middle).powi(2)).sum();
    let spread = (squares / (count - 1.0)).sqrt();
    let log_factorials: Vec<f64> = (0..=20)
        .scan(0.0, |sum, i| {
            *sum += f64::from(i.max(1)).ln();
            Some(*sum)
        })
        .collect();
    for (i, point) in points.iter().enumerate() {
        let term = |&[x, group, n, k]: &[f64; 4]| {
            let logit = point[group as usize - 1] + point[50] * (x - middle) / spread;
            let choices = log_factorials[n as usize]
                - log_factorials[k as usize]
                - log_factorials[(n - k) as usize];
            choices + k * logit - n * logit.exp().ln_1p()
        };
        let expected: f64 = rows.iter().map(term).sum();
        // Rounding of a long sum, in another order.
        assert_close(found.log_likelihood[i], expected, 1e-11, "log likelihood");
    }
}

/// Twice the rows take twice the memory to compile, and no more memory to evaluate.
#[test]
fn memory_follows_the_data() {
    let measure = |count: usize| {
        let path = write(&count.to_string(), &rows(count));
        let mut model = None;
        let compiled = allocation_counter::measure(|| model = Model::read(&path).ok());
        let model = model.expect("a model");
        let target = model.target();
        let points = model.prior_draws(64, 1).unwrap();
        let evaluated = |points: &Batch| {
            let mut out = Evaluation::zeros(target.dim(), points.len());
            let work = || target.evaluate(points, Some(WEIGHTS), &mut out).unwrap();
            allocation_counter::measure(work).bytes_max as f64
        };
        [compiled.bytes_max as f64, evaluated(&points), evaluated(&points)]
    };
    let (few, many) = (measure(25_000), measure(50_000));
    println!("{few:?} {many:?}");
    assert!(many[0] < 2.2 * few[0], "compiled: {few:?} {many:?}");
    // 32 bytes of numbers per row.
    assert!(many[0] < 40.0 * 32.0 * 50_000.0, "compiled: {many:?}");
    assert!(many[1] < 1.1 * few[1] + 1e6 && many[2] < 1.1 * few[2] + 1e6, "{few:?} {many:?}");
}
