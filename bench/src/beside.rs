//! Compares two model files of the same posterior: compile time, time of log density and gradient per point, and
//! differences.

use crate::models::{Shards, fastest};
use adaann::{
    Batch, Instructions,
    flow::BaseSpec,
    model::Model,
    support::rng::{Purpose, Stream},
    target::Unconstrained,
};
use std::{path::Path, process::ExitCode, time::Instant};

/// Points of a batch.
const POINTS: usize = 256;

/// Prints the table of two files.
pub(crate) fn run(files: [&str; 2]) -> ExitCode {
    let read = |file: &str| Model::read(Path::new(file));
    let models = match (read(files[0]), read(files[1])) {
        (Ok(one), Ok(other)) => [one, other],
        (one, other) => {
            one.err().into_iter().chain(other.err()).for_each(|found| eprintln!("{found}"));
            return ExitCode::FAILURE;
        }
    };
    let [names, others] = models.each_ref().map(|model| model.target().names());
    if names != others {
        eprintln!(
            "the files have different coordinates: {} and {}",
            names.join(", "),
            others.join(", ")
        );
        return ExitCode::FAILURE;
    }
    let (points, origin) = match points(&models[0]) {
        Ok(points) => points,
        Err(error) => {
            eprintln!("cannot draw points for the comparison: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!(
        "log density and gradient of {POINTS} points {origin}, on one thread; {}",
        Instructions::current()
    );
    print_head();
    let again = |file: &str| read(file).expect("it was read before");
    let name = Path::new(files[0]).file_stem().unwrap_or_default().to_string_lossy();
    print_line(&name, &points, [&|| again(files[0]), &|| again(files[1])]);
    ExitCode::SUCCESS
}

/// Draws from the prior, or from the base of a fit if a prior is flat.
fn points(model: &Model) -> adaann::Result<(Batch, &'static str)> {
    if let Some(draws) = model.prior_draws(POINTS, 1) {
        return Ok((draws, "of the prior"));
    }
    let target = model.target();
    let unconstrained = Unconstrained::new(&*target)?;
    let BaseSpec { mean, sd, .. } = model.settings().base;
    let mut z = Batch::zeros(unconstrained.dim(), POINTS);
    Stream::new(1, Purpose::Evaluation).fill_normals(0, 0, &mut z);
    for d in 0..z.dim() {
        let at = |list: &[f64]| list[d.min(list.len() - 1)];
        z.row_mut(d).iter_mut().for_each(|x| *x = at(&mean) + at(&sd) * *x);
    }
    Ok((unconstrained.constrain(&z).0, "of the base"))
}

/// Prints the header of the table.
pub(crate) fn print_head() {
    println!(
        "\nmodel                        | s to compile: first, second, ratio | us a point: first, second, ratio | \
         difference of log densities, of gradients"
    );
}

/// Runs both sides alternately, and prints the fastest of many runs of each.
pub(crate) fn print_line(name: &str, points: &Batch, sides: [&dyn Fn() -> Model; 2]) {
    let seconds = |side: &dyn Fn() -> Model| {
        let start = Instant::now();
        let model = side();
        let seconds = start.elapsed().as_secs_f64();
        drop(model);
        seconds
    };
    let [quick, slow] = fastest([&mut || seconds(sides[0]), &mut || seconds(sides[1])]);
    let [ours, theirs] = sides.map(|side| side().target());
    let (mut one, mut other) = (Shards::new(points, 1), Shards::new(points, 1));
    let [a, b] = fastest([&mut || one.microseconds(&*ours), &mut || other.microseconds(&*theirs)]);
    let [densities, gradients] = one.largest_differences(&other);
    println!(
        "{name:<28} | {quick:>13.5} {slow:>9.5} {:>9.1} | {a:>13.3} {b:>9.3} {:>8.3} | {densities:.0e}, {gradients:.0e}",
        slow / quick,
        b / a,
    );
}
