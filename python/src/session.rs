//! Runs the engine with the arguments of the Python package.

use crate::{
    answer::{Answer, Particles},
    engine::{Shown, Stopped, beside},
    raised,
    rule::PythonRule,
    target::{Adapter, Cost, Raised},
};
use adaann::target::{ByDifferences, Target};
use adaann_cli::embed::{self, Described, Failure, Session, Word};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{path::PathBuf, sync::Arc};

/// The subject of a fit, from a dictionary of the Python package.
#[derive(FromPyObject)]
pub(crate) enum Subject<'py> {
    /// A registered density.
    #[pyo3(from_item_all)]
    Density { density: String, parameters: Vec<(String, f64)> },
    /// A model file, with optional data that replaces its own.
    #[pyo3(from_item_all)]
    Model { model: PathBuf, data: Option<PathBuf> },
    /// An adapter, its name, and a checksum that identifies it.
    #[pyo3(from_item_all)]
    Target { target: Bound<'py, PyAny>, name: String, identity: String },
}

/// The value of a setting.
#[derive(FromPyObject)]
pub(crate) enum Value {
    #[pyo3(transparent)]
    Switch(bool),
    #[pyo3(transparent)]
    Text(String),
}

impl From<Value> for Word {
    fn from(value: Value) -> Self {
        match value {
            Value::Switch(is_on) => Self::Switch(is_on),
            Value::Text(text) => Self::Text(text),
        }
    }
}

type Settings = Vec<(String, Value)>;

fn words(settings: Settings) -> impl Iterator<Item = (String, Word)> {
    settings.into_iter().map(|(name, value)| (name, value.into()))
}

/// A session, with the exception and the cost of its Python target.
struct Opened {
    session: Session,
    raised: Raised,
    cost: Option<Arc<Cost>>,
}

fn open(subject: &Subject<'_>, given: adaann::model::Given) -> PyResult<Opened> {
    let (mut kept, mut cost) = (Raised::default(), None);
    let session = match subject {
        Subject::Density { density, parameters } => Session::of_density(density, parameters, given),
        Subject::Model { model, data } => Session::of_model(model, data.as_deref(), given),
        Subject::Target { target, name, identity } => {
            let adapter = Adapter::new(target)?;
            (kept, cost) = (adapter.raised.clone(), Some(adapter.cost.clone()));
            let target: Box<dyn Target> = match adapter.gives_gradient {
                true => Box::new(adapter),
                false => Box::new(ByDifferences(adapter)),
            };
            let described = Described {
                name: name.clone(),
                language: "Python".to_owned(),
                identity: identity.clone(),
            };
            Session::of_target(target, &described, given)
        }
    };
    let session = session.map_err(|failure| raised(&failure))?.until(kept.any.clone());
    Ok(Opened { session, raised: kept, cost })
}

/// The outcome of a run. An exception of the user's function takes precedence over the failures that it caused.
fn outcome<T>(found: Result<T, Failure>, kept: &Raised) -> PyResult<T> {
    if let Some(error) = kept.take() {
        return Err(error);
    }
    found.map_err(|failure| match failure.is_stopped() {
        true => Stopped::new_err(failure.to_string()),
        false => raised(&failure),
    })
}

/// Checks settings and raises an exception for invalid ones.
#[pyfunction]
pub(crate) fn check(settings: Settings) -> PyResult<()> {
    embed::settings(words(settings)).map(drop).map_err(|failure| raised(&failure))
}

/// Fits a subject with these settings.
#[pyfunction]
#[pyo3(signature = (subject, settings, progress=None, rule=None))]
pub(crate) fn fit(
    py: Python<'_>,
    subject: Subject<'_>,
    settings: Settings,
    progress: Option<Py<PyAny>>,
    rule: Option<(f64, Py<PyAny>)>,
) -> PyResult<Answer> {
    let given = embed::settings(words(settings)).map_err(|failure| raised(&failure))?;
    let Opened { mut session, raised: kept, cost } = open(&subject, given)?;
    if let Some((first, next)) = rule {
        if !(first > 0.0 && first <= 1.0) {
            return Err(PyValueError::new_err(format!(
                "the schedule starts at t0 = {first}, but t0 must be above 0 and at most 1"
            )));
        }
        let rule = PythonRule { first, next, raised: kept.clone() };
        session = session.with_rule(Box::new(rule)).map_err(|failure| raised(&failure))?;
    }
    let shown = Arc::new(Shown::default());
    let tell = shown.clone();
    let found = beside(py, &shown, progress.as_ref(), || {
        session.run(move |share, what| tell.tell(share, what))
    })?;
    let answer = outcome(found, &kept)?;
    Ok(Answer::new(answer, kept, cost))
}

/// Samples by sequential Monte Carlo.
#[pyfunction]
#[pyo3(signature = (subject, settings, progress=None))]
pub(crate) fn smc(
    py: Python<'_>,
    subject: Subject<'_>,
    settings: Settings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Particles> {
    let Opened { session, raised: kept, .. } = open(&subject, adaann::model::Given::default())?;
    let shown = Arc::new(Shown::default());
    let tell = shown.clone();
    let words: Vec<_> = words(settings).collect();
    let found = beside(py, &shown, progress.as_ref(), || {
        session.particles(words, move |share, what| tell.tell(share, what))
    })?;
    Ok(Particles(outcome(found, &kept)?))
}

/// Loads a result from a run folder.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Answer> {
    let found = py.detach(|| embed::Answer::load(&folder));
    let answer = found.map_err(|failure| raised(&failure))?;
    Ok(Answer::new(answer, Raised::default(), None))
}
