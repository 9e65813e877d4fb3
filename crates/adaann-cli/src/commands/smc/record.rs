//! `run.toml` of `adaann smc`: all settings of the run.

use crate::folder::{
    record::{Record, Source},
    stored::Stored,
};
use adaann::smc::Settings;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Not, path::PathBuf};

/// The settings of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct SmcRecord {
    /// Version of the program.
    pub(crate) version: String,
    /// Always [`Self::METHOD`].
    pub(crate) method: String,
    /// Name of the target.
    pub(crate) target: String,
    /// The model file of the target, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<PathBuf>,
    /// Name of the preset.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) preset: String,
    /// Seed of the noise, if the data was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_seed: Option<u64>,
    /// The file of the data, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<PathBuf>,
    /// Was the final state not saved, so that the run cannot be extended?
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(crate) no_state: bool,
    /// Particles that were asked for, if a budget allowed for fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked_particles: Option<usize>,
    /// Parameters of the target.
    pub(crate) parameters: BTreeMap<String, f64>,
    /// All other settings, with defaults filled in.
    pub(crate) settings: Settings,
}

impl SmcRecord {
    /// The text of the file.
    pub(crate) fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("cannot write the settings as TOML")
    }

    /// Reads the record of a run folder; `None` if it is not a run of `adaann smc`.
    pub(crate) fn read(stored: &Stored) -> Result<Option<Self>> {
        let found: toml::Table = toml::from_str(&stored.text(Record::FILE)?)?;
        let method = found.get("method").and_then(toml::Value::as_str);
        if method != Some(Self::METHOD) || found.contains_key("answer") {
            return Ok(None);
        }
        let path = stored.folder().join(Record::FILE);
        let record = found.try_into();
        record.map(Some).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The method, which distinguishes the folder from that of `run` and `fit`.
    pub(crate) const METHOD: &str = "smc";

    /// The source of the run's subject.
    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            target: &self.target,
            model: self.model.as_deref(),
            parameters: &self.parameters,
            preset: &self.preset,
            foreign: None,
        }
    }
}
