//! Settings of a model: those that suit it, and those of its file over them.

use super::{
    Model, Output,
    defaults::{place, suiting},
    diagnostic::{Diagnostics, Report},
};
use crate::{
    Error,
    fit::{Overlay, Settings},
};

impl Model {
    /// The settings of a fit: those of the file's table `fit` over those that suit the model.
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
    pub fn overlay(&self) -> &Overlay {
        &self.outline.file.fit.overlay
    }

    /// What the table `fit` says of draws, restarts, the check and the output.
    pub fn output(&self) -> &Output {
        &self.outline.file.fit.output
    }

    /// An error about a setting, shown where the file gives it; none if the file does not.
    pub fn at_its_place(&self, error: &Error) -> Option<Diagnostics> {
        let place = place(&self.outline.file.fit, error)?;
        let mut report = Report::default();
        report.error(&self.outline.source, place, error.to_string(), None);
        report.into_result().err()
    }
}
