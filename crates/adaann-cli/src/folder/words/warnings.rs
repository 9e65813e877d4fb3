//! Warnings about a run, with remedies.

use crate::folder::summary::{ModeWeight, Parameter, SplitShare, Summary};
use adaann::{
    answer::Method,
    diagnostics::thresholds::{OUTSIDE_SUPPORT, is_mode_lost},
    fit::Outcome,
};

/// Maximum number of warnings from a schedule; a collapsed flow may cause one at every step.
const MOST_WARNINGS: usize = 5;

/// The remedy for lost modes in an annealed run.
const FOR_LOST_MODES: &str = "try a smaller --tau or --t0, more --updates or a wider --base-sd";

/// The remedy for lost modes in a run without annealing.
const WITHOUT_ANNEALING: &str = "use annealing (--schedule adaann)";

/// The remedy for lost modes in a run of the ladder.
const FOR_THE_LADDER: &str = "try another --seed, a wider --base-sd or --method smc";

/// Divergences above this are reported, in nats. Losing half of the mass gives 0.7, and successful runs on
/// the registered targets stay below.
const LARGE_KL: f64 = 1.0;

/// Standard deviations that are off by more than this factor, in either direction, are reported.
const WRONG_SPREAD: f64 = 3.0;

/// All warnings about a run.
pub(crate) fn find(summary: &Summary, outcome: Option<&Outcome>) -> Vec<String> {
    let mut warnings = match summary.method {
        Method::Adaann => of_adaann(summary),
        _ => of_ladder(summary),
    };
    let told = outcome.map_or(&[][..], |outcome| &outcome.warnings);
    warnings.extend(told.iter().take(MOST_WARNINGS).map(ToString::to_string));
    if told.len() > MOST_WARNINGS {
        warnings.push(format!("{} more warnings of this kind", told.len() - MOST_WARNINGS));
    }
    warnings
}

/// Warnings about a run of the ladder, whose answer is its weighted draws.
fn of_ladder(summary: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(unfinished(summary));
    if summary.stopped && !summary.unfinished {
        warnings
            .push("the run was stopped: the answer is the best one found until then".to_owned());
    }
    let shares = summary.modes.iter().map(|mode| (mode, mode.weight)).collect::<Vec<_>>();
    warnings.extend(lost_modes("answer", &shares, FOR_THE_LADDER));
    let shares = summary.splits.iter().map(|split| (split, split.above)).collect::<Vec<_>>();
    warnings.extend(lost_sides("answer", &shares, FOR_THE_LADDER));
    warnings.extend(wrong_spreads("sd", &summary.parameters, |p| p.sd, FOR_THE_LADDER));
    if summary.lost.draws > OUTSIDE_SUPPORT.care {
        let share = 100.0 * summary.lost.draws;
        warnings.push(format!(
            "the density is 0 or NaN at {share:.1} per cent of the draws; they have weight 0"
        ));
    }
    warnings
}

/// The warning that these are the results at the last checkpoint.
fn unfinished(summary: &Summary) -> Option<String> {
    let mark = summary.mark().filter(|_| summary.unfinished)?;
    Some(format!(
        "{mark}; these are the results at the run's last checkpoint, and later ones may differ"
    ))
}

/// The warning for a run of an annealed flow that ended early.
fn end(summary: &Summary) -> Option<String> {
    let t = summary.t;
    match &summary.ended_early {
        _ if summary.unfinished => unfinished(summary),
        Some(why) => Some(format!("the run ended early, with the flow at t = {t:.4}: {why}")),
        None if summary.stopped && t < 1.0 => Some(format!(
            "the run was stopped at t = {t:.4}: the flow approximates the density at this t, not the target"
        )),
        None => summary.stopped.then(|| "the run was stopped during its refinement".to_owned()),
    }
}

/// Warnings about a run of an annealed flow.
fn of_adaann(summary: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(end(summary));
    let remedy = if summary.steps == 1 { WITHOUT_ANNEALING } else { FOR_LOST_MODES };
    let shares = summary.modes.iter().map(|mode| (mode, mode.weight_q)).collect::<Vec<_>>();
    warnings.extend(lost_modes("flow", &shares, remedy));
    let shares = summary.splits.iter().map(|split| (split, split.above_q)).collect::<Vec<_>>();
    warnings.extend(lost_sides("flow", &shares, remedy));
    if summary.t >= 1.0 {
        let spread = |p: &Parameter| p.sd_q.unwrap_or(f64::NAN);
        let remedy = "try several --seeds, a smaller --tau or more --layers";
        warnings.extend(wrong_spreads("flow's sd", &summary.parameters, spread, remedy));
        warnings.extend(large_kl(summary.true_kl));
    }
    // Below t = 1 non-finite points are harmless: a wide base has points outside the support, or with
    // diverging trajectories.
    if [summary.lost.at_1, summary.lost.draws].iter().any(|&lost| lost > OUTSIDE_SUPPORT.care) {
        warnings.push(format!(
            "the density is 0 or NaN at {:.1} per cent of the training points at t = 1 and at {:.1} per \
             cent of the draws; these points are ignored",
            100.0 * summary.lost.at_1,
            100.0 * summary.lost.draws
        ));
    }
    if summary.skipped_updates > 0 {
        warnings.push(format!(
            "{} of {} updates were skipped because their gradient was not finite; try a lower \
             --lr, or --clip (at t = 1 --refine-lr, --refine-clip)",
            summary.skipped_updates, summary.updates
        ));
    }
    warnings
}

/// The warning for lost modes, from the share of the draws in each.
fn lost_modes(who: &str, modes: &[(&ModeWeight, f64)], remedy: &str) -> Option<String> {
    let lost: Vec<&str> = modes
        .iter()
        .filter(|(mode, share)| is_mode_lost(*share, mode.true_weight))
        .map(|(mode, _)| mode.label.as_str())
        .collect();
    match lost[..] {
        [] => None,
        [one] => Some(format!("the {who} has lost the mode at {one}; {remedy}")),
        [first, ..] => Some(format!(
            "the {who} has lost {} of {} modes, including the one at {first}; {remedy}",
            lost.len(),
            modes.len()
        )),
    }
}

/// The warning for coordinates with draws on only one side, from the share above the split.
fn lost_sides(who: &str, splits: &[(&SplitShare, f64)], remedy: &str) -> Option<String> {
    let one_sided = |(split, above): &&(&SplitShare, f64)| {
        is_mode_lost(*above, split.true_above) || is_mode_lost(1.0 - above, 1.0 - split.true_above)
    };
    let lost = splits.iter().filter(one_sided).count();
    (lost > 0).then(|| {
        format!(
            "the {who} has lost one of the two sides in {lost} of {} coordinates; \
             {remedy}",
            splits.len()
        )
    })
}

/// The warning for a known divergence far from 0.
fn large_kl(kl: Option<f64>) -> Option<String> {
    let kl = kl.filter(|kl| kl.is_nan() || *kl > LARGE_KL)?;
    Some(format!(
        "KL(q||p) is {kl:.1} nats: the flow misses part of the density, or has mass where the density \
         is almost 0, as between two modes; try several --seeds or more --refine"
    ))
}

/// The warning for standard deviations that are far from their known values.
fn wrong_spreads(
    what: &str,
    parameters: &[Parameter],
    spread: impl Fn(&Parameter) -> f64,
    remedy: &str,
) -> Option<String> {
    // The ratio of the two, at least 1; infinite for NaN.
    let factor = |sd: f64, truth: f64| {
        let ratio = sd / truth;
        if ratio.is_nan() { f64::INFINITY } else { ratio.max(1.0 / ratio) }
    };
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
        1 => ", and that of one more coordinate is wrong as well".to_owned(),
        more => format!(", and those of {more} more coordinates are wrong as well"),
    };
    Some(format!(
        "the {what} of {} is {:.3}, but the exact value is {truth:.3}{others}; {remedy}",
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

    fn wrong_spreads(parameters: &[Parameter]) -> Option<String> {
        let spread = |p: &Parameter| p.sd_q.unwrap_or(f64::NAN);
        super::wrong_spreads("flow's sd", parameters, spread, "try several --seeds")
    }

    #[test]
    fn spreads_are_wrong_beyond_a_factor_of_three() {
        let near = || [parameter("a", 2.9, Some(1.0)), parameter("b", 0.34, Some(1.0))];
        assert_eq!(wrong_spreads(&near()), None);
        assert_eq!(wrong_spreads(&[parameter("a", 9.0, None)]), None);
        for (sd, start) in [
            (3.2, "the flow's sd of c is 3.200, but the exact value is 1.000; try several --seeds"),
            (0.3, "the flow's sd of c is 0.300, but the exact value is 1.000"),
            (0.0, "the flow's sd of c is 0.000, but the exact value is 1.000"),
            (f64::NAN, "the flow's sd of c is NaN, but the exact value is 1.000"),
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
