//! Observes the ladder: shows its activity and progress, and stops it on request.

use crate::{
    job::{
        display::{self, human},
        forecast::Forecast,
        interrupt,
        progress::Progress,
    },
    text::layout::thousands,
};
use adaann::{
    Error,
    answer::{Event, Observer},
    fit,
    target::Values,
};
use std::{
    fmt::{self, Display, Formatter},
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Time between updates of the display, since parts of the work send no events for a while.
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// An error of the ladder with a remedy for users: the settings of its inner schedules are not flags.
pub(crate) fn worded(error: Error) -> anyhow::Error {
    match error {
        Error::Schedule(schedule) => anyhow::anyhow!(
            "{}; move the base closer to the target with --base-mean and --base-sd, or change the \
             units of the parameters",
            without_remedy(&schedule.to_string())
        ),
        other => other.into(),
    }
}

/// A finding without its remedy, which names a setting.
pub(crate) fn without_remedy(text: &str) -> &str {
    match text.rsplit_once("; ") {
        Some((found, remedy)) if remedy.contains('`') => found,
        _ => text,
    }
}

/// Observes a run of the ladder.
pub(crate) struct Watch {
    work: Arc<Mutex<Work>>,
    /// The thread that updates the display.
    shower: Option<JoinHandle<()>>,
}

/// The current activity. A flow makes thousands of updates per second, so that its text is formatted only when
/// shown.
enum What {
    Words(String),
    Flow { t: f64, neg_elbo: f64 },
}

impl Display for What {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Flow { t, neg_elbo } => write!(f, "flow: t {t:.4}  loss {neg_elbo:.3}"),
        }
    }
}

/// The progress of the ladder.
struct Work {
    display: display::Display,
    started: Instant,
    /// Evaluations of the target in this process.
    values: Values,
    what: What,
    /// Evaluations at the start of the current part.
    begun: usize,
    /// The forecast of evaluations then, for this part and for all later ones.
    to_come: (usize, usize),
    forecast: Forecast,
    is_over: bool,
}

impl Watch {
    pub(crate) fn new(progress: &Progress, values: Values) -> Self {
        let work = Arc::new(Mutex::new(Work {
            display: progress.display(""),
            started: Instant::now(),
            values,
            what: What::Words("beginning".into()),
            begun: 0,
            to_come: (0, 0),
            forecast: Forecast::default(),
            is_over: false,
        }));
        let shown = work.clone();
        let show = move || {
            while !held(&shown).show() {
                thread::park_timeout(SHOW_EVERY);
            }
        };
        // Without this thread nothing is shown, but the run continues.
        let shower = thread::Builder::new().name("progress".into()).spawn(show).ok();
        Self { work, shower }
    }
}

/// Locks the state, which is valid even if another thread has panicked.
fn held(work: &Mutex<Work>) -> MutexGuard<'_, Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Watch {
    fn drop(&mut self) {
        held(&self.work).is_over = true;
        if let Some(shower) = self.shower.take() {
            shower.thread().unpark();
            let _ = shower.join();
        }
    }
}

/// Remaining evaluations of the current part: as forecast, or half of those used once it has passed its
/// forecast, since hard targets take several times as long as easy ones.
fn still_needed(forecast: usize, used: usize) -> usize {
    match forecast {
        0 => 0,
        _ if used < forecast => forecast - used,
        _ => used / 2,
    }
}

impl Work {
    /// Shows the progress, and returns whether the work is over.
    fn show(&mut self) -> bool {
        let (elapsed, done) = (self.started.elapsed(), self.values.get());
        let (own, then) = self.to_come;
        let used = done - self.begun;
        let left = still_needed(own, used).saturating_add(then);
        let seconds = elapsed.as_secs_f64() * left as f64 / done as f64;
        let time = Duration::try_from_secs_f64(seconds).ok();
        if let Some(time) = time.filter(|_| !self.is_over) {
            self.forecast.tell(&self.display, elapsed, left, time);
        }
        let share = done as f64 / (done + left).max(1) as f64;
        self.display.show_part(elapsed, share, || {
            let mut text = format!("{}  {} evaluations", self.what, thousands(done));
            if let Some(time) = time {
                text += &format!("  about {} left", human(time));
            }
            if used >= own && own > 0 {
                text += ", longer than forecast";
            }
            text
        });
        self.is_over
    }
}

impl Observer for Watch {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        let mut work = held(&self.work);
        match event {
            Event::Begins { what, to_come, .. } => {
                work.what = What::Words((*what).to_owned());
                (work.begun, work.to_come) = (work.values.get(), *to_come);
            }
            Event::Particles(stage) => {
                work.what = What::Words(match stage.start {
                    Some(start) => format!("particles: from the base, {:.0}%", 100.0 * start),
                    None => format!("particles: t {:.4}  log Z {:.3}", stage.t, stage.log_z),
                });
            }
            Event::Fit(fit::Event::Update { record, .. }) => {
                let fit::UpdateRecord { t, neg_elbo, .. } = **record;
                work.what = What::Flow { t, neg_elbo };
            }
            Event::Left(rung) => {
                work.what = What::Words(format!("{}: {}", rung.method.name(), rung.found));
            }
            _ => {}
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::schedule::ScheduleError;

    #[test]
    fn a_forecast_that_was_too_low_is_corrected() {
        assert_eq!(still_needed(0, 500), 0);
        assert_eq!(still_needed(1_000, 0), 1_000);
        assert_eq!(still_needed(1_000, 900), 100);
        assert_eq!(still_needed(1_000, 4_000), 2_000);
    }

    #[test]
    fn settings_of_its_own_are_not_named() {
        let schedule = ScheduleError::Resolution { t: 0.1, epsilon: 1e-9, remedy: "lower `ess`" };
        let said = worded(schedule.into()).to_string();
        assert!(said.contains("varies too much") && said.contains("--base-sd"), "{said}");
        assert!(!said.contains("ess`") && !said.contains("t_0"), "{said}");
        assert_eq!(without_remedy("2 of 3; fine"), "2 of 3; fine");
    }
}
