//! What a front end makes of a fit: draws, restarts, the check, and where all of it goes.

use crate::{
    Error, crew, error,
    fit::overlay::{Interval, LAST_SEED, OUTPUT, settings},
};
use std::{ops::RangeInclusive, path::PathBuf, time::Duration};

settings! {
    /// What comes out of a fit, and where, each given or not.
    ///
    /// The library's own functions are told these numbers by their arguments; a model file may have
    /// them beside its settings.
    pub struct Output {
        OUTPUT {
            /// Draws in draws.csv and behind every number of the summary [default: 10000 of an annealed flow,
            /// and else as many as `target-ess` asks for]
            draws: usize = "draws" "COUNT",
            /// Annealed flows from this many seeds, from `seed` on, in parallel; the best by neg-ELBO is kept
            /// [default: 1]
            seeds: usize = "seeds" "COUNT",
            /// Independent particles that look for what an annealed flow has lost, at the end; 0 leaves them
            /// out [default: 2000]
            check_particles: usize = "check-particles" "COUNT",
            /// The most evaluations of the target, check included: the run then ends with its best answer
            /// [default: as many as it takes]
            max_evaluations: usize = "max-evaluations" "COUNT",
            /// The most time, check included, like 10m or 2h [default: as much as it takes]
            max_time: Interval = "max-time" "TIME",
            /// End with exit code 3 unless the verdict is RELIABLE: LOCAL, USE WITH CARE and DO NOT TRUST all do
            strict: bool = "strict" "",
            /// Threads; they never change a result [default: 0, all cores]
            threads: usize = "threads" "COUNT",
            /// The run folder; it must not exist [default: runs/NAME-SEED]
            out: PathBuf = "out" "FOLDER",
            /// Replace the run folder if it exists
            force: bool = "force" "",
            /// Begin an unfinished run again [default: the same command goes on where it was]
            restart: bool = "restart" "",
            /// How often a run under way is written down, so that it can go on after a kill: a time like 30s
            /// or 5m, or off [default: 30s]
            checkpoint: Interval = "checkpoint" "TIME",
            /// Keep no final state of an annealed flow, from which the run could be lengthened by more updates
            /// or draws [default: it is kept, in final]
            no_state: bool = "no-state" "",
            /// How often the program that computes the likelihood, if one does, is started again for one batch
            /// of points, where it dies or what it says is no answer; 0 for never [default: 2]
            retries: usize = "retries" "COUNT",
            /// How long that program may take for one batch before it counts as dead: a time like 30s or 5m, or
            /// off [default: the timeout of the model's command, a minute if it has none]
            command_timeout: Interval = "command-timeout" "TIME",
            /// Print nothing but errors
            quiet: bool = "quiet" "",
            /// Print summary.json, and nothing else, to standard output
            json: bool = "json" "",
            /// Print the settings as they would be run (run.toml), and stop
            dry_run: bool = "dry-run" "",
        }
    }
}

/// Draws, restarts and threads; more are surely a slip.
const DRAWS: RangeInclusive<usize> = 2..=Output::MOST_DRAWS;
const SEEDS: RangeInclusive<usize> = 1..=10_000;
const THREADS: RangeInclusive<usize> = 0..=Output::MOST_THREADS;
/// Starts of a program for one batch; more wait for a miracle.
const RETRIES: RangeInclusive<usize> = 0..=1_000;
/// Particles of a check; fewer say nothing.
const CHECK_PARTICLES: RangeInclusive<usize> = 10..=10_000_000;

impl Output {
    /// Draws that one command takes.
    pub const MOST_DRAWS: usize = 100_000_000;

    /// Threads that one command starts.
    pub const MOST_THREADS: usize = crew::MOST_THREADS;

    /// Refuses counts out of range, for a fit whose first seed is `seed`.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
    pub fn check(&self, seed: u64) -> crate::Result<()> {
        self.faults(seed).into_iter().next().map_or(Ok(()), Err)
    }

    /// Refuses what is about a program where there is none; `whose` has none.
    ///
    /// # Errors
    /// The first such setting.
    pub fn refuse_program(&self, whose: &str) -> crate::Result<()> {
        self.of_program().into_iter().next().map_or(Ok(()), |name| Err(no_program(name, whose)))
    }

    /// What is wrong with these beside a model with, or without, a program.
    pub(super) fn faults_of_program(&self, has_program: bool) -> Vec<Error> {
        let strangers = if has_program { Vec::new() } else { self.of_program() };
        strangers.into_iter().map(|name| no_program(name, "model")).collect()
    }

    /// The settings given that are about a program.
    fn of_program(&self) -> Vec<&'static str> {
        let retries = self.retries.map(|_| "retries");
        retries.into_iter().chain(self.command_timeout.map(|_| "command-timeout")).collect()
    }

    /// All that is out of range.
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
