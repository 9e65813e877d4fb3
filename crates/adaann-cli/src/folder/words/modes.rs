//! Tables of modes: the modes that the check has found, and the known modes of the target.

use crate::{
    folder::summary::{FoundMode, ModeWeight},
    text::layout::{percent, shortened},
};
use adaann_report::Table;

/// Maximum number of modes in a table.
const MOST_MODES: usize = 8;

/// One table if every known mode was found exactly once, otherwise one for known and one for found modes.
/// A single found mode without known modes has no table.
pub(crate) fn tables(known: &[ModeWeight], found: &[FoundMode]) -> Vec<Table> {
    let mut tables = Vec::new();
    if is_one_to_one(known, found) {
        let truth = |mode: &FoundMode| mode.known.map(|index| percent(known[index].true_weight));
        return vec![table(found, &truth)];
    }
    if !known.is_empty() {
        tables.push(of_known(known));
    }
    if found.len() > 1 || !known.is_empty() && !found.is_empty() {
        tables.push(table(found, &|_| None));
    }
    tables
}

fn is_one_to_one(known: &[ModeWeight], found: &[FoundMode]) -> bool {
    let mut indices: Vec<_> = found.iter().filter_map(|mode| mode.known).collect();
    indices.sort_unstable();
    !known.is_empty() && indices.iter().copied().eq(0..known.len()) && found.len() == known.len()
}

fn of_known(modes: &[ModeWeight]) -> Table {
    let row = |mode: &ModeWeight| {
        let shares = [mode.weight_q, mode.weight, mode.true_weight].map(percent);
        std::iter::once(mode.label.clone()).chain(shares).collect()
    };
    let header = ["known mode at", "draws", "weighted", "truth"];
    shortened(&header, modes.iter().map(row).collect(), MOST_MODES)
}

fn table(modes: &[FoundMode], truth: &dyn Fn(&FoundMode) -> Option<String>) -> Table {
    let with = |value: f64, error: f64| format!("{} ± {}", percent(value), percent(error));
    let drawn = modes.iter().any(|mode| mode.weight_q.is_some());
    let mut header = vec!["mode at"];
    header.extend(if drawn { &["draws", "weighted"][..] } else { &["weight"] });
    let checked = modes.iter().any(|mode| mode.particles.is_some());
    let compared = modes.iter().any(|mode| truth(mode).is_some());
    header.extend(checked.then_some("particles"));
    header.extend(compared.then_some("truth"));
    let row = |mode: &FoundMode| {
        let mut row = vec![mode.label.clone()];
        row.extend(mode.weight_q.map(percent));
        row.push(with(mode.weight, mode.weight_error));
        if checked {
            let particles = mode.particles.zip(mode.particles_error);
            row.push(particles.map_or(String::new(), |(value, error)| with(value, error)));
        }
        row.extend(truth(mode));
        row
    };
    shortened(&header, modes.iter().map(row).collect(), MOST_MODES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(at: f64) -> ModeWeight {
        ModeWeight {
            location: vec![at],
            weight: 0.5,
            weight_q: 0.4,
            true_weight: 0.5,
            label: String::new(),
        }
    }

    fn found(known: Option<usize>) -> FoundMode {
        FoundMode {
            location: vec![1.0],
            weight: 0.25,
            weight_error: 0.01,
            weight_q: Some(0.5),
            particles: Some(0.375),
            particles_error: None,
            mean: None,
            covariance: None,
            label: "1.000".into(),
            known,
        }
    }

    #[test]
    fn known_modes_are_matched_only_if_each_is_found_once() {
        let two = [known(-1.0), known(1.0)];
        assert!(is_one_to_one(&two, &[found(Some(1)), found(Some(0))]));
        for others in [&[found(Some(1)), found(Some(1))][..], &[found(Some(1))], &[]] {
            assert!(!is_one_to_one(&two, others), "{others:?}");
        }
        assert!(!is_one_to_one(&two, &[found(Some(0)), found(Some(1)), found(None)]));
        assert!(!is_one_to_one(&[], &[]));
    }

    #[test]
    fn the_heaviest_are_shown_and_the_rest_counted() {
        let modes: Vec<FoundMode> = (0..11).map(|_| found(None)).collect();
        let table = table(&modes, &|_| None);
        assert_eq!(table.header, ["mode at", "draws", "weighted", "particles"]);
        assert_eq!(table.rows[0], ["1.000", "50.0%", "25.0% ± 1.0%", ""]);
        assert_eq!((table.rows.len(), table.note), (8, Some("3 more in summary.json".into())));
    }
}
