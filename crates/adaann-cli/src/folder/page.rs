//! Figures and one page of a run, from the files of its folder alone.

use crate::folder::{
    figures,
    finished::Finished,
    index::Index,
    out::Out,
    summary::Verdict,
    words::{
        table::tables,
        title::title,
        verdict::{Advice, advice, more},
    },
};
use adaann::diagnostics::Trust;
use adaann_report::{Block, Figure, Page, Tone};
use anyhow::{Context, Result};
use std::{fs, path::Path};

/// Name of the page.
pub(crate) const PAGE: &str = "report.html";

/// Draws what is in a run folder, and writes figures and page beside it.
pub(crate) fn write(folder: &Path, finished: &Finished) -> Result<()> {
    let figures = figures::draw(finished)?;
    // All of them, before any is written.
    let page_out = Out::own(folder, PAGE)?;
    Out::own(folder, Index::FILE)?;
    let mut written = write_figures(folder, &figures)?;
    page_out.write(page(finished, figures)?.html().as_bytes())?;
    written.push(PAGE.to_owned());
    Index::update(folder, &written)
}

/// Writes the page of a finished run alone, somewhere else.
pub(crate) fn write_alone(finished: &Finished, out: &Out) -> Result<()> {
    out.write(page(finished, figures::draw(finished)?)?.html().as_bytes())
}

/// Writes the figures, and gives the names of their files.
fn write_figures(folder: &Path, figures: &[Figure]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for figure in figures {
        for (extension, bytes) in [("svg", figure.svg().into_bytes()), ("png", figure.png()?)] {
            let name = format!("figures/{}.{extension}", figure.name);
            files.push((Out::own(folder, &name)?, bytes, name));
        }
    }
    let place = folder.join("figures");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    for (out, bytes, _) in &files {
        out.write(bytes)?;
    }
    Ok(files.into_iter().map(|(_, _, name)| name).collect())
}

/// The page of a run.
fn page(finished: &Finished, figures: Vec<Figure>) -> Result<Page> {
    let Finished { record, summary, .. } = finished;
    let title = title(record, summary);
    let lead = title.strip_prefix(&format!("{}: ", summary.target)).unwrap_or(&title);
    let mut blocks = vec![judgement(&summary.verdict, summary.sight.as_deref())];
    blocks.extend(summary.warnings.iter().cloned().map(Block::Warning));
    blocks.push(Block::SideBySide(tables(summary)));
    blocks.extend(figures.into_iter().map(Block::Figure));
    blocks.push(Block::Details {
        summary: "Settings (run.toml)".to_owned(),
        text: record.to_toml()?,
    });
    Ok(Page {
        title: summary.target.clone(),
        lead: lead.to_owned(),
        blocks,
        footer: format!(
            "adaann {}, {} threads, {}. Draws are in draws.csv, all numbers in summary.json.",
            summary.version, summary.threads, summary.instructions
        ),
        contents: false,
    })
}

/// The verdict with its reasons, and what to try.
fn judgement(verdict: &Verdict, sight: Option<&str>) -> Block {
    let mut points = Vec::new();
    for Advice { findings, remedy } in advice(verdict) {
        points.extend(findings.iter().map(|finding| (*finding).to_owned()));
        if let Some(last) = points.last_mut() {
            *last += &format!("; **try:** {remedy}");
        }
    }
    points.extend(more(verdict));
    points.extend(sight.map(|sight| format!("**looked:** {sight}")));
    Block::Judgement {
        tone: match verdict.trust {
            Trust::Reliable => Tone::Good,
            Trust::Care => Tone::Doubtful,
            Trust::Distrust => Tone::Bad,
        },
        title: format!("Verdict: {}", verdict.trust),
        points,
    }
}
