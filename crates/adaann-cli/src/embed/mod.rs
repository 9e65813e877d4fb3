//! Runs and commands embedded in another program: the interface for front ends in other languages.
//!
//! A [`Session`] is a run before its start; [`Session::run`] returns an [`Answer`], which can be saved to a
//! folder, and [`Answer::load`] reads it back. Nothing is printed: log lines go to the listener of [`begin`],
//! progress goes to the listener of a run, and [`Failure`] has the error messages.
//!
//! ```
//! use adaann_cli::embed::{self, Session, Word};
//!
//! embed::begin(|_line| (), |thread| thread());
//! let given = embed::settings([("seed", Word::Text("7".into()))])?;
//! let session = Session::of_density("mixture2d", &[], given)?;
//! let answer = session.run(|_share, _what| ())?;
//! assert_eq!(answer.summary()["verdict"]["trust"], "reliable");
//! # Ok::<(), embed::Failure>(())
//! ```
//!
//! The runs are those of the command line, without a terminal. The caller handles signals.

mod answer;
mod failure;
mod particles;
mod rank;
mod session;
mod words;

pub use answer::Answer;
pub use failure::Failure;
pub use particles::Particles;
pub use rank::{Rank, command_of_ranks, is_asked_to_end};
pub use session::{Described, Session};
pub use words::{Help, Word, settings, settings_help};

use crate::{args::Cli, commands, job::interrupt, text::said};
use adaann::tasks::{self, Life};
use clap::Parser;
use std::{
    ffi::OsString,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Number of active runs in this process.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Initialises the embedded interface; call it once. Signals are left to the host, log lines go to `listener`
/// instead of standard error, and every worker thread runs inside `within`, which calls its argument.
pub fn begin(listener: fn(&str), within: fn(Life)) {
    interrupt::leave_signals();
    said::listen_with(listener);
    tasks::live_within(within);
}

/// Asks all runs of this process to end with their current state; returns false if they were asked before.
pub fn ask_to_end() -> bool {
    interrupt::ask()
}

/// Asks all runs to end now, if necessary without an answer.
pub fn insist_on_end() {
    interrupt::insist();
}

/// Runs a command line of `adaann`, whose first argument is the program's name. Its output is printed as usual.
///
/// # Errors
/// If the command fails.
pub fn command(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let asked =
        Cli::try_parse_from(arguments).map_err(|error| Failure::usage(error.to_string()))?;
    let _running = Running::new();
    commands::dispatch(asked.command)?;
    Ok(())
}

/// Counts an active run. The first one clears the requests to earlier runs.
struct Running;

impl Running {
    fn new() -> Self {
        if UNDER_WAY.fetch_add(1, Ordering::SeqCst) == 0 {
            interrupt::forget();
        }
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}
