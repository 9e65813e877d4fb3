//! One line on what was run.

use crate::folder::record::Record;
use adaann::{
    Settings,
    schedule::{AdaAnn, Guarded, Schedule},
};

/// One line on what was run; the seed is the one that was kept.
pub(crate) fn title(record: &Record, seed: u64) -> String {
    let Settings { flow, schedule, .. } = &record.settings;
    let annealing = match schedule {
        Schedule::None => "no annealing".to_owned(),
        Schedule::AdaAnn(AdaAnn { t0, tau }) | Schedule::Guarded(Guarded { t0, tau, .. }) => {
            format!("{} from t {t0} with tau {tau}", schedule.name())
        }
        other => format!("{} schedule", other.name()),
    };
    let layers = flow.layers();
    format!("{}: {} flow of {layers} layers, {annealing}, seed {seed}", record.target, flow.label())
}
