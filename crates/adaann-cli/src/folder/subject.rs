//! What is fitted: a registered density, or the model of a file.

use crate::folder::{Folder, csv, record::Record};
use adaann::{
    Batch,
    model::Model,
    registry::{self, Known, Problem},
};
use anyhow::Result;
use std::path::Path;

/// What is fitted.
pub(crate) struct Subject {
    pub(crate) problem: Problem,
    pub(crate) model: Option<Model>,
}

impl Subject {
    /// The model of a file.
    pub(crate) fn of_model(model: Model) -> Self {
        let problem = Problem {
            target: Box::new(model.target()),
            known: Known::default(),
            settings: model.settings(),
            data: model.data(),
            dynamics: None,
        };
        Self { problem, model: Some(model) }
    }

    /// What a run was of, from the files of its folder.
    pub(crate) fn read(record: &Record, folder: &Path) -> Result<Self> {
        let Some(path) = &record.model else {
            let problem = registry::find(&record.target)?.choose(&record.choices(folder)?)?;
            return Ok(Self { problem, model: None });
        };
        let data = folder.join(Record::DATA);
        let data = data.is_file().then_some(data);
        // What else the model names, a command above all, is where the original is.
        let place = path.parent().unwrap_or(Path::new(""));
        let copy = folder.join(Record::MODEL);
        Ok(Self::of_model(Model::read_copy(&copy, place, data.as_deref())?))
    }

    /// Writes what the subject is made of into the folder of a run: model file and data.
    pub(crate) fn write(&self, folder: &Folder) -> Result<()> {
        match (&self.model, &self.problem.data) {
            (Some(model), _) => {
                folder.write(Record::MODEL, model.text())?;
                match model.data_text() {
                    Some(data) => folder.write(Record::DATA, data),
                    None => Ok(()),
                }
            }
            (None, Some(data)) => folder.write(Record::DATA, csv::data(data)),
            (None, None) => Ok(()),
        }
    }

    /// The names of what is known of each draw: coordinates, then derived quantities.
    pub(crate) fn columns(&self) -> Vec<String> {
        let mut names = self.problem.target.names();
        names.extend(self.model.iter().flat_map(Model::quantity_names).cloned());
        names
    }

    /// Derived quantities at some points; none for a density without a model file.
    pub(crate) fn quantities(&self, points: &Batch) -> Result<Option<Batch>> {
        Ok(self.model.as_ref().map(|model| model.quantities(points)).transpose()?)
    }
}
