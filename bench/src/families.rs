//! The quality of every family of flows on five targets with known constants, as a table in Markdown.

use adaann::{
    Settings,
    fit::fit,
    flow::FlowSpec,
    registry::{self, Problem},
};
use std::{io::Write, time::Instant};

/// The targets, with non-default dimensions.
const TARGETS: [(&str, Option<f64>); 5] = [
    ("gaussian", Some(10.0)),
    ("two-moons", None),
    ("eight-gaussians", None),
    ("funnel", None),
    ("many-well", None),
];

/// The families, and compositions of them.
const FLOWS: [&str; 14] = [
    "affine",
    "linear",
    "planar",
    "affine+planar",
    "linear+planar",
    "radial",
    "realnvp",
    "glow",
    "iaf",
    "maf",
    "spline",
    "linear+spline",
    "spline-autoregressive",
    "linear+spline-autoregressive",
];

/// Components of the mixture base in the last row.
const COMPONENTS: usize = 16;

const DRAWS: usize = 20_000;

/// Prints KL(q‖p) in nats and the seconds of a run, for one seed.
pub(crate) fn run() {
    println!(
        "| flow | Gaussian, d = 10 | two moons | eight Gaussians | funnel, d = 10 | many-well, d = 32 |"
    );
    println!("|---|---|---|---|---|---|");
    for flow in FLOWS {
        let spec = FlowSpec::named(flow).expect("the names are those of families");
        row(flow, |preset| {
            let spec = match (&spec, &preset.flow) {
                (FlowSpec::Planar { .. }, _) => preset.flow.clone(),
                (FlowSpec::Radial { .. }, own) => FlowSpec::Radial { layers: own.layers() },
                _ => spec.clone(),
            };
            preset.clone().with_flow(spec)
        });
    }
    row(&format!("planar, mixture base of {COMPONENTS}"), |preset| {
        let mut settings = preset.clone();
        settings.base.components = COMPONENTS;
        settings.base.trained = true;
        settings
    });
}

fn row(name: &str, settings: impl Fn(&Settings) -> Settings) {
    print!("| {name} |");
    for (target, dim) in TARGETS {
        let parameters: Vec<_> = dim.into_iter().map(|dim| ("dim".to_owned(), dim)).collect();
        let problem = registry::find(target).and_then(|entry| entry.build(&parameters));
        let problem = problem.expect("registered");
        print!(" {} |", cell(&problem, &settings(&problem.settings)));
        std::io::stdout().flush().expect("the table can be printed");
    }
    println!();
}

/// KL with its Monte Carlo error and the time, or the reason for a failure.
fn cell(problem: &Problem, settings: &Settings) -> String {
    let start = Instant::now();
    let outcome = match fit(&*problem.target, settings, &mut ()) {
        Ok(outcome) => outcome,
        Err(error) => return format!("failed: {error}"),
    };
    let seconds = start.elapsed().as_secs_f64();
    let approximation = outcome.approximation(&*problem.target).expect("same dimension");
    let sample = approximation.sample(DRAWS, 1).expect("closed form");
    let log_z = problem.known.log_z.expect("known for these targets");
    let (kl, error) = (sample.neg_elbo() + log_z, sample.neg_elbo_error());
    format!("{kl:.4} ± {error:.4} ({seconds:.0} s)")
}
