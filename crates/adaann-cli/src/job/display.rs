//! Displays of progress: a bar on a terminal, or occasional lines in a log.

use crate::text::said::say;
use indicatif::ProgressBar;
use std::{fmt, sync::Arc, time::Duration};

/// Time until the first line in a log, which says that the run works and how long it will take.
const FIRST_LINE: Duration = Duration::from_secs(1);

/// Time between further lines.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows progress.
#[derive(Debug)]
pub(crate) enum Display {
    None,
    Bar(ProgressBar),
    Lines { label: String, due: Duration },
    Told(Listener),
}

/// Receives the progress of a run: the share done, and the current activity.
#[derive(Clone)]
pub(crate) struct Listener(pub(crate) Arc<Shows>);

type Shows = dyn Fn(f64, &str) + Send + Sync;

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Display {
    /// Log lines that begin with a label.
    pub(crate) fn lines(label: &str) -> Self {
        Self::Lines { label: label.to_owned(), due: FIRST_LINE }
    }

    /// Prints a permanent line.
    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::None => {}
            Self::Bar(bar) => bar.suspend(|| say(line)),
            Self::Lines { label, .. } => say(&format!("{label}{line}")),
            Self::Told(_) => say(line),
        }
    }

    /// Shows the share done of a part, which may be below that of the previous part.
    pub(crate) fn show_part(
        &mut self,
        elapsed: Duration,
        share: f64,
        text: impl FnOnce() -> String,
    ) {
        if let Self::Bar(bar) = self {
            bar.set_position((1000.0 * share) as u64);
        }
        self.show(elapsed, share, text);
    }

    /// Shows the share done after some time; the text is formatted only if shown.
    pub(crate) fn show(&mut self, elapsed: Duration, share: f64, text: impl FnOnce() -> String) {
        match self {
            Self::None => {}
            Self::Bar(bar) => {
                let position = (1000.0 * share) as u64;
                bar.set_message(text());
                bar.set_position(position.max(bar.position()));
            }
            Self::Told(Listener(listener)) => listener(share, &text()),
            Self::Lines { due, .. } if elapsed < *due => {}
            Self::Lines { label, due } => {
                say(&format!("{label}{:3.0}%  {}", 100.0 * share, text()));
                *due = elapsed + LINE_EVERY;
            }
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A duration formatted for people.
pub(crate) fn human(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
