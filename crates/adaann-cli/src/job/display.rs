//! A place where it is shown how far something is: a bar, or lines now and then.

use crate::text::said::say;
use indicatif::ProgressBar;
use std::{fmt, sync::Arc, time::Duration};

/// In a log, the first line after this time, to say that it runs and how long it will take.
const FIRST_LINE: Duration = Duration::from_secs(1);

/// And then a line this often.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows how far something is.
#[derive(Debug)]
pub(crate) enum Display {
    None,
    Bar(ProgressBar),
    Lines { label: String, due: Duration },
    Told(Listener),
}

/// Somebody who shows how far a run is: the share that is done, and what is done now.
#[derive(Clone)]
pub(crate) struct Listener(pub(crate) Arc<Shows>);

type Shows = dyn Fn(f64, &str) + Send + Sync;

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Display {
    /// Lines with a label.
    pub(crate) fn lines(label: &str) -> Self {
        Self::Lines { label: label.to_owned(), due: FIRST_LINE }
    }

    /// Says something that stays.
    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::None => {}
            Self::Bar(bar) => bar.suspend(|| say(line)),
            Self::Lines { label, .. } => say(&format!("{label}{line}")),
            Self::Told(_) => say(line),
        }
    }

    /// The share of a part that is done, which may be less than that of the part before it.
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

    /// The share that is done after some time; the text is made only if it is shown.
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

/// A time as people say it.
pub(crate) fn human(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
