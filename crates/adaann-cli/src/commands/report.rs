//! `adaann report`, and what `adaann run` does at its end: figures and one page from a run folder.

use crate::{
    args::ReportArgs,
    commands::density::check_out,
    folder::{figures, finished::Finished},
    text::{
        table::tables,
        title::title,
        verdict::{Advice, advice, more},
    },
};
use adaann::diagnostics::{Trust, Verdict};
use adaann_report::{Block, Figure, Page, Tone};
use anyhow::{Context, Result};
use std::{
    fs,
    io::{Write, stdout},
    path::Path,
    process::ExitCode,
};

/// Name of the page.
pub(crate) const PAGE: &str = "report.html";

/// Builds figures and page of a run again.
pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    let finished = Finished::read(&args.run)?;
    let figures = figures::draw(&finished)?;
    let place = args.out.clone().unwrap_or_else(|| args.run.join(PAGE));
    if args.out.is_none() {
        write_figures(&args.run, &figures)?;
    }
    adaann::support::file::write(&place, page(&finished, figures)?.html().as_bytes())?;
    writeln!(stdout(), "written to {}", place.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Draws what is in a run folder, and writes figures and page beside it.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let finished = Finished::read(folder)?;
    let figures = figures::draw(&finished)?;
    write_figures(folder, &figures)?;
    adaann::support::file::write(&folder.join(PAGE), page(&finished, figures)?.html().as_bytes())?;
    Ok(())
}

fn write_figures(folder: &Path, figures: &[Figure]) -> Result<()> {
    let place = folder.join("figures");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    for figure in figures {
        adaann::support::file::write(
            &place.join(format!("{}.svg", figure.name)),
            figure.svg().as_bytes(),
        )?;
        adaann::support::file::write(&place.join(format!("{}.png", figure.name)), &figure.png()?)?;
    }
    Ok(())
}

/// The page of a run.
fn page(finished: &Finished, figures: Vec<Figure>) -> Result<Page> {
    let Finished { record, summary, .. } = finished;
    let title = title(record, summary.seed);
    let lead = title.strip_prefix(&format!("{}: ", summary.target)).unwrap_or(&title);
    let mut blocks = vec![judgement(&summary.verdict)];
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
fn judgement(verdict: &Verdict) -> Block {
    let mut points = Vec::new();
    for Advice { findings, remedy } in advice(verdict) {
        points.extend(findings.iter().map(|finding| (*finding).to_owned()));
        if let Some(last) = points.last_mut() {
            *last += &format!("; **try:** {remedy}");
        }
    }
    points.extend(more(verdict));
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
