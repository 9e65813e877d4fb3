//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use adaann::external;
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a run that was interrupted, as shells count it.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to listen.
pub(crate) fn listen() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
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

/// Has somebody asked the run to end?
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
