//! `adaann report`: figures and page of a finished run once more.

use crate::{
    args::ReportArgs,
    commands::check_out,
    folder::{
        drawn::Whose,
        page::{self, PAGE},
    },
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Builds figures and page of a run again.
pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    let whose = Whose::new(args.unweighted);
    let place = args.out.clone().unwrap_or_else(|| args.run.join(PAGE));
    match &args.out {
        Some(out) => page::write_alone(&args.run, out, whose)?,
        None => page::write(&args.run, whose)?,
    }
    writeln!(stdout(), "written to {}{}", place.display(), whose.note())?;
    Ok(ExitCode::SUCCESS)
}
