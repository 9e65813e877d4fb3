//! The tables and figures of the paper, computed from the trials, with one chapter for each example.

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

use crate::Result;
use crate::{
    campaign::{Plan, Results},
    experiments::Example,
    trial::{CAPTURED, DRAWS, REACH},
};
use adaann_report::{Block, Page};
use view::View;

/// The whole page.
///
/// # Errors
/// If a saved flow cannot be read.
pub fn page(examples: &[Example], plan: &Plan, results: &Results, machine: &str) -> Result<Page> {
    let view = View::new(examples, plan, results);
    let mut blocks = vec![Block::Text(format!(
        "Every number here was computed by `adaann paper` from the settings in the paper, which are \
         listed in the project's file `experiments.toml`; runs marked (ours) go beyond it. A trial \
         **captures the modes** if of {} draws at least {:.0} per cent lie within {REACH:.0} standard \
         deviations of its component around each mode. Rates for thresholds of 1 and 20 per cent stand in \
         brackets where they differ. Each trial runs on one thread, with a seed of its own, which is in \
         `results.json` with all that was measured. CPU seconds are the processor time of a fit; KL is \
         KL(q||p) in nats, from those draws.",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{self, Run, Size},
        trial::{Measured, Quality, Trial},
    };
    use std::collections::BTreeMap;

    fn plan(examples: &[&str]) -> Plan {
        let examples = examples.iter().map(ToString::to_string).collect();
        Plan { size: Size::Full, trials: Some(2), large_trials: Some(1), examples }
    }

    /// Two trials of every run with the given outcome.
    fn results(
        examples: &[Example],
        plan: &Plan,
        outcome: impl Fn(&Run) -> std::result::Result<Measured, String>,
    ) -> Results {
        let trials_of = |run: &Run| -> Vec<Trial> {
            let numbers = 1..=plan.trials(run);
            let trial = |value, number| Trial {
                value,
                number,
                seed: 1,
                fingerprint: 0,
                outcome: outcome(run),
                cpu_seconds: 0.5,
            };
            let of_point = |value| numbers.clone().map(move |number| trial(value, number));
            run.points.iter().flat_map(|point| of_point(point.value)).collect()
        };
        let all: BTreeMap<_, _> =
            plan.runs(examples).map(|run| (run.id.clone(), trials_of(run))).collect();
        Results::new(all, "nowhere".into())
    }

    fn measured(masses: [f64; 2], kl: Option<f64>) -> Measured {
        let quality = Quality { masses: masses.to_vec(), weights: masses.to_vec(), kl, lost: 0 };
        Measured {
            steps: 400,
            updates: 3_000,
            updates_before_1: 2_900,
            evaluations: 123_456,
            on_arrival: quality.clone(),
            at_end: quality,
            modes: vec![None, None],
        }
    }

    fn text(examples: &[Example], plan: &Plan, results: &Results) -> String {
        let page = page(examples, plan, results, "a machine").unwrap();
        let text = page.markdown(&|figure| figure.name.clone());
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
        assert!(!page.html().contains("NaN"));
        text
    }

    /// The page shows failures even if all trials failed.
    #[test]
    fn a_page_of_failures_is_a_page() {
        let examples = experiments::all();
        for id in ["ex1", "ex2", "ex3", "ex4", "ex5"] {
            let plan = plan(&[id]);
            let failed = results(&examples, &plan, |_| Err("it exploded".into()));
            let text = text(&examples, &plan, &failed);
            assert!(text.contains("it exploded") && text.contains("0 of"), "{text}");
        }
    }

    #[test]
    fn rates_and_medians_are_those_of_the_trials() {
        let examples = experiments::all();
        let plan = plan(&["ex2", "ex3"]);
        let annealed = |run: &Run| run.kind != experiments::Kind::None;
        let found = results(&examples, &plan, |run| match annealed(run) {
            true => Ok(measured([0.5, 0.45], Some(0.125))),
            // A collapsed flow, whose KL is log 2.
            false => Ok(measured([1.0, 0.0], Some(0.693))),
        });
        let text = text(&examples, &plan, &found);
        // Two schedules, two trials, eleven and eight values.
        assert!(
            text.contains("AdaAnn does in **38 of 38** trials and linear in **38 of 38**"),
            "{text}"
        );
        assert!(text.contains("from mu = 3 on is captured in 0 of 36 trials"), "{text}");
        assert!(text.contains("0.125"), "the KL of the table of weights or of schedules");
        let lost = results(&examples, &plan, |_| Ok(measured([0.98, 0.02], None)));
        let text = self::text(&examples, &plan, &lost);
        // Two per cent: not captured, but for the threshold of one.
        assert!(text.contains("0 (100, 0)"), "{text}");
    }

    #[test]
    fn a_lost_flow_is_an_error_that_names_it() {
        let examples = experiments::all();
        let plan = plan(&["ex1"]);
        let found = results(&examples, &plan, |_| Ok(measured([0.5, 0.5], Some(0.1))));
        let error = page(&examples, &plan, &found, "").unwrap_err();
        assert!(format!("{error:#}").contains("ex1-bimodal-none-1"), "{error:#}");
    }
}
