//! Settings of a model: those that suit it, and those of its file over them.

use super::{
    Given, Model,
    defaults::{METHOD, place, suiting},
    diagnostic::{Diagnostics, Report},
};
use crate::{Error, Result, answer::Plan, fit::Settings};

impl Model {
    /// What the file asks for: the ladder, unless its table `fit` names another method or has a setting
    /// that only Algorithm 1 looks at.
    ///
    /// ```
    /// use adaann::{answer::{Plan, approximate}, model::Model};
    ///
    /// let model = Model::parse("peak.toml", r#"
    ///     density = "-z^2"
    ///     [parameters]
    ///     z = {}
    ///     [fit]
    ///     target-ess = 1000
    /// "#).expect("no mistakes");
    /// let Plan::Answer(settings) = model.plan() else { panic!("nothing asks for Algorithm 1") };
    /// let answer = approximate(&*model.target(), &settings, &mut ())?;
    /// let log_z = answer.log_z.expect("one dimension is few");
    /// assert!((log_z.value - 0.5 * std::f64::consts::PI.ln()).abs() < 5.0 * log_z.error + 1e-9);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    pub fn plan(&self) -> Plan {
        self.plan.clone()
    }

    /// What is asked for by `given`, flags above all, over the file's own. `base` are the settings of
    /// Algorithm 1 to start from, [`Model::default_settings`] or others.
    ///
    /// # Errors
    /// As [`Given::plan`].
    pub fn plan_with(&self, given: &Given, base: &Settings) -> Result<Plan> {
        given.plan(self.given(), METHOD, base, &*self.target)
    }

    /// The settings of Algorithm 1: those of the file's table `fit` over those that suit the model.
    ///
    /// ```
    /// use adaann::model::Model;
    ///
    /// let model = Model::parse("peak.toml", r#"
    ///     density = "-z^2"
    ///     [parameters]
    ///     z = {}
    ///     [fit]
    ///     warmup = 20
    ///     refine = 50
    ///     refine-samples = 100
    ///     tau = 0.5
    /// "#).expect("no mistakes");
    /// let target = model.target();
    /// let outcome = adaann::fit(&*target, &model.settings(), &mut ())?;
    /// assert!(outcome.trace.len() >= 70);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }

    /// Settings that suit the model, without those of its file.
    pub fn default_settings(&self) -> Settings {
        suiting(&*self.target)
    }

    /// The settings that the file's table `fit` gives.
    pub fn given(&self) -> &Given {
        &self.outline.file.fit.settings
    }

    /// An error about a setting, shown where the file gives it; none if the file does not.
    pub fn at_its_place(&self, error: &Error) -> Option<Diagnostics> {
        let place = place(&self.outline.file.fit, error)?;
        let mut report = Report::default();
        report.error(&self.outline.source, place, error.to_string(), None);
        report.into_result().err()
    }
}
