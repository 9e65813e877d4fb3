//! The options of the ladder commands.

use super::{
    models, registered,
    subject::{self, Subject},
    targets,
};
use crate::trials::Options;
use adaann::{Error, Result};
use std::{path::PathBuf, time::Duration};

/// The default time limit of a run, after which observers stop it.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

pub(crate) struct LadderOptions {
    pub(super) trials: Options,
    /// Folders of model files, instead of the targets with known answers.
    models: Vec<PathBuf>,
    /// Data files for the registered posteriors, with the variance of the noise if it can be chosen.
    data: Vec<(&'static str, Option<f64>, PathBuf)>,
    /// The number of parallel runs on one thread each. `None` runs them one after another on all threads.
    pub(super) jobs: Option<usize>,
    /// The time limit of a run, or of all peers together. `None` uses the default.
    pub(super) limit: Option<Duration>,
    /// Print each rung?
    pub(super) explain: bool,
    /// Compare with other samplers?
    pub(super) peers: bool,
}

impl LadderOptions {
    /// Parses the options. Returns `None` for an unknown option.
    pub(crate) fn read(arguments: &[&str], seeds: u64) -> Option<Self> {
        let mut options = Self {
            trials: Options::read(&[], seeds)?,
            models: Vec::new(),
            data: Vec::new(),
            jobs: None,
            limit: None,
            explain: false,
            peers: false,
        };
        let (mut rest, mut arguments) = (Vec::new(), arguments.iter());
        while let Some(&argument) = arguments.next() {
            match argument {
                "--models" => options.models.push(arguments.next()?.into()),
                "--data" => options.data.push(data(arguments.next()?)?),
                "--jobs" => options.jobs = Some(arguments.next()?.parse().ok().filter(|n| *n > 0)?),
                "--limit" => {
                    options.limit = Some(Duration::from_secs(arguments.next()?.parse().ok()?));
                }
                "--explain" => options.explain = true,
                "--peers" => options.peers = true,
                other => rest.push(other),
            }
        }
        options.trials = Options::read(&rest, seeds)?;
        if options.peers {
            // Each peer has one core, so use one here to compare times.
            options.jobs = options.jobs.or(Some(1));
        }
        Some(options)
    }

    /// The selected subjects.
    pub(super) fn subjects(&self) -> Result<Vec<Subject>> {
        self.among(self.all_subjects()?)
    }

    /// The subjects to choose from.
    pub(super) fn all_subjects(&self) -> Result<Vec<Subject>> {
        let mut subjects = Vec::new();
        for folder in &self.models {
            subjects.extend(models::in_folder(folder)?);
        }
        for (name, noise, path) in &self.data {
            subjects.push(registered::from_file(name, *noise, path.clone()));
        }
        if subjects.is_empty() {
            subjects = targets::all();
        }
        Ok(subjects)
    }

    /// The selected ones of some subjects.
    ///
    /// # Errors
    /// If a word matches no subject. Otherwise a typo would give an empty table, which looks like success.
    pub(super) fn among(&self, mut subjects: Vec<Subject>) -> Result<Vec<Subject>> {
        let Some(only) = &self.trials.only else { return Ok(subjects) };
        let mut is_asked_for = vec![false; subjects.len()];
        for word in only.split(',') {
            let means = subject::meant(word, &subjects);
            if means.is_empty() {
                let names: Vec<&str> = subjects.iter().map(|subject| &*subject.name).collect();
                let names = names.join(", ");
                return Err(Error::Data(format!("--only {word} is none of these: {names}")));
            }
            means.into_iter().for_each(|at| is_asked_for[at] = true);
        }
        let mut is_asked_for = is_asked_for.into_iter();
        subjects.retain(|_| is_asked_for.next() == Some(true));
        Ok(subjects)
    }
}

/// `hiv=FILE`, `lorenz=FILE` or `lorenz:0.001=FILE`.
fn data(text: &str) -> Option<(&'static str, Option<f64>, PathBuf)> {
    let (name, path) = text.split_once('=')?;
    let (name, noise) = match name.split_once(':') {
        Some((name, noise)) => (name, Some(noise.parse().ok()?)),
        None => (name, None),
    };
    let name = ["hiv", "lorenz"].into_iter().find(|known| *known == name)?;
    Some((name, noise, path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        let read = |text: &str| LadderOptions::read(&text.split(' ').collect::<Vec<_>>(), 3);
        let options = read("--seeds 2 --only hiv,lorenz-0.2-seed-1 --jobs 2 --limit 5").unwrap();
        assert_eq!((options.jobs, options.limit), (Some(2), Some(Duration::from_secs(5))));
        let names: Vec<String> =
            options.subjects().unwrap().into_iter().map(|subject| subject.name).collect();
        assert_eq!((names.len(), &names[0][..]), (7, "hiv-hiv"));
        let options = read("--data lorenz:0.001=a.csv").unwrap();
        assert_eq!(options.subjects().unwrap()[0].name, "lorenz-0.001-a");
        assert!(read("--only no-such").unwrap().subjects().is_err());
        for wrong in ["--jobs 0", "--data hib=a.csv", "--models", "--sedes 3"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn model_files_are_found_by_parts_of_their_names() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../models");
        let names = |only| {
            let options = LadderOptions::read(&["--models", folder, "--only", only], 1).unwrap();
            let subjects = options.subjects().ok()?;
            Some(subjects.into_iter().map(|subject| subject.name).collect::<Vec<_>>())
        };
        let all = names("models").unwrap();
        assert!(all.len() > 10, "{all:?}");
        for only in ["friedman", "friedman.toml", "fried"] {
            assert_eq!(names(only).unwrap(), ["friedman"], "{only}");
        }
        assert_eq!(names("lotka,schools").unwrap(), ["eight_schools", "lotka_volterra"]);
        assert_eq!(names("lotka,many-well-8"), None);
        assert_eq!(names("lotka,"), None);
    }
}
