//! Runs trials in parallel, each on one thread, and publishes tables.

use adaann::tasks::Workers;
use std::{fs, io, path::Path};

/// The options of commands that run trials.
pub(crate) struct Options {
    /// The number of seeds of every trial.
    pub(crate) seeds: u64,
    /// The first seed. Settings tuned with some seeds are tested with others.
    pub(crate) first: u64,
    /// Also write the table to the book?
    pub(crate) write: bool,
    /// The only target to run. `None` runs all.
    pub(crate) only: Option<String>,
}

impl Options {
    /// Parses `[--seeds N] [--from SEED] [--only TARGET] [--write]`. Returns `None` for anything else.
    pub(crate) fn read(arguments: &[&str], seeds: u64) -> Option<Self> {
        let mut options = Self { seeds, first: 1, write: false, only: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--write" => options.write = true,
                "--seeds" => {
                    options.seeds = arguments.next()?.parse().ok().filter(|seeds| *seeds > 0)?;
                }
                "--from" => options.first = arguments.next()?.parse().ok()?,
                "--only" => options.only = Some((*arguments.next()?).to_owned()),
                _ => return None,
            }
        }
        Some(options)
    }

    /// The seeds.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first;
        (0..self.seeds).map(move |i| first.wrapping_add(i))
    }

    /// Is this target selected?
    pub(crate) fn asks_for(&self, target: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == target)
    }

    /// Prints a table below its command, and writes it to the book on request.
    pub(crate) fn publish(&self, name: &str, table: &str) -> io::Result<()> {
        self.publish_as(name, name, table)
    }

    /// The same for a command whose name differs from the file of the table.
    pub(crate) fn publish_as(&self, command: &str, name: &str, table: &str) -> io::Result<()> {
        let Self { seeds, first, .. } = self;
        let only = self.only.as_ref().map_or(String::new(), |only| format!(" --only {only}"));
        let command = format!("adaann-bench {command} --seeds {seeds} --from {first}{only}");
        let table = format!("`{command}`\n\n{table}");
        print!("{table}");
        if !self.write {
            return Ok(());
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/tables");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{name}.md")), table)
    }
}

/// Runs all trials, one per processor at a time. Returns the results in the order of the trials.
pub(crate) fn each<T: Sync, R: Send>(trials: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = Workers::of_single_threads(threads, trials.len());
    let results = pool.run(trials.len(), |i| run(&trials[i]), |_, result| result.map(Some));
    results.expect("no trial panics").into_iter().map(|(_, result)| result).collect()
}

/// √ of the mean square.
pub(crate) fn rms(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    (values.map(|value| value * value).sum::<f64>() / count).sqrt()
}

/// The standard error of [`rms`], from the spread of the squares.
pub(crate) fn rms_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let root = rms(values.iter().copied());
    let spread = rms(values.iter().map(|value| value * value - root * root));
    if root > 0.0 { spread / (2.0 * root * count.sqrt()) } else { 0.0 }
}

/// The mean.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
