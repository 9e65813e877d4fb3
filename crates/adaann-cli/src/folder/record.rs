//! `run.toml`: all settings of a run, enough to repeat it and to read the rest of the folder.

use crate::{
    args::OutputArgs,
    folder::{foreign::Foreign, stored::Stored},
    text::failure::usage,
};
use adaann::{
    answer::{Method, Plan},
    budget::Budget,
    fit::Comparison,
    flow::Flow,
    registry::{Choices, Data},
};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ops::Not,
    path::{Path, PathBuf},
    time::Duration,
};

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Record {
    /// Version of the program.
    pub(crate) version: String,
    /// Name of the target.
    pub(crate) target: String,
    /// The model file of the target, if it has one; the run folder has a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<PathBuf>,
    /// The chosen method; missing in folders of versions with only one.
    #[serde(default = "adaann")]
    pub(crate) method: Method,
    /// Further settings of Algorithm 1.
    #[serde(flatten)]
    pub(crate) repeats: Option<Repeats>,
    /// Does a verdict other than RELIABLE count as a failure?
    #[serde(default)]
    pub(crate) strict: bool,
    /// Was the final state not saved, so that the run cannot be extended?
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(crate) no_state: bool,
    /// Name of the preset.
    #[serde(default)]
    pub(crate) preset: String,
    /// Seed of the noise, if the data was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data_seed: Option<u64>,
    /// The file of the data, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<PathBuf>,
    /// Parameters of the target.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, f64>,
    /// The description of a target that is a function in another language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) foreign: Option<Foreign>,
    /// All other settings, with defaults filled in: `answer` for the ladder and its methods, `settings` for
    /// Algorithm 1.
    #[serde(flatten)]
    pub(crate) plan: Plan,
}

/// Further settings of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Repeats {
    /// Number of draws of the final flow.
    pub(crate) draws: usize,
    /// Number of seeds, consecutive from that of the settings.
    pub(crate) seeds: usize,
    /// Number of independent particles of the check; 0 for none.
    #[serde(default)]
    pub(crate) check_particles: usize,
    /// Maximum numbers of evaluations and seconds of each fit, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_evaluations: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_time: Option<f64>,
}

impl Repeats {
    /// The budget of the run.
    pub(crate) fn budget(&self) -> Budget {
        self.share(1.0)
    }

    /// The budget of each of its fits: two thirds of the evaluations in total, since draws and check need the rest.
    pub(crate) fn budget_of_fit(&self) -> Budget {
        let fits = self.seeds.max(1) as f64;
        self.share(2.0 / 3.0).share_of_evaluations(1.0 / fits)
    }

    fn share(&self, share: f64) -> Budget {
        let time = self.max_time.and_then(|time| Duration::try_from_secs_f64(time).ok());
        Budget::new(self.max_evaluations, time).share(share)
    }

    /// The comparison of its seeds, for which a tenth of a bounded budget is reserved.
    pub(crate) fn comparison(&self) -> Comparison {
        const FEWEST: usize = 50;
        let usual = Comparison::of(self.seeds);
        let most = self.max_evaluations.map(|most| most / (10 * self.seeds.max(1)));
        Comparison {
            draws: most.map_or(usual.draws, |most| most.max(FEWEST).min(usual.draws)),
            ..usual
        }
    }

    /// The number of draws of an answer, to be taken `times` times with the budget `left`: for half of it, but at
    /// least a few.
    pub(crate) fn draws_within(&self, left: Budget, times: usize) -> usize {
        const FEWEST: usize = 500;
        self.draws.min(left.part(2 * times, FEWEST / (2 * times - 1)))
    }

    /// The settings from the output flags, if the plan is Algorithm 1.
    pub(crate) fn of(plan: &Plan, output: &OutputArgs) -> Option<Self> {
        let OutputArgs { draws, seeds, check_particles, max_evaluations, max_time, .. } = *output;
        let repeats = Self { draws, seeds, check_particles, max_evaluations, max_time };
        matches!(plan, Plan::Adaann(_)).then_some(repeats)
    }
}

fn adaann() -> Method {
    Method::Adaann
}

impl Record {
    /// Name of the file.
    pub(crate) const FILE: &str = Stored::MARK;

    /// Name of the file with the data, if there is any.
    pub(crate) const DATA: &str = "data.csv";

    /// Name of the file with the approximation.
    pub(crate) const FLOW: &str = "flow.safetensors";

    /// Name of the copy of the model file, if there is one.
    pub(crate) const MODEL: &str = "model.toml";

    /// The text of the file.
    pub(crate) fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("cannot write the settings as TOML")
    }

    /// Reads the record of a run folder.
    pub(crate) fn read(stored: &Stored) -> Result<Self> {
        let (text, folder) = (stored.text(Self::FILE)?, stored.folder());
        let path = folder.join(Self::FILE);
        let found: toml::Table =
            toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let method = found.get("method").and_then(toml::Value::as_str);
        if method == Some("smc") && !found.contains_key("answer") {
            if !stored.has_answer() {
                return Err(stored.unfinished());
            }
            return Err(usage(format!(
                "{} is a run of `adaann smc`, which has no flow; its draws are in draws.csv",
                folder.display()
            )));
        }
        let record: Self =
            found.try_into().with_context(|| format!("cannot read {}", path.display()))?;
        // Invalid numbers are read as missing ones.
        if matches!(record.plan, Plan::Adaann(_)) && record.repeats.is_none() {
            bail!(
                "cannot read {}: one of draws, seeds and check-particles is missing or invalid",
                path.display()
            );
        }
        Ok(record)
    }

    /// Reads the flow of the run, in the dimension of its target. Algorithm 1 uses the flow of the settings; the
    /// ladder chooses its own.
    pub(crate) fn flow(&self, stored: &Stored, dim: usize) -> Result<Flow> {
        let path = stored.file(Self::FLOW)?;
        let flow = match &self.plan {
            Plan::Adaann(settings) => {
                Flow::load_as(&path, &[settings.flow.clone().in_double()], dim)?
            }
            Plan::Answer(_) => Flow::load(&path)?,
        };
        if flow.dim() != dim {
            let found = flow.dim();
            anyhow::bail!(
                "{}: the flow has {found} dimensions, but {dim} are expected",
                path.display()
            );
        }
        Ok(flow)
    }

    /// The source of the run's subject.
    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            target: &self.target,
            model: self.model.as_deref(),
            parameters: &self.parameters,
            preset: &self.preset,
            foreign: self.foreign.as_ref(),
        }
    }
}

/// The source of a run's subject, from its record.
pub(crate) struct Source<'a> {
    /// Name of the target.
    pub(crate) target: &'a str,
    /// The model file of the target, if it has one.
    pub(crate) model: Option<&'a Path>,
    pub(crate) parameters: &'a BTreeMap<String, f64>,
    pub(crate) preset: &'a str,
    /// The description of a target that is a function in another language.
    pub(crate) foreign: Option<&'a Foreign>,
}

impl Source<'_> {
    /// The run's choices for its target; data, if the target takes any, is read from the run folder.
    pub(crate) fn choices(&self, stored: &Stored, takes_data: bool) -> Result<Choices> {
        let data = takes_data.then(|| stored.table(Record::DATA)).transpose()?;
        let parameters = self.parameters.iter().map(|(name, value)| (name.clone(), *value));
        Ok(Choices {
            parameters: parameters.collect(),
            preset: (!self.preset.is_empty()).then(|| self.preset.to_owned()),
            data: data.map(Data::Table),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::{
        Settings, answer,
        flow::{BaseSpec, FlowSpec},
        optim::{Optimizer, RateRule},
        schedule::Schedule,
        target::Support,
    };

    /// Every schedule, flow and optimizer survives a round trip through the file.
    #[test]
    fn survives_the_file() {
        let optimizers = ["sgd", "rmsprop", "adam"].map(|name| Optimizer::named(name).unwrap());
        for (i, (name, _)) in Schedule::ALL.iter().enumerate() {
            let flow =
                if i % 2 == 0 { FlowSpec::planar(3) } else { FlowSpec::Radial { layers: 4 } };
            let record = Record {
                version: "0".into(),
                target: "bimodal".into(),
                model: (i % 3 == 1).then(|| "models/my model.toml".into()),
                method: Method::Adaann,
                repeats: Some(Repeats {
                    draws: 5,
                    seeds: 2,
                    check_particles: 10 * i,
                    max_evaluations: (i % 2 == 0).then_some(7),
                    max_time: (i % 2 == 1).then_some(0.5),
                }),
                strict: i % 2 == 0,
                no_state: i % 3 == 0,
                preset: "paper".into(),
                data_seed: (i % 2 == 0).then_some(3),
                data: (i % 2 == 1).then(|| "my data.csv".into()),
                parameters: BTreeMap::from([("mu".into(), 0.1)]),
                foreign: (i % 2 == 0).then(|| Foreign {
                    language: "Python".into(),
                    identity: "f".into(),
                    names: vec!["a".into(), "b".into()],
                    supports: vec![Support::Above(0.5), Support::Share { index: 0, of: 2 }],
                    has_prior: true,
                    has_proper_prior: false,
                }),
                plan: Plan::Adaann(Box::new(Settings {
                    flow,
                    base: BaseSpec { mean: vec![0.1, -1e-7], ..BaseSpec::default() },
                    schedule: Schedule::named(name).unwrap(),
                    optimizer: optimizers[i % 3],
                    lr_rule: RateRule::Cosine { over: 7, floor: 0.1 },
                    clip: (i % 2 == 0).then_some(1.5),
                    seed: i64::MAX as u64,
                    ..Settings::default()
                })),
            };
            let text = record.to_toml().unwrap();
            assert_eq!(toml::from_str::<Record>(&text).unwrap(), record, "{text}");
            // A folder of a version with only one method.
            let old = text.replace("method = \"adaann\"\n", "");
            assert!(old.len() < text.len());
            assert_eq!(toml::from_str::<Record>(&old).unwrap(), record, "{old}");
        }
    }

    #[test]
    fn every_method_survives_the_file() {
        for (name, _) in Method::ALL.iter().filter(|(name, _)| *name != "adaann") {
            let method = Method::named(name).unwrap();
            let settings = answer::Settings {
                method,
                base: BaseSpec { mean: vec![0.1, -1e-7], ..BaseSpec::default() },
                draws: Some(7),
                seed: i64::MAX as u64,
                ..answer::Settings::default()
            };
            let record = Record {
                version: "0".into(),
                target: "hiv".into(),
                model: None,
                method,
                repeats: None,
                strict: false,
                no_state: false,
                preset: "default".into(),
                data_seed: Some(1),
                data: None,
                parameters: BTreeMap::from([("mu".into(), 0.1)]),
                foreign: None,
                plan: Plan::Answer(settings),
            };
            let text = record.to_toml().unwrap();
            assert_eq!(toml::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }
}
