//! The figures and the report page of a run, from the files of its folder alone.

use crate::folder::{
    figures,
    finished::Finished,
    index::Index,
    out::Out,
    stored::Stored,
    summary::Verdict,
    words::{
        table::tables,
        title::title,
        verdict::{Advice, advice, coverage, more},
    },
};
use adaann::diagnostics::Trust;
use adaann_report::{Block, Figure, Page, Tone};
use anyhow::{Context, Result, bail};
use std::{fs, path::Path};

/// Name of the page.
pub(crate) const PAGE: &str = "report.html";

/// Draws the figures and the page of a run, and writes them into its folder.
pub(crate) fn write(folder: &Path, finished: &Finished) -> Result<()> {
    let figures = figures::draw(finished)?;
    let html = page(finished, figures.clone())?.html();
    refuse_late(folder, finished)?;
    // Check all files before writing any.
    let page_out = Out::own(folder, PAGE)?;
    Out::own(folder, Index::FILE)?;
    let mut written = write_figures(folder, &figures)?;
    page_out.write(html.as_bytes())?;
    written.push(PAGE.to_owned());
    Index::update(folder, &written)
}

/// Writes only the page of a finished run, to another path.
pub(crate) fn write_alone(finished: &Finished, out: &Out) -> Result<()> {
    out.write(page(finished, figures::draw(finished)?)?.html().as_bytes())
}

/// Refuses to write results of a checkpoint into the folder of a run that has finished in the meantime.
pub(crate) fn refuse_late(folder: &Path, finished: &Finished) -> Result<()> {
    if finished.summary.unfinished && Stored::open(folder)?.has_come_to_its_end() {
        bail!(
            "the run in {} has finished in the meantime; repeat the command to show its results",
            folder.display()
        );
    }
    Ok(())
}

/// Writes the figures and returns the names of their files.
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
    let mark = summary.mark();
    let lead = mark.as_ref().map_or(lead.to_owned(), |mark| format!("{lead}; {mark}"));
    let title = match mark.as_ref().and_then(|mark| mark.split_once(':')) {
        Some((mark, _)) => format!("{} ({mark})", summary.target),
        None => summary.target.clone(),
    };
    let mut blocks = vec![judgement(&summary.verdict, summary.sight.as_deref())];
    blocks.extend(summary.warnings.iter().cloned().map(Block::Warning));
    blocks.push(Block::SideBySide(tables(summary)));
    blocks.extend(figures.into_iter().map(Block::Figure));
    blocks.push(Block::Details {
        summary: "Settings (run.toml)".to_owned(),
        text: finished.told.clone(),
    });
    Ok(Page {
        title,
        lead,
        blocks,
        footer: format!(
            "adaann {}, {} thread{}, {}. {}",
            summary.version,
            summary.threads,
            if summary.threads == 1 { "" } else { "s" },
            summary.instructions,
            match summary.unfinished {
                true => "From the last checkpoint of a run without an answer.",
                false => "Draws are in draws.csv, all numbers in summary.json.",
            }
        ),
        contents: false,
    })
}

/// The verdict with its reasons and remedies.
fn judgement(verdict: &Verdict, sight: Option<&str>) -> Block {
    let mut points = Vec::new();
    for Advice { findings, remedy } in advice(verdict) {
        points.extend(findings.iter().map(|finding| (*finding).to_owned()));
        if let Some(last) = points.last_mut() {
            *last += &format!("; **try:** {remedy}");
        }
    }
    points.extend(more(verdict));
    points.extend(coverage(verdict, sight).map(|words| format!("**search coverage:** {words}")));
    Block::Judgement {
        tone: match verdict.trust {
            Trust::Reliable => Tone::Good,
            Trust::Local => Tone::Partial,
            Trust::Care => Tone::Doubtful,
            Trust::Distrust => Tone::Bad,
        },
        title: format!("Verdict: {}", verdict.trust),
        points,
    }
}
