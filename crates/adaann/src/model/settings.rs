//! Settings of a model: its defaults, with those of its file applied.

use super::{
    Given, Model,
    defaults::{METHOD, place, suiting},
    diagnostic::{Diagnostics, Report},
};
use crate::{Error, Result, answer::Plan, fit::Settings};

impl Model {
    /// The run that the file requests: the ladder, unless its table `fit` names another method or
    /// contains a setting that belongs only to Algorithm 1.
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

    /// The run specified by `given`, usually flags, over the file's own settings. `base` holds the
    /// settings of Algorithm 1 to start from: [`Model::default_settings`] or others.
    ///
    /// # Errors
    /// As [`Given::plan`].
    pub fn plan_with(&self, given: &Given, base: &Settings) -> Result<Plan> {
        given.plan(self.given(), METHOD, base, &*self.target)
    }

    /// The settings of Algorithm 1: the defaults for the model with the file's table `fit` applied.
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

    /// Default settings for the model, without those of its file.
    pub fn default_settings(&self) -> Settings {
        suiting(&*self.target)
    }

    /// The settings in the file's table `fit`.
    pub fn given(&self) -> &Given {
        &self.outline.file.fit.settings
    }

    /// An error about a setting, shown at its place in the file; None if the file does not contain the
    /// setting.
    pub fn at_its_place(&self, error: &Error) -> Option<Diagnostics> {
        let place = place(&self.outline.file.fit, error)?;
        let mut report = Report::default();
        report.error(&self.outline.source, place, error.to_string(), None);
        report.into_result().err()
    }
}
