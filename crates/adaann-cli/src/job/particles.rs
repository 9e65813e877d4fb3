//! Observes particles on their way to t = 1, and stops them on request.

use crate::job::{display::Display, forecast::Forecast, interrupt, progress::Progress};
use adaann::{
    budget::Budget,
    smc::{Observer, Stage},
};
use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// Share of the progress from the base to the first t.
const START: f64 = 0.2;

/// Smallest t for which progress is shown on a path that begins at 0.
const SMALLEST: f64 = 1e-4;

/// Observes particles.
pub(crate) struct Watch {
    display: Display,
    what: &'static str,
    started: Instant,
    /// The first t of the schedule, clamped to a range that progress can use.
    first: f64,
    /// The number of runs, and how many have finished.
    islands: usize,
    arrived: usize,
    /// Their budget.
    budget: Budget,
    forecast: Forecast,
}

impl Watch {
    /// `what` names the purpose of the particles.
    pub(crate) fn new(progress: &Progress, what: &'static str, first: f64) -> Self {
        let first = first.clamp(SMALLEST, 0.5);
        let (display, started) = (progress.display(""), Instant::now());
        let (budget, forecast) = (Budget::default(), Forecast::default());
        Self { display, what, started, first, islands: 1, arrived: 0, budget, forecast }
    }

    /// Sets the budget.
    pub(crate) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Sets the number of runs, which follow one another.
    pub(crate) fn of_islands(self, islands: usize) -> Self {
        Self { islands, ..self }
    }

    /// Share of the way done; temperatures are nearly uniform in log t.
    fn share(&self, stage: &Stage) -> f64 {
        match stage.start {
            Some(start) => START * start,
            None => {
                let t = stage.t.clamp(self.first, 1.0);
                START + (1.0 - START) * (1.0 - t.ln() / self.first.ln())
            }
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, stage: &Stage) -> ControlFlow<()> {
        let what = self.what;
        let text = || match stage.start {
            Some(start) => format!("{what}: from the base, {:.0}%", 100.0 * start),
            None => format!("{what}: t {:.4}  log Z {:.3}", stage.t, stage.log_z),
        };
        let share = (self.arrived as f64 + self.share(stage)) / self.islands as f64;
        let elapsed = self.started.elapsed();
        // Extrapolate from the evaluations so far.
        let to_go = (1.0 - share) / share;
        if let Ok(time) = Duration::try_from_secs_f64(to_go * elapsed.as_secs_f64()) {
            let left = (to_go * stage.evaluations as f64) as usize;
            self.forecast.tell(&self.display, elapsed, left, time);
        }
        self.display.show(elapsed, share, text);
        self.arrived += usize::from(stage.t == 1.0);
        let is_over = interrupt::asked() || self.budget.is_spent(stage.evaluations);
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
