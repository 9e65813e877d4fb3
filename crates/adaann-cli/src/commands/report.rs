//! `adaann report`: redraws figures and page of a run, or draws those of its last checkpoint.

use crate::{
    args::ReportArgs,
    commands::opened,
    folder::{
        drawn::Whose,
        out::Out,
        page::{self, PAGE},
        subject::Programs,
    },
    job::interrupt,
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Redraws figures and page of a run.
pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode> {
    let out = args.out.as_ref().map(|out| Out::new("--out", out, args.force)).transpose()?;
    let whose = Whose::new(args.unweighted);
    interrupt::end_when_asked()?;
    let place = args.out.clone().unwrap_or_else(|| args.run.join(PAGE));
    let finished = opened::open(&args.run, whose, Programs::new(args.allow_command))?;
    match &out {
        Some(out) => page::write_alone(&finished, out)?,
        None => page::write(&args.run, &finished)?,
    }
    let mark = finished.summary.mark();
    opened::warn(&args.run, mark.as_deref());
    let mark = mark.map_or(String::new(), |mark| format!(" ({mark})"));
    writeln!(stdout(), "written to {}{}{mark}", place.display(), whose.note())?;
    let has_density = finished.subject.problem.target.dim() <= 2;
    if let Some(program) = finished.subject.forbidden().filter(|_| has_density) {
        let lacking = "the figures lack the target's density";
        writeln!(stdout(), "  {lacking}: '{program}' computes it; --allow-command starts it")?;
    }
    Ok(ExitCode::SUCCESS)
}
