//! A target that Python evaluates, one batch per call.

use crate::arrays;
use adaann::{
    Batch, Error, Result,
    target::{Evaluation, Support, Target, Weights},
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{exceptions::PyValueError, intern, prelude::*, types::PyTuple};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

/// Stores an exception of the user's function, to raise it again in the calling thread.
#[derive(Clone, Default)]
pub(crate) struct Raised {
    error: Arc<Mutex<Option<PyErr>>>,
    /// Has an exception been raised?
    pub(crate) any: Arc<AtomicBool>,
}

impl Raised {
    /// Stores the first exception, and returns an error for the engine.
    pub(crate) fn keep(&self, error: PyErr) -> Error {
        let text = error.to_string();
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        self.any.store(true, Ordering::Relaxed);
        Error::Target(text)
    }

    /// Takes the stored exception, if any.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.any.store(false, Ordering::Relaxed);
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The cost of the calls of a target.
#[derive(Default)]
pub(crate) struct Cost {
    calls: AtomicU64,
    points: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Cost {
    fn add(&self, points: usize, since: Instant) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.points.fetch_add(points as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// Calls, points and seconds, including the time spent waiting for the GIL.
    pub(crate) fn so_far(&self) -> (u64, u64, f64) {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (read(&self.calls), read(&self.points), 1e-9 * read(&self.nanoseconds) as f64)
    }
}

/// An adapter of the Python package (`adaann.targets.Adapter`).
pub(crate) struct Adapter {
    evaluate: Py<PyAny>,
    names: Vec<String>,
    supports: Vec<Support>,
    has_prior: bool,
    has_proper_prior: bool,
    /// Does it return gradients?
    pub(crate) gives_gradient: bool,
    notes: Vec<String>,
    pub(crate) raised: Raised,
    pub(crate) cost: Arc<Cost>,
}

impl Adapter {
    /// Reads the attributes of a Python adapter.
    pub(crate) fn new(adapter: &Bound<'_, PyAny>) -> PyResult<Self> {
        let supports: Vec<Bound<'_, PyTuple>> = adapter.getattr("supports")?.extract()?;
        Ok(Self {
            evaluate: adapter.getattr("evaluate")?.unbind(),
            names: adapter.getattr("names")?.extract()?,
            supports: supports.iter().map(support).collect::<PyResult<_>>()?,
            has_prior: adapter.getattr("has_prior")?.extract()?,
            has_proper_prior: adapter.getattr("has_proper_prior")?.extract()?,
            gives_gradient: adapter.getattr("gives_gradient")?.extract()?,
            notes: adapter.getattr("notes")?.extract()?,
            raised: Raised::default(),
            cost: Arc::default(),
        })
    }

    /// Evaluates the points in Python.
    fn ask(
        &self,
        py: Python<'_>,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> PyResult<()> {
        type Found<'py> = (
            Option<PyReadonlyArray1<'py, f64>>,
            PyReadonlyArray1<'py, f64>,
            Option<PyReadonlyArray2<'py, f64>>,
            Option<PyReadonlyArray2<'py, f64>>,
        );
        let asked = (arrays::rows(py, points)?, gradient.is_some());
        let found = self.evaluate.bind(py).call1(asked)?;
        let (prior, likelihood, prior_slopes, slopes): Found<'_> = found.extract()?;
        let count = points.len();
        match &prior {
            Some(prior) => arrays::fill(&mut out.log_prior[..count], prior)?,
            None => out.log_prior[..count].fill(0.0),
        }
        arrays::fill(&mut out.log_likelihood[..count], &likelihood)?;
        let Some(weights) = gradient else { return Ok(()) };
        let parts = [(weights.prior, prior_slopes), (weights.likelihood, slopes)];
        let given = parts.into_iter().filter(|(weight, _)| *weight != 0.0);
        let given: Vec<_> = given.filter_map(|(weight, part)| Some((weight, part?))).collect();
        arrays::fill_with_sum(&mut out.gradient, &given)?;
        // A point outside the support has no gradient.
        for i in 0..count {
            if !(out.log_prior[i].is_finite() && out.log_likelihood[i].is_finite()) {
                (0..points.dim()).for_each(|d| out.gradient.row_mut(d)[i] = 0.0);
            }
        }
        Ok(())
    }
}

impl Target for Adapter {
    fn dim(&self) -> usize {
        self.names.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        if points.is_empty() {
            return Ok(());
        }
        // After a failure the run stops, so skip further calls.
        if self.raised.any.load(Ordering::Relaxed) {
            return Err(Error::Target("an earlier call raised an exception".into()));
        }
        let since = Instant::now();
        let asked = Python::attach(|py| self.ask(py, points, gradient, out));
        self.cost.add(points.len(), since);
        asked.map_err(|error| self.raised.keep(error))
    }

    fn wants_whole_batch(&self) -> bool {
        true
    }

    fn has_prior(&self) -> bool {
        self.has_prior
    }

    fn has_proper_prior(&self) -> bool {
        self.has_proper_prior
    }

    fn support(&self, d: usize) -> Support {
        self.supports[d].clone()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

/// Parses the support of a coordinate from an adapter.
fn support(said: &Bound<'_, PyTuple>) -> PyResult<Support> {
    let py = said.py();
    let kind: String = said.get_item(0)?.extract()?;
    let number = |i: usize| -> PyResult<f64> { said.get_item(i)?.extract() };
    let count = |i: usize| -> PyResult<usize> { said.get_item(i)?.extract() };
    Ok(match &kind[..] {
        "real" => Support::Real,
        "above" => Support::Above(number(1)?),
        "below" => Support::Below(number(1)?),
        "between" => Support::Between(number(1)?, number(2)?),
        "after" => Support::After,
        "share" => Support::Share { index: count(1)?, of: count(2)? },
        _ => {
            let said = said.call_method0(intern!(py, "__repr__"))?;
            return Err(PyValueError::new_err(format!("unknown support {said}")));
        }
    })
}
