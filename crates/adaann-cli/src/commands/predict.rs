//! `adaann predict`: what a fitted model would measure, with the spread of the posterior.

use crate::{
    args::PredictArgs,
    commands::check_out,
    folder::{csv, drawn::Whose, figures, finished::Finished, predicted::predicted},
    text::failure::usage,
};
use anyhow::Result;
use std::{
    fmt::Write as _,
    io::{Write, stdout},
    process::ExitCode,
};

/// Writes a table of predictions, and a figure beside it.
pub(crate) fn predict(args: &PredictArgs) -> Result<ExitCode> {
    let out = args.out.clone().unwrap_or_else(|| args.run.join("predictions.csv"));
    if args.out.is_some() {
        check_out(&out)?;
    }
    let finished = Finished::read(&args.run, Whose::new(args.unweighted))?;
    let inputs = match &args.at {
        Some(path) => {
            let text = csv::text(path, "inputs")?;
            let name = path.display().to_string();
            finished.subject.model.as_ref().map(|m| m.read_inputs(&name, &text)).transpose()?
        }
        None => None,
    };
    let Some(predicted) = predicted(&finished, inputs.as_ref(), args.draws, args.seed)? else {
        return Err(usage(format!(
            "{} is no run of a model with likelihood lines, and nothing else can be predicted",
            args.run.display()
        )));
    };
    adaann::support::file::write(&out, predicted.csv().as_bytes())?;
    let mut text = format!("written to {}{}\n", out.display(), finished.whose.note());
    if let Some(figure) = figures::predictions(&predicted) {
        for (extension, bytes) in [("svg", figure.svg().into_bytes()), ("png", figure.png()?)] {
            let path = out.with_extension(extension);
            adaann::support::file::write(&path, &bytes)?;
            writeln!(text, "  figure   {}", path.display())?;
        }
    }
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
