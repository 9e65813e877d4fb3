//! Saved data of a trial for figures: its flows at arrival and at the end, its schedule, and its measurements.

use crate::{Error, Result, watch::Look};
use adaann::{fit::Outcome, flow::Flow};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The saved data of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    /// The flow at the end.
    pub flow: Flow,
    /// The flow on arrival at t = 1.
    pub flow_at_1: Flow,
    /// The annealing.
    pub way: Way,
}

/// How a trial got to t = 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The fingerprint of the settings of the trial.
    pub fingerprint: u64,
    /// Every value of t.
    pub t: Vec<f64>,
    /// The measurements during annealing, if it was watched.
    pub looks: Vec<Look>,
}

impl Way {
    /// t over the number of the step.
    pub fn schedule(&self) -> Vec<(f64, f64)> {
        self.t.iter().enumerate().map(|(k, t)| (k as f64 + 1.0, *t)).collect()
    }
}

impl Kept {
    pub(crate) fn new(outcome: &Outcome, looks: Vec<Look>, fingerprint: u64) -> Self {
        let t = outcome.steps.iter().map(|step| step.t).collect();
        let flow = outcome.flow.clone();
        let flow_at_1 = outcome.flow_at_1.clone().unwrap_or_else(|| flow.clone());
        Self { flow, flow_at_1, way: Way { fingerprint, t, looks } }
    }

    pub(crate) fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let [flow, flow_at_1, way] = files(folder, name);
        self.flow.save(&flow)?;
        self.flow_at_1.save(&flow_at_1)?;
        adaann::support::file::write(&way, &serde_json::to_vec(&self.way).expect("plain data"))?;
        Ok(())
    }

    pub(crate) fn read(folder: &Path, name: &str) -> Result<Self> {
        let [flow, flow_at_1, way] = files(folder, name);
        Ok(Self {
            flow: Flow::load(&flow)?,
            flow_at_1: Flow::load(&flow_at_1)?,
            way: serde_json::from_slice(&adaann::support::file::read(&way)?).map_err(|error| {
                Error::Kept { path: way.display().to_string(), reason: error.to_string() }
            })?,
        })
    }

    /// Does it exist, complete and with these settings?
    pub(crate) fn is_current(folder: &Path, name: &str, fingerprint: u64) -> bool {
        Self::read(folder, name).is_ok_and(|kept| kept.way.fingerprint == fingerprint)
    }
}

fn files(folder: &Path, name: &str) -> [PathBuf; 3] {
    ["flow.safetensors", "arrival.safetensors", "way.json"]
        .map(|ending| folder.join(format!("{name}.{ending}")))
}
