//! Conversion between batches of points and NumPy arrays.

use adaann::Batch;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
    ndarray::{Axis, Slice},
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The points of a batch as an array of shape (coordinates, points) with contiguous rows.
pub(crate) fn rows<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut numbers = Vec::with_capacity(batch.dim() * batch.len());
    for d in 0..batch.dim() {
        numbers.extend_from_slice(batch.row(d));
    }
    PyArray1::from_vec(py, numbers).reshape([batch.dim(), batch.len()])
}

/// Converts an array of shape (points, coordinates) to a batch.
pub(crate) fn batch(points: &PyReadonlyArray2<'_, f64>, dim: usize) -> PyResult<Batch> {
    let [count, found] = [points.shape()[0], points.shape()[1]];
    if found != dim {
        return Err(PyValueError::new_err(format!(
            "points have {found} coordinates, but the target has {dim}"
        )));
    }
    let mut batch = Batch::zeros(dim, count);
    let view = points.as_array();
    for d in 0..dim {
        for (to, from) in batch.row_mut(d).iter_mut().zip(view.column(d)) {
            *to = *from;
        }
    }
    Ok(batch)
}

/// Copies an array of the same length into a row.
pub(crate) fn fill(to: &mut [f64], from: &PyReadonlyArray1<'_, f64>) -> PyResult<()> {
    if from.len() != to.len() {
        return Err(PyValueError::new_err(format!(
            "an adapter returned {} numbers for {} points",
            from.len(),
            to.len()
        )));
    }
    match from.as_slice() {
        Ok(from) => to.copy_from_slice(from),
        Err(_) => to.iter_mut().zip(from.as_array()).for_each(|(to, from)| *to = *from),
    }
    Ok(())
}

/// Fills a batch with the weighted sum of arrays of shape (coordinates, points), or with 0 without arrays.
pub(crate) fn fill_with_sum(
    to: &mut Batch,
    parts: &[(f64, PyReadonlyArray2<'_, f64>)],
) -> PyResult<()> {
    if parts.is_empty() {
        (0..to.dim()).for_each(|d| to.row_mut(d).fill(0.0));
    }
    for (i, (weight, from)) in parts.iter().enumerate() {
        add(to, *weight, from, i == 0)?;
    }
    Ok(())
}

fn add(
    to: &mut Batch,
    weight: f64,
    from: &PyReadonlyArray2<'_, f64>,
    is_first: bool,
) -> PyResult<()> {
    if from.shape() != [to.dim(), to.len()] {
        return Err(PyValueError::new_err(format!(
            "an adapter returned a gradient of shape {:?} for {} coordinates of {} points",
            from.shape(),
            to.dim(),
            to.len()
        )));
    }
    let view = from.as_array();
    let count = to.len();
    // Process points in blocks. If the coordinates of a point are contiguous, as in a NumPy array (n, d), a block stays
    // in the cache while its coordinates are read one after another.
    for first in (0..count).step_by(BLOCK) {
        let end = count.min(first + BLOCK);
        for d in 0..to.dim() {
            let to = &mut to.row_mut(d)[first..end];
            let row = view.row(d);
            let from = row.slice_axis(Axis(0), Slice::from(first..end));
            match from.to_slice() {
                // Iteration over a slice is vectorised, iteration over an array is not.
                Some(from) => scale(to, weight, from.iter(), is_first),
                None => scale(to, weight, from.iter(), is_first),
            }
        }
    }
    Ok(())
}

/// The number of points in a block.
const BLOCK: usize = 256;

/// Writes the weighted numbers, or adds them to the present values.
fn scale<'a>(to: &mut [f64], weight: f64, from: impl Iterator<Item = &'a f64>, is_first: bool) {
    let pairs = to.iter_mut().zip(from);
    match is_first {
        true => pairs.for_each(|(to, from)| *to = weight * from),
        false => pairs.for_each(|(to, from)| *to += weight * from),
    }
}
