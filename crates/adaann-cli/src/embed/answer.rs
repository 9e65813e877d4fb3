//! The results of a run, new or read from a folder.

use crate::{
    commands::export,
    embed::Failure,
    folder::{
        Folder, Old,
        drawn::{Drawn, Whose},
        evaluate,
        finished::Finished,
        page,
        subject::{Programs, Subject},
        summary::Summary,
    },
    job::{Job, kept::Kept, threads::pool, work::Run},
};
use adaann::{Batch, approximation::Approximation, fit::overlay::Interval, flow::Flow};
use anyhow::Context;
use rayon::ThreadPool;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// The results of a run.
pub struct Answer {
    from: From,
    quantities: Option<Batch>,
    /// The run folder, if there is one.
    place: Option<PathBuf>,
    pool: ThreadPool,
}

enum From {
    Run { job: Box<Job>, run: Box<Run>, drawn: Drawn },
    Folder(Box<Finished>),
}

/// Number of draws of q for each requested draw, so that few draws repeat.
const CANDIDATES: usize = 4;

impl Answer {
    pub(super) fn of_run(job: Job, run: Run, place: Option<PathBuf>, pool: ThreadPool) -> Self {
        let (drawn, quantities) = (Drawn::of(&run.sample), run.quantities.clone());
        let from = From::Run { job: Box::new(job), run: Box::new(run), drawn };
        Self { from, quantities, place, pool }
    }

    /// Reads the folder of a run.
    ///
    /// # Errors
    /// If it is not a run folder, is incomplete, or was changed.
    pub fn load(folder: &Path) -> Result<Self, Failure> {
        let finished = Finished::read(folder, Whose::Target, Programs::Forbidden)?;
        let quantities = finished.subject.quantities(&finished.drawn.x)?;
        let (from, place) = (From::Folder(Box::new(finished)), Some(folder.to_owned()));
        Ok(Self { from, quantities, place, pool: pool(0)? })
    }

    fn subject(&self) -> &Subject {
        match &self.from {
            From::Run { job, .. } => &job.subject,
            From::Folder(finished) => &finished.subject,
        }
    }

    fn drawn(&self) -> &Drawn {
        match &self.from {
            From::Run { drawn, .. } => drawn,
            From::Folder(finished) => &finished.drawn,
        }
    }

    fn flow(&self) -> &Flow {
        match &self.from {
            From::Run { run, .. } => &run.flow,
            From::Folder(finished) => &finished.flow,
        }
    }

    fn approximation(&self) -> Result<Approximation<'_>, Failure> {
        Ok(Approximation::new(&*self.subject().problem.target, self.flow().clone())?)
    }

    /// The contents of `summary.json`.
    pub fn summary(&self) -> serde_json::Value {
        let summary: &Summary = match &self.from {
            From::Run { run, .. } => &run.summary,
            From::Folder(finished) => &finished.summary,
        };
        serde_json::to_value(summary).expect("plain data serialise")
    }

    /// The names of the columns of draws: coordinates, then derived quantities.
    pub fn columns(&self) -> Vec<String> {
        self.subject().columns()
    }

    /// The draws, in the target's coordinates.
    pub fn points(&self) -> &Batch {
        &self.drawn().x
    }

    /// Derived quantities at each draw, if the target has any.
    pub fn quantities(&self) -> Option<&Batch> {
        self.quantities.as_ref()
    }

    /// log p at each draw, not normalised.
    pub fn log_p(&self) -> &[f64] {
        &self.drawn().log_p
    }

    /// log q at each draw; NaN for methods without a q.
    pub fn log_q(&self) -> &[f64] {
        &self.drawn().log_q
    }

    /// The weight of each draw; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.drawn().weights
    }

    /// log q at any points: a density that integrates to 1.
    ///
    /// # Errors
    /// If they have another dimension.
    pub fn log_q_at(&self, points: &Batch) -> Result<Vec<f64>, Failure> {
        let approximation = self.approximation()?;
        Ok(self.pool.install(|| evaluate::log_q(&approximation, points))?)
    }

    /// log p at any points, not normalised.
    ///
    /// # Errors
    /// If they have another dimension, or the target is not available.
    pub fn log_p_at(&self, points: &Batch) -> Result<Vec<f64>, Failure> {
        let approximation = self.approximation()?;
        Ok(self.pool.install(|| evaluate::log_p(&approximation, points))?)
    }

    /// New draws of the target with equal weights: resampled from new draws of q, or from the run's draws if
    /// there is no q or the target is not available.
    ///
    /// # Errors
    /// If the target fails.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Batch, Failure> {
        if !self.drawn().has_q() || self.subject().unseen().is_some() {
            return Ok(self.drawn().chosen(Whose::Target, count, seed).x);
        }
        let approximation = self.approximation()?;
        let draw = || approximation.sample(count.saturating_mul(CANDIDATES), seed);
        Ok(self.pool.install(draw)?.resampled(count, seed).x().clone())
    }

    /// Indices of draws of the run, resampled to equal weights.
    pub fn resampled(&self, count: usize, seed: u64) -> Vec<usize> {
        adaann::importance::resample::by_seed(&self.drawn().weights, count, seed)
    }

    /// Derived quantities at any points, if the target has any.
    ///
    /// # Errors
    /// If they have another dimension.
    pub fn quantities_at(&self, points: &Batch) -> Result<Option<Batch>, Failure> {
        Ok(self.pool.install(|| self.subject().quantities(points))?)
    }

    /// Writes the folder of the run, as the command line does.
    ///
    /// # Errors
    /// If the path exists, unless it is a run and `force` is set, or if writing fails.
    pub fn save(&self, folder: &Path, force: bool) -> Result<(), Failure> {
        match &self.from {
            From::Run { job, run, .. } => self.pool.install(|| write(job, run, folder, force))?,
            From::Folder(_) => {
                let from = self.place.as_ref().expect("an answer read from a folder has one");
                let to = Folder::reserve(folder, Old::forced(force), false)?;
                copy(from, to.place())
                    .with_context(|| format!("cannot copy {}", from.display()))?;
                to.finish(false)?;
            }
        }
        Ok(())
    }

    /// The report page of the run, as HTML.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn page(&self) -> Result<String, Failure> {
        self.in_a_folder(|place| {
            let path = place.join(page::PAGE);
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        })
    }

    /// The draws and related groups as the bytes of a netCDF file, as written by `adaann export`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn netcdf(&self) -> Result<Vec<u8>, Failure> {
        self.in_a_folder(|place| {
            let finished = Finished::read(place, Whose::Target, Programs::Forbidden)?;
            self.pool.install(|| export::bytes(&finished))
        })
    }

    /// Reads from the folder of the run, or from a temporary one.
    fn in_a_folder<T>(&self, read: impl FnOnce(&Path) -> anyhow::Result<T>) -> Result<T, Failure> {
        match (&self.from, &self.place) {
            (From::Run { job, run, .. }, None) => {
                let scratch = Scratch::new();
                self.pool.install(|| write(job, run, &scratch.0, false))?;
                Ok(read(&scratch.0)?)
            }
            (_, place) => Ok(read(place.as_ref().expect("an answer read from a folder has one"))?),
        }
    }
}

fn write(job: &Job, run: &Run, place: &Path, force: bool) -> anyhow::Result<()> {
    let folder = Folder::reserve(place, Old::forced(force), false)?;
    let told = job.record.to_toml()?;
    let kept = Kept::new(&folder, Interval::Off, told, &job.subject, None, true)?;
    let page = job.write(run, &folder, &kept)?;
    folder.finish(run.summary.stopped)?;
    page.map(|_| ())
}

/// A temporary folder, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    /// A unique name; the first writer creates the folder.
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("adaann-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&entry.path(), &target)?;
        } else if entry.file_name() != "index.json" {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
