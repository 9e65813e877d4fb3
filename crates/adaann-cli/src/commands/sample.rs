//! `adaann sample`: new draws from a run.

use crate::{
    args::SampleArgs,
    commands::opened,
    folder::{
        csv,
        drawn::Whose,
        out::{self, Out},
        subject::Programs,
    },
    job::{
        MOST_DRAWS, interrupt,
        memory::{self, Held},
    },
    text::failure::usage,
};
use adaann::{Batch, answer::Plan};
use anyhow::Result;
use std::{
    io::{Write, stderr},
    process::ExitCode,
};

/// Number of flow draws for each requested draw, so that few draws repeat.
const CANDIDATES: usize = 4;

/// Writes a table of draws of the target, or of the flow with their weights.
pub(crate) fn sample(args: &SampleArgs) -> Result<ExitCode> {
    let out = args.out.as_ref().map(|out| Out::new("--out", out, args.force)).transpose()?;
    if !(1..=MOST_DRAWS).contains(&args.count) {
        let range = format!("from 1 to {MOST_DRAWS}");
        return Err(usage(format!("-n is {}, but must be {range}", args.count)));
    }
    let whose = Whose::new(args.unweighted);
    interrupt::end_when_asked()?;
    let finished = opened::open(&args.run, whose, Programs::new(args.allow_command))?;
    opened::warn(&args.run, finished.summary.mark().as_deref());
    let candidates = args.count.saturating_mul(CANDIDATES).min(MOST_DRAWS);
    let columns = finished.subject.columns().len();
    let of_a_mixture = matches!(finished.record.plan, Plan::Answer(_));
    memory::check("-n", args.count, Held { draws: candidates, columns, of_a_mixture })?;
    let (subject, approximation) = (&finished.subject, finished.approximation()?);
    let names = subject.columns();
    let write = |x: &Batch, known: &[(&str, &[f64])]| -> Result<()> {
        let quantities = subject.quantities(x)?;
        let fill = |out: &mut dyn Write| csv::draws(out, &names, x, quantities.as_ref(), known);
        match &out {
            Some(out) => out.write_with(fill),
            None => out::print(fill),
        }
    };
    match whose {
        // Without a q, or without access to the target, resample the draws of the run.
        Whose::Target if !finished.drawn.has_q() || subject.is_absent() => {
            let chosen = finished.drawn.chosen(whose, args.count, args.seed);
            write(&chosen.x, &[("log_p", &chosen.log_p)])?;
        }
        Whose::Target => {
            subject.announce();
            let sample = approximation.sample(candidates, args.seed)?;
            let sample = sample.resampled(args.count, args.seed);
            write(sample.x(), &[("log_p", sample.log_p())])?;
        }
        Whose::Flow => {
            subject.announce();
            let sample = approximation.sample(args.count, args.seed)?;
            writeln!(stderr(), "these are {}; weight them by the column weight", whose.draws())?;
            let log_q = sample.log_q().unwrap_or(&[]);
            let known = [("log_p", sample.log_p()), ("log_q", log_q), ("weight", sample.weights())];
            write(sample.x(), &known)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
