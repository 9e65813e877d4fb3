//! Log lines, to standard error or to a listener.

use adaann::support::visible;
use std::{
    io::{Write, stderr},
    sync::OnceLock,
};

/// Receives log lines; front ends without a terminal install one.
static LISTENER: OnceLock<fn(&str)> = OnceLock::new();

/// Installs a listener for all further lines. Only the first call has an effect.
pub(crate) fn listen_with(listener: fn(&str)) {
    let _ = LISTENER.set(listener);
}

/// Writes a line to the log. A closed log must not end the work, so errors are ignored.
pub(crate) fn say(line: &str) {
    // The line may quote untrusted text from a file or a program.
    let line = &visible::lines(line);
    match LISTENER.get() {
        Some(listener) => listener(line),
        None => {
            let _ = writeln!(stderr(), "{line}");
        }
    }
}
