//! The settings given in a file or on a command line, and the run that they specify.

use super::Output;
use crate::{
    Error, Result,
    answer::{self, Method, Plan},
    error,
    fit::{
        self,
        overlay::{Interval, Table},
    },
    target::Target,
};

/// The settings given for a run, in the table `fit` of a model file or by flags.
///
/// ```
/// use adaann::{answer::{Method, Plan}, fit, model::Given, registry};
///
/// let problem = registry::find("two-moons")?.build(&[])?;
/// let plan = |given: &Given| {
///     given.plan(&Given::default(), Method::Ladder, &problem.settings, &*problem.target)
/// };
/// let tau = fit::Overlay { tau: Some(0.2), ..fit::Overlay::default() };
/// let mut given = Given { fit: tau, ..Given::default() };
/// // Only Algorithm 1 looks at tau.
/// assert_eq!(plan(&given)?.method(), Method::Adaann);
/// given.answer.method = Some(Method::Mixture);
/// assert!(plan(&given).unwrap_err().to_string().starts_with("`tau` belongs to the method adaann"));
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// The method, and settings of the ladder and related methods.
    pub answer: answer::Overlay,
    /// Base and seed, and settings of Algorithm 1.
    pub fit: fit::Overlay,
    /// Settings of the output.
    pub output: Output,
}

impl Given {
    /// These settings; where one is missing, that of `below`.
    #[must_use]
    pub fn over(self, below: &Self) -> Self {
        Self {
            answer: self.answer.over(&below.answer),
            fit: self.fit.over(&below.fit),
            output: self.output.over(&below.output),
        }
    }

    /// The run specified by these settings over those of a file, `below`. If these settings choose a
    /// method, settings in `below` that belong to another method are ignored. `default` is the method
    /// if neither chooses one, and `base` has the default settings for the target.
    ///
    /// # Errors
    /// The first setting that is out of its range, does not belong to the method, or contradicts
    /// another.
    pub fn plan(
        &self,
        below: &Self,
        default: Method,
        base: &fit::Settings,
        target: &dyn Target,
    ) -> Result<Plan> {
        let method = match self.method()? {
            Some(method) => method,
            None => below.method()?.unwrap_or(default),
        };
        self.refuse_strangers(method)?;
        let both = self.clone().over(below);
        if method == Method::Adaann {
            return Ok(Plan::Adaann(Box::new(both.fit.apply(base.clone(), target)?)));
        }
        let common = both.fit.common().apply(base.clone(), target)?;
        let settings = answer::Settings {
            method,
            base: common.base,
            seed: common.seed,
            draws: both.output.draws,
            max_evaluations: both.output.max_evaluations,
            max_time: both.output.max_time.and_then(Interval::seconds),
            ..answer::Settings::default()
        };
        let settings = both.answer.over_settings(settings);
        settings.check()?;
        Ok(Plan::Answer(settings))
    }

    /// The method that these settings choose, if any: by its name, or by a setting that belongs only to
    /// Algorithm 1.
    ///
    /// # Errors
    /// If they choose two methods.
    pub fn method(&self) -> Result<Option<Method>> {
        let asked = self.answer.asked()?;
        match (asked, self.of_adaann().first()) {
            (Some((by, method)), Some(own)) if method != Method::Adaann => {
                let name = method.name();
                let message = format!(
                    "`{own}` belongs to the method adaann, but `{by}` asks for {name}; give one of them"
                );
                Err(error::conflict(own, message))
            }
            (Some((_, method)), _) => Ok(Some(method)),
            (None, Some(_)) => Ok(Some(Method::Adaann)),
            (None, None) => Ok(None),
        }
    }

    /// The settings given that belong only to Algorithm 1.
    fn of_adaann(&self) -> Vec<&'static str> {
        let mut own = self.fit.of_adaann();
        let Output { seeds, check_particles, .. } = self.output;
        own.extend(seeds.map(|_| "seeds"));
        own.extend(check_particles.map(|_| "check-particles"));
        own
    }

    /// Refuses settings that the method does not use.
    fn refuse_strangers(&self, method: Method) -> Result<()> {
        match self.answer.strangers_to_adaann().first() {
            Some(name) if method == Method::Adaann => {
                let message = format!(
                    "`{name}` does not apply to the method adaann; it belongs to the others, like \
                     ladder"
                );
                Err(error::conflict(name, message))
            }
            _ => Ok(()),
        }
    }

    /// All mistakes in the choice of a method and in its settings.
    pub(super) fn faults(&self, default: Method) -> Vec<Error> {
        let method = self.method();
        let chosen = method.as_ref().ok().copied().flatten().unwrap_or(default);
        let settings = self.answer.over_settings(answer::Settings::default());
        let found = [method.map(drop), self.refuse_strangers(chosen), settings.check()];
        found.into_iter().filter_map(Result::err).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, fit::Overlay};

    fn target() -> Program {
        Program::record(1, |z| -0.5 * z[0].square())
    }

    fn plan(given: &Given, below: &Given, default: Method) -> Result<Plan> {
        given.plan(below, default, &fit::Settings::default(), &target())
    }

    fn tau(tau: f64) -> Given {
        Given { fit: Overlay { tau: Some(tau), ..Overlay::default() }, ..Given::default() }
    }

    fn method(method: Method) -> Given {
        let answer = answer::Overlay { method: Some(method), ..answer::Overlay::default() };
        Given { answer, ..Given::default() }
    }

    fn said(given: &Given) -> String {
        plan(given, &Given::default(), Method::Ladder).unwrap_err().to_string()
    }

    #[test]
    fn a_setting_of_annealed_flows_chooses_them() {
        let none = Given::default();
        let chosen = |given: &Given, default| plan(given, &none, default).unwrap().method();
        assert_eq!(chosen(&none, Method::Ladder), Method::Ladder);
        assert_eq!(chosen(&none, Method::Adaann), Method::Adaann);
        assert_eq!(chosen(&tau(0.1), Method::Ladder), Method::Adaann);
        assert_eq!(chosen(&method(Method::Smc), Method::Adaann), Method::Smc);
        let seeds = Output { seeds: Some(3), ..Output::default() };
        let seeds = Given { output: seeds, ..Given::default() };
        assert_eq!(chosen(&seeds, Method::Ladder), Method::Adaann);
        let base = Overlay { base_sd: Some(vec![3.0]), seed: Some(5), ..Overlay::default() };
        let base = Given { fit: base, ..Given::default() };
        let Plan::Answer(settings) = plan(&base, &none, Method::Ladder).unwrap() else { panic!() };
        assert_eq!((settings.base.sd, settings.seed), (vec![3.0], 5));
    }

    #[test]
    fn two_methods_are_refused_with_both_names() {
        let mut both = tau(0.1);
        both.answer.method = Some(Method::Mixture);
        let at = "`tau` belongs to the method adaann, but `method` asks for mixture";
        assert!(said(&both).starts_with(at), "{}", said(&both));
        let mut auto = tau(0.1);
        auto.answer.auto = Some(true);
        assert!(said(&auto).contains("`auto` asks for ladder"), "{}", said(&auto));
        let mut two = method(Method::Flow);
        two.answer.auto = Some(true);
        assert!(said(&two).contains("`method` for flow"), "{}", said(&two));
        let mut stranger = tau(0.1);
        stranger.answer.target_ess = Some(500.0);
        assert!(said(&stranger).starts_with("`target-ess` does not apply"), "{}", said(&stranger));
        let mut few = Given::default();
        few.answer.target_ess = Some(5.0);
        assert!(said(&few).starts_with("target-ess is 5"), "{}", said(&few));
    }

    /// A method given as a flag is used, whatever method the file is written for.
    #[test]
    fn flags_choose_before_the_file() {
        let chosen = |flags: &Given, file: &Given| plan(flags, file, Method::Ladder).unwrap();
        let Plan::Answer(settings) = chosen(&method(Method::Ladder), &tau(0.1)) else { panic!() };
        assert_eq!(settings.method, Method::Ladder);
        let mut file = method(Method::Mixture);
        file.answer.check = Some(0.2);
        assert_eq!(chosen(&tau(0.1), &file).method(), Method::Adaann);
        let Plan::Answer(settings) = chosen(&Given::default(), &file) else { panic!() };
        assert_eq!((settings.method, settings.check), (Method::Mixture, 0.2));
    }
}
