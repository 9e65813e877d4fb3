//! Output settings of a fit: draws, restarts, the check, and the run folder.

use crate::{
    Error, error,
    fit::overlay::{Interval, LAST_SEED, OUTPUT, settings},
    tasks,
};
use std::{ops::RangeInclusive, path::PathBuf, time::Duration};

settings! {
    /// Output settings of a fit, each optional.
    ///
    /// The functions of the library take these numbers as arguments; a model file may have them beside its other
    /// settings.
    pub struct Output {
        OUTPUT {
            /// Draws in draws.csv, which all numbers of the summary use [default: 10000 for an annealed flow,
            /// otherwise as many as `target-ess` requires]
            draws: usize = "draws" "COUNT",
            /// Fit annealed flows from this many seeds in parallel, starting at `seed`, and keep the one with
            /// the best neg-ELBO [default: 1]
            seeds: usize = "seeds" "COUNT",
            /// Independent particles that look for modes that an annealed flow has non_finite, after the fit; 0 skips
            /// the check [default: 2000]
            check_particles: usize = "check-particles" "COUNT",
            /// Maximum number of evaluations of the target, including the check; the run then ends with its best
            /// result [default: unlimited]
            max_evaluations: usize = "max-evaluations" "COUNT",
            /// Maximum time, including the check, like 10m or 2h [default: unlimited]
            max_time: Interval = "max-time" "TIME",
            /// End with exit code 3 unless the verdict is RELIABLE: LOCAL, USE WITH CARE and DO NOT TRUST all do
            strict: bool = "strict" "",
            /// Number of threads, which never changes a result [default: 0, all cores]
            threads: usize = "threads" "COUNT",
            /// The run folder; it must not exist [default: runs/NAME-SEED]
            out: PathBuf = "out" "FOLDER",
            /// Replace the run folder if it exists
            force: bool = "force" "",
            /// Begin an unfinished run again [default: resume it with the same command]
            restart: bool = "restart" "",
            /// How often to save a checkpoint of the running fit, from which it can resume: a time like 30s or
            /// 5m, or off [default: 30s]
            checkpoint: Interval = "checkpoint" "TIME",
            /// Do not save the final state of an annealed flow, from which more updates or draws could be added
            /// [default: save it in final]
            no_state: bool = "no-state" "",
            /// How often to restart the program that computes the likelihood, for one batch of points, if it
            /// crashes or returns invalid output; 0 for never [default: 2]
            retries: usize = "retries" "COUNT",
            /// How long that program may take for one batch before it is restarted: a time like 30s or 5m, or
            /// off [default: the timeout of the model's command, or one minute]
            command_timeout: Interval = "command-timeout" "TIME",
            /// Print nothing but errors
            quiet: bool = "quiet" "",
            /// Print summary.json, and nothing else, to standard output
            json: bool = "json" "",
            /// Print the settings of the run (run.toml) and exit
            dry_run: bool = "dry-run" "",
        }
    }
}

/// Ranges of draws, restarts and threads; larger numbers are surely mistakes.
const DRAWS: RangeInclusive<usize> = 2..=Output::MOST_DRAWS;
const SEEDS: RangeInclusive<usize> = 1..=10_000;
const THREADS: RangeInclusive<usize> = 0..=Output::MOST_THREADS;
/// Range of restarts of a program for one batch.
const RETRIES: RangeInclusive<usize> = 0..=1_000;
/// Range of particles in a check; fewer have no power.
const CHECK_PARTICLES: RangeInclusive<usize> = 10..=10_000_000;

impl Output {
    /// Maximum number of draws for one command.
    pub const MOST_DRAWS: usize = 100_000_000;

    /// Maximum number of threads for one command.
    pub const MOST_THREADS: usize = tasks::MOST_THREADS;

    /// Refuses counts out of range, for a fit whose first seed is `seed`.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
    pub fn check(&self, seed: u64) -> crate::Result<()> {
        self.faults(seed).into_iter().next().map_or(Ok(()), Err)
    }

    /// Refuses settings for a program if there is none; `whose` describes the target without a program.
    ///
    /// # Errors
    /// The first such setting.
    pub fn refuse_program(&self, whose: &str) -> crate::Result<()> {
        self.of_program().into_iter().next().map_or(Ok(()), |name| Err(no_program(name, whose)))
    }

    /// Mistakes in these settings for a model with or without a program.
    pub(super) fn faults_of_program(&self, has_program: bool) -> Vec<Error> {
        let strangers = if has_program { Vec::new() } else { self.of_program() };
        strangers.into_iter().map(|name| no_program(name, "model")).collect()
    }

    /// The given settings that concern a program.
    fn of_program(&self) -> Vec<&'static str> {
        let retries = self.retries.map(|_| "retries");
        retries.into_iter().chain(self.command_timeout.map(|_| "command-timeout")).collect()
    }

    /// All settings that are out of range.
    pub(super) fn faults(&self, seed: u64) -> Vec<Error> {
        let counts = [
            ("draws", self.draws, DRAWS),
            ("seeds", self.seeds, SEEDS),
            ("threads", self.threads, THREADS),
            ("retries", self.retries, RETRIES),
        ];
        let mut faults = Vec::new();
        for (name, count, range) in counts {
            if let Some(count) = count.filter(|count| !range.contains(count)) {
                let range = format!("from {} to {}", range.start(), range.end());
                faults.push(error::setting(name, count, range));
            }
        }
        if self.max_evaluations == Some(0) {
            faults.push(error::setting("max-evaluations", 0, "at least 1"));
        }
        if self.max_time == Some(Interval::Every(Duration::ZERO)) {
            faults.push(error::setting("max-time", "0s", "more than 0s"));
        }
        let few = |particles: &usize| *particles != 0 && !CHECK_PARTICLES.contains(particles);
        if let Some(particles) = self.check_particles.filter(few) {
            let (least, most) = (CHECK_PARTICLES.start(), CHECK_PARTICLES.end());
            let range = format!("0, or from {least} to {most}");
            faults.push(error::setting("check-particles", particles, range));
        }
        if self.command_timeout == Some(Interval::Every(Duration::ZERO)) {
            faults.push(error::setting("command-timeout", "0", "longer than that, or off"));
        }
        let more = self.seeds.unwrap_or(1).saturating_sub(1) as u64;
        if seed.saturating_add(more) > LAST_SEED {
            let last = LAST_SEED.saturating_sub(more);
            let range = format!("at most {last} for {} seeds", more + 1);
            faults.push(error::setting("seed", seed, range));
        }
        faults
    }
}

fn no_program(name: &'static str, whose: &str) -> Error {
    error::conflict(name, format!("`{name}` does not apply: the {whose} has no command"))
}
