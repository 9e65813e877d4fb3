//! The paper's tables and figures, made from the trials: one chapter an example.

mod compare;
mod example1;
mod example2;
mod example3;
mod example4;
mod example5;
mod kink;
mod posterior;
mod rates;
mod summary;
mod view;

use crate::{
    campaign::{Plan, Results},
    experiments::Example,
    trial::{CAPTURED, DRAWS, REACH},
};
use adaann_report::{Block, Page};
use anyhow::Result;
use view::View;

/// The whole page.
///
/// # Errors
/// If a flow that is to be drawn cannot be read.
pub fn page(examples: &[Example], plan: &Plan, results: &Results, machine: &str) -> Result<Page> {
    let view = View::new(examples, plan, results);
    let mut blocks = vec![Block::Text(format!(
        "Every number here was computed by `adaann paper` from the settings in the paper, which are \
         listed in the project's file `experiments.toml`; what is marked **ours** goes beyond it. \
         A trial **captures the modes** if of {} draws at least {:.0} per cent lie within {REACH:.0} \
         standard deviations of its component around each mode. Rates for thresholds of 1 and 20 per \
         cent stand in brackets where they differ. Each trial has its own seed, which is in \
         `results.json`; `adaann run` with that seed repeats it.",
        crate::stats::count(DRAWS as f64),
        100.0 * CAPTURED
    ))];
    for example in examples.iter().filter(|example| plan.examples.contains(&example.id)) {
        blocks.push(Block::Heading {
            id: example.id.clone(),
            text: format!("{} ({})", example.title, example.sections),
            level: 2,
        });
        blocks.extend(match example.id.as_str() {
            "ex1" => example1::chapter(&view)?,
            "ex2" => example2::chapter(&view),
            "ex3" => example3::chapter(&view),
            "ex4" => example4::chapter(&view)?,
            _ => example5::chapter(&view)?,
        });
    }
    blocks.push(Block::Heading { id: "summary".into(), text: "Summary".into(), level: 2 });
    blocks.extend(summary::chapter(&view)?);
    Ok(Page {
        title: "AdaAnn, the paper reproduced".into(),
        lead:
            "Adaptive annealing for normalizing flows: every table and figure of the paper, beside \
               the published numbers."
                .into(),
        blocks,
        footer: machine.to_owned(),
        contents: true,
    })
}
