//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use crate::{folder, text::said::say};
use adaann::external;
use anyhow::Context;
use std::{
    path::Path,
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Exit code of an interrupted run, by the convention of shells.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Does a host program handle the signals?
static IS_EMBEDDED: AtomicBool = AtomicBool::new(false);

/// The deadline of an interrupted run. Displaying an unfinished run raises the flag without a deadline.
static DUE: Mutex<Option<Instant>> = Mutex::new(None);

/// Time for the evaluations that turn the current state of an interrupted run into an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Installs the signal handler.
pub(crate) fn listen() -> anyhow::Result<()> {
    if IS_EMBEDDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(|| {
        if !ask() {
            end();
        }
    })
    .context("cannot listen for Ctrl-C")
}

/// Installs a handler that ends the process at the first signal, for commands without state to save. Without
/// it, external programs, which Ctrl-C does not reach, might keep running.
pub(crate) fn end_when_asked() -> anyhow::Result<()> {
    if IS_EMBEDDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(end).context("cannot listen for Ctrl-C")
}

/// Leaves signals to the host program.
pub(crate) fn leave_signals() {
    IS_EMBEDDED.store(true, Ordering::Relaxed);
}

/// Asks the run to end with its current state; returns false if it was asked before.
pub(crate) fn ask() -> bool {
    let is_first = !ASKED.swap(true, Ordering::Relaxed);
    if is_first {
        *due() = Some(Instant::now() + PATIENCE);
    }
    is_first
}

/// Asks the run to end now, if necessary without an answer.
pub(crate) fn insist() {
    ask();
    *due() = Some(Instant::now());
    external::end_all();
}

/// Ends all external programs and this process.
fn end() {
    external::end_all();
    std::process::exit(i32::from(EXIT_CODE));
}

/// The flag that is raised on request.
pub(crate) fn flag() -> &'static AtomicBool {
    &ASKED
}

/// Clears the request after a run has ended.
pub(crate) fn forget() {
    ASKED.store(false, Ordering::Relaxed);
    *due() = None;
}

/// Has the deadline of an interrupted run passed? Then it ends without an answer, but with its checkpoints.
pub(crate) fn is_overdue() -> bool {
    asked() && due().is_some_and(|due| Instant::now() >= due)
}

fn due() -> std::sync::MutexGuard<'static, Option<Instant>> {
    DUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports that a run ended before it had an answer.
pub(crate) fn without_answer(out: &Path) -> ExitCode {
    let is_kept = folder::is_unfinished(out);
    let out = out.display();
    say(&match is_kept {
        true => format!("stopped before there was an answer; resume with `adaann resume {out}`"),
        false => "stopped before there was an answer or a checkpoint".to_owned(),
    });
    ExitCode::from(EXIT_CODE)
}

/// Was the run asked to end?
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
