//! Other samplers on twelve of the random targets: which modes do they find?

use super::{
    HonestyOptions,
    classes::{Instance, of_recipe},
    mixtures, narrow, pairs,
    recipe::{Prior, Recipe},
    students,
};
use crate::ladder::{matrices, peers::peers, run_all, subject::Subject};
use adaann::diagnostics::thresholds::is_mode_lost;
use serde::{Deserialize, Serialize};
use std::{fmt::Write, io};

const SAMPLERS: [&str; 4] = ["adaann", "nautilus", "dynesty", "blackjax"];

/// The mixtures among the twelve. Higher dimensions would take the peers too long.
const MIXTURES: usize = 6;
const LARGEST_DIM: usize = 10;

/// The input of the script.
#[derive(Serialize)]
struct Task {
    mixtures: Vec<Mixture>,
    seeds: [u64; 1],
    seconds: u64,
    /// The maximal time of each run, in seconds.
    each: u64,
}

#[derive(Serialize)]
struct Mixture {
    name: String,
    log_z: f64,
    prior: PriorOf,
    components: Vec<Component>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PriorOf {
    Box { low: f64, high: f64 },
    Normal { mean: Vec<f64>, sd: f64 },
}

#[derive(Serialize)]
struct Component {
    weight: f64,
    mean: Vec<f64>,
    /// Lower triangle of the covariance, row by row.
    factor: Vec<f64>,
    shape: &'static str,
}

/// An output line of the script, or a result of the ladder.
#[derive(Debug, Deserialize)]
struct Line {
    sampler: String,
    name: String,
    evaluations: f64,
    seconds: f64,
    log_z: Option<f64>,
    modes: Option<Vec<f64>>,
    failed: Option<String>,
    /// The verdict of the ladder.
    #[serde(default)]
    verdict: String,
}

/// A target of the table.
struct Row {
    name: String,
    seed: u64,
    recipe: Recipe,
}

/// Runs the ladder and the peers on twelve targets, with `--from` as the first seed and `--limit` for each run, and
/// prints the results side by side.
pub(crate) fn run(options: &HonestyOptions) -> io::Result<()> {
    let rows = twelve(options.trials.first);
    let each = options.limit.as_secs();
    let mut lines = ours(&rows, options)?;
    lines.extend(peers::<Line>(&Task {
        mixtures: rows.iter().map(Row::for_script).collect(),
        seeds: [options.trials.first],
        seconds: each * (rows.len() * (SAMPLERS.len() - 1)) as u64,
        each,
    })?);
    let page = page(&rows, &lines) + &format!("\nEvery run had {each} s.\n");
    options.trials.publish_as("honesty --peers", "honesty-peers", &page)
}

/// Twelve targets with a proper prior, which nested samplers need: six mixtures in up to ten dimensions, a
/// narrow mode beside a wide one with each volume ratio, a pair, a light mode, and forty in the plane.
fn twelve(first: u64) -> Vec<Row> {
    let row = |class: &str, seed: u64, recipe: Recipe| {
        let name = format!("{class}-{seed}, d = {}", recipe.dim());
        Row { name, seed, recipe }
    };
    let is_small = |recipe: &Recipe| recipe.dim() <= LARGEST_DIM && recipe.prior != Prior::Flat;
    let mut rows: Vec<Row> = (first..)
        .map(|seed| (seed, mixtures::recipe(seed)))
        .filter(|(_, recipe)| is_small(recipe))
        .take(MIXTURES)
        .map(|(seed, recipe)| row("mixtures", seed, recipe))
        .collect();
    rows.extend((first..first + 3).map(|seed| row("narrow", seed, narrow::recipe(seed))));
    for (class, recipe) in [
        ("pairs", pairs::recipe as fn(u64) -> Recipe),
        ("light", students::light),
        ("forty", pairs::forty),
    ] {
        let (seed, recipe) = (first..)
            .map(|seed| (seed, recipe(seed)))
            .find(|(_, recipe)| recipe.dim() <= 5)
            .expect("each class has few dimensions in its turn");
        let prior = mixtures::around(&recipe, 6.0 * recipe.largest_sd());
        rows.push(row(class, seed, Recipe { prior, ..recipe }));
    }
    rows
}

fn ours(rows: &[Row], options: &HonestyOptions) -> io::Result<Vec<Line>> {
    let instances: Vec<Instance> =
        rows.iter().map(|row| of_recipe("peers", row.seed, row.recipe.clone())).collect();
    let runs: Vec<(&Subject, u64)> =
        instances.iter().map(|instance| (&instance.subject, instance.seed)).collect();
    // Each peer has one core, so use one here to compare times.
    let found = run_all(&runs, options.jobs.or(Some(1)), options.limit, options.explain)?;
    let line = |(row, run): (&Row, &adaann::Result<_>)| {
        let run: Option<&crate::ladder::run::Run> = run.as_ref().ok();
        let log_z = row.recipe.posterior().log_z;
        Line {
            sampler: SAMPLERS[0].into(),
            name: row.name.clone(),
            evaluations: run.map_or(0.0, |run| run.all_evaluations() as f64),
            seconds: run.map_or(0.0, |run| run.seconds),
            log_z: run.and_then(|run| Some(run.off.log_z? + log_z)),
            modes: run.map(|run| run.off.shares.clone()),
            failed: run.is_none().then(|| "no answer".into()),
            verdict: run.and_then(|run| Some(run.trust?.to_string())).unwrap_or_else(|| "-".into()),
        }
    };
    Ok(rows.iter().zip(&found).map(line).collect())
}

impl Row {
    fn for_script(&self) -> Mixture {
        let recipe = &self.recipe;
        let prior = match &recipe.prior {
            Prior::Box { low, high } => PriorOf::Box { low: *low, high: *high },
            Prior::Normal { mean, sd } => PriorOf::Normal { mean: mean.clone(), sd: *sd },
            Prior::Flat => unreachable!("all twelve have a prior"),
        };
        let component = |part: &super::recipe::Part| Component {
            weight: part.weight,
            mean: part.centre.clone(),
            factor: matrices::cholesky(recipe.dim(), &recipe.covariance(part.width)),
            shape: "normal",
        };
        let components = recipe.parts.iter().map(component).collect();
        Mixture { name: self.name.clone(), log_z: 0.0, prior, components }
    }

    /// The modes that a sampler found, by their shares of its sample.
    fn found(&self, shares: &[f64]) -> Vec<bool> {
        let truth = self.recipe.truth();
        let modes = truth.known().map_or(&[][..], |known| &known.modes);
        modes.iter().zip(shares).map(|(mode, share)| !is_mode_lost(*share, mode.weight)).collect()
    }
}

/// A row for each target and sampler, and the modes that a peer found but a reliable ladder answer lacks.
fn page(rows: &[Row], lines: &[Line]) -> String {
    let mut page = String::from(
        "| target | log10 volume ratio | sampler | modes found | lost | log Z less the true one | evaluations | seconds | verdict |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut beaten = Vec::new();
    for row in rows {
        let truth = row.recipe.posterior().log_z;
        let mut ours: Option<(Vec<bool>, bool)> = None;
        for sampler in SAMPLERS {
            let own = lines.iter().find(|line| line.name == row.name && line.sampler == sampler);
            let Some(line) = own else { continue };
            let found = line.modes.as_ref().map(|shares| row.found(shares));
            let (seen, lost) =
                found.as_ref().map_or(("-".into(), "-".into()), |found| words(found));
            let off = line.log_z.map_or("-".into(), |log_z| format!("{:+.3}", log_z - truth));
            let verdict = line.failed.as_deref().unwrap_or(&line.verdict).replace(['|', '\n'], " ");
            writeln!(
                page,
                "| {} | {:.1} | {sampler} | {seen} | {lost} | {off} | {:.0} | {:.2} | {verdict} |",
                row.name,
                row.recipe.log10_ratio(),
                line.evaluations,
                line.seconds,
            )
            .expect("memory takes all");
            match (&ours, found) {
                (None, Some(found)) if sampler == SAMPLERS[0] => {
                    ours = Some((found, line.verdict == "reliable"));
                }
                (Some((ours, true)), Some(theirs)) => {
                    let more = ours.iter().zip(&theirs).filter(|(own, their)| !**own && **their);
                    let more = more.count();
                    if more > 0 {
                        beaten.push(format!("{} ({sampler}, {more})", row.name));
                    }
                }
                _ => {}
            }
        }
    }
    let beaten = if beaten.is_empty() { "none".into() } else { beaten.join("; ") };
    page + &format!(
        "\nModes that a peer found and that a reliable answer of ours lacks: {beaten}.\n"
    )
}

/// The number of modes found, and the missing ones, counted from 1.
fn words(found: &[bool]) -> (String, String) {
    let lost: Vec<String> =
        (0..found.len()).filter(|at| !found[*at]).map(|at| (at + 1).to_string()).collect();
    (format!("{} of {}", found.len() - lost.len(), found.len()), lost.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: &Row, sampler: &str, modes: &[f64], verdict: &str) -> Line {
        Line {
            sampler: sampler.into(),
            name: row.name.clone(),
            evaluations: 100.0,
            seconds: 1.5,
            log_z: Some(row.recipe.posterior().log_z + 0.25),
            modes: Some(modes.to_vec()),
            failed: None,
            verdict: verdict.into(),
        }
    }

    #[test]
    fn there_are_twelve_and_all_have_priors() {
        let rows = twelve(1);
        assert_eq!(rows.len(), 12);
        assert!(rows.iter().all(|row| row.recipe.prior != Prior::Flat));
        serde_json::to_string(&rows[0].for_script()).unwrap();
    }

    #[test]
    fn modes_that_a_reliable_answer_lacks_are_named() {
        let rows = twelve(1);
        let narrow = &rows[6];
        let one = line(narrow, "adaann", &[1.0, 0.0], "reliable");
        let both = line(narrow, "dynesty", &[0.5, 0.5], "");
        let page_of = |lines: &[Line]| page(&rows, lines);
        let page = page_of(&[one, both]);
        assert!(
            page.contains("| adaann | 1 of 2 | 2 | +0.250 | 100 | 1.50 | reliable |"),
            "{page}"
        );
        assert!(page.contains(&format!("lacks: {} (dynesty, 1).", narrow.name)), "{page}");
        let modest = line(narrow, "adaann", &[1.0, 0.0], "local");
        let both = line(narrow, "dynesty", &[0.5, 0.5], "");
        assert!(page_of(&[modest, both]).contains("lacks: none."));
    }
}
