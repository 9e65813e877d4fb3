//! `adaann sample`: more draws of a finished run.

use crate::{
    args::SampleArgs,
    commands::check_out,
    folder::{csv, drawn::Whose, finished::Finished},
    job::MOST_DRAWS,
    text::failure::usage,
};
use anyhow::Result;
use std::{
    io::{Write, stderr, stdout},
    process::ExitCode,
};

/// Draws of the flow for each one that is asked for, so that few come twice.
const CANDIDATES: usize = 4;

/// Draws, and writes a table: draws of the target, or those of the flow with their weights.
pub(crate) fn sample(args: &SampleArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    if !(1..=MOST_DRAWS).contains(&args.count) {
        let range = format!("from 1 to {MOST_DRAWS}");
        return Err(usage(format!("-n is {}, but must be {range}", args.count)));
    }
    let whose = Whose::new(args.unweighted);
    let finished = Finished::read(&args.run, whose)?;
    let (subject, approximation) = (&finished.subject, finished.approximation()?);
    let names = subject.columns();
    let table = match whose {
        // What has no weights by the flow is chosen from the draws of the run.
        Whose::Target if !finished.drawn.has_q() => {
            let chosen = finished.drawn.chosen(whose, args.count, args.seed);
            let quantities = subject.quantities(&chosen.x)?;
            csv::draws(&names, &chosen.x, quantities.as_ref(), &[("log_p", &chosen.log_p)])
        }
        Whose::Target => {
            let candidates = args.count.saturating_mul(CANDIDATES).min(MOST_DRAWS);
            let sample = approximation.sample(candidates, args.seed)?;
            let sample = sample.resampled(args.count, args.seed);
            let quantities = subject.quantities(sample.x())?;
            csv::draws(&names, sample.x(), quantities.as_ref(), &[("log_p", sample.log_p())])
        }
        Whose::Flow => {
            let sample = approximation.sample(args.count, args.seed)?;
            let quantities = subject.quantities(sample.x())?;
            writeln!(
                stderr(),
                "these are {}; their column weight makes an answer of them",
                whose.draws()
            )?;
            csv::sample(&names, &sample, quantities.as_ref())
        }
    };
    match &args.out {
        Some(path) => adaann::support::file::write(path, table.as_bytes())?,
        None => stdout().write_all(table.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
