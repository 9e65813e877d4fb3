//! What the user should know about a run, in words, with what to try.

use crate::folder::summary::{ModeWeight, Parameter, SplitShare, Summary};
use adaann::{diagnostics::thresholds::is_mode_lost, fit::Outcome};

/// Warnings of a schedule that are kept; a flow that has collapsed may cause one at every step.
const MOST_WARNINGS: usize = 5;

/// What to try then, if the run was annealed.
const FOR_LOST_MODES: &str = "try a smaller --tau or --t0, more --updates or a wider --base-sd";

/// What to try then, if it was not.
const WITHOUT_ANNEALING: &str = "anneal, with --schedule adaann";

/// A divergence that is called large, in nats: a lost half of the mass is 0.7, and a run that ends
/// well on the targets here stays below.
const LARGE_KL: f64 = 1.0;

/// A standard deviation off by more than this factor, either way, is called wrong.
const WRONG_SPREAD: f64 = 3.0;

/// A share of points without a density at t = 1 that is worth a warning. On the way there it is not:
/// a wide start has points outside the support, or trajectories that explode.
const MOST_LOST: f64 = 0.01;

/// What the user should know, in words, with what to try.
pub(crate) fn find(summary: &Summary, outcome: &Outcome) -> Vec<String> {
    let mut warnings = Vec::new();
    if summary.stopped && summary.t < 1.0 {
        warnings.push(format!(
            "the run was stopped at t = {:.4}: the flow approximates the density annealed to \
             there, not the target",
            summary.t
        ));
    } else if summary.stopped {
        warnings.push("the run was stopped before the end of its refinement".to_owned());
    }
    let remedy = if outcome.steps.len() == 1 { WITHOUT_ANNEALING } else { FOR_LOST_MODES };
    warnings.extend(lost_modes(&summary.modes, remedy));
    warnings.extend(lost_sides(&summary.splits, remedy));
    if summary.t >= 1.0 {
        warnings.extend(wrong_spreads(&summary.parameters));
        warnings.extend(large_kl(summary.true_kl));
    }
    if summary.lost.at_1 > MOST_LOST || summary.lost.draws > MOST_LOST {
        warnings.push(format!(
            "{:.1} per cent of the training's points at t = 1 and {:.1} per cent of the draws lie \
             where the density is 0 or not a number; they are left out",
            100.0 * summary.lost.at_1,
            100.0 * summary.lost.draws
        ));
    }
    if summary.skipped_updates > 0 {
        warnings.push(format!(
            "{} of {} updates were skipped because their gradient was not finite; try a lower \
             --lr, or --clip",
            summary.skipped_updates, summary.updates
        ));
    }
    warnings.extend(outcome.warnings.iter().take(MOST_WARNINGS).map(ToString::to_string));
    if outcome.warnings.len() > MOST_WARNINGS {
        warnings
            .push(format!("{} more warnings of this kind", outcome.warnings.len() - MOST_WARNINGS));
    }
    warnings
}

/// Modes that the flow does not see.
fn lost_modes(modes: &[ModeWeight], remedy: &str) -> Option<String> {
    let lost: Vec<&str> = modes
        .iter()
        .filter(|mode| is_mode_lost(mode.weight_q, mode.true_weight))
        .map(|mode| mode.label.as_str())
        .collect();
    match lost[..] {
        [] => None,
        [one] => Some(format!("the flow has lost the mode at {one}; {remedy}")),
        [first, ..] => Some(format!(
            "the flow has lost {} of {} modes, that at {first} among them; {remedy}",
            lost.len(),
            modes.len()
        )),
    }
}

/// Coordinates of which the flow sees only one side.
fn lost_sides(splits: &[SplitShare], remedy: &str) -> Option<String> {
    let one_sided = |split: &&SplitShare| {
        is_mode_lost(split.above_q, split.true_above)
            || is_mode_lost(1.0 - split.above_q, 1.0 - split.true_above)
    };
    let lost = splits.iter().filter(one_sided).count();
    (lost > 0).then(|| {
        format!(
            "the flow has lost one of the two sides in {lost} of {} coordinates; \
             {remedy}",
            splits.len()
        )
    })
}

/// A divergence that is known and far from 0.
fn large_kl(kl: Option<f64>) -> Option<String> {
    let kl = kl.filter(|kl| kl.is_nan() || *kl > LARGE_KL)?;
    Some(format!(
        "KL(q||p) is {kl:.1} nats: the flow has lost a part of the density, or draws where it is \
         next to 0, as between two modes; try several --seeds or more --refine"
    ))
}

/// Coordinates whose standard deviation is known and far from that of the draws.
fn wrong_spreads(parameters: &[Parameter]) -> Option<String> {
    // How far apart they are, as a factor; NaN draws are as far as can be.
    let factor = |sd: f64, truth: f64| {
        let ratio = sd / truth;
        if ratio.is_nan() { f64::INFINITY } else { ratio.max(1.0 / ratio) }
    };
    let spread = |p: &Parameter| p.sd_q.unwrap_or(f64::NAN);
    let wrong: Vec<_> = parameters
        .iter()
        .filter_map(|p| Some((p, p.true_sd.filter(|sd| *sd > 0.0 && sd.is_finite())?)))
        .filter(|(p, truth)| factor(spread(p), *truth) > WRONG_SPREAD)
        .collect();
    let (worst, truth) = wrong
        .iter()
        .max_by(|(a, x), (b, y)| factor(spread(a), *x).total_cmp(&factor(spread(b), *y)))?;
    let others = match wrong.len() - 1 {
        0 => String::new(),
        1 => ", and that of one more coordinate is off as well".to_owned(),
        more => format!(", and those of {more} more coordinates are off as well"),
    };
    Some(format!(
        "the flow's sd of {} is {:.3}, but {truth:.3} is known to be right{others}; try several --seeds, \
         a smaller --tau or more --layers",
        worst.name,
        spread(worst)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, sd: f64, true_sd: Option<f64>) -> Parameter {
        Parameter { sd_q: Some(sd), true_sd, ..Parameter::new(name, &[], &[]) }
    }

    #[test]
    fn large_divergences_are_told() {
        assert_eq!(large_kl(None), None);
        assert_eq!(large_kl(Some(0.7)), None);
        assert!(large_kl(Some(7.24)).unwrap().starts_with("KL(q||p) is 7.2 nats"));
        assert!(large_kl(Some(f64::NAN)).is_some());
    }

    #[test]
    fn spreads_are_wrong_beyond_a_factor_of_three() {
        let near = || [parameter("a", 2.9, Some(1.0)), parameter("b", 0.34, Some(1.0))];
        assert_eq!(wrong_spreads(&near()), None);
        assert_eq!(wrong_spreads(&[parameter("a", 9.0, None)]), None);
        for (sd, start) in [
            (
                3.2,
                "the flow's sd of c is 3.200, but 1.000 is known to be right; try several --seeds",
            ),
            (0.3, "the flow's sd of c is 0.300, but 1.000"),
            (0.0, "the flow's sd of c is 0.000, but 1.000"),
            (f64::NAN, "the flow's sd of c is NaN, but 1.000"),
        ] {
            let [a, b] = near();
            let said = wrong_spreads(&[a, parameter("c", sd, Some(1.0)), b]).unwrap();
            assert!(said.starts_with(start), "{said}");
        }
        let several = [parameter("a", 4.0, Some(1.0)), parameter("b", 0.1, Some(1.0))];
        let said = wrong_spreads(&several).unwrap();
        assert!(said.starts_with("the flow's sd of b is 0.100"), "{said}");
        assert!(said.contains("and that of one more coordinate"), "{said}");
    }
}
