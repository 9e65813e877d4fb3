//! `adaann density`: log p and log q of a finished run at the user's points.

use crate::{
    args::DensityArgs,
    folder::{csv, record::Record, subject::Subject},
    text::failure::usage,
};
use adaann::{
    Batch,
    approximation::{Approximation, Sample},
    flow::Flow,
    target::{Support, Target},
};
use anyhow::Result;
use rayon::prelude::*;
use std::{
    io::{Write, stdout},
    path::Path,
    process::ExitCode,
};

/// Points evaluated at once by a thread.
const CHUNK: usize = 4096;

/// Evaluates the points of a file.
pub(crate) fn density(args: &DensityArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    let record = Record::read(&args.run)?;
    let subject = Subject::read(&record, &args.run)?;
    let target = &*subject.problem.target;
    let flows = record.settings.flows();
    let flow = Flow::load_as(&args.run.join("flow.safetensors"), &flows, target.dim())?;
    let approximation = Approximation::new(target, flow)?;
    let file = args.points.display().to_string();
    let text = csv::text(&args.points, "points")?;
    let points = csv::points(&file, &text, &target.names())?;
    let table =
        csv::sample(&target.names(), &evaluate(&approximation, target, points)?, None, None);
    match &args.out {
        Some(path) => adaann::support::file::write(path, table.as_bytes())?,
        None => stdout().write_all(table.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses, before anything is read, a file that cannot be written for a reason one can see.
pub(crate) fn check_out(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let problem = if path.is_dir() {
        "is a folder"
    } else if parent.is_some_and(|parent| !parent.is_dir()) {
        "is in a folder that does not exist"
    } else {
        return Ok(());
    };
    Err(usage(format!("--out is '{}', which {problem}", path.display())))
}

/// Both log densities at points anywhere: −∞ outside the support.
pub(crate) fn evaluate(
    approximation: &Approximation,
    target: &dyn Target,
    points: Batch,
) -> Result<Sample> {
    let supports: Vec<_> = (0..target.dim()).map(|d| target.support(d)).collect();
    let inside: Vec<usize> =
        (0..points.len()).filter(|&i| Support::contain(&supports, &points.point(i))).collect();
    let chunks = inside
        .par_chunks(CHUNK)
        .map(|chunk| {
            let chosen: Vec<_> = chunk.iter().map(|&i| points.point(i)).collect();
            let chosen = Batch::from_points(points.dim(), &chosen);
            Ok((approximation.log_p(&chosen)?, approximation.log_q(&chosen)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut log_p = vec![f64::NEG_INFINITY; points.len()];
    let mut log_q = log_p.clone();
    for (chunk, (p, q)) in inside.chunks(CHUNK).zip(chunks) {
        for ((&i, p), q) in chunk.iter().zip(p).zip(q) {
            (log_p[i], log_q[i]) = (p, q);
        }
    }
    Ok(Sample { points, log_p, log_q })
}
