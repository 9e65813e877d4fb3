//! One trial: parameters from the prior, data from them, a fit, and the ranks of the parameters.

use crate::answer::{self, Event, Observer, Plan, approximate};
use crate::approximation::Approximation;
use crate::fit::{self, fit};
use crate::model::{Model, Replicate};
use crate::rng::{Purpose, Stream};
use crate::{Batch, Result, error};

/// The name of the log density among the ranked values. The log density depends on the data and the parameters do
/// not: draws from the prior in place of the posterior give uniform ranks for every parameter, but not for it.
pub const LOG_P: &str = "log_p";

/// Number of weighted draws of an annealed flow from which `draws` are resampled: enough that few are chosen
/// twice.
pub fn weighted(draws: usize) -> usize {
    (4 * draws).max(4_000)
}

/// Separates a trial's own random numbers from those of the particles of a fit with the same seed.
const RANK_SEED: u64 = 0x517c_c1b7_2722_0a95;

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trial {
    /// How many of the draws are below the truth, in the order of [`names`].
    pub ranks: Vec<usize>,
    /// Shape of the tail of the weights p/q.
    pub k_hat: f64,
    /// Effective sample size as a share of the weighted draws.
    pub ess_share: f64,
}

/// The names of the ranked values: the target's coordinates, then log p.
pub fn names(model: &Model) -> Vec<String> {
    let mut names = model.target().names();
    names.push(LOG_P.to_owned());
    names
}

/// The seed of a trial, by its number; seeds of neighbouring trials are unrelated.
pub fn seed_of(seed: u64, number: usize) -> u64 {
    // Steele, Lea and Flood's SplitMix64.
    let mut x = seed.wrapping_add((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Runs a trial. All random numbers come from `seed`; the seed of the plan is ignored, and no check is run. Ranks
/// are among `draws` draws of the fit, corrected by importance weights. Returns None if the observer stops the
/// fit.
///
/// # Errors If no data can be simulated, the fit fails, or no draw has a finite density.
pub fn trial(
    model: &Model,
    plan: &Plan,
    draws: usize,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Trial>> {
    error::at_least_one("draws", draws)?;
    let Replicate { model, truth } = model.replicate(seed)?;
    let target = &*model.target();
    let (approximation, sample) = match plan.clone().with_seed(seed) {
        Plan::Adaann(settings) => {
            let mut watch = |event: &fit::Event| observer.observe(&Event::Fit(event));
            let outcome = fit(target, &settings, &mut watch)?.whole()?;
            if outcome.stopped {
                return Ok(None);
            }
            let approximation = outcome.approximation(target)?;
            let sample = approximation.sample(weighted(draws), seed)?;
            (approximation, sample)
        }
        Plan::Answer(settings) => {
            let settings = answer::Settings { check: 0.0, ..settings };
            let answer = approximate(target, &settings, observer)?;
            if answer.stopped {
                return Ok(None);
            }
            (Approximation::new(target, answer.flow)?, answer.sample)
        }
    };
    let k_hat = sample.smoothed()?.k_hat;
    let ess_share = sample.weight_sums()?.ess_share();
    let chosen = sample.resampled(draws, seed ^ RANK_SEED);
    // Number 0 of the stream was used to choose the draws.
    let stream = Stream::new(seed ^ RANK_SEED, Purpose::MonteCarlo);
    let log_p = approximation.log_p(&Batch::from_points(truth.len(), &[&truth]))?[0];
    let rows = (0..truth.len()).map(|d| (truth[d], chosen.x().row(d)));
    let ranks = rows.chain([(log_p, chosen.log_p())]).enumerate();
    let ranks = ranks.map(|(i, (truth, own))| rank(truth, own, stream.uniform_at(1 + i as u64)));
    Ok(Some(Trial { ranks: ranks.collect(), k_hat, ess_share }))
}

/// The number of draws below the truth. Among draws that equal the truth, `uniform`, a number between 0 and 1,
/// chooses the rank.
///
/// ```
/// use adaann::calibrate::rank;
///
/// assert_eq!(rank(2.5, &[1.0, 2.0, 3.0], 0.9), 2);
/// assert_eq!([0.1, 0.4, 0.9].map(|u| rank(2.0, &[1.0, 2.0, 2.0, 3.0], u)), [1, 2, 3]);
/// ```
pub fn rank(truth: f64, draws: &[f64], uniform: f64) -> usize {
    let below = draws.iter().filter(|&&draw| draw < truth).count();
    let ties = draws.iter().filter(|&&draw| draw == truth).count();
    below + ((uniform * (ties + 1) as f64) as usize).min(ties)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Method;
    use crate::fit::Settings;
    use crate::flow::FlowSpec;
    use crate::importance::pareto;
    use crate::schedule::Work;
    use crate::simd::Special;

    #[test]
    fn ties_share_their_places() {
        assert_eq!(rank(1.0, &[], 0.7), 0);
        let places: Vec<usize> =
            (0..6).map(|i| rank(5.0, &[5.0, 9.0, 5.0], (i as f64 + 0.5) / 6.0)).collect();
        assert_eq!(places, [0, 0, 1, 1, 2, 2]);
        assert_eq!(rank(5.0, &[5.0], 1.0), 1);
    }

    #[test]
    fn seeds_differ_by_trial_and_by_seed() {
        let mut seeds: Vec<u64> =
            (0..3).flat_map(|seed| (0..1000).map(move |i| seed_of(seed, i))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 3000);
    }

    const DRAWS: usize = 99;

    /// A normal mean with a known spread: the posterior is normal, so each rank is known up to the sampling noise
    /// of the draws.
    #[test]
    fn ranks_are_those_among_draws_of_the_exact_posterior() {
        let text = "[data]\ny = [0, 0, 0, 0]\n[parameters]\nmu = \"normal(1, 2)\"\n\
                    [likelihood]\ny = \"normal(mu, 1.5)\"\n";
        let model = Model::parse("mean.toml", text).unwrap();
        assert_eq!(names(&model), ["mu", "log_p"]);
        let adaann = Settings {
            work: Work { warmup: 50, anneal: 5, refine: 150 },
            samples: 32,
            refine_samples: 64,
            variance_samples: 64,
            ..model.settings().with_flow(FlowSpec::named("linear").unwrap())
        };
        for plan in [Plan::Adaann(Box::new(adaann)), model.plan()] {
            assert_ranks(&model, &plan);
        }
    }

    fn assert_ranks(model: &Model, plan: &Plan) {
        let (mut sum, mut variance) = (0.0, 0.0);
        for number in 0..12 {
            let seed = seed_of(1, number);
            let Replicate { model: made, truth } = model.replicate(seed).unwrap();
            let data = made.data().unwrap();
            let y: f64 = data.rows.iter().map(|row| row[0]).sum();
            let precision = 0.25 + 4.0 / 2.25;
            let mean = (0.25 + y / 2.25) / precision;
            let z = (truth[0] - mean) * precision.sqrt();
            let share = 0.5 * Special::Erfc.at(-z / 2.0_f64.sqrt());
            let trial = trial(model, plan, DRAWS, seed, &mut ()).unwrap().unwrap();
            // If nearly all draws count, the shape of the tail is noise.
            let is_fine = trial.k_hat < pareto::k_hat_threshold(weighted(DRAWS));
            let is_noise = plan.method() != Method::Adaann && trial.ess_share > 0.9;
            assert!(is_fine || is_noise, "{trial:?}");
            // The rank is binomial.
            let (expected, own) = (DRAWS as f64 * share, DRAWS as f64 * share * (1.0 - share));
            let difference = trial.ranks[0] as f64 - expected;
            assert!(difference.abs() < 5.0 * own.sqrt() + 1.0, "{number}: {difference}");
            sum += difference;
            variance += own;
            // log p falls with the distance from the mean: draws that are further away than the truth have a
            // lower log p.
            let further = Special::Erfc.at(z.abs() / 2.0_f64.sqrt());
            let own = DRAWS as f64 * further * (1.0 - further);
            let difference = trial.ranks[1] as f64 - DRAWS as f64 * further;
            assert!(difference.abs() < 5.0 * own.sqrt() + 1.0, "{number}: {difference}");
        }
        assert!(sum.abs() < 4.0 * variance.sqrt(), "{sum} {variance}");
    }
}
