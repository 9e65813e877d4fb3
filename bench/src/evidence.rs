//! The evidence log Z: errors of estimates, compared with their stated standard errors.

use crate::trials::{self, Options, mean, rms};
use adaann::{
    Result,
    approximation::Approximation,
    flow::{BaseSpec, Flow, FlowSpec, Start},
    model::Model,
    registry::{self, Problem},
    smc::{Settings, smc},
    target::{Target, Unconstrained},
};
use std::{io, path::Path, sync::Arc};

/// An estimate with its standard error and its cost.
struct Finding {
    log_z: f64,
    error: f64,
    evaluations: usize,
}

/// A line of the table: a target whose log Z is known, and a way to estimate it from a seed.
struct Row {
    target: String,
    method: &'static str,
    log_z: f64,
    estimate: Box<dyn Fn(u64) -> Result<Finding> + Sync>,
}

/// Registered targets for particles, with their non-default parameter.
const TARGETS: [(&str, Option<(&str, f64)>); 8] = [
    ("eggbox", None),
    ("shells", Some(("dim", 2.0))),
    ("shells", Some(("dim", 5.0))),
    ("shells", Some(("dim", 10.0))),
    ("many-well", Some(("dim", 8.0))),
    ("many-well", Some(("dim", 32.0))),
    ("hiv", None),
    ("lorenz", Some(("noise-variance", 0.001))),
];

/// Prints errors of log Z over seeds.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    let rows = rows(options).expect("registered, and models that are tested");
    let runs: Vec<(&Row, u64)> =
        rows.iter().flat_map(|row| options.seeds().map(move |seed| (row, seed))).collect();
    let found = trials::each(&runs, |(row, seed)| (row.estimate)(*seed));
    let mut table = String::from(
        "| target | method | true log Z | mean absolute error | RMS error | own standard error | RMS of error over own | evaluations |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (row, found) in rows.iter().zip(found.chunks(options.seeds as usize)) {
        table.push_str(&row.line(found));
    }
    options.publish("evidence", &table)
}

fn rows(options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, parameter) in TARGETS.iter().filter(|(name, _)| options.asks_for(name)) {
        let given: Vec<_> =
            parameter.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let values: String = given.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let Problem { target, known, settings, .. } = registry::find(name)?.build(&given)?;
        let log_z = known.log_z.expect("known for these targets");
        rows.push(particles(format!("{name}{values}"), target.into(), log_z, settings.particles()));
    }
    if options.asks_for("friedman") {
        rows.push(friedman()?);
    }
    Ok(rows)
}

/// Sequential Monte Carlo with the settings of a target.
fn particles(target: String, density: Arc<dyn Target>, log_z: f64, settings: Settings) -> Row {
    let estimate = move |seed| {
        let population =
            smc(&*density, &Settings { seed, ..settings.clone() }, &mut ())?.whole()?;
        Ok(Finding {
            log_z: population.log_z,
            error: population.log_z_error,
            evaluations: population.evaluations,
        })
    };
    Row { target, method: "particles", log_z, estimate: Box::new(estimate) }
}

/// Friedman's regression, ten coefficients from a thousand rows.
fn friedman() -> Result<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/friedman.toml");
    let model = Model::read(&path).expect("tested with the models");
    let target = model.target();
    let truth = [10.0, 20.0_f64.sqrt(), 0.5, 10.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    // The sign of the second one is not identified, so there are two mirrored modes.
    let log_z = around_mode(&*target, &truth)? + 2.0_f64.ln();
    Ok(particles("friedman".into(), target, log_z, model.settings().particles()))
}

/// log ∫ p of a mode that is nearly Gaussian, by weighted draws of its Laplace approximation. For Friedman's regression
/// the standard error is 0.0002.
fn around_mode(target: &dyn Target, start: &[f64]) -> Result<f64> {
    let spec = BaseSpec { start: Start::Laplace, mean: start.to_vec(), ..BaseSpec::default() };
    let base = spec.resolve(&Unconstrained::new(target)?, 1)?;
    let mut flow = Flow::new(&FlowSpec::Affine, base)?;
    flow.initialise(0.0, 1);
    let sums = Approximation::new(target, flow)?.weight_sums(100_000, 1)?;
    Ok(sums.log_z())
}

impl Row {
    fn line(&self, found: &[Result<Finding>]) -> String {
        let head = format!("| {} | {} | {:.3} |", self.target, self.method, self.log_z);
        let done: Vec<&Finding> = found.iter().filter_map(|found| found.as_ref().ok()).collect();
        if let Some(error) = found.iter().find_map(|found| found.as_ref().err()) {
            eprintln!("{head} {} of {} failed: {error}", found.len() - done.len(), found.len());
        }
        if done.is_empty() {
            return format!("{head} failed | - | - | - | - |\n");
        }
        let errors: Vec<f64> = done.iter().map(|found| found.log_z - self.log_z).collect();
        let scaled: Vec<f64> = errors.iter().zip(&done).map(|(e, found)| e / found.error).collect();
        format!(
            "{head} {:.4} | {:.4} | {:.4} | {:.2} | {:.0} |\n",
            mean(errors.iter().map(|error| error.abs())),
            rms(errors.iter().copied()),
            mean(done.iter().map(|found| found.error)),
            rms(scaled.iter().copied()),
            mean(done.iter().map(|found| found.evaluations as f64)),
        )
    }
}
