//! Lines that are said while something runs: to standard error, or to whoever listens in its place.

use adaann::support::visible;
use std::{
    io::{Write, stderr},
    sync::OnceLock,
};

/// Who listens; a front end without a terminal has one.
static LISTENER: OnceLock<fn(&str)> = OnceLock::new();

/// Has all lines go to a function from now on; the first one stays.
pub(crate) fn listen_with(listener: fn(&str)) {
    let _ = LISTENER.set(listener);
}

/// A line in the log. One that nobody reads any more must not end the work.
pub(crate) fn say(line: &str) {
    // It may quote a file or a program.
    let line = &visible::lines(line);
    match LISTENER.get() {
        Some(listener) => listener(line),
        None => {
            let _ = writeln!(stderr(), "{line}");
        }
    }
}
