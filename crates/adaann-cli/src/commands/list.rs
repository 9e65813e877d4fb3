//! `adaann list`: all names that flags and model files accept, one line each.

use crate::text::style::Style;
use adaann::{
    answer::Method, flow::FlowSpec, model, optim::Optimizer, path::PathKind, registry,
    schedule::Schedule,
};
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
        text += &format!("  {:<21} {}\n", entry.name, entry.summary);
        for parameter in entry.parameters {
            let registry::Parameter { name, default, description } = parameter;
            text += &style.dim(&format!("  {:<21}  {name}={default}: {description}", ""));
            text.push('\n');
        }
        if entry.presets.len() > 1 {
            let presets = entry.presets.join(", ");
            text += &style.dim(&format!("  {:<21}  presets (--preset): {presets}", ""));
            text.push('\n');
        }
    }
    for (title, all) in [
        ("methods (--method)", Method::ALL),
        ("flows (--flow)", FlowSpec::ALL),
        ("schedules (--schedule)", Schedule::ALL),
        ("paths (--path)", PathKind::ALL),
        ("optimizers (--optimizer)", Optimizer::ALL),
    ] {
        text += &format!("\n{}\n", style.bold(title));
        for (name, line) in all {
            text += &format!("  {name:<21} {line}\n");
        }
    }
    text += &format!("\n{}\n", style.bold("functions of formulas (in model files)"));
    for (usage, summary) in model::functions() {
        text += &format!("  {usage:<40} {summary}\n");
    }
    text += &format!("\n{}\n", style.bold("distributions (in model files)"));
    for (usage, arguments) in model::distributions() {
        text += &format!("  {usage:<40} {arguments}\n");
    }
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
