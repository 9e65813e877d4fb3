//! `adaann init`: a commented model file to start from.

use crate::{
    args::{InitArgs, Kind},
    commands::check_out,
    text::failure::usage,
};
use adaann::model;
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Writes the file, and the schema if one is asked for.
pub(crate) fn init(args: &InitArgs) -> Result<ExitCode> {
    check_out(&args.file)?;
    if args.file.exists() && !args.force {
        return Err(usage(format!(
            "{} exists; --force replaces it, another name leaves it",
            args.file.display()
        )));
    }
    let name = args.file.display().to_string();
    let text = template(args.kind).replace("NAME", &name);
    adaann::support::file::write(&args.file, text.as_bytes())?;
    if let Some(path) = &args.schema {
        check_out(path)?;
        let schema = serde_json::to_string_pretty(&model::schema())?;
        adaann::support::file::write(path, format!("{schema}\n").as_bytes())?;
    }
    writeln!(
        stdout(),
        "written to {name}\n  next   adaann check {name}\n         adaann fit {name}"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn template(kind: Kind) -> &'static str {
    match kind {
        Kind::Density => include_str!("../../templates/density.toml"),
        Kind::Regression => include_str!("../../templates/regression.toml"),
        Kind::Ode => include_str!("../../templates/ode.toml"),
        Kind::Hierarchical => include_str!("../../templates/hierarchical.toml"),
    }
}
