//! Runs the engine in a thread: the GIL is released, signals are handled, and nothing is printed.

use adaann_cli::embed;
use pyo3::{
    create_exception,
    exceptions::{PyKeyboardInterrupt, PyRuntimeError},
    intern,
    prelude::*,
};
use std::{
    any::Any,
    ffi::OsString,
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

create_exception!(
    adaann,
    Stopped,
    PyKeyboardInterrupt,
    "A run was stopped before it had a result."
);

/// The interval between checks for signals and progress reports, short enough for Ctrl-C to feel immediate.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The latest progress report of a run.
#[derive(Default)]
pub(crate) struct Shown(Mutex<Option<(f64, String)>>);

impl Shown {
    /// Stores a progress report.
    pub(crate) fn tell(&self, share: f64, what: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((share, what.to_owned()));
    }

    fn take(&self) -> Option<(f64, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does some work in another thread, while this thread handles signals and reports progress. The first Ctrl-C asks
/// runs to finish with the results that they have; the second stops them immediately.
///
/// # Errors
/// `KeyboardInterrupt` after the second Ctrl-C, any exception of `progress`, and a panic as `RuntimeError`.
pub(crate) fn beside<T: Send>(
    py: Python<'_>,
    shown: &Shown,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let mut presses = 0;
    let mut error = None;
    let mut hear = |raised: PyErr| {
        presses += 1;
        match presses {
            1 if Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) => {
                embed::ask_to_end();
            }
            _ => {
                embed::insist_on_end();
                error = Some(raised);
            }
        }
    };
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (tell, told) = channel();
            let working = scope.spawn(move || {
                let found = work();
                let _ = tell.send(());
                found
            });
            while told.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    match (progress, shown.take()) {
                        (Some(progress), Some(shown)) => progress.call1(py, shown).map(drop),
                        _ => Ok(()),
                    }
                });
                looked.unwrap_or_else(&mut hear);
            }
            working.join()
        })
    });
    if let Some(error) = error {
        return Err(error);
    }
    done.map_err(|panic| PyRuntimeError::new_err(format!("adaann panicked: {}", said(&*panic))))
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Runs an engine thread with an interpreter state that lasts as long as the thread. Otherwise every call of a target
/// would create and drop a state, at twice the cost of the call.
pub(crate) fn keep_state(life: Box<dyn FnOnce() + Send>) {
    Python::attach(|py| py.detach(life));
}

/// Sends a log line of the engine to the logging module of Python.
pub(crate) fn log(line: &str) {
    let logged = Python::attach(|py| -> PyResult<()> {
        let logging = py.import(intern!(py, "logging"))?;
        let logger = logging.call_method1(intern!(py, "getLogger"), ("adaann",))?;
        let (level, text) = match line.strip_prefix("warning: ") {
            Some(text) => ("warning", text),
            None => ("info", line),
        };
        logger.call_method1(level, ("%s", text)).map(drop)
    });
    // A logging failure must not stop a run.
    drop(logged);
}

/// Runs the program `adaann` with arguments that do not make it print.
///
/// # Errors
/// Raises the failure of the command as an exception.
#[pyfunction]
pub(crate) fn quietly(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<()> {
    let done = beside(py, &Shown::default(), None, || embed::command(arguments))?;
    done.map_err(|failure| crate::raised(&failure))
}

/// Runs the program `adaann` with these arguments, and returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let code = beside(py, &Shown::default(), None, || adaann_cli::main(arguments))?;
    Ok((0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1))
}
