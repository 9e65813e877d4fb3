//! Registered targets, with simulated data and data from files.

use super::subject::{Built, Subject, Truth};
use adaann::{
    Error, Result,
    registry::{self, Choices, Data, Table},
};
use std::{fs, path::Path, path::PathBuf};

/// Densities with separate demands, whose group is their name.
const OWN: [(&str, f64); 2] = [("funnel", 10.0), ("many-well", 32.0)];

/// The other registered densities, with the dimension if it can be chosen.
const OTHERS: [(&str, Option<f64>); 15] = [
    ("mixture40", None),
    ("eggbox", None),
    ("shells", Some(2.0)),
    ("shells", Some(5.0)),
    ("shells", Some(10.0)),
    ("bimodal", None),
    ("mixture1d", None),
    ("mixture1d-asymmetric", None),
    ("mixture2d", None),
    ("gaussian", Some(5.0)),
    ("eight-gaussians", None),
    ("two-moons", None),
    ("rings", None),
    ("rosenbrock", None),
    ("many-well", Some(8.0)),
];

/// Seeds of data, and noise levels of the attractor of the paper.
const DATA_SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
const LORENZ_NOISE: [f64; 2] = [0.2, 0.001];

/// All registered targets, and the data files with independently integrated posteriors.
pub(super) fn all() -> Vec<Subject> {
    let mut all = Vec::new();
    for (name, dim) in OWN {
        all.push(density(name, Some(dim), name));
    }
    all.extend(OTHERS.map(|(name, dim)| {
        density(name, dim, if name == "mixture40" { "mixture40" } else { "registry" })
    }));
    let fixture = |name: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/adaann/tests/fixtures").join(name)
    };
    all.push(from_file("hiv", None, fixture("hiv.csv")));
    all.extend(DATA_SEEDS.map(|seed| posterior("hiv", None, Source::Seed(seed))));
    for (noise, name) in LORENZ_NOISE.into_iter().zip(["lorenz_high.csv", "lorenz_low.csv"]) {
        all.push(from_file("lorenz", Some(noise), fixture(name)));
        all.extend(DATA_SEEDS.map(|seed| posterior("lorenz", Some(noise), Source::Seed(seed))));
    }
    all
}

/// A posterior with data from a file.
pub(super) fn from_file(name: &'static str, noise: Option<f64>, path: PathBuf) -> Subject {
    posterior(name, noise, Source::File(path))
}

/// The source of the data.
#[derive(Clone)]
enum Source {
    Seed(u64),
    File(PathBuf),
}

fn density(name: &'static str, dim: Option<f64>, group: &'static str) -> Subject {
    let label = dim.map_or(name.to_owned(), |dim| format!("{name}-{dim}"));
    // Otherwise the registered plane density would be used for the chain.
    let label = if name == "rosenbrock" { "rosenbrock-2".to_owned() } else { label };
    let label = if name == "gaussian" { "correlated-5".to_owned() } else { label };
    Subject::new(label, group, move |_| {
        let parameters = dim.map(|dim| ("dim".to_owned(), dim)).into_iter().collect();
        built(name, &Choices { parameters, ..Choices::default() })
    })
}

fn posterior(name: &'static str, noise: Option<f64>, source: Source) -> Subject {
    let level = noise.map_or(String::new(), |noise| format!("-{noise}"));
    let label = match &source {
        Source::Seed(seed) => format!("{name}{level}-seed-{seed}"),
        Source::File(path) => format!("{name}{level}-{}", stem(path)),
    };
    Subject::new(label, name, move |_| {
        let parameters = noise.map(|noise| ("noise-variance".to_owned(), noise));
        let data = match &source {
            Source::Seed(seed) => Data::Seed(*seed),
            Source::File(path) => Data::Table(table(path)?),
        };
        let parameters = parameters.into_iter().collect();
        built(name, &Choices { parameters, data: Some(data), ..Choices::default() })
    })
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}

fn built(name: &str, choices: &Choices) -> Result<Built> {
    let problem = registry::find(name)?.choose(choices)?;
    let mut known = problem.known;
    if name == "funnel" {
        // Var[x²] of the wide coordinates is E[e^(2 x1)] of a wide normal, 24,000 times E[x²]², which no feasible
        // sample can measure. They are judged by log Z alone.
        for moments in [&mut known.mean, &mut known.sd].into_iter().flatten() {
            moments[1..].fill(f64::NAN);
        }
    }
    Ok(Built {
        target: problem.target.into(),
        base: problem.settings.base,
        truth: Truth::Known(known),
    })
}

/// A table of numbers with a header line.
fn table(path: &Path) -> Result<Table> {
    let fault = |what: String| Error::Data(format!("{}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let cells = |line: &str| line.split(',').map(|cell| cell.trim().to_owned()).collect();
    let names: Vec<String> = cells(lines.next().unwrap_or_default());
    let row = |line: &str| -> Result<Vec<f64>> {
        let cells: Vec<String> = cells(line);
        cells
            .iter()
            .map(|cell| cell.parse().map_err(|_| fault(format!("no number: {cell}"))))
            .collect()
    };
    Ok(Table { rows: lines.map(row).collect::<Result<_>>()?, names })
}
