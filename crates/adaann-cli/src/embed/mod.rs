//! Runs and commands for a program that this one is a part of: a front end in another language.
//!
//! A [`Session`] is a run that has not begun; [`Session::run`] gives an [`Answer`], which a folder can be
//! written of, and [`Answer::load`] reads one back. Nothing is printed: lines go to the listener of
//! [`begin`], progress to the one of a run, and errors are worded by [`Failure`].
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
use adaann::crew::{self, Life};
use clap::Parser;
use std::{
    ffi::OsString,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Runs under way in this process.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// To be called once: signals are left alone, lines that would go to standard error go to a listener, and every
/// thread that works lives within a function, which calls what it is given.
pub fn begin(listener: fn(&str), within: fn(Life)) {
    interrupt::leave_signals();
    said::listen_with(listener);
    crew::live_within(within);
}

/// Asks all runs of this process to end with what they have; false if that was asked before.
pub fn ask_to_end() -> bool {
    interrupt::ask()
}

/// Asks them to end now, without an answer if need be.
pub fn insist_on_end() {
    interrupt::insist();
}

/// Does what the arguments of the program `adaann` say, the first of which is its name, and gives the exit code;
/// what it prints, it prints.
///
/// # Errors
/// What went wrong.
pub fn command(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let asked =
        Cli::try_parse_from(arguments).map_err(|error| Failure::usage(error.to_string()))?;
    let _running = Running::new();
    commands::obey(asked.command)?;
    Ok(())
}

/// A run under way. The first of them forgets what was asked of those before it.
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
