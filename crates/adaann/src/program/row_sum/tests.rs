//! Tests what remains in the loop over rows.

use super::*;
use crate::program::{Expr, RowInput};
use std::cell::RefCell;

const ROWS: usize = 50;

/// Σ_rows of a function of three parameters and two columns.
fn summed(f: impl for<'g> FnOnce(&[Expr<'g>], &[Expr<'g>]) -> Expr<'g>) -> Summed {
    let cell = RefCell::new(Graph::new());
    let z: Vec<Expr<'_>> = (0..5).map(|input| Expr::input(&cell, input)).collect();
    let value = f(&z[..3], &z[3..]).node(&cell);
    let columns =
        [0.7, 1.9].map(|speed: f64| (0..ROWS).map(|i| (speed * i as f64).sin()).collect());
    let rows: Vec<u32> = (0..ROWS as u32).collect();
    let of_rows = [RowInput::Column(0), RowInput::Column(1)];
    let data = Data { columns: &columns, times: &[], stretches: &[], gathers: &[], rows: &rows };
    let inputs = Inputs { parameters: 3, of_rows: &of_rows };
    sum_over_rows(&mut cell.into_inner(), inputs, data, value)
}

#[test]
fn sums_that_need_no_loop_have_none() {
    // Terms independent of the row, of the row alone, and affine in functions of parameters.
    let found = summed(|z, x| {
        z[0].exp() * (x[0] * z[1] - x[1].exp() * z[2].ln()) - x[1].square() + z[0] / (1.0 + z[1])
    });
    assert!(found.sum.is_none() && found.factors.is_empty() && found.crossing.is_empty());
}

#[test]
fn squares_of_a_form_are_as_many_as_its_coefficients() {
    let found = summed(|z, x| -0.5 * z[2].exp() * (x[1] - z[0] - z[1] * x[0]).square());
    let sum = found.sum.unwrap();
    assert_eq!((sum.forms.len(), sum.forms[0].rows()), (1, 3));
    assert_eq!((sum.plain.len(), found.crossing.len()), (0, 2));
    assert!(found.factors[0].is_some(), "the precision is a factor of the sum");
    // Scales of both signs are left unchanged.
    let found = summed(|z, x| x[0] * (x[1] - z[0] - z[1] * x[0]).square());
    assert_eq!(found.sum.unwrap().forms[0].rows(), ROWS);
}

#[test]
fn what_is_free_of_the_row_crosses_once() {
    // e^z0·z1 is a crossing value; the form has its coefficient and another.
    let found = summed(|z, x| (z[0].exp() * z[1] * x[0] + z[2].sin() * x[1]).softplus());
    let sum = found.sum.unwrap();
    assert_eq!((sum.forms.len(), sum.plain.len(), found.crossing.len()), (1, 0, 2));
    // A value that enters a row outside of a form is plain.
    let found = summed(|z, x| (z[0].exp() * (x[0] * z[1]).cos()).softplus());
    let sum = found.sum.unwrap();
    assert_eq!((sum.forms.len(), sum.plain.len(), found.crossing.len()), (1, 1, 2));
}

#[test]
fn a_triangle_has_the_lengths_of_its_matrix() {
    let width = 4;
    let number = |i: usize| (1.3 * i as f64 + 0.4).sin() * if i % width == 2 { 1e6 } else { 1.0 };
    let mut matrix: Vec<f64> = (0..9 * width).map(number).collect();
    // A column that depends on others leaves a pivot of the size of rounding.
    matrix.chunks_mut(width).for_each(|row| row[3] = 2.0 * row[0] - row[1]);
    let whole = matrix.clone();
    compress::triangle(&mut matrix, width).unwrap();
    assert_eq!(matrix.len(), width * width);
    for i in 0..width {
        for j in 0..width {
            let dot = |m: &[f64]| -> f64 { m.chunks(width).map(|row| row[i] * row[j]).sum() };
            let norm =
                |m: &[f64], j: usize| m.chunks(width).map(|r| r[j] * r[j]).sum::<f64>().sqrt();
            // Nine rows and four reflections: fewer than 100 roundings.
            let tolerance = 100.0 * f64::EPSILON * norm(&whole, i) * norm(&whole, j);
            assert!((dot(&matrix) - dot(&whole)).abs() <= tolerance, "columns {i} and {j}");
        }
    }
    assert!(compress::triangle(&mut vec![1.0, f64::NAN, 2.0, 3.0], 1).is_none());
    assert!(compress::triangle(&mut vec![1e200; 4], 1).is_none());
}
