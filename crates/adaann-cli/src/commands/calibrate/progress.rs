//! Progress of a calibration: completed trials and time left.

use crate::{
    job::{
        display::{Display, human},
        progress,
    },
    text::said::say,
};
use std::time::{Duration, Instant};

/// Shows the number of completed trials.
pub(super) struct Progress {
    display: Display,
    started: Instant,
    /// Trials done before this command, done now, failed, and in total.
    before: usize,
    done: usize,
    failed: usize,
    total: usize,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let display = progress::Progress::new(quiet).display("");
        Self { display, started: Instant::now(), before: 0, done: 0, failed: 0, total: 0 }
    }

    /// Starts with `before` of `total` trials done.
    pub(super) fn begin(&mut self, before: usize, total: usize) {
        (self.before, self.done, self.total) = (before, before, total);
        match self.display {
            Display::Lines { .. } if before > 0 => {
                say(&format!("resuming: {before} of {total} trials are already done"));
            }
            _ => self.show(),
        }
    }

    /// Counts a completed trial.
    pub(super) fn advance(&mut self, is_failure: bool) {
        self.done += 1;
        self.failed += usize::from(is_failure);
        self.show();
    }

    fn show(&mut self) {
        let elapsed = self.started.elapsed();
        let Self { before, done, failed, total, .. } = *self;
        let text = || {
            let mut text = format!("{done} of {total} trials");
            if failed > 0 {
                text += &format!(", {failed} failed");
            }
            if let Some(left) = left(elapsed, done - before, total - done) {
                text += &format!("  {} left", human(left));
            }
            text
        };
        self.display.show(elapsed, done as f64 / total as f64, text);
    }
}

/// The estimated time for the remaining trials.
fn left(elapsed: Duration, done: usize, to_come: usize) -> Option<Duration> {
    let each = elapsed.as_secs_f64() / done as f64;
    Duration::try_from_secs_f64(each * to_come as f64).ok()
}
