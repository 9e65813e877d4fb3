//! The output files of a calibration besides its trials: summary, figures, page.

use crate::{
    commands::calibrate::{figures, journal::Entry, summary::Summary},
    folder::page::PAGE,
};
use adaann::answer::Plan;
use adaann_report::{Block, Page};
use anyhow::{Context, Result};
use std::{fs, path::Path};

/// Writes all files.
pub(super) fn write(folder: &Path, summary: &Summary, entries: &[Entry], fit: &Plan) -> Result<()> {
    let figures = figures::draw(summary, entries)?;
    let place = folder.join("figures");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let put = |name: &str, bytes: &[u8]| adaann::support::file::write(&folder.join(name), bytes);
    for figure in &figures {
        put(&format!("figures/{}.svg", figure.name), figure.svg().as_bytes())?;
        put(&format!("figures/{}.png", figure.name), &figure.png()?)?;
    }
    put(Summary::FILE, summary.to_json().as_bytes())?;
    let mut blocks: Vec<Block> = summary.warnings.iter().cloned().map(Block::Warning).collect();
    blocks.push(Block::SideBySide(vec![summary.judgements(usize::MAX), summary.facts()]));
    blocks.extend(figures.map(Block::Figure));
    blocks.push(Block::Details {
        summary: "Settings of each fit".to_owned(),
        text: toml::to_string(fit).context("cannot write the settings as TOML")?,
    });
    if !summary.failures.is_empty() {
        let lines = summary.failures.iter().map(|f| format!("{} times: {}\n", f.count, f.message));
        let (summary, text) = ("Why fits failed".to_owned(), lines.collect());
        blocks.push(Block::Details { summary, text });
    }
    let page = Page {
        title: format!("{}: calibration", summary.model),
        lead: summary.title(),
        blocks,
        footer: format!(
            "adaann {}. Each trial is in trials.csv, all numbers are in summary.json.",
            summary.version
        ),
        contents: false,
    };
    put(PAGE, page.html().as_bytes())?;
    Ok(())
}
