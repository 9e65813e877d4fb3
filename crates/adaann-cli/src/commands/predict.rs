//! `adaann predict`: predictions of a fitted model, with the spread of the posterior.

use crate::{
    args::PredictArgs,
    folder::{
        csv,
        drawn::Whose,
        figures,
        finished::Finished,
        index::Index,
        out::Out,
        predicted::{check_draws, predicted},
        subject::Programs,
    },
    text::failure::usage,
};
use anyhow::Result;
use std::{
    fmt::Write as _,
    io::{Write, stdout},
    process::ExitCode,
};

/// Writes a table of predictions and a figure next to it.
pub(crate) fn predict(args: &PredictArgs) -> Result<ExitCode> {
    check_draws("--draws", args.draws, 2)?;
    let (out, figures_out) = outputs(args)?;
    let finished = Finished::read(&args.run, Whose::new(args.unweighted), Programs::Forbidden)?;
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
            "{} is not a run of a model with [likelihood] lines, so it has nothing to predict",
            args.run.display()
        )));
    };
    out.write(predicted.csv().as_bytes())?;
    let mut text = format!("written to {}{}\n", out.path().display(), finished.whose.note());
    if let (Some(figure), Some([svg, png])) = (figures::predictions(&predicted), figures_out) {
        for (out, bytes) in [(svg, figure.svg().into_bytes()), (png, figure.png()?)] {
            out.write(&bytes)?;
            writeln!(text, "  figure   {}", out.path().display())?;
        }
    }
    if args.out.is_none() {
        let written = ["csv", "svg", "png"].map(|extension| format!("predictions.{extension}"));
        let written: Vec<_> =
            written.into_iter().filter(|name| args.run.join(name).is_file()).collect();
        Index::update(&args.run, &written)?;
    }
    if predicted.draws < args.draws {
        writeln!(text, "  from {} draws, all that the run has", predicted.draws)?;
    }
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The table, and the figures next to it. Files in the run folder are always replaced; elsewhere a file of
/// the same name may belong to somebody. A pipe or a device gets no figures.
fn outputs(args: &PredictArgs) -> Result<(Out, Option<[Out; 2]>)> {
    let Some(table) = &args.out else {
        let [csv, svg, png] = ["csv", "svg", "png"]
            .map(|extension| Out::own(&args.run, &format!("predictions.{extension}")));
        Out::own(&args.run, Index::FILE)?;
        return Ok((csv?, Some([svg?, png?])));
    };
    let figures = ["svg", "png"].map(|extension| table.with_extension(extension));
    if figures.contains(table) {
        let name = table.display();
        return Err(usage(format!(
            "--out is '{name}', but this is the name of the figure; give the table the extension .csv"
        )));
    }
    let out = Out::new("--out", table, args.force)?;
    if table.exists() && !table.is_file() {
        return Ok((out, None));
    }
    let [svg, png] = figures.map(|path| Out::new("--out", &path, args.force));
    Ok((out, Some([svg?, png?])))
}
