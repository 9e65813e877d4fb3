//! Progress of the paper's experiments: a bar for each running experiment, and the time left.

use crate::{job::display::human, text::said::say};
use adaann_paper::{campaign::Progress, experiments::Run, trial::Trial};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{
    collections::BTreeMap,
    io::{IsTerminal, stderr},
    sync::Mutex,
    time::{Duration, Instant},
};

/// Time between progress lines in a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows progress on a terminal as bars, in a log as lines.
pub(super) struct Bars {
    state: Mutex<State>,
    shown: Shown,
}

enum Shown {
    Nothing,
    Bars(MultiProgress),
    Lines,
}

struct State {
    started: Instant,
    due: Duration,
    runs: BTreeMap<String, Under>,
    cost: f64,
    spent: f64,
    overall: Option<ProgressBar>,
}

/// A running experiment.
struct Under {
    done: usize,
    total: usize,
    cost: f64,
    spent: f64,
    started: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Bars {
    pub(super) fn new(quiet: bool) -> Self {
        let shown = match quiet {
            true => Shown::Nothing,
            false if stderr().is_terminal() => Shown::Bars(MultiProgress::new()),
            false => Shown::Lines,
        };
        let overall = match &shown {
            Shown::Bars(bars) => Some(bars.add(bar("everything"))),
            _ => None,
        };
        let started = Instant::now();
        let (due, runs) = (LINE_EVERY, BTreeMap::new());
        Self {
            state: Mutex::new(State { started, due, runs, cost: 0.0, spent: 0.0, overall }),
            shown,
        }
    }

    /// Removes the bars.
    pub(super) fn finish(&self) {
        let state = self.state.lock().expect("no thread panics with it");
        for bar in state.runs.values().filter_map(|run| run.bar.as_ref()).chain(&state.overall) {
            bar.finish_and_clear();
        }
    }
}

fn bar(label: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:26} {bar:24.cyan} {percent:>3}%  {msg}")
        .expect("the template is fixed")
        .progress_chars("━╸ ");
    ProgressBar::new(1000).with_style(style).with_prefix(label.to_owned())
}

/// The time left, estimated from the share of the cost already spent.
fn left(started: Instant, spent: f64, cost: f64) -> String {
    let share = spent / cost;
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let rest = started.elapsed().as_secs_f64() * (1.0 - share).max(0.0) / share;
    Duration::try_from_secs_f64(rest).map_or(String::new(), |rest| format!("{} left", human(rest)))
}

impl Progress for Bars {
    fn discard(&self, run: &Run, trials: usize) {
        let line = format!("{}: repeating {trials} trials that had other settings", run.id);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bars(bars) => {
                let _ = bars.println(line);
            }
            Shown::Lines => say(&line),
        }
    }

    fn begin(&self, run: &Run, done: usize, total: usize, cost: f64) {
        let mut state = self.state.lock().expect("no thread panics with it");
        state.cost += cost;
        let under = Under { done, total, cost, spent: 0.0, started: None, bar: None };
        state.runs.insert(run.id.clone(), under);
    }

    fn advance(&self, run: &Run, trial: &Trial, cost: f64) {
        let mut guard = self.state.lock().expect("no thread panics with it");
        let state = &mut *guard;
        state.spent += cost;
        let under = state.runs.get_mut(&run.id).expect("it has begun");
        let began = Instant::now().checked_sub(Duration::from_secs_f64(trial.cpu_seconds));
        let started = *under.started.get_or_insert(began.unwrap_or(state.started));
        under.done += 1;
        under.spent += cost;
        let text = format!(
            "{} of {} trials  {}",
            under.done,
            under.total,
            left(started, under.spent, under.cost)
        );
        let all = left(state.started, state.spent, state.cost);
        let closing =
            || format!("{:26} {} trials, {}", run.id, under.total, human(started.elapsed()));
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bars(bars) => {
                let own = under.bar.get_or_insert_with(|| bars.insert_from_back(1, bar(&run.id)));
                own.set_position((1000 * under.done / under.total) as u64);
                own.set_message(text);
                if under.done == under.total {
                    own.finish_and_clear();
                    // A closed terminal must not end the work.
                    let _ = bars.println(closing());
                }
                if let Some(overall) = &state.overall {
                    overall.set_position((1000.0 * state.spent / state.cost) as u64);
                    overall.set_message(all);
                }
            }
            Shown::Lines => {
                let percent = 100.0 * state.spent / state.cost;
                if under.done == under.total {
                    say(&format!("{percent:3.0}%  {}  ({all})", closing()));
                } else if state.started.elapsed() >= state.due {
                    say(&format!("{percent:3.0}%  {:26} {text}  (in all {all})", run.id));
                    state.due = state.started.elapsed() + LINE_EVERY;
                }
            }
        }
    }
}
