//! A folder of model files, with reference means and standard deviations from long runs of other samplers.

use super::{
    nuts,
    subject::{Built, Reference, Subject, Truth},
};
use adaann::{Error, Result, model::Model};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The contents of `reference.json`: the reference of each model, and for each number the mean, the standard deviation
/// and the number of draws.
#[derive(Deserialize, Default)]
struct References {
    models: BTreeMap<String, Link>,
    reference: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

#[derive(Deserialize)]
struct Link {
    #[serde(rename = "ref")]
    reference: String,
}

/// A subject for each model file of a folder, or of the folder `models` in it. `reference.json` is in the same folder
/// or its parent. Some models without an entry have references from chains of ours.
///
/// # Errors
/// If the folder has no model files, or the references cannot be read.
pub(crate) fn in_folder(folder: &Path) -> Result<Vec<Subject>> {
    let within = folder.join("models");
    let files = if within.is_dir() { &within } else { folder };
    let mut paths = tomls(files)?;
    paths.sort();
    let known =
        [files, folder, folder.parent().unwrap_or(folder)].map(|at| at.join("reference.json"));
    let references: References = match known.iter().find(|path| path.is_file()) {
        Some(path) => fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|error| Error::Data(format!("{}: {error}", path.display())))?,
        None => References::default(),
    };
    let references = Arc::new(references);
    let subject = |path: PathBuf| {
        let name =
            path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let (references, key) = (references.clone(), name.clone());
        let is_ours = references.of(&name).is_none() && nuts::of(&name).is_some();
        // The demands on models with published references exclude these.
        Subject::new(name, if is_ours { "large-models" } else { "models" }, move |_| {
            let model = Model::read(&path)
                .map_err(|faults| Error::Data(format!("{}: {faults}", path.display())))?;
            Ok(built(model, |model| Truth::Reference {
                model: Box::new(model),
                values: references.of(&key).or_else(|| nuts::of(&key)),
            }))
        })
    };
    Ok(paths.into_iter().map(subject).collect())
}

/// The target of a model, with the settings of its file.
pub(crate) fn built(model: Model, truth: impl Fn(Model) -> Truth) -> Built {
    Built { target: model.target(), base: model.settings().base, truth: truth(model) }
}

fn tomls(folder: &Path) -> Result<Vec<PathBuf>> {
    let fault = |what: &str| Error::Data(format!("{}: {what}", folder.display()));
    let entries = fs::read_dir(folder).map_err(|error| fault(&error.to_string()))?;
    let paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    if paths.is_empty() { Err(fault("no model files")) } else { Ok(paths) }
}

impl References {
    fn of(&self, model: &str) -> Option<Vec<Reference>> {
        let values = self.reference.get(&self.models.get(model)?.reference)?;
        let value = |(name, numbers): (&String, &Vec<f64>)| {
            let &[mean, sd, ..] = &numbers[..] else { return None };
            Some(Reference { name: name.clone(), mean, sd, is_sd_known: true })
        };
        values.iter().map(value).collect()
    }
}
