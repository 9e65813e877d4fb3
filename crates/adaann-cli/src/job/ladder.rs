//! Watches the ladder: what it does, how far it is, and the way to stop it.

use crate::job::{
    interrupt,
    progress::{Display, Progress},
};
use adaann::{
    answer::{Event, Observer},
    fit,
};
use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// An update of a flow takes microseconds: not every one is shown.
const SHOW_EVERY: Duration = Duration::from_millis(60);

/// Observes a climb.
pub(crate) struct Watch {
    display: Display,
    started: Instant,
    shown: Option<Duration>,
}

impl Watch {
    pub(crate) fn new(progress: &Progress) -> Self {
        Self { display: progress.display(""), started: Instant::now(), shown: None }
    }

    /// Shows how far the present part is; each begins anew.
    fn show(&mut self, share: Option<f64>, text: impl FnOnce() -> String) {
        let elapsed = self.started.elapsed();
        if self.shown.is_none_or(|shown| elapsed - shown >= SHOW_EVERY) {
            self.shown = Some(elapsed);
            self.display.show_part(elapsed, share.unwrap_or(0.0), text);
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::Progress { what, share, evaluations } => {
                self.show(*share, || format!("{what}  {evaluations} evaluations"));
            }
            Event::Particles(stage) => self.show(Some(stage.t), || match stage.start {
                Some(start) => format!("particles: from the base, {:.0}%", 100.0 * start),
                None => format!("particles: t {:.4}  log Z {:.3}", stage.t, stage.log_z),
            }),
            Event::Fit(fit::Event::Update { record, .. }) => {
                let fit::UpdateRecord { t, neg_elbo, .. } = **record;
                self.show(Some(t), || format!("flow: t {t:.4}  loss {neg_elbo:.3}"));
            }
            Event::Left(rung) => {
                self.shown = None;
                self.show(Some(1.0), || format!("{}: {}", rung.method.name(), rung.found));
            }
            _ => {}
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
