//! Equivariance: shifting, scaling, rotating or reflecting a target, or exchanging its coordinates, must not change the
//! quality of answers.

use super::{
    HonestyOptions,
    classes::{Instance, of_recipe},
    maps::Map,
    mixtures,
    outcome::Outcome,
    recipe::Recipe,
};
use crate::dice::Dice;
use crate::ladder::{hidden::Hiding, run_all, subject::Subject};
use std::{fmt::Write, io};

/// The number of mixtures.
const INSTANCES: usize = 10;

/// The length of a shift, in standard deviations of the first component.
const SHIFT: f64 = 100.0;

const LAWS: [&str; 7] = [
    "as drawn",
    "shifted by 100 SDs",
    "scaled by 1000",
    "scaled by 0.001",
    "rotated",
    "reflected",
    "coordinates exchanged",
];

/// Shares of right answers that differ by more standard errors than this violate equivariance.
const ERRORS: f64 = 3.0;

/// Runs the first mixtures without a box, original and mapped, with every seed, and prints the shares of right answers.
/// `--from` gives the first mixture and the first seed.
pub(crate) fn run(options: &HonestyOptions) -> io::Result<()> {
    let recipes: Vec<Recipe> = (options.trials.first..)
        .map(mixtures::recipe)
        .filter(|recipe| recipe.mapped(&Map::identity(recipe.dim())).is_some())
        .take(INSTANCES)
        .collect();
    let mut instances = Vec::new();
    for law in LAWS {
        for (at, recipe) in recipes.iter().enumerate() {
            let mapped = recipe.mapped(&map(law, recipe, at)).expect("no box");
            for seed in options.trials.seeds() {
                // Hide the formula: the search would find its terms at any location.
                instances.push(of_recipe(law, seed, mapped.clone()).hidden(Hiding::Formulas));
            }
        }
    }
    let runs: Vec<(&Subject, u64)> =
        instances.iter().map(|instance| (&instance.subject, instance.seed)).collect();
    let found = run_all(&runs, options.jobs, options.limit, options.explain)?;
    let outcomes: Vec<Outcome> = instances
        .iter()
        .zip(&found)
        .map(|(instance, run): (&Instance, _)| Outcome::new(instance, run))
        .collect();
    let page = page(&outcomes, options.trials.seeds as usize);
    options.trials.publish_as("honesty --laws", "honesty-laws", &page)
}

fn map(law: &str, recipe: &Recipe, at: usize) -> Map {
    let dim = recipe.dim();
    let mut dice = Dice::new(law, at as u64);
    let identity = Map::identity(dim);
    match law {
        "shifted by 100 SDs" => {
            let length = SHIFT * recipe.parts[0].width;
            let shift = dice.direction(dim).iter().map(|x| length * x).collect();
            Map { shift, ..identity }
        }
        "scaled by 1000" => Map { scale: 1e3, ..identity },
        "scaled by 0.001" => Map { scale: 1e-3, ..identity },
        "rotated" => Map { orthogonal: Some(dice.rotation(dim)), ..identity },
        "reflected" => Map::reflection(dim, &mut dice),
        "coordinates exchanged" => Map::exchange(dim, &mut dice),
        _ => identity,
    }
}

/// A row for each map. Outcomes are grouped by map, and within it by instance.
fn page(outcomes: &[Outcome], seeds: usize) -> String {
    let mut page = String::from(
        "| target | runs | right | reliable | reliable and wrong | share right | less that as drawn | the law |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let of = |law: &str| -> Vec<&Outcome> {
        outcomes.iter().filter(|outcome| outcome.class == law).collect()
    };
    let drawn = shares(&of(LAWS[0]), seeds);
    for law in LAWS {
        let own = of(law);
        let count = |is_counted: fn(&Outcome) -> bool| own.iter().filter(|o| is_counted(o)).count();
        let right = count(Outcome::is_right);
        let (difference, error) = difference(&shares(&own, seeds), &drawn, seeds);
        let holds = if difference.abs() <= ERRORS * error { "holds" } else { "BROKEN" };
        let compared = if law == LAWS[0] {
            "- | -".to_owned()
        } else {
            format!("{difference:+.3} ± {error:.3} | {holds}")
        };
        writeln!(
            page,
            "| {law} | {} | {right} | {} | {} | {:.3} | {compared} |",
            own.len(),
            count(Outcome::is_reliable),
            count(Outcome::is_reliable_and_wrong),
            right as f64 / own.len().max(1) as f64,
        )
        .expect("memory takes all");
    }
    page
}

/// The share of right answers of each instance.
fn shares(outcomes: &[&Outcome], seeds: usize) -> Vec<f64> {
    let right = |runs: &[&Outcome]| runs.iter().filter(|run| run.is_right()).count();
    outcomes.chunks(seeds).map(|runs| right(runs) as f64 / runs.len() as f64).collect()
}

/// The mean difference of shares and its standard error. Both sides have the same instances, so only the seeds are
/// random. Adding half a success and half a failure keeps the error of a few equal runs above 0.
fn difference(shares: &[f64], drawn: &[f64], seeds: usize) -> (f64, f64) {
    let (count, n) = (shares.len().max(1) as f64, seeds as f64);
    let variance = |share: &f64| {
        let smoothed = (share * n + 0.5) / (n + 1.0);
        smoothed * (1.0 - smoothed) / n
    };
    let differences = shares.iter().zip(drawn).map(|(share, drawn)| share - drawn);
    let variances: f64 = shares.iter().chain(drawn).map(variance).sum();
    (differences.sum::<f64>() / count, variances.sqrt() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_breaks_by_more_than_chance() {
        let always = vec![1.0; 10];
        let (none, error) = difference(&always, &always, 5);
        // Two shares of 5.5/6 with five runs each, over ten instances.
        let wanted = (2.0 * 10.0 * (5.5 / 6.0) * (0.5 / 6.0) / 5.0_f64).sqrt() / 10.0;
        assert!(none == 0.0 && (error - wanted).abs() < 1e-12, "{error}");
        let (half, error) = difference(&[0.5; 10], &always, 4);
        assert!(half == -0.5 && half.abs() > ERRORS * error);
    }

    #[test]
    fn the_table_compares_with_the_targets_as_drawn() {
        let outcome = |class, is_right| {
            let found = super::super::outcome::Found {
                is_right,
                trust: None,
                power: None,
                modes_found: 1.0,
                evaluations: 1.0,
                seconds: 1.0,
            };
            Outcome { class, dim: 2, log10_ratio: None, found: Some(found) }
        };
        let of = |law: &'static str, is_right| (0..40).map(move |_| outcome(law, is_right));
        let outcomes: Vec<Outcome> =
            (LAWS.iter()).flat_map(|law| of(law, *law != "rotated")).collect();
        let page = page(&outcomes, 4);
        assert_eq!(page.matches("BROKEN").count(), 1);
        assert!(page.contains("| rotated | 40 | 0 | 0 | 0 | 0.000 | -1.000"));
        assert!(page.contains("| reflected | 40 | 40 | 0 | 0 | 1.000 | +0.000"));
    }
}
