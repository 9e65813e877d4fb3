//! What is measured: a target, where its search starts, and what is known of it.

use adaann::{Result, flow::BaseSpec, model::Model, registry::Known, target::Target};
use std::sync::Arc;

/// A target by name; it is made when its turn comes.
pub(super) struct Subject {
    pub(super) name: String,
    /// What it is one of.
    pub(super) group: &'static str,
    pub(super) build: Box<dyn Fn() -> Result<Built> + Sync>,
}

/// A target that is ready.
pub(super) struct Built {
    pub(super) target: Arc<dyn Target>,
    pub(super) base: BaseSpec,
    pub(super) truth: Truth,
}

/// What an answer is held against.
pub(super) enum Truth {
    /// Closed forms and quadrature.
    Known(Known),
    /// Means and standard deviations from long runs of others, by the names of a model's parameters and
    /// quantities; none where there are no such runs.
    Reference { model: Box<Model>, values: Option<Vec<Reference>> },
}

/// A number's mean and standard deviation.
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) mean: f64,
    pub(super) sd: f64,
}

impl Subject {
    pub(super) fn new(
        name: impl Into<String>,
        group: &'static str,
        build: impl Fn() -> Result<Built> + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), group, build: Box::new(build) }
    }

    /// Is it, or its group, among these names, which commas part?
    pub(super) fn is_among(&self, names: &str) -> bool {
        names.split(',').any(|name| name == self.name || name == self.group)
    }
}

impl Built {
    pub(super) fn known(target: impl Target + 'static, base: BaseSpec, known: Known) -> Self {
        Self { target: Arc::new(target), base, truth: Truth::Known(known) }
    }
}

/// N(0, sd²) in all coordinates.
pub(super) fn normal(sd: f64) -> BaseSpec {
    BaseSpec { sd: vec![sd], ..BaseSpec::default() }
}
