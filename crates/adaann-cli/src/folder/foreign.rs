//! A target whose log density is a function in another language: what a run folder can say of it.

use adaann::{
    Batch, Error, Result,
    target::{Evaluation, Support, Target, Weights},
};
use serde::{Deserialize, Serialize};

/// A target that no folder can hold, as `run.toml` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Foreign {
    /// The language that its function is written in.
    pub(crate) language: String,
    /// What tells the function from others, as far as that can be known.
    #[serde(default)]
    pub(crate) identity: String,
    pub(crate) names: Vec<String>,
    pub(crate) supports: Vec<Support>,
    pub(crate) has_prior: bool,
    pub(crate) has_proper_prior: bool,
}

impl Foreign {
    /// What is to be written down of a target.
    pub(crate) fn of(target: &dyn Target, language: &str, identity: &str) -> Self {
        Self {
            language: language.to_owned(),
            identity: identity.to_owned(),
            names: target.names(),
            supports: (0..target.dim()).map(|d| target.support(d)).collect(),
            has_prior: target.has_prior(),
            has_proper_prior: target.has_proper_prior(),
        }
    }
}

/// The target where its function is not at hand: it has names and supports, and no density.
pub(crate) struct Absent(pub(crate) Foreign);

impl Target for Absent {
    fn dim(&self) -> usize {
        self.0.names.len()
    }

    fn evaluate(&self, _: &Batch, _: Option<Weights>, _: &mut Evaluation) -> Result<()> {
        let language = &self.0.language;
        Err(Error::Target(format!(
            "its log density is a function in {language}, which is not in the run folder"
        )))
    }

    fn wants_whole_batch(&self) -> bool {
        true
    }

    fn has_prior(&self) -> bool {
        self.0.has_prior
    }

    fn has_proper_prior(&self) -> bool {
        self.0.has_proper_prior
    }

    fn support(&self, d: usize) -> Support {
        self.0.supports[d].clone()
    }

    fn names(&self) -> Vec<String> {
        self.0.names.clone()
    }
}
