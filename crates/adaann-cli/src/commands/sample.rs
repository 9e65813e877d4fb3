//! `adaann sample`: more draws of a finished run.

use crate::{
    args::SampleArgs,
    commands::density::check_out,
    folder::{csv, finished::Finished},
    job::{MOST_DRAWS, examine::weights},
    text::failure::usage,
};
use adaann::{
    Batch,
    approximation::{Approximation, Sample},
    importance::resample::systematic,
    support::rng::{Purpose, Stream},
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Draws of the flow for each one that is asked for with --resampled, so that few come twice.
const CANDIDATES: usize = 4;

/// Draws, and writes a table like `draws.csv`.
pub(crate) fn sample(args: &SampleArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    if !(1..=MOST_DRAWS).contains(&args.count) {
        let range = format!("from 1 to {MOST_DRAWS}");
        return Err(usage(format!("-n is {}, but must be {range}", args.count)));
    }
    let finished = Finished::read(&args.run)?;
    let subject = &finished.subject;
    let approximation = finished.approximation()?;
    let (sample, weights) = if args.resampled {
        (resampled(&approximation, args.count, args.seed)?, None)
    } else {
        let sample = approximation.sample(args.count, args.seed)?;
        let weights = weights(&sample);
        (sample, Some(weights))
    };
    let quantities = subject.quantities(&sample.points)?;
    let names = subject.columns();
    let table = csv::sample(&names, &sample, quantities.as_ref(), weights.as_deref());
    match &args.out {
        Some(path) => adaann::support::file::write(path, table.as_bytes())?,
        None => stdout().write_all(table.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws corrected by importance weights: of more draws, each is kept as often as its weight asks.
fn resampled(approximation: &Approximation, count: usize, seed: u64) -> Result<Sample> {
    let candidates = count.saturating_mul(CANDIDATES).min(MOST_DRAWS);
    let sample = approximation.sample(candidates, seed)?;
    let uniform = Stream::new(seed, Purpose::MonteCarlo).uniform_at(0);
    let chosen = systematic(&weights(&sample), count, uniform);
    let points: Vec<Vec<f64>> = chosen.iter().map(|&i| sample.points.point(i)).collect();
    Ok(Sample {
        points: Batch::from_points(sample.points.dim(), &points),
        log_p: chosen.iter().map(|&i| sample.log_p[i]).collect(),
        log_q: chosen.iter().map(|&i| sample.log_q[i]).collect(),
    })
}
