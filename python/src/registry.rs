//! Everything that has a name: densities with their known properties, and settings with their help.

use crate::{arrays, raised};
use adaann::{
    registry::{self, Problem},
    target::Evaluation,
};
use adaann_cli::embed;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyDict};

/// A registered density: its name, one line, and its parameters with their defaults.
type Named = (&'static str, &'static str, Vec<(&'static str, f64)>);

/// Every registered density.
#[pyfunction]
pub(crate) fn densities() -> Vec<Named> {
    let parameters = |entry: &registry::Entry| {
        entry.parameters.iter().map(|parameter| (parameter.name, parameter.default)).collect()
    };
    registry::ALL.iter().map(|entry| (entry.name, entry.summary, parameters(entry))).collect()
}

fn problem(name: &str, parameters: &[(String, f64)]) -> PyResult<Problem> {
    let found = registry::find(name).and_then(|entry| entry.build(parameters));
    found.map_err(|error| raised(&error.into()))
}

/// The known properties of a registered density, and its log density at `points` if given.
#[pyfunction]
#[pyo3(signature = (name, parameters, points=None))]
pub(crate) fn density_log_p<'py>(
    py: Python<'py>,
    name: &str,
    parameters: Vec<(String, f64)>,
    points: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let Problem { target, known, .. } = problem(name, &parameters)?;
    let found = PyDict::new(py);
    found.set_item("names", target.names())?;
    found.set_item("log_evidence", known.log_z)?;
    found.set_item("mean", known.mean)?;
    found.set_item("sd", known.sd)?;
    let modes: Vec<_> =
        known.modes.iter().map(|mode| (mode.location.clone(), mode.weight)).collect();
    found.set_item("modes", modes)?;
    if let Some(points) = points {
        let batch = arrays::batch(&points, target.dim())?;
        let mut out = Evaluation::zeros(target.dim(), batch.len());
        let evaluated = py.detach(|| target.evaluate(&batch, None, &mut out));
        evaluated.map_err(|error| raised(&error.into()))?;
        let both = out.log_prior[..batch.len()].iter().zip(&out.log_likelihood[..batch.len()]);
        let sums: Vec<f64> = both.map(|(prior, likelihood)| prior + likelihood).collect();
        found.set_item("log_density", PyArray1::from_vec(py, sums))?;
    }
    Ok(found)
}

/// Every setting of a fit, with its help on the command line and its possible values.
#[pyfunction]
pub(crate) fn settings() -> Vec<embed::Help> {
    embed::settings_help()
}
