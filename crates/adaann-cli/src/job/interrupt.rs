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

/// Exit code of a run that was interrupted, as shells count it.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Are signals another's business, who says when a run is to end?
static IS_EMBEDDED: AtomicBool = AtomicBool::new(false);

/// When a run that was asked to end is asked for nothing more; a look at a run raises the flag without it.
static DUE: Mutex<Option<Instant>> = Mutex::new(None);

/// How long the last evaluations may take that make an answer of what there is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Begins to listen.
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

/// Begins to listen, for a command that has nothing to keep: the first ends it at once. Without this a
/// program of the user's, which Ctrl-C does not reach, might be left behind.
pub(crate) fn end_when_asked() -> anyhow::Result<()> {
    if IS_EMBEDDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(end).context("cannot listen for Ctrl-C")
}

/// Leaves signals to the program that this one is a part of.
pub(crate) fn leave_signals() {
    IS_EMBEDDED.store(true, Ordering::Relaxed);
}

/// Asks the run to end with what it has; false if that was asked before.
pub(crate) fn ask() -> bool {
    let is_first = !ASKED.swap(true, Ordering::Relaxed);
    if is_first {
        *due() = Some(Instant::now() + PATIENCE);
    }
    is_first
}

/// Asks the run to end now, without an answer if need be.
pub(crate) fn insist() {
    ask();
    *due() = Some(Instant::now());
    external::end_all();
}

/// Ends all programs, and this one.
fn end() {
    external::end_all();
    std::process::exit(i32::from(EXIT_CODE));
}

/// The flag that is raised when somebody asks.
pub(crate) fn flag() -> &'static AtomicBool {
    &ASKED
}

/// The run has ended: nobody asks any more.
pub(crate) fn forget() {
    ASKED.store(false, Ordering::Relaxed);
    *due() = None;
}

/// Has somebody asked the run to end, and waited? Then there is no answer, but checkpoints.
pub(crate) fn is_overdue() -> bool {
    asked() && due().is_some_and(|due| Instant::now() >= due)
}

fn due() -> std::sync::MutexGuard<'static, Option<Instant>> {
    DUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that a run was ended before it had an answer.
pub(crate) fn without_answer(out: &Path) -> ExitCode {
    let is_kept = folder::is_unfinished(out);
    let out = out.display();
    say(&match is_kept {
        true => format!("stopped before there was an answer; `adaann resume {out}` goes on"),
        false => "stopped before there was an answer; nothing is kept".to_owned(),
    });
    ExitCode::from(EXIT_CODE)
}

/// Has somebody asked the run to end?
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
