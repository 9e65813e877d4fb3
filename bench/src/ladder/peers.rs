//! Other samplers compared with the ladder: mixtures with a uniform prior on a box, in low dimensions.

use super::{
    LadderOptions,
    components::{Mixture, Shape},
    measure,
    subject::{Built, Subject, normal},
    table::median,
    targets::unequal,
};
use crate::trials::mean;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

/// Dimensions, half the side of the box, and the default time limit of all peers together in seconds.
const DIMS: [usize; 3] = [2, 5, 10];
const SIDE: f64 = 10.0;
const SECONDS: u64 = 600;

/// The input of the script.
#[derive(Serialize)]
struct Task {
    mixtures: Vec<Named>,
    seeds: Vec<u64>,
    seconds: u64,
}

#[derive(Serialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    mixture: Mixture,
}

/// An output line of the script, or a result of the ladder.
#[derive(Deserialize)]
struct Line {
    sampler: String,
    name: String,
    seed: u64,
    evaluations: f64,
    seconds: f64,
    log_z: Option<f64>,
    failed: Option<String>,
}

/// Runs the ladder and the peers on the same targets and seeds, and prints the results side by side.
pub(super) fn run(options: &LadderOptions) -> io::Result<()> {
    let subjects = options.among(DIMS.map(subject).into()).map_err(io::Error::other)?;
    let mut lines = Vec::new();
    for measured in measure(&subjects, options)? {
        for (seed, run) in options.trials.seeds().zip(&measured.runs) {
            lines.push(Line {
                sampler: "adaann".into(),
                name: measured.subject.name.clone(),
                seed,
                evaluations: run.as_ref().map_or(0.0, |run| run.all_evaluations() as f64),
                seconds: run.as_ref().map_or(0.0, |run| run.seconds),
                log_z: run
                    .as_ref()
                    .ok()
                    .and_then(|run| Some(run.off.log_z? + log_z(&measured.subject.name))),
                failed: run.as_ref().err().map(ToString::to_string),
            });
        }
    }
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
    let seconds = options.limit.map_or(SECONDS, |limit| limit.as_secs());
    let mixtures = DIMS.map(|dim| Named { name: name(dim), mixture: mixture(dim) }).into_iter();
    lines.extend(peers::<Line>(&Task {
        mixtures: mixtures.filter(|named| names.contains(&&*named.name)).collect(),
        seeds: options.trials.seeds().collect(),
        seconds,
    })?);
    let page = page(&names, &lines) + &format!("\nThe peers had {seconds} s together.\n");
    options.trials.publish_as("ladder --peers", "ladder-peers", &page)
}

fn name(dim: usize) -> String {
    format!("box-{dim}")
}

fn mixture(dim: usize) -> Mixture {
    Mixture { side: Some(SIDE), ..unequal(dim, Shape::Normal) }
}

fn log_z(of: &str) -> f64 {
    let dim = DIMS.into_iter().find(|dim| name(*dim) == of).expect("one of these");
    mixture(dim).known().log_z.expect("a mixture's is known")
}

fn subject(dim: usize) -> Subject {
    Subject::new(name(dim), "box", move |_| {
        let mixture = mixture(dim);
        let known = mixture.known();
        // Mapped to the whole line, a uniform number between two bounds is nearly N(0, 1.7²).
        Ok(Built::known(mixture, normal(1.7), known))
    })
}

/// The output lines of the script for a task.
pub(crate) fn peers<T: DeserializeOwned>(task: &impl Serialize) -> io::Result<Vec<T>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join(".venv-samplers/bin/python");
    if !python.exists() {
        let message =
            format!("{} not found: run bench/peers/install.sh samplers first", python.display());
        return Err(io::Error::other(message));
    }
    let mut script = Command::new(&python)
        .arg(here.join("peers/samplers.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = script.stdin.take().expect("piped");
    input.write_all(serde_json::to_string(task)?.as_bytes())?;
    drop(input);
    let mut lines = Vec::new();
    for text in BufReader::new(script.stdout.take().expect("piped")).lines() {
        let text = text?;
        eprintln!("{text}");
        lines.push(serde_json::from_str(&text)?);
    }
    let status = script.wait()?;
    if status.success() {
        Ok(lines)
    } else {
        Err(io::Error::other(format!("samplers.py: {status}")))
    }
}

/// A row for each target and sampler. Medians exclude failed runs.
fn page(names: &[&str], lines: &[Line]) -> String {
    let mut page = String::from(
        "| target | sampler | runs | evaluations, median | seconds, median | error of log Z, mean absolute | largest | what failed |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for &of in names {
        let truth = log_z(of);
        for sampler in ["adaann", "nautilus", "dynesty", "blackjax"] {
            let all: Vec<&Line> =
                lines.iter().filter(|line| line.name == of && line.sampler == sampler).collect();
            let done: Vec<&&Line> = all.iter().filter(|line| line.log_z.is_some()).collect();
            let errors: Vec<f64> =
                done.iter().filter_map(|line| Some((line.log_z? - truth).abs())).collect();
            let failed: Vec<String> = (all.iter())
                .filter_map(|line| Some(format!("seed {}: {}", line.seed, line.failed.as_ref()?)))
                .collect();
            let numbers = if done.is_empty() {
                "- | - | - | -".to_owned()
            } else {
                format!(
                    "{:.0} | {:.2} | {:.4} | {:.4}",
                    median(done.iter().map(|line| line.evaluations)),
                    median(done.iter().map(|line| line.seconds)),
                    mean(errors.iter().copied()),
                    errors.iter().copied().fold(0.0, f64::max)
                )
            };
            writeln!(
                page,
                "| {of} | {sampler} | {} of {} | {numbers} | {} |",
                done.len(),
                all.len(),
                failed.join("; ").replace(['|', '\n'], " ")
            )
            .expect("memory takes all");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sampler: &str, seed: u64, log_z: Option<f64>) -> Line {
        Line {
            sampler: sampler.into(),
            name: name(2),
            seed,
            evaluations: 100.0 * seed as f64,
            seconds: seed as f64,
            log_z,
            failed: log_z.is_none().then(|| "no time left".into()),
        }
    }

    #[test]
    fn runs_that_failed_are_counted_and_not_averaged() {
        let truth = log_z("box-2");
        let lines = [
            line("adaann", 1, Some(truth + 0.25)),
            line("adaann", 2, Some(truth - 0.75)),
            line("adaann", 3, None),
            line("dynesty", 1, None),
        ];
        let page = page(&["box-2"], &lines);
        let row = |sampler: &str| page.lines().find(|line| line.contains(sampler)).unwrap();
        assert_eq!(
            row("adaann"),
            "| box-2 | adaann | 2 of 3 | 150 | 1.50 | 0.5000 | 0.7500 | seed 3: no time left |"
        );
        assert_eq!(
            row("dynesty"),
            "| box-2 | dynesty | 0 of 1 | - | - | - | - | seed 1: no time left |"
        );
    }
}
