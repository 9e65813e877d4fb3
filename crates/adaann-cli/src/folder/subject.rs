//! The subject of a run: a registered density, a model file, or a target given by a front end.

use crate::folder::{
    Folder, csv,
    foreign::Absent,
    record::{Record, Source},
    stored::Stored,
};
use crate::{
    ranks::{self, Described},
    text::{failure::usage, said::say},
};
use adaann::{
    Batch, Settings,
    fit::overlay::Interval,
    model::Model,
    registry::{self, Choices, Data, Entry, Known, Problem, Table},
    target::Target,
};
use anyhow::Result;
use std::{borrow::Cow, path::Path, sync::Arc};

/// The subject of a run.
pub(crate) struct Subject {
    pub(crate) problem: Problem,
    pub(crate) model: Option<Model>,
    /// The number of its target in messages to other ranks, if there are any.
    pub(crate) shared: Option<u64>,
    /// May a program that the model names be started?
    pub(crate) programs: Programs,
    /// The language of the target's function, if that function is not available.
    absent: Option<String>,
}

/// Whether an external program named in the model file may be started. A run folder may come from an
/// untrusted source, so that displaying a run must not start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Programs {
    /// Started, because the user has named the model file.
    Asked,
    /// Started and announced, because the user has allowed it.
    Allowed,
    /// Not started.
    Forbidden,
}

impl Programs {
    /// By the flag `--allow-command`.
    pub(crate) fn new(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Forbidden }
    }
}

impl Subject {
    /// A registered density.
    pub(crate) fn of_density(entry: &Entry, choices: &Choices) -> Result<Self> {
        let Problem { target, known, settings, data, dynamics } = entry.choose(choices)?;
        let (target, shared) = ranks::share(target, || Described::Density {
            name: entry.name.to_owned(),
            parameters: choices.parameters.clone(),
            preset: choices.preset.clone(),
            data: data.as_ref().filter(|_| entry.takes_data()).map(Described::of_table),
        });
        let problem = Problem { target, known, settings, data, dynamics };
        Ok(Self { shared, ..Self::of_problem(problem) })
    }

    /// The subject of a description from another process.
    pub(crate) fn of_described(described: &Described) -> Result<Self> {
        match described {
            Described::Density { name, parameters, preset, data } => {
                let data = data.clone().map(|(names, rows)| Data::Table(Table { names, rows }));
                let choices =
                    Choices { parameters: parameters.clone(), preset: preset.clone(), data };
                Self::of_density(registry::find(name)?, &choices)
            }
            Described::Model { text, folder, files, retries, timeout } => {
                let model = Model::of_files(Record::MODEL, text, folder, files)?;
                model.set_retry_policy(&Described::patience(*retries, *timeout));
                Ok(Self::of_model(model))
            }
        }
    }

    /// A density with an available function.
    fn of_problem(problem: Problem) -> Self {
        Self { problem, model: None, shared: None, programs: Programs::Asked, absent: None }
    }

    /// A density that a run folder cannot contain.
    pub(crate) fn of_target(target: Box<dyn Target>) -> Self {
        Self::of_problem(Problem {
            target,
            known: Known::default(),
            settings: Settings::default(),
            data: None,
            dynamics: None,
        })
    }

    /// The model of a file.
    pub(crate) fn of_model(model: Model) -> Self {
        let (target, shared) = ranks::share(Box::new(model.target()), || described(&model));
        Self { shared, ..Self::of_model_with(model, target) }
    }

    fn of_model_with(model: Model, target: Box<dyn Target>) -> Self {
        let problem = Problem {
            target,
            known: Known::default(),
            settings: model.settings(),
            data: None,
            dynamics: None,
        };
        Self { model: Some(model), ..Self::of_problem(problem) }
    }

    /// The subject of a run, from the files of its folder.
    pub(crate) fn read(source: &Source<'_>, stored: &Stored, programs: Programs) -> Result<Self> {
        if let Some(foreign) = source.foreign {
            let subject = Self::of_target(Box::new(Absent::new(foreign)?));
            return Ok(Self { absent: Some(foreign.language.clone()), ..subject });
        }
        let Some(path) = source.model else {
            let entry = registry::find(source.target)?;
            let choices = source.choices(stored, entry.takes_data())?;
            return Ok(Self { programs, ..Self::of_density(entry, &choices)? });
        };
        // The file is missing if the model has no data; otherwise the model reports an error.
        let data = stored.folder().join(Record::DATA);
        if data.exists() {
            stored.file(Record::DATA)?;
        }
        // Other paths in the model, above all its command, are relative to the original file.
        let place = path.parent().unwrap_or(Path::new(""));
        let copy = stored.file(Record::MODEL)?;
        let model = Model::read_copy(&copy, place, &data)?;
        for (name, _) in model.input_files() {
            stored.file(&name)?;
        }
        Ok(Self::of_model_in_a_run(model, programs))
    }

    /// A model whose file is part of a run and may be untrusted.
    pub(crate) fn of_model_in_a_run(model: Model, programs: Programs) -> Self {
        if programs == Programs::Forbidden && model.program().is_some() {
            model.forbid_program();
            let target = Box::new(model.target());
            return Self { programs, ..Self::of_model_with(model, target) };
        }
        Self { programs, ..Self::of_model(model) }
    }

    /// The program that the likelihood needs but that may not be started, if there is one.
    pub(crate) fn forbidden(&self) -> Option<String> {
        let program = self.model.as_ref()?.program()?;
        (self.programs == Programs::Forbidden).then(|| program.label())
    }

    /// Is the target a function that is not available?
    pub(crate) fn is_absent(&self) -> bool {
        self.absent.is_some()
    }

    /// A sentence on why the target's density cannot be shown, if it cannot.
    pub(crate) fn unseen(&self) -> Option<String> {
        let of_program = self.forbidden().map(|program| {
            format!("The target's density needs the program '{program}', which was not started.")
        });
        of_program.or_else(|| {
            let language = self.absent.as_ref()?;
            Some(format!(
                "The target's density is a function in {language}, which is not in the folder."
            ))
        })
    }

    /// To be called before a run is resumed: refuses a program that may not be started, and announces one that
    /// may.
    pub(crate) fn start(&self) -> Result<()> {
        if let Some(language) = &self.absent {
            return Err(usage(format!(
                "the run's log density is a function in {language}; resume the run by repeating its call of \
                 adaann.fit there"
            )));
        }
        match self.forbidden() {
            Some(program) => Err(usage(format!(
                "the program '{program}' computes the run's likelihood and needs permission to start; pass \
                 --allow-command if you trust it"
            ))),
            None => {
                self.announce();
                Ok(())
            }
        }
    }

    /// To be called before the first evaluation of the likelihood: announces the program that it starts.
    pub(crate) fn announce(&self) {
        let program = self.model.as_ref().and_then(Model::program);
        if let Some(program) = program.filter(|_| self.programs == Programs::Allowed) {
            let folder = program.folder.display();
            say(&format!("starting '{}' in {folder}", program.label()));
        }
    }

    /// Writes the files of the subject into a run folder: model file, data and inputs.
    pub(crate) fn write(&self, folder: &Folder) -> Result<()> {
        self.files().into_iter().try_for_each(|(name, text)| folder.write(&name, text.as_bytes()))
    }

    /// The files of the subject: model, data and inputs.
    pub(crate) fn files(&self) -> Vec<(String, Arc<str>)> {
        let mut files = Vec::new();
        let data = match (&self.model, &self.problem.data) {
            (Some(model), _) => {
                files.push((Record::MODEL.to_owned(), model.text().into()));
                let inputs = model.input_files().into_iter();
                files.extend(inputs.map(|(name, text)| (name, text.into())));
                model.shared_data_text()
            }
            (None, data) => data.as_ref().map(|data| csv::data(data).into()),
        };
        files.extend(data.map(|text| (Record::DATA.to_owned(), text)));
        files
    }

    /// The data, if there is any.
    pub(crate) fn data(&self) -> Option<Cow<'_, Table>> {
        let of_model = || self.model.as_ref()?.data();
        let known = self.problem.data.as_ref().map(Cow::Borrowed);
        known.or_else(|| of_model().map(Cow::Owned))
    }

    /// The names of the columns of draws: coordinates, then derived quantities.
    pub(crate) fn columns(&self) -> Vec<String> {
        let mut names = self.problem.target.names();
        names.extend(self.model.iter().flat_map(Model::quantity_names).cloned());
        names
    }

    /// Derived quantities at some points; `None` for a density without a model file.
    pub(crate) fn quantities(&self, points: &Batch) -> Result<Option<Batch>> {
        Ok(self.model.as_ref().map(|model| model.quantities(points)).transpose()?)
    }
}

/// A complete description of a model, to construct it in another process.
pub(crate) fn described(model: &Model) -> Described {
    let folder = model.program().map_or(Path::new(""), |program| &program.folder);
    let mut files: Vec<(String, String)> =
        model.input_files().into_iter().map(|(name, text)| (name, text.to_owned())).collect();
    files.extend(model.data_text().map(|text| (Record::DATA.to_owned(), text.to_string())));
    let patience = model.patience();
    Described::Model {
        text: model.text().to_owned(),
        folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        files,
        retries: patience.retries,
        timeout: patience.command_timeout.map(|interval| match interval {
            Interval::Every(time) => time.as_secs_f64(),
            Interval::Off => f64::INFINITY,
        }),
    }
}
