//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use crate::{folder, job::display::say};
use adaann::external;
use anyhow::Context;
use std::{
    path::Path,
    process::ExitCode,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Exit code of a run that was interrupted, as shells count it.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// When the first signal came; a look at a run raises the flag without one.
static SIGNALLED: OnceLock<Instant> = OnceLock::new();

/// Begins to listen.
pub(crate) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        SIGNALLED.get_or_init(Instant::now);
        if ASKED.swap(true, Ordering::Relaxed) {
            end();
        }
    })
    .context("cannot listen for Ctrl-C")
}

/// Begins to listen, for a command that has nothing to keep: the first ends it at once. Without this a
/// program of the user's, which Ctrl-C does not reach, might be left behind.
pub(crate) fn end_when_asked() -> anyhow::Result<()> {
    ctrlc::set_handler(end).context("cannot listen for Ctrl-C")
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
}

/// How long the last evaluations may take that make an answer of what there is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has somebody asked the run to end, and waited? Then there is no answer, but checkpoints.
pub(crate) fn is_overdue() -> bool {
    asked() && SIGNALLED.get().is_some_and(|since| since.elapsed() > PATIENCE)
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
