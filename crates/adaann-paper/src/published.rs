//! What the paper reports, read from `published.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The paper's numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    pub(crate) ex1: Example1,
    pub(crate) ex2: Example2,
    pub(crate) ex3: Example3,
    pub(crate) ex4: BTreeMap<String, Posterior>,
    pub(crate) ex5: Example5,
    /// tau, t_0, T_0, T, T_1, N, N_1, M of each example; 0 for a dash.
    pub(crate) hyperparameters: BTreeMap<String, [f64; 8]>,
}

/// A run of Example 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedule {
    pub(crate) steps: f64,
    pub(crate) updates: f64,
    pub(crate) minutes: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example1 {
    pub(crate) linear: Schedule,
    pub(crate) adaann: Schedule,
    /// Tolerance and steps.
    pub(crate) tolerances: Vec<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example2 {
    /// 5th percentile, median and 95th percentile of the time, by the name of the run.
    pub(crate) minutes: BTreeMap<String, [f64; 3]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example3 {
    /// 5th percentile, median and 95th percentile of the updates.
    pub(crate) adaann: [f64; 3],
    pub(crate) linear: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Posterior {
    pub(crate) steps: f64,
    pub(crate) mean: [f64; 3],
    pub(crate) sd: [f64; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moments {
    pub(crate) mean: [f64; 3],
    pub(crate) sd: [f64; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example5 {
    pub(crate) steps: f64,
    pub(crate) positive: Moments,
    pub(crate) negative: Moments,
}

/// The paper's numbers.
pub(crate) fn published() -> Published {
    toml::from_str(include_str!("../published.toml")).expect("the project's own file, tested")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{self, Run};
    use adaann::schedule::{AdaAnn, Schedule};

    fn of_paper<'a>(runs: &'a [Run], case: Option<&str>) -> &'a Run {
        let in_case = |run: &&Run| case.is_none_or(|case| run.case == case);
        let name = if runs[0].id.starts_with("ex1") { "tau-0.01" } else { "adaann" };
        runs.iter().filter(in_case).find(|run| run.name == name).unwrap()
    }

    /// The settings of the runs are those of the paper's table of hyperparameters.
    #[test]
    fn the_experiments_have_the_published_hyperparameters() {
        let published = published();
        for example in experiments::all() {
            let settings = &of_paper(&example.runs, None).points[0].settings;
            let Schedule::AdaAnn(AdaAnn { t0, tau }) = settings.schedule else {
                panic!("not AdaAnn")
            };
            let [p_tau, p_t0, warmup, anneal, refine, samples, refine_samples, variance_samples] =
                published.hyperparameters[&example.id];
            let work = &settings.work;
            assert_eq!([tau, t0], [p_tau, p_t0], "{}", example.id);
            assert_eq!(work.warmup as f64, warmup);
            assert_eq!(work.anneal as f64, anneal);
            // A dash: t = 1 is trained like the values before it.
            let expected = if refine == 0.0 { anneal } else { refine };
            assert_eq!(work.refine as f64, expected, "{}", example.id);
            assert_eq!(settings.samples as f64, samples);
            let expected = if refine_samples == 0.0 { samples } else { refine_samples };
            assert_eq!(settings.refine_samples as f64, expected);
            assert_eq!(settings.variance_samples as f64, variance_samples);
        }
    }

    #[test]
    fn every_published_time_belongs_to_a_run() {
        let examples = experiments::all();
        let runs = &examples[1].runs;
        for name in published().ex2.minutes.keys() {
            assert!(runs.iter().any(|run| run.case == "symmetric" && run.name == *name), "{name}");
        }
    }
}
