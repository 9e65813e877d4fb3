//! The extension module `adaann._core`: the engine behind the Python package, which contains the public API.
//!
//! | File | Contents |
//! | --- | --- |
//! | `arrays` | conversion between batches of points and NumPy arrays |
//! | `target` | a target that Python evaluates, one batch per call |
//! | `rule` | a schedule that is a Python function |
//! | `engine` | the engine in a thread: the GIL released, signals handled |
//! | `session` | from arguments to a run |
//! | `answer` | the results of runs |
//!
//! It converts batches to arrays and back, and runs jobs beside the interpreter, whose lock it takes only to
//! call a target. `python/adaann/targets/` has one file for each kind of target, all behind one protocol that
//! this module calls once for a whole batch.

mod answer;
mod arrays;
mod engine;
mod registry;
mod rule;
mod session;
mod target;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::answer::{Answer, Particles};
    #[pymodule_export]
    use super::engine::{Stopped, command, quietly};
    #[pymodule_export]
    use super::registry::{densities, density_log_p, settings};
    #[pymodule_export]
    use super::session::{check, fit, load, smc};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn begin(module: &Bound<'_, PyModule>) -> PyResult<()> {
        adaann_cli::embed::begin(super::engine::log, super::engine::keep_state);
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// The exception for a failure: `ValueError` for an invalid request, otherwise `RuntimeError`.
fn raised(failure: &adaann_cli::embed::Failure) -> PyErr {
    let text = failure.to_string();
    match failure.is_usage() {
        true => pyo3::exceptions::PyValueError::new_err(text),
        false => pyo3::exceptions::PyRuntimeError::new_err(text),
    }
}
