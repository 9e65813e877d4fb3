//! `adaann list`: everything that has a name, one line each.

use crate::{registry, table::Style};
use adaann::{flow::FlowSpec, optim::Optimizer, path::PathKind, schedule::Schedule};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Prints all names.
pub(crate) fn list() -> Result<ExitCode> {
    let style = Style::detect();
    let mut text =
        format!("{}\n", style.bold("targets (adaann run NAME, --param PARAMETER=NUMBER)"));
    for entry in registry::ALL {
        text += &format!("  {:<14} {}\n", entry.name, entry.summary);
        for (name, default, what) in entry.parameters {
            text += &style.dim(&format!("  {:<14}   {name}={default}: {what}", ""));
            text.push('\n');
        }
    }
    for (title, all) in [
        ("flows (--flow)", FlowSpec::ALL),
        ("schedules (--schedule)", Schedule::ALL),
        ("paths (--path)", PathKind::ALL),
        ("optimizers (--optimizer)", Optimizer::ALL),
    ] {
        text += &format!("\n{}\n", style.bold(title));
        for (name, line) in all {
            text += &format!("  {name:<14} {line}\n");
        }
    }
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
