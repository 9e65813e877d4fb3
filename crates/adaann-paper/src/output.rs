//! Writes the output folder: page, figures, tables and results.

use crate::{
    Error, Result,
    campaign::Results,
    trial::{Measured, Trial},
};
use adaann_report::{Block, Page, Table};
use serde::Serialize;
use std::{collections::BTreeMap, fs, path::Path};

/// A trial without its time, which is not reproducible.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Stripped<'a> {
    value: Option<f64>,
    number: usize,
    seed: u64,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome<'a> {
    Measured(&'a Measured),
    Failure(&'a str),
}

/// Writes `index.html`, `paper.md`, `figures/`, `tables/`, `results.json` and `times.json`.
///
/// Everything except the times, and the tables that show them, depends only on the settings and seeds.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, page: &Page, results: &Results) -> Result<()> {
    for name in ["figures", "tables"] {
        let path = folder.join(name);
        // Remove files of an earlier page that this page does not contain.
        if path.is_dir() {
            fs::remove_dir_all(&path)
                .map_err(|cause| Error::Replace { path: path.display().to_string(), cause })?;
        }
        fs::create_dir_all(&path)
            .map_err(|cause| Error::Create { path: path.display().to_string(), cause })?;
    }
    let put = |name: &str, bytes: &[u8]| adaann::support::file::write(&folder.join(name), bytes);
    put("results.json", &results_json(results))?;
    put("times.json", &times_json(results))?;
    for block in &page.blocks {
        match block {
            Block::Figure(figure) => {
                put(&format!("figures/{}.svg", figure.name), figure.svg().as_bytes())?;
                put(&format!("figures/{}.png", figure.name), &figure.png()?)?;
            }
            Block::Table(table) => put_table(&put, table)?,
            Block::SideBySide(tables) => tables.iter().try_for_each(|t| put_table(&put, t))?,
            _ => {}
        }
    }
    let markdown = page.markdown(&|figure| format!("figures/{}.svg", figure.name));
    put("paper.md", markdown.as_bytes())?;
    put("index.html", page.html().as_bytes())?;
    Ok(())
}

fn put_table(put: &dyn Fn(&str, &[u8]) -> adaann::Result<()>, table: &Table) -> Result<()> {
    Ok(put(&format!("tables/{}.csv", slug(&table.caption)), table.csv().as_bytes())?)
}

/// A caption as a file name.
fn slug(caption: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let text: String = caption.chars().map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join("-")
}

fn results_json(results: &Results) -> Vec<u8> {
    let strip = |trial: &Trial| -> serde_json::Value {
        let outcome = match &trial.outcome {
            Ok(measured) => Outcome::Measured(measured),
            Err(failure) => Outcome::Failure(failure),
        };
        let Trial { value, number, seed, .. } = *trial;
        serde_json::to_value(Stripped { value, number, seed, outcome }).expect("plain numbers")
    };
    let all: BTreeMap<_, Vec<_>> =
        results.all().iter().map(|(id, trials)| (id, trials.iter().map(strip).collect())).collect();
    serde_json::to_vec_pretty(&all).expect("plain data")
}

fn times_json(results: &Results) -> Vec<u8> {
    let all: BTreeMap<_, Vec<_>> = results
        .all()
        .iter()
        .map(|(id, trials)| (id, trials.iter().map(|trial| trial.cpu_seconds).collect()))
        .collect();
    serde_json::to_vec_pretty(&all).expect("plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_become_file_names() {
        assert_eq!(slug("Both modes captured, planar flows"), "both-modes-captured-planar-flows");
        assert_eq!(slug("../../etc: mu = 0.5"), "etc-mu-0-5");
    }
}
