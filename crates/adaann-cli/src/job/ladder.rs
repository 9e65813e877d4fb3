//! Watches the ladder: what it does, how far it is, and the way to stop it.

use crate::job::{
    interrupt,
    progress::{Display, Progress},
};
use adaann::{
    Error,
    answer::{Event, Observer},
    fit,
};
use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// An update of a flow takes microseconds: not every one is shown.
const SHOW_EVERY: Duration = Duration::from_millis(60);

/// An error of the ladder in words that help here: the settings of its own schedules are no flags.
pub(crate) fn worded(error: Error) -> anyhow::Error {
    match error {
        Error::Schedule(schedule) => anyhow::anyhow!(
            "{}; bring the base nearer to the target with --base-mean and --base-sd, or change the \
             units of the parameters",
            without_remedy(&schedule.to_string())
        ),
        other => other.into(),
    }
}

/// What was found, without a remedy that names a setting.
pub(crate) fn without_remedy(text: &str) -> &str {
    match text.rsplit_once("; ") {
        Some((found, remedy)) if remedy.contains('`') => found,
        _ => text,
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::schedule::ScheduleError;

    #[test]
    fn settings_of_its_own_are_not_named() {
        let schedule = ScheduleError::Resolution { t: 0.1, epsilon: 1e-9, remedy: "lower `ess`" };
        let said = worded(schedule.into()).to_string();
        assert!(said.contains("varies too much") && said.contains("--base-sd"), "{said}");
        assert!(!said.contains("ess`") && !said.contains("t_0"), "{said}");
        assert_eq!(without_remedy("2 of 3; fine"), "2 of 3; fine");
    }
}
