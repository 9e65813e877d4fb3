//! The results of runs, as Python classes.

use crate::{
    arrays, raised,
    target::{Cost, Raised},
};
use adaann_cli::embed;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyBytes};
use std::{path::PathBuf, sync::Arc};

/// The result of a run. Arrays of draws have shape (columns, draws).
#[pyclass(frozen, module = "adaann._core")]
pub(crate) struct Answer {
    answer: embed::Answer,
    raised: Raised,
    cost: Option<Arc<Cost>>,
}

impl Answer {
    pub(crate) fn new(answer: embed::Answer, raised: Raised, cost: Option<Arc<Cost>>) -> Self {
        Self { answer, raised, cost }
    }

    /// The exception for a failure. An exception of the user's function takes precedence.
    fn exception(&self, failure: &embed::Failure) -> PyErr {
        self.raised.take().unwrap_or_else(|| raised(failure))
    }

    fn dim(&self) -> usize {
        self.answer.points().dim()
    }
}

type Rows<'py> = Bound<'py, PyArray2<f64>>;
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

#[pymethods]
impl Answer {
    /// The text of `summary.json`.
    fn summary(&self) -> String {
        self.answer.summary().to_string()
    }

    /// The names of the coordinates, followed by those of derived quantities.
    fn columns(&self) -> Vec<String> {
        self.answer.columns()
    }

    fn points<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        arrays::rows(py, self.answer.points())
    }

    fn quantities<'py>(&self, py: Python<'py>) -> PyResult<Option<Rows<'py>>> {
        self.answer.quantities().map(|found| arrays::rows(py, found)).transpose()
    }

    fn log_p<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        PyArray1::from_slice(py, self.answer.log_p())
    }

    fn log_q<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        PyArray1::from_slice(py, self.answer.log_q())
    }

    fn weights<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        PyArray1::from_slice(py, self.answer.weights())
    }

    fn log_q_at<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Numbers<'py>> {
        let points = arrays::batch(&points, self.dim())?;
        let found = py.detach(|| self.answer.log_q_at(&points));
        Ok(PyArray1::from_vec(py, found.map_err(|failure| raised(&failure))?))
    }

    fn log_p_at<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Numbers<'py>> {
        let points = arrays::batch(&points, self.dim())?;
        let found = py.detach(|| self.answer.log_p_at(&points));
        Ok(PyArray1::from_vec(py, found.map_err(|failure| self.exception(&failure))?))
    }

    /// Indices of draws that represent the target with equal weights.
    fn resampled(&self, count: usize, seed: u64) -> Vec<usize> {
        self.answer.resampled(count, seed)
    }

    /// New draws with equal weights, and their derived quantities.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<(Rows<'py>, Option<Rows<'py>>)> {
        let found = py.detach(|| {
            let points = self.answer.sample(count, seed)?;
            let quantities = self.answer.quantities_at(&points)?;
            Ok((points, quantities))
        });
        let (points, quantities) =
            found.map_err(|failure: embed::Failure| self.exception(&failure))?;
        let quantities = quantities.map(|found| arrays::rows(py, &found)).transpose()?;
        Ok((arrays::rows(py, &points)?, quantities))
    }

    #[pyo3(signature = (folder, force=false))]
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        py.detach(|| self.answer.save(&folder, force)).map_err(|failure| raised(&failure))
    }

    /// The HTML report of the run.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.answer.page()).map_err(|failure| raised(&failure))
    }

    /// The draws and their metadata, as the bytes of a netCDF file.
    fn netcdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.answer.netcdf()).map_err(|failure| raised(&failure))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Calls, points and seconds of the user's function, or None without one.
    fn cost(&self) -> Option<(u64, u64, f64)> {
        self.cost.as_ref().map(|cost| cost.so_far())
    }
}

/// The result of an SMC run. Arrays have shape (columns, particles).
#[pyclass(frozen, module = "adaann._core")]
pub(crate) struct Particles(pub(crate) embed::Particles);

#[pymethods]
impl Particles {
    fn summary(&self) -> String {
        self.0.summary().to_string()
    }

    fn columns(&self) -> Vec<String> {
        self.0.columns().to_vec()
    }

    fn points<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        arrays::rows(py, self.0.points())
    }

    fn quantities<'py>(&self, py: Python<'py>) -> PyResult<Option<Rows<'py>>> {
        self.0.quantities().map(|found| arrays::rows(py, found)).transpose()
    }

    fn log_p<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        PyArray1::from_slice(py, self.0.log_p())
    }

    fn weights<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        PyArray1::from_slice(py, self.0.weights())
    }
}
