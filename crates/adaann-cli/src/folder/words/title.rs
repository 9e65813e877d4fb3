//! The title of a run.

use crate::folder::{record::Record, summary::Summary};
use adaann::{
    Settings,
    answer::{Method, Plan},
    schedule::{AdaAnn, Guarded, Schedule},
};

/// One line with the target, the method that found the answer, and the seed of the best fit.
pub(crate) fn title(record: &Record, summary: &Summary) -> String {
    let (target, seed) = (&record.target, summary.seed);
    match &record.plan {
        Plan::Adaann(settings) => format!("{target}: {}, seed {seed}", annealed(settings)),
        Plan::Answer(settings) => {
            let by = match settings.method {
                Method::Ladder => format!("ladder, answered by {}", summary.method.name()),
                asked => format!("method {}", asked.name()),
            };
            format!("{target}: {by}, seed {seed}")
        }
    }
}

fn annealed(settings: &Settings) -> String {
    let Settings { flow, schedule, .. } = settings;
    let annealing = match schedule {
        Schedule::None => "no annealing".to_owned(),
        Schedule::AdaAnn(AdaAnn { t0, tau }) | Schedule::Guarded(Guarded { t0, tau, .. }) => {
            format!("{} from t {t0} with tau {tau}", schedule.name())
        }
        other => format!("{} schedule", other.name()),
    };
    format!("{} flow of {} layers, {annealing}", flow.label(), flow.layers())
}
