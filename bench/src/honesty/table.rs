//! Right answers, verdicts and claimed power by class and dimension.

use super::outcome::{Found, Outcome};
use crate::ladder::table::median;
use adaann::diagnostics::Trust;
use std::{collections::BTreeSet, fmt::Write};

const HEAD: &str = "| runs | right | right at a volume ratio of at least 1e-3 | reliable and wrong | of these below 1e-3 | reliable, local, care, distrust, unchecked, no answer | right with d up to 10: reliable | power claimed | modes found in these | modes found in all | evaluations, median | seconds, median |\n\
    |---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

/// Right answers up to this dimension are required to be reliable.
const LARGEST_DIM: usize = 10;

/// A row for each class, and then for each of its dimensions.
pub(crate) fn page(outcomes: &[Outcome]) -> String {
    let mut page = format!("| class {HEAD}");
    let mut classes: Vec<&str> = outcomes.iter().map(|outcome| outcome.class).collect();
    classes.dedup();
    for class in &classes {
        let of: Vec<&Outcome> = outcomes.iter().filter(|one| one.class == *class).collect();
        writeln!(page, "| {class} | {}", row(&of)).expect("memory takes all");
    }
    page.push_str("\nBy dimension:\n\n");
    write!(page, "| class, d {HEAD}").expect("memory takes all");
    for class in &classes {
        let of: Vec<&Outcome> = outcomes.iter().filter(|one| one.class == *class).collect();
        let dims: BTreeSet<usize> = of.iter().map(|one| one.dim).collect();
        for dim in dims {
            let own: Vec<&Outcome> = of.iter().copied().filter(|one| one.dim == dim).collect();
            writeln!(page, "| {class}, {dim} | {}", row(&own)).expect("memory takes all");
        }
    }
    page
}

fn row(outcomes: &[&Outcome]) -> String {
    let count = |is_counted: &dyn Fn(&Outcome) -> bool| {
        outcomes.iter().filter(|one| is_counted(one)).count()
    };
    let found = || outcomes.iter().filter_map(|one| one.found.as_ref());
    let trust = |trust| count(&|one| one.trust() == Some(trust));
    let small = |one: &Outcome| one.is_right() && one.dim <= LARGEST_DIM;
    let with_power: Vec<&Found> = found().filter(|found| found.power.is_some()).collect();
    let claimed = mean(with_power.iter().filter_map(|found| found.power));
    format!(
        "{} | {} | {} | {} | {} | {}, {}, {}, {}, {}, {} | {} | {claimed} | {} | {} | {:.0} | {:.2} |",
        outcomes.len(),
        count(&Outcome::is_right),
        share(count(&|one| one.is_right() && one.is_demanded()), count(&Outcome::is_demanded)),
        count(&Outcome::is_reliable_and_wrong),
        count(&|one| one.is_reliable_and_wrong() && !one.is_demanded()),
        trust(Trust::Reliable),
        trust(Trust::Local),
        trust(Trust::Care),
        trust(Trust::Distrust),
        found().filter(|found| found.trust.is_none()).count(),
        count(&|one| one.found.is_none()),
        share(count(&|one| small(one) && one.is_reliable()), count(&small)),
        mean(with_power.iter().map(|found| found.modes_found)),
        mean(found().map(|found| found.modes_found)),
        median(found().map(|found| found.evaluations)),
        median(found().map(|found| found.seconds)),
    )
}

fn share(part: usize, whole: usize) -> String {
    format!("{part} of {whole}")
}

/// The mean in per cent, or a dash without values.
fn mean(values: impl Iterator<Item = f64>) -> String {
    let (mut count, mut sum) = (0_usize, 0.0);
    values.for_each(|value| (count, sum) = (count + 1, sum + value));
    if count == 0 { "-".into() } else { format!("{:.0} %", 100.0 * sum / count as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(
        dim: usize,
        ratio: f64,
        is_right: bool,
        trust: Trust,
        power: Option<f64>,
    ) -> Outcome {
        let found = Found {
            is_right,
            trust: Some(trust),
            power,
            modes_found: if is_right { 1.0 } else { 0.5 },
            evaluations: 100.0 * dim as f64,
            seconds: dim as f64,
        };
        Outcome { class: "a", dim, log10_ratio: Some(ratio), found: Some(found) }
    }

    #[test]
    fn runs_are_counted_by_class_and_dimension() {
        let mut lost = outcome(2, -9.0, false, Trust::Care, None);
        lost.found = None;
        let outcomes = [
            outcome(2, -1.0, true, Trust::Reliable, Some(0.75)),
            // Rounding must not exclude a ratio of 10⁻³.
            outcome(2, -3.0 - 1e-12, false, Trust::Reliable, Some(1.0)),
            outcome(20, -4.0, false, Trust::Reliable, None),
            outcome(20, -1.0, true, Trust::Local, Some(0.5)),
            lost,
            Outcome { class: "b", ..outcome(3, 0.0, true, Trust::Distrust, None) },
        ];
        let page = page(&outcomes);
        let row =
            |start: &str| page.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert_eq!(
            row("| a | "),
            "| a | 5 | 2 | 2 of 3 | 2 | 1 | 3, 1, 0, 0, 0, 1 | 1 of 1 | 75 % | 83 % | 75 % | 1100 | 11.00 |"
        );
        assert_eq!(
            row("| a, 20 | "),
            "| a, 20 | 2 | 1 | 1 of 1 | 1 | 1 | 1, 1, 0, 0, 0, 0 | 0 of 0 | 50 % | 100 % | 75 % | 2000 | 20.00 |"
        );
        assert_eq!(
            row("| b | "),
            "| b | 1 | 1 | 1 of 1 | 0 | 0 | 0, 0, 0, 1, 0, 0 | 0 of 1 | - | - | 100 % | 300 | 3.00 |"
        );
    }
}
