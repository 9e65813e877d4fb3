//! `run.toml`: all that a run was told, enough to repeat it and to read the rest of the folder.

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

/// What a run was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Record {
    /// Version of the program.
    pub(crate) version: String,
    /// Name of the target.
    pub(crate) target: String,
    /// The model file, if that is what the target comes from; a copy is in the run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<PathBuf>,
    /// The method that was asked for; folders of before there were several do not say.
    #[serde(default = "adaann")]
    pub(crate) method: Method,
    /// What only Algorithm 1 is told beside its settings.
    #[serde(flatten)]
    pub(crate) repeats: Option<Repeats>,
    /// Is a run that is not reliable a failure?
    #[serde(default)]
    pub(crate) strict: bool,
    /// Is no final state kept, so that the run cannot be lengthened?
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(crate) no_state: bool,
    /// Name of the set of settings that the run started from.
    #[serde(default)]
    pub(crate) preset: String,
    /// Seed of the noise, if the data was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data_seed: Option<u64>,
    /// Where the data came from, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<PathBuf>,
    /// Parameters of the target.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, f64>,
    /// What is known of a target that is a function in another language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) foreign: Option<Foreign>,
    /// Everything else, as resolved: `answer` for the ladder and its methods, `settings` for Algorithm 1.
    #[serde(flatten)]
    pub(crate) plan: Plan,
}

/// What Algorithm 1 is told beside its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Repeats {
    /// Draws of the final flow.
    pub(crate) draws: usize,
    /// How many seeds were run, from that of the settings on.
    pub(crate) seeds: usize,
    /// Independent particles that the run is checked by; 0 for none.
    #[serde(default)]
    pub(crate) check_particles: usize,
    /// The most evaluations and seconds of each fit, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_evaluations: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_time: Option<f64>,
}

impl Repeats {
    /// What a run may spend from now on.
    pub(crate) fn budget(&self) -> Budget {
        self.share(1.0)
    }

    /// What each of its fits may spend: together two evaluations in three, since draws and check want some.
    pub(crate) fn budget_of_fit(&self) -> Budget {
        let fits = self.seeds.max(1) as f64;
        self.share(2.0 / 3.0).share_of_evaluations(1.0 / fits)
    }

    fn share(&self, share: f64) -> Budget {
        let time = self.max_time.and_then(|time| Duration::try_from_secs_f64(time).ok());
        Budget::new(self.max_evaluations, time).share(share)
    }

    /// Its seeds, compared by a tenth of what may be spent, where that is bounded.
    pub(crate) fn comparison(&self) -> Comparison {
        const FEWEST: usize = 50;
        let usual = Comparison::of(self.seeds);
        let most = self.max_evaluations.map(|most| most / (10 * self.seeds.max(1)));
        Comparison {
            draws: most.map_or(usual.draws, |most| most.max(FEWEST).min(usual.draws)),
            ..usual
        }
    }

    /// Draws of an answer, to be taken so many times, where so much may still be spent: half of that, and a few
    /// whatever it is.
    pub(crate) fn draws_within(&self, left: Budget, times: usize) -> usize {
        const FEWEST: usize = 500;
        self.draws.min(left.part(2 * times, FEWEST / (2 * times - 1)))
    }

    /// What is asked for, if the plan is Algorithm 1.
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

    /// Name of the file with the data, if there is some.
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
                "{} is a run of `adaann smc`, which has particles and no flow; its draws are in \
                 draws.csv",
                folder.display()
            )));
        }
        let record: Self =
            found.try_into().with_context(|| format!("cannot read {}", path.display()))?;
        // Numbers that these cannot be are read as if they were not there.
        if matches!(record.plan, Plan::Adaann(_)) && record.repeats.is_none() {
            bail!(
                "cannot read {}: one of draws, seeds and check-particles is missing, or cannot be",
                path.display()
            );
        }
        Ok(record)
    }

    /// Reads the flow of the run, in the dimension of its target. That of Algorithm 1 is the one of the
    /// settings; the ladder finds its own.
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
            anyhow::bail!("{}: has {found} dimensions, but {dim} are expected", path.display());
        }
        Ok(flow)
    }

    /// What the run is of.
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

/// What a run is of, as its record has it.
pub(crate) struct Source<'a> {
    /// Name of the target.
    pub(crate) target: &'a str,
    /// The model file, if that is what the target comes from.
    pub(crate) model: Option<&'a Path>,
    pub(crate) parameters: &'a BTreeMap<String, f64>,
    pub(crate) preset: &'a str,
    /// What is known of a target that is a function in another language.
    pub(crate) foreign: Option<&'a Foreign>,
}

impl Source<'_> {
    /// What the run chose of its target; the data, if it takes some, is read from its folder.
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

    /// Every schedule, flow and optimizer must come back from the file as it went in.
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
            // A folder of before there were several methods.
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
