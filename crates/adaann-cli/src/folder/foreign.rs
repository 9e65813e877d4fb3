//! A target whose log density is a function in another language, as described in a run folder.

use crate::{folder::stored::Stored, text::failure::usage};
use adaann::{
    Batch, Error, Result,
    target::{Evaluation, Support, Target, Weights},
};
use serde::{Deserialize, Serialize};

/// The description in `run.toml` of a target that a run folder cannot contain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Foreign {
    /// The language of its function.
    pub(crate) language: String,
    /// A text that identifies the function as far as possible.
    #[serde(default)]
    pub(crate) identity: String,
    pub(crate) names: Vec<String>,
    pub(crate) supports: Vec<Support>,
    pub(crate) has_prior: bool,
    pub(crate) has_proper_prior: bool,
}

impl Foreign {
    /// The description of a target.
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

/// The target without its function: it has names and supports, but no density.
#[derive(Debug)]
pub(crate) struct Absent(Foreign);

impl Absent {
    /// The target of a run folder.
    pub(crate) fn new(foreign: &Foreign) -> anyhow::Result<Self> {
        let Foreign { names, supports, .. } = foreign;
        if supports.len() != names.len() {
            let (names, supports) = (names.len(), supports.len());
            return Err(usage(format!(
                "{}: [foreign] has {names} names, but {supports} supports; the file was changed after the run",
                Stored::MARK
            )));
        }
        Ok(Self(foreign.clone()))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_support() {
        let foreign = |supports: &[Support]| Foreign {
            language: "Python".into(),
            identity: "f".into(),
            names: vec!["a".into(), "b".into()],
            supports: supports.to_vec(),
            has_prior: true,
            has_proper_prior: false,
        };
        let read = |supports: &[Support]| Absent::new(&foreign(supports));
        assert_eq!(read(&[Support::Real, Support::Above(0.5)]).unwrap().dim(), 2);
        for count in [0, 1, 3] {
            let said = read(&vec![Support::Real; count]).unwrap_err().to_string();
            assert!(said.contains(&format!("2 names, but {count} supports")), "{said}");
        }
    }
}
