//! The rule for the temperatures, over the problem's own.

use super::{First, Overlay, apply::refuse_strangers, apply::set};
use crate::{
    Error, Result, error,
    path::PathKind,
    schedule::{AdaAnn, EssBisection, Exponential, Guarded, Linear, Logarithmic, Rule, Schedule},
};

const WITH_T0: &[&str] = &["linear", "exponential", "logarithmic", "adaann", "guarded", "ess"];

impl Overlay {
    /// The rule of these settings over `preset`, on a path.
    ///
    /// # Errors
    /// The first setting that does not belong to the rule or contradicts another; ranges are for
    /// [`Rule::check`].
    pub fn schedule(&self, preset: &Schedule, path: PathKind) -> Result<Schedule> {
        let mut faults = Vec::new();
        let schedule = self.schedule_over(preset, path, &mut faults);
        faults.into_iter().next().map_or(Ok(schedule), Err)
    }

    pub(super) fn schedule_over(
        &self,
        preset: &Schedule,
        path: PathKind,
        faults: &mut Vec<Error>,
    ) -> Schedule {
        let mut schedule = match &self.schedule {
            Some(asked) if asked.name() != preset.name() => asked.clone(),
            _ => preset.clone(),
        };
        let step = self.step_ess.and_then(|share| self.step_rule(&schedule, share, faults));
        let has_step = step.is_some();
        set(&mut schedule, step);
        let settings = [
            ("t0", self.t0.is_some(), WITH_T0),
            // One that contradicts `step-ess` has been reported.
            ("tau", self.tau.is_some() && self.step_ess.is_none(), &["adaann", "guarded"]),
            ("epsilon", self.epsilon.is_some(), &["linear"]),
            ("steps", self.steps.is_some(), &["exponential", "logarithmic"]),
            ("temperatures", self.temperatures.is_some(), &["list"]),
            ("ess", self.ess.is_some() && self.step_ess.is_none(), &["ess"]),
            ("max-ratio", self.max_ratio.is_some(), &["guarded"]),
            ("min-epsilon", self.min_epsilon.is_some(), &["guarded"]),
            ("max-epsilon", self.max_epsilon.is_some(), &["guarded"]),
            ("no-robust", self.no_robust == Some(true), &["guarded"]),
        ];
        refuse_strangers("schedule", schedule.name(), &settings, faults);
        // Another rule for the same target starts where the target's own does.
        let (preset_t0, preset_tau) = match *preset {
            Schedule::None | Schedule::List(_) => (None, None),
            Schedule::AdaAnn(AdaAnn { t0, tau }) | Schedule::Guarded(Guarded { t0, tau, .. }) => {
                (Some(t0), Some(tau))
            }
            _ => (Some(preset.first()), None),
        };
        let asked_tau = if has_step { None } else { self.tau.or(preset_tau) };
        match &mut schedule {
            Schedule::None => {}
            Schedule::List(list) => set(&mut list.0, self.temperatures.clone()),
            Schedule::Linear(Linear { epsilon, .. }) => set(epsilon, self.epsilon),
            Schedule::Exponential(Exponential { steps, .. })
            | Schedule::Logarithmic(Logarithmic { steps, .. }) => {
                set(steps, self.steps);
            }
            Schedule::AdaAnn(AdaAnn { tau, .. }) => set(tau, asked_tau),
            Schedule::Guarded(Guarded {
                tau, max_ratio, min_epsilon, max_epsilon, robust, ..
            }) => {
                set(tau, asked_tau);
                set(max_ratio, self.max_ratio);
                set(min_epsilon, self.min_epsilon);
                set(max_epsilon, self.max_epsilon);
                *robust &= self.no_robust != Some(true);
            }
            Schedule::EssBisection(EssBisection { ess, .. }) => set(ess, self.ess),
        }
        let given_t0 = match self.t0 {
            Some(First::At(t0)) => Some(t0),
            _ => None,
        };
        if let Some(t0) = given_t0.or(preset_t0) {
            schedule.set_first(t0);
        }
        let bad_t0 = |error| matches!(error, Error::Setting { setting: "t0", .. });
        if given_t0.is_none() && schedule.check(path.allows_zero()).is_err_and(bad_t0) {
            // The target's own rule and path start at 0, and these cannot.
            let own = Schedule::named(schedule.name()).expect("a rule's own name");
            schedule.set_first(own.first());
        }
        schedule
    }

    /// The rule whose steps keep a share of the sample: the target's own guards stay.
    fn step_rule(
        &self,
        preset: &Schedule,
        share: f64,
        faults: &mut Vec<Error>,
    ) -> Option<Schedule> {
        let others = [
            ("schedule", self.schedule.is_some()),
            ("tau", self.tau.is_some()),
            ("ess", self.ess.is_some()),
        ];
        let mut given = others.iter().filter(|(_, given)| *given).peekable();
        if given.peek().is_some() {
            faults.extend(given.map(|(name, _)| {
                let message =
                    format!("`step-ess` and `{name}` both say how long a step is; give one");
                error::conflict("step-ess", message)
            }));
            return None;
        }
        let step = match Schedule::for_step_ess(Schedule::default().first(), share) {
            Ok(step) => step,
            Err(fault) => {
                faults.push(fault);
                return None;
            }
        };
        Some(match (preset.clone(), step) {
            (Schedule::Guarded(guards), Schedule::AdaAnn(AdaAnn { tau, .. })) => {
                Guarded { tau, ..guards }.into()
            }
            (_, rule) => rule,
        })
    }
}
