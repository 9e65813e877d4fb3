//! How many trials are done: a bar on a terminal, a line now and then in a log.

use crate::job::progress::human;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, Write, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

/// In a log, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows how many trials are done.
pub(super) struct Progress {
    shown: Shown,
    state: Mutex<State>,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

struct State {
    started: Instant,
    due: Duration,
    /// Before this command, by now, failed, and in all.
    before: usize,
    done: usize,
    failed: usize,
    total: usize,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:26.cyan} {percent:>3}%  {msg}")
            .expect("the template is fixed")
            .progress_chars("━╸ ");
        let shown = match quiet {
            true => Shown::Nothing,
            false if stderr().is_terminal() => Shown::Bar(ProgressBar::new(1).with_style(style)),
            false => Shown::Lines,
        };
        let (started, due) = (Instant::now(), Duration::ZERO);
        let state = State { started, due, before: 0, done: 0, failed: 0, total: 0 };
        Self { shown, state: Mutex::new(state) }
    }

    /// So many are done already, of so many.
    pub(super) fn begin(&self, before: usize, total: usize) {
        let mut state = self.state.lock().expect("no thread panics with it");
        (state.before, state.done, state.total) = (before, before, total);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_length(total as u64);
                bar.set_position(before as u64);
                bar.set_message(format!("{before} of {total} trials"));
            }
            Shown::Lines if before > 0 => {
                say(&format!("{before} of {total} trials were done before"))
            }
            Shown::Lines => {}
        }
    }

    /// One more is done.
    pub(super) fn advance(&self, is_failure: bool) {
        let mut state = self.state.lock().expect("no thread panics with it");
        state.done += 1;
        state.failed += usize::from(is_failure);
        let elapsed = state.started.elapsed();
        let text = state.text(elapsed);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(state.done as u64);
                bar.set_message(text);
            }
            Shown::Lines if elapsed >= state.due => {
                say(&text);
                state.due = elapsed + LINE_EVERY;
            }
            Shown::Lines => {}
        }
    }

    pub(super) fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl State {
    fn text(&self, elapsed: Duration) -> String {
        let mut text = format!("{} of {} trials", self.done, self.total);
        if self.failed > 0 {
            text += &format!(", {} failed", self.failed);
        }
        let each = elapsed.as_secs_f64() / (self.done - self.before).max(1) as f64;
        let left = each * (self.total - self.done) as f64;
        if let Ok(left) = Duration::try_from_secs_f64(left) {
            text += &format!("  {} left", human(left));
        }
        text
    }
}

/// A line in the log. One that nobody reads any more must not end the work.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
