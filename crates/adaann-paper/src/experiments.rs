//! The paper's experiments, read from `experiments.toml`.

use crate::{Error, Result, RunError, variants::Variant};
use adaann::{
    Settings,
    registry::{self, Choices, Problem},
};
use serde::Deserialize;
use std::sync::OnceLock;

/// Several times the number of updates of the longest run of the paper.
const MOST_UPDATES: usize = 400_000;

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A first impression, in minutes.
    Quick,
    /// A moderate number of trials.
    Normal,
    /// As many trials as the paper.
    Full,
}

/// The number of trials of a run, by size.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trials {
    quick: usize,
    normal: usize,
    full: usize,
}

impl Trials {
    fn of(self, size: Size) -> usize {
        match size {
            Size::Quick => self.quick,
            Size::Normal => self.normal,
            Size::Full => self.full,
        }
    }
}

/// The annealing of a run from the base to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// No annealing: t = 1 from the first update.
    None,
    /// Equal steps.
    Linear,
    /// The steps of AdaAnn.
    AdaAnn,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    example: Vec<ExampleText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ExampleText {
    id: String,
    title: String,
    sections: String,
    trials: Trials,
    settings: toml::Table,
    case: Vec<CaseText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaseText {
    id: String,
    target: String,
    preset: Option<String>,
    component_sd: Option<f64>,
    parameter: Option<String>,
    #[serde(default)]
    values: Vec<f64>,
    lr: Vec<f64>,
    trials: Option<Trials>,
    most_updates: Option<usize>,
    #[serde(default)]
    beyond_paper: bool,
    run: Vec<RunText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RunText {
    id: String,
    label: String,
    kind: Kind,
    preset: Option<String>,
    trials: Option<Trials>,
    variant: Option<Variant>,
    #[serde(default)]
    settings: toml::Table,
    #[serde(default)]
    keep: bool,
    #[serde(default)]
    watch: bool,
    #[serde(default)]
    large: bool,
    #[serde(default)]
    beyond_paper: bool,
}

/// One of the paper's five examples.
#[derive(Debug)]
pub struct Example {
    /// ex1 to ex5.
    pub id: String,
    /// The title.
    pub title: String,
    /// The sections of the paper.
    pub sections: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// A way to train a flow on a density, or on a family of densities over one parameter.
#[derive(Debug)]
pub struct Run {
    /// The id, such as `ex2-symmetric-adaann`, which also names its files.
    pub id: String,
    /// The case it belongs to, such as `symmetric`.
    pub case: String,
    /// The name within the case.
    pub name: String,
    /// The label in tables and figures.
    pub label: String,
    /// The annealing.
    pub kind: Kind,
    beyond_paper: bool,
    /// Does it take hours?
    pub large: bool,
    /// Is the flow saved for figures?
    pub keep: bool,
    /// Is the flow measured during annealing?
    pub watch: bool,
    /// The number of updates after which a trial is abandoned, because its schedule makes too little progress.
    pub most_updates: usize,
    /// The densities.
    pub points: Vec<Point>,
    trials: Trials,
}

impl Run {
    /// Trials at each point.
    pub fn trials(&self, size: Size) -> usize {
        self.trials.of(size)
    }

    /// The label in tables, which marks runs that go beyond the paper.
    pub fn title(&self) -> String {
        if self.beyond_paper { format!("{} (ours)", self.label) } else { self.label.clone() }
    }

    /// The point with this value of the parameter.
    pub fn at(&self, value: f64) -> Option<&Point> {
        self.points.iter().find(|point| point.value == Some(value))
    }
}

/// A density and the settings of its trials.
pub struct Point {
    /// The value of the family's parameter.
    pub value: Option<f64>,
    /// The settings, without the seed.
    pub settings: Settings,
    /// Standard deviation of a component, which defines what is near a mode. `None` uses the exact standard deviations
    /// of each mode.
    pub component_sd: Option<f64>,
    /// How the density differs from the registered one.
    pub variant: Option<Variant>,
    target: String,
    choices: Choices,
    problem: OnceLock<Problem>,
}

impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Point")
            .field("value", &self.value)
            .field("target", &self.target)
            .field("choices", &self.choices)
            .field("variant", &self.variant)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Point {
    /// The density with its known properties, built once.
    pub fn problem(&self) -> &Problem {
        self.problem.get_or_init(|| build(&self.target, &self.choices).expect("built before"))
    }
}

fn build(target: &str, choices: &Choices) -> adaann::Result<Problem> {
    registry::find(target)?.choose(choices)
}

/// The paper's experiments.
pub fn all() -> Vec<Example> {
    parse(include_str!("../experiments.toml")).expect("the project's own file, tested")
}

/// The experiments of a file like the project's `experiments.toml`.
///
/// # Errors
/// If the file is invalid. The message names the run.
pub fn parse(text: &str) -> Result<Vec<Example>> {
    let file: File = toml::from_str(text).map_err(Error::Experiments)?;
    file.example.into_iter().map(example).collect()
}

fn example(text: ExampleText) -> Result<Example> {
    let mut runs = Vec::new();
    for case in &text.case {
        for given in &case.run {
            let id = format!("{}-{}-{}", text.id, case.id, given.id);
            runs.push(
                run(&text, case, given, &id).map_err(|reason| Error::Run { run: id, reason })?,
            );
        }
    }
    Ok(Example { id: text.id, title: text.title, sections: text.sections, runs })
}

fn run(example: &ExampleText, case: &CaseText, text: &RunText, id: &str) -> Result<Run, RunError> {
    let values: Vec<Option<f64>> = match case.values.as_slice() {
        [] => vec![None],
        values => values.iter().copied().map(Some).collect(),
    };
    if values.len() != case.lr.len() {
        return Err(RunError::Rates { values: values.len(), rates: case.lr.len() });
    }
    let point = |(value, lr): (&Option<f64>, &f64)| point(example, case, text, *value, *lr);
    Ok(Run {
        id: id.to_owned(),
        case: case.id.clone(),
        name: text.id.clone(),
        label: text.label.clone(),
        kind: text.kind,
        beyond_paper: case.beyond_paper || text.beyond_paper,
        large: text.large,
        keep: text.keep,
        watch: text.watch,
        most_updates: case.most_updates.unwrap_or(MOST_UPDATES),
        points: values.iter().zip(&case.lr).map(point).collect::<Result<_, RunError>>()?,
        trials: text.trials.or(case.trials).unwrap_or(example.trials),
    })
}

fn point(
    example: &ExampleText,
    case: &CaseText,
    run: &RunText,
    value: Option<f64>,
    lr: f64,
) -> Result<Point, RunError> {
    let parameters = match (&case.parameter, value) {
        (Some(name), Some(value)) => vec![(name.clone(), value)],
        (None, None) => Vec::new(),
        _ => return Err(RunError::Parameter),
    };
    let preset = run.preset.clone().or_else(|| case.preset.clone());
    let choices = Choices { parameters, preset, data: None };
    let settings = if run.preset.is_some() {
        // Settings of ours are stored with the registered problem.
        build(&case.target, &choices)?.settings
    } else {
        let mut table = example.settings.clone();
        table.extend(run.settings.clone());
        table.entry("lr").or_insert(lr.into());
        table.try_into()?
    };
    Ok(Point {
        value,
        settings,
        component_sd: case.component_sd,
        variant: run.variant,
        target: case.target.clone(),
        choices,
        problem: OnceLock::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_run_has_its_own_name() {
        let examples = all();
        let ids: Vec<_> = examples.iter().flat_map(|e| e.runs.iter().map(|r| &r.id)).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert_eq!(examples.len(), 5);
    }

    /// The library's presets and this file were both copied from the paper; they must agree.
    #[test]
    fn the_library_has_the_same_settings() {
        for (example, case) in [
            ("ex1", "bimodal"),
            ("ex2", "symmetric"),
            ("ex2", "asymmetric"),
            ("ex3", "planar"),
            ("ex4", "low"),
            ("ex4", "high"),
            ("ex5", "hiv"),
        ] {
            let examples = all();
            let runs = &examples.iter().find(|e| e.id == example).unwrap().runs;
            let name = if example == "ex1" { "tau-0.01" } else { "adaann" };
            let run = runs.iter().find(|run| run.case == case && run.name == name).unwrap();
            for point in &run.points {
                assert_eq!(
                    point.settings,
                    point.problem().settings,
                    "{} {:?}",
                    run.id,
                    point.value
                );
            }
        }
    }

    #[test]
    fn a_slip_names_its_run() {
        let text = include_str!("../experiments.toml").replace("refine = 20000", "refin = 20000");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("ex5-hiv-none") && error.contains("refin"), "{error}");
    }
}
