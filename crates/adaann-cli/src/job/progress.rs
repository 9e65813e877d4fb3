//! Observes runs: shows a bar on a terminal or occasional lines in a log, and stops runs on request.

use crate::job::{
    display::{Display, Listener, human},
    forecast::Forecast,
    interrupt,
    pace::Pace,
};
use adaann::{
    Settings,
    budget::Budget,
    fit::{Event, Observer},
    schedule::Phase,
};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// Approximate time between readings of the clock. An update may take only ten microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(60);

/// Where progress is shown.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nowhere.
    Silent,
    /// To bars on a terminal.
    Bars(MultiProgress),
    /// To lines on standard error.
    Lines,
    /// To a listener.
    Told(Listener),
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        match quiet {
            true => Self::Silent,
            false if stderr().is_terminal() => Self::Bars(MultiProgress::new()),
            false => Self::Lines,
        }
    }

    /// An observer for one run; `label` distinguishes several runs.
    pub(crate) fn watch(
        &self,
        label: &str,
        settings: &Settings,
        dim: usize,
        budget: Budget,
    ) -> Watch {
        Watch {
            budget,
            display: self.display(label),
            pace: Pace::new(settings, dim),
            started: Instant::now(),
            looked: Duration::ZERO,
            stride: 1,
            unseen: 0,
            uncounted: 0,
            epsilon: None,
            forecast: Forecast::default(),
        }
    }

    /// A display for one bar, or for lines with a label.
    pub(crate) fn display(&self, label: &str) -> Display {
        match self {
            Self::Silent => Display::None,
            Self::Bars(bars) => {
                let style =
                    ProgressStyle::with_template("{prefix}{bar:26.cyan} {percent:>3}%  {msg}")
                        .expect("the template is fixed")
                        .progress_chars("━╸ ");
                let bar = bars.add(ProgressBar::new(1000).with_style(style));
                bar.set_prefix(label.to_owned());
                Display::Bar(bar)
            }
            Self::Lines => Display::lines(label),
            Self::Told(listener) => Display::Told(listener.clone()),
        }
    }
}

/// Observes one run.
#[derive(Debug)]
pub(crate) struct Watch {
    display: Display,
    pace: Pace,
    started: Instant,
    looked: Duration,
    /// Updates between readings of the clock.
    stride: usize,
    /// Updates since the last reading.
    unseen: usize,
    /// Updates not yet reported to the pace.
    uncounted: usize,
    epsilon: Option<f64>,
    forecast: Forecast,
    /// The budget of the run.
    budget: Budget,
}

impl Watch {
    fn look(&mut self, t: f64, neg_elbo: f64, phase: Phase) {
        let elapsed = self.started.elapsed();
        self.pace.update(phase, self.uncounted, elapsed);
        (self.unseen, self.uncounted) = (0, 0);
        let took = elapsed - self.looked;
        self.looked = elapsed;
        if took < LOOK_EVERY / 2 {
            self.stride = (2 * self.stride).min(1 << 16);
        } else if took > LOOK_EVERY {
            self.stride = (self.stride / 2).max(1);
        }
        let left = self.pace.left(elapsed);
        if let Some(time) = left {
            self.forecast.tell(&self.display, elapsed, self.pace.points_left(), time);
        }
        let epsilon = self.epsilon.filter(|_| phase == Phase::Anneal);
        let text = || {
            let mut text = match phase {
                Phase::Warmup => format!("warm-up at t {t:.4}"),
                Phase::Anneal => format!("t {t:.4}"),
                Phase::Refine => "refinement at t 1".to_owned(),
                Phase::ForwardKl => "forward-KL refinement at t 1".to_owned(),
            };
            if let Some(epsilon) = epsilon {
                text += &format!("  epsilon {epsilon:.1e}");
            }
            text += &format!("  loss {neg_elbo:.3}");
            if let Some(left) = left {
                text += &format!("  {} left", human(left));
            }
            text
        };
        self.display.show(elapsed, self.pace.share(), text);
    }
}

impl Observer for Watch {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Update { record, phase, snapshot } => {
                if self.budget.is_spent(snapshot.evaluations()) {
                    return ControlFlow::Break(());
                }
                self.unseen += 1;
                self.uncounted += 1;
                if self.unseen >= self.stride {
                    self.look(record.t, record.neg_elbo, *phase);
                }
            }
            Event::Step { record: step, .. } => {
                // Uncounted updates belong to the phase that ends here.
                let phase = if step.t >= 1.0 { Phase::Refine } else { Phase::Anneal };
                self.pace.update(phase, self.uncounted, self.looked);
                self.uncounted = 0;
                self.epsilon = Some(step.epsilon);
                self.pace.step(step);
            }
            _ => {}
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
