//! Applies the given settings of the temperature rule over the problem's own.

use super::{First, Overlay, apply::refuse_strangers, apply::set};
use crate::{
    Error, Result, error,
    path::PathKind,
    schedule::{AdaAnn, Guarded, Rule, Schedule, Setting},
};

/// A given value of a rule's setting.
enum Given<'a> {
    Number(f64),
    Count(usize),
    List(&'a [f64]),
    /// A switch, or a value that is read elsewhere.
    Other,
}

/// A number among a rule's settings.
fn number(schedule: &Schedule, name: &str) -> Option<f64> {
    schedule.clone().settings().into_iter().find_map(|(known, setting)| match setting {
        Setting::Number(x) if known == name => Some(*x),
        _ => None,
    })
}

impl Overlay {
    /// The rule of these settings over `preset`, on a path.
    ///
    /// # Errors
    /// The first setting that does not belong to the rule or contradicts another; [`Rule::check`]
    /// checks ranges.
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
        self.refuse_strange_settings(&schedule, faults);
        // Another rule for the same target starts at the target's own t0.
        let preset_t0 = number(preset, "t0");
        let asked_tau = if has_step { None } else { self.tau.or_else(|| number(preset, "tau")) };
        for (name, setting) in schedule.settings() {
            match (name, setting) {
                // `t0` may be `auto`, which is not a number.
                ("t0", _) => {}
                ("tau", Setting::Number(tau)) => set(tau, asked_tau),
                (name, setting) => self.set_by_name(name, setting),
            }
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
            // The target's own rule and path start at 0, which these do not allow.
            let own = Schedule::named(schedule.name()).expect("a rule's own name");
            schedule.set_first(own.first());
        }
        schedule
    }

    /// The settings of rules by name, with the given values.
    fn of_rules(&self) -> [(&'static str, Option<Given<'_>>); 10] {
        let number = |x: Option<f64>| x.map(Given::Number);
        [
            ("t0", self.t0.map(|_| Given::Other)),
            ("tau", number(self.tau)),
            ("epsilon", number(self.epsilon)),
            ("steps", self.steps.map(Given::Count)),
            ("temperatures", self.temperatures.as_deref().map(Given::List)),
            ("ess", number(self.ess)),
            ("max-ratio", number(self.max_ratio)),
            ("min-epsilon", number(self.min_epsilon)),
            ("max-epsilon", number(self.max_epsilon)),
            ("no-robust", (self.no_robust == Some(true)).then_some(Given::Other)),
        ]
    }

    fn set_by_name(&self, name: &str, setting: Setting) {
        let given = self.of_rules().into_iter().find(|(known, _)| *known == name);
        match (setting, given.and_then(|(_, given)| given)) {
            (Setting::Number(x), Some(Given::Number(given))) => *x = given,
            (Setting::Count(n), Some(Given::Count(given))) => *n = given,
            (Setting::List(list), Some(Given::List(given))) => *list = given.to_vec(),
            (Setting::On(on), Some(Given::Other)) => *on = false,
            (_, given) => debug_assert!(given.is_none(), "{name} is of another kind"),
        }
    }

    /// Refuses given settings that belong to other rules.
    fn refuse_strange_settings(&self, schedule: &Schedule, faults: &mut Vec<Error>) {
        for (name, given) in self.of_rules() {
            // A conflict with `step-ess` has already been reported.
            let is_reported = self.step_ess.is_some() && matches!(name, "tau" | "ess");
            let setting = (name, given.is_some() && !is_reported, &*Schedule::owners(name));
            refuse_strangers("schedule", schedule.name(), &[setting], faults);
        }
    }

    /// The rule whose steps keep a share of the sample; the target's own guards stay.
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
