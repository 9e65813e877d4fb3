//! Compares sums over rows with the same posteriors written out row by row, and with differences.

use super::*;
use crate::program::{Expr, Gather, Graph, Program, RowInput};
use crate::target::{Evaluation, Target, Weights};
use crate::{Batch, Error};
use std::cell::RefCell;

const WEIGHTS: Weights = Weights { prior: 0.7, likelihood: 1.3 };

/// From parameters, columns and gathered elements to the log density of a row.
type LogDensity = for<'g> fn(&[Expr<'g>], &[Expr<'g>], &[Expr<'g>]) -> Expr<'g>;
type Vector = for<'g> fn(&[Expr<'g>]) -> Vec<Expr<'g>>;

#[derive(Clone)]
struct Model {
    parameters: usize,
    columns: Vec<Vec<f64>>,
    gathers: Vec<(Vector, Vec<u32>)>,
    lines: Vec<(LogDensity, Vec<u32>)>,
}

fn log_prior<'g>(theta: &[Expr<'g>]) -> Expr<'g> {
    theta.iter().map(|z| -0.3 * (*z - 0.1).square()).sum()
}

impl Model {
    fn recorded(&self) -> Recorded {
        let cell = RefCell::new(Graph::new());
        let first = self.parameters;
        let input = |k: usize| Expr::input(&cell, k as u32);
        let theta: Vec<_> = (0..first).map(input).collect();
        let columns: Vec<_> = (0..self.columns.len()).map(|k| input(first + k)).collect();
        let behind = first + columns.len();
        let gathered: Vec<_> = (0..self.gathers.len()).map(|k| input(behind + k)).collect();
        let lines = self.lines.iter().map(|(f, rows)| {
            let log_density = f(&theta, &columns, &gathered).node(&cell);
            Line { log_density, rows: rows.clone() }
        });
        let lines = lines.collect();
        let gathers = self.gathers.iter().map(|(vector, index)| {
            let vector = vector(&theta).into_iter().map(|x| x.node(&cell)).collect();
            Gather { vector, index: index.clone() }
        });
        let gathers = gathers.collect();
        let (log_prior, direct) =
            (log_prior(&theta).node(&cell), (0.2 * theta[0].sin()).node(&cell));
        let row_inputs = (0..columns.len())
            .map(RowInput::Column)
            .chain((0..gathered.len()).map(RowInput::Gather))
            .collect();
        let (parameters, columns) = (self.parameters, self.columns.clone());
        let graph = cell.into_inner();
        Recorded {
            graph,
            parameters,
            row_inputs,
            columns,
            gathers,
            log_prior,
            direct,
            lines,
            system: None,
            series: None,
        }
    }

    /// The same, row by row.
    fn unrolled(&self) -> Program {
        Program::record_parts(self.parameters, |theta| {
            let mut sum = 0.2 * theta[0].sin();
            for (f, rows) in &self.lines {
                for row in rows.iter().map(|row| *row as usize) {
                    let columns: Vec<_> =
                        self.columns.iter().map(|column| column[row].into()).collect();
                    let take =
                        |(vector, index): &(Vector, Vec<u32>)| vector(theta)[index[row] as usize];
                    let gathered: Vec<_> = self.gathers.iter().map(take).collect();
                    sum += f(theta, &columns, &gathered);
                }
            }
            (log_prior(theta), sum)
        })
    }

    /// Restricts each line to its first rows.
    fn first(&self, rows: usize) -> Self {
        let mut model = self.clone();
        model.lines.iter_mut().for_each(|(_, kept)| kept.retain(|row| (*row as usize) < rows));
        model
    }
}

fn wave(n: usize, speed: f64) -> Vec<f64> {
    (0..n).map(|i| (speed * i as f64 + 0.3).sin() * 1.5 + 0.2).collect()
}

fn counts(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7 % 5) as f64).collect()
}

const ROWS: usize = 100;

fn models() -> Vec<(&'static str, Model)> {
    let all: Vec<u32> = (0..ROWS as u32).collect();
    let odd: Vec<u32> = (0..ROWS as u32).filter(|row| row % 3 != 1).collect();
    let columns = vec![
        wave(ROWS, 0.7),
        wave(ROWS, 1.9),
        counts(ROWS),
        (0..ROWS).map(|i| f64::from(u8::from(i * 5 % 7 > 3))).collect(),
        (0..ROWS).map(|i| 0.5 + (i % 4) as f64).collect(),
    ];
    let school: Vec<u32> = (0..ROWS as u32).map(|row| row * row % 4).collect();
    let model = |parameters: usize, lines: Vec<(LogDensity, Vec<u32>)>| Model {
        parameters,
        columns: columns.clone(),
        gathers: Vec::new(),
        lines,
    };
    let with_gather = |parameters: usize, vector: Vector, line: LogDensity| Model {
        gathers: vec![(vector, school.clone())],
        ..model(parameters, vec![(line, all.clone())])
    };
    let normal: LogDensity = |z, x, _| {
        let sd = z[3].exp();
        let mean = z[0] + z[1] * x[0] + z[2] * (x[1] - 0.5) / 2.0;
        -0.5 * sd.recip().square() * (x[4] - mean).square() - sd.ln() - 0.9
    };
    let poisson: LogDensity = |z, x, _| {
        let eta = z[0] + z[1] * x[0];
        x[2] * eta - eta.exp() - (x[2] + 1.0).ln()
    };
    let logistic: LogDensity = |z, x, _| {
        let eta = z[0] + z[1] * x[0] + z[2] * x[1] + z[3] * x[0] * x[1] + z[4] * x[4];
        x[3] * eta - eta.softplus()
    };
    let weighted: LogDensity = |z, x, _| -x[4] * (x[0] - z[0] - z[1] * x[1]).square();
    let nonlinear: LogDensity = |z, x, _| {
        let mean = z[0] * (-z[1].exp() * x[4]).exp();
        -(1.0 + (x[0] - mean).square() / z[2].exp()).ln() - 0.5 * z[2]
    };
    // Two sums, each with its own factor.
    let gamma: LogDensity = |z, x, _| {
        let (shape, mean) = (z[2].exp(), (z[0] + z[1] * x[0]).exp());
        shape * (shape / mean).ln() - shape * (x[4] / mean) + (shape - 1.0) * x[4].ln() - z[2].sin()
    };
    let product: LogDensity = |z, x, _| (z[0] + z[1] * x[0]) * (z[1] * x[1] - z[2] + x[4]);
    let choice: LogDensity = |z, x, _| x[0].lt(z[0]).select(-z[1].square() * x[1], z[0] * x[2]);
    let constant: LogDensity = |z, x, _| x[2] * z[0].ln_1p() - z[0].exp() + z[0] * z[1] / 3.0;
    let elements: Vector = |z| vec![z[0], z[0] + z[1], 0.5.into(), z[2] * z[2]];
    let gathered: LogDensity = |z, x, v| -0.5 * ((x[0] - v[0]) / x[4]).square() - z[1].exp() * 0.1;
    let mixed: LogDensity = |z, x, v| {
        let eta = v[0] * x[1] + z[1] * x[0] - z[2];
        x[3] * eta - eta.softplus() + v[0] * z[0] * (x[0] * z[1]).cos()
    };
    let linear_gather: LogDensity = |_, x, v| x[2] * v[0] - v[0].exp();
    vec![
        ("normal", model(4, vec![(normal, all.clone())])),
        ("poisson", model(2, vec![(poisson, all.clone())])),
        ("logistic", model(5, vec![(logistic, all.clone())])),
        ("weighted", model(2, vec![(weighted, all.clone())])),
        ("nonlinear", model(3, vec![(nonlinear, all.clone())])),
        ("gamma", model(3, vec![(gamma, all.clone())])),
        ("product of forms", model(3, vec![(product, all.clone())])),
        ("choice", model(2, vec![(choice, all.clone())])),
        ("no loop", model(2, vec![(constant, all.clone())])),
        ("lines with missing rows", model(5, vec![(normal, odd), (logistic, all.clone())])),
        ("gathered", with_gather(3, elements, gathered)),
        ("gathered and mixed", with_gather(3, elements, mixed)),
        ("gathered and linear", with_gather(3, elements, linear_gather)),
    ]
}

fn points(dim: usize, len: usize) -> Batch {
    let coordinate = |i: usize, d: usize| 0.6 * (1.7 * i as f64 + 0.9 * d as f64).sin() + 0.15;
    let points: Vec<Vec<f64>> =
        (0..len).map(|i| (0..dim).map(|d| coordinate(i, d)).collect()).collect();
    Batch::from_points(dim, &points)
}

fn evaluate(target: &impl Target, points: &Batch, weights: Weights) -> Evaluation {
    let mut out = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(points, Some(weights), &mut out).unwrap();
    out
}

#[test]
fn sums_are_what_they_are_row_by_row() {
    for (name, model) in models() {
        for rows in [0, 1, 2, 5, 8, 9, 33, ROWS] {
            let model = model.first(rows);
            let points = points(model.parameters, 40);
            let posterior = Posterior::new(model.recorded()).unwrap();
            let (found, expected) = (
                evaluate(&posterior, &points, WEIGHTS),
                evaluate(&model.unrolled(), &points, WEIGHTS),
            );
            let mut values = Evaluation::zeros(points.dim(), points.len());
            posterior.evaluate(&points, None, &mut values).unwrap();
            // Terms of a row and their slopes are below 100 here; 16 roundings of each.
            let tolerance = 16.0 * f64::EPSILON * 100.0 * (1 + rows) as f64;
            let near = |a: f64, b: f64, what: &str| {
                assert!((a - b).abs() <= tolerance, "{name}, {rows} rows, {what}: {a}, not {b}");
            };
            for i in 0..points.len() {
                near(found.log_prior[i], expected.log_prior[i], "log prior");
                near(found.log_likelihood[i], expected.log_likelihood[i], "log likelihood");
                near(values.log_likelihood[i], expected.log_likelihood[i], "value alone");
                assert_eq!(values.log_prior[i], found.log_prior[i]);
                for (a, b) in found.gradient.point(i).into_iter().zip(expected.gradient.point(i)) {
                    near(a, b, "gradient");
                }
            }
        }
    }
}

#[test]
fn gradients_are_those_of_differences() {
    for (name, model) in models().into_iter().filter(|(name, _)| *name != "choice") {
        let posterior = Posterior::new(model.recorded()).unwrap();
        let points = points(model.parameters, 3);
        let found = evaluate(&posterior, &points, WEIGHTS);
        let value = |d: usize, by: f64| -> Vec<f64> {
            let mut moved = points.clone();
            moved.row_mut(d).iter_mut().for_each(|x| *x += by);
            let mut out = Evaluation::zeros(points.dim(), 3);
            posterior.evaluate(&moved, None, &mut out).unwrap();
            let parts = out.log_prior.iter().zip(&*out.log_likelihood);
            parts.map(|(a, b)| WEIGHTS.prior * a + WEIGHTS.likelihood * b).take(3).collect()
        };
        // Of order 4: the error is h⁴/30 of a fifth derivative, and ε/h of the value.
        let h = 1e-3;
        for d in 0..points.dim() {
            let [a, b, c, e] = [-2.0, -1.0, 1.0, 2.0].map(|k| value(d, k * h));
            for i in 0..3 {
                let difference = (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * h);
                let slope = found.gradient.row(d)[i];
                let size = 1.0 + slope.abs() + a[i].abs();
                assert!(
                    (slope - difference).abs() < 1e-8 * size,
                    "{name}, coordinate {d}: {slope}, not {difference}"
                );
            }
        }
    }
}

#[test]
fn points_do_not_see_their_companions() {
    for (name, model) in models() {
        let posterior = Posterior::new(model.recorded()).unwrap();
        let many = points(model.parameters, 70);
        let together = evaluate(&posterior, &many, WEIGHTS);
        for i in [0, 1, 31, 32, 69] {
            let alone = Batch::from_points(model.parameters, &[many.point(i)]);
            // On another thread, which has its own memory.
            let found = std::thread::scope(|scope| {
                scope.spawn(|| evaluate(&posterior, &alone, WEIGHTS)).join().unwrap()
            });
            assert_eq!(found.log_likelihood[0].to_bits(), together.log_likelihood[i].to_bits());
            assert_eq!(found.gradient.point(0), together.gradient.point(i), "{name}, point {i}");
        }
    }
}

#[test]
fn lost_points_have_no_gradient() {
    // ln(z + x): NaN for z < −x, −∞ at z = −x.
    let log: LogDensity = |z, x, _| (z[0] + x[0]).ln() * x[1] - z[1].square();
    let model = Model {
        parameters: 2,
        columns: vec![vec![1.0, 2.0, 3.0], vec![1.0, 1.0, 0.5]],
        gathers: Vec::new(),
        lines: vec![(log, vec![0, 1, 2])],
    };
    let posterior = Posterior::new(model.recorded()).unwrap();
    let points =
        Batch::from_points(2, &[[-1.0, 0.3], [-1.5, 0.3], [0.4, 0.3], [f64::INFINITY, 0.0]]);
    let out = evaluate(&posterior, &points, WEIGHTS);
    assert_eq!(out.log_likelihood[0], f64::NEG_INFINITY);
    assert!(out.log_likelihood[1].is_nan());
    for i in [0, 1, 3] {
        assert_eq!(out.gradient.point(i), [0.0, 0.0]);
    }
    assert_eq!((out.log_prior[3], out.log_likelihood[3]), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    let unrolled = evaluate(&model.unrolled(), &points, WEIGHTS);
    assert!((out.gradient.row(0)[2] - unrolled.gradient.row(0)[2]).abs() < 1e-14);
    // Where the likelihood has weight 0, the prior's gradient remains.
    let out = evaluate(&posterior, &points, Weights { prior: 2.0, likelihood: 0.0 });
    for i in 0..3 {
        let expected = points.point(i).iter().map(|z| -1.2 * (z - 0.1)).collect::<Vec<_>>();
        for (found, expected) in out.gradient.point(i).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "point {i}: {found}, not {expected}");
        }
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let (_, mut model) = models().swap_remove(10);
    model.lines[0].1.push(ROWS as u32);
    let error = Posterior::new(model.recorded()).unwrap_err().to_string();
    assert!(error.contains("row 101") && error.contains("100 rows"), "{error}");
    let (_, mut model) = models().swap_remove(10);
    model.gathers[0].1[7] = 4;
    let error = Posterior::new(model.recorded()).unwrap_err().to_string();
    assert!(error.contains("row 8") && error.contains("element 5"), "{error}");
    let posterior = Posterior::new(models().swap_remove(0).1.recorded()).unwrap();
    let mut out = Evaluation::zeros(4, 2);
    let misfit = posterior.evaluate(&points(3, 2), None, &mut out);
    assert!(matches!(misfit, Err(Error::Shape { .. })));
    assert!(posterior.evaluate(&points(4, 33), None, &mut out).is_err());
}

#[test]
fn quantities_are_values_at_points() {
    let (_, model) = models().swap_remove(11);
    let recorded = model.recorded();
    let points = points(3, 40);
    let nodes = [recorded.log_prior, recorded.gathers[0].vector[3]];
    let quantities = Quantities::new(&recorded.graph, 3, &nodes).evaluate(&points).unwrap();
    for i in 0..40 {
        let z = points.point(i);
        let prior: f64 = z.iter().map(|z| -0.3 * (z - 0.1) * (z - 0.1)).sum();
        assert!((quantities.row(0)[i] - prior).abs() < 1e-15);
        assert!((quantities.row(1)[i] - z[2] * z[2]).abs() < 1e-15);
    }
}

#[test]
fn memory_is_asked_for_once() {
    for (name, model) in models() {
        let posterior = Posterior::new(model.recorded()).unwrap();
        let points = points(model.parameters, 100);
        let mut out = Evaluation::zeros(points.dim(), points.len());
        let [first, second] = [WEIGHTS, Weights { prior: 1.0, likelihood: 0.2 }].map(|weights| {
            allocation_counter::measure(|| {
                posterior.evaluate(&points, Some(weights), &mut out).unwrap();
            })
        });
        assert!(first.count_total > 0, "the counter counts nothing");
        assert_eq!(second.count_total, 0, "{name}");
    }
}

#[test]
fn rows_cost_their_numbers_and_no_code() {
    let model = |rows: usize| Model {
        parameters: 5,
        columns: [0.7, 1.9, 0.3, 2.2, 1.1].iter().map(|speed| wave(rows, *speed)).collect(),
        gathers: Vec::new(),
        lines: vec![(models()[2].1.lines[0].0, (0..rows as u32).collect())],
    };
    let bytes = |rows: usize| {
        let recorded = model(rows).recorded();
        let mut posterior = None;
        let compiling = allocation_counter::measure(|| posterior = Posterior::new(recorded).ok());
        let points = points(5, 32);
        let mut out = Evaluation::zeros(5, 32);
        let running = allocation_counter::measure(|| {
            posterior.as_ref().unwrap().evaluate(&points, Some(WEIGHTS), &mut out).unwrap();
        });
        (compiling.bytes_max as f64, running.bytes_total)
    };
    let [(short, ran), (long, ran_long)] = [bytes(2_000), bytes(22_000)];
    assert_eq!(ran, ran_long, "the loop's memory is that of a block of samples");
    // Numbers of the columns, coefficients of the form as they are tabulated, and these again.
    assert!(long - short < 20_000.0 * 8.0 * (5.0 + 5.0 + 6.0 + 5.0), "{}", (long - short) / 160e3);
}

/// Squares of affine forms are compressed to as many rows as there are parameters; all others loop over theirs.
#[test]
fn operations_grow_with_the_rows() {
    for (name, model) in models() {
        let cost = |rows: usize| {
            Posterior::new(model.first(rows).recorded()).unwrap().operations().unwrap()
        };
        let counts = [10, 20, 40, 80].map(cost);
        assert!(counts[0] > 0.0 && counts.is_sorted(), "{name}: {counts:?}");
        if name == "poisson" {
            let steps = [counts[2] - counts[1], counts[3] - counts[2]];
            assert!((steps[1] / steps[0] - 2.0).abs() < 0.1, "{name}: {counts:?}");
        }
    }
}
