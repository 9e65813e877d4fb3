//! Posterior predictive checks: does a fitted model predict data like those that it was fitted to?

use adaann::{importance::Sample, model::Model};
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// The number of predicted data sets, the maximum number of values in them, and the minimum number of data sets
/// for statements about one in a hundred.
const SETS: usize = 500;
const MOST_NUMBERS: usize = 2_000_000;
const FEWEST_SETS: usize = 100;

/// A smaller share of the predicted data sets gives a warning.
const SMALL: f64 = 0.01;

/// Maximum number of warnings.
const MOST_WARNINGS: usize = 4;

/// Statistics with a smaller relative difference count as equal.
const ROUNDING: f64 = 1e-9;

/// A statistic of a measured column, compared with predicted data sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) column: String,
    pub(crate) statistic: String,
    pub(crate) observed: f64,
    /// Its mean over the predicted data sets.
    pub(crate) predicted: f64,
    /// Share of the predicted data sets in which it is at least as large.
    pub(crate) p_value: f64,
    /// Share in which it is at least as small. Equal values count in both, so that both may be near 1.
    pub(crate) p_value_below: f64,
}

/// Compares the data of a model with predictions from weighted draws. Empty if the model predicts no column of
/// the data, or too many values.
pub(crate) fn checks(model: &Model, sample: &Sample, seed: u64) -> Result<Vec<Check>> {
    let columns = model.measured();
    let numbers = model.rows() * columns.len();
    let sets = (MOST_NUMBERS / numbers.max(1)).min(SETS);
    // Invalid weights are reported elsewhere.
    if numbers == 0 || sets < FEWEST_SETS || sample.smoothed().is_err() {
        return Ok(Vec::new());
    }
    let sample = sample.resampled(sets, seed);
    let values: Vec<Option<&[f64]>> = columns.iter().map(|column| model.column(column)).collect();
    let mut observed = vec![Moments::default(); columns.len()];
    let mut predicted = vec![vec![Moments::default(); sets]; columns.len()];
    model.predict(sample.x(), None, seed, &mut |prediction| {
        let measured = values[prediction.line].map(|values| values[prediction.row]);
        if let Some(measured) =
            measured.filter(|x| !x.is_nan() && model.predicts_data(prediction.line))
        {
            observed[prediction.line].add(measured);
            let sets = predicted[prediction.line].iter_mut().zip(prediction.simulated);
            sets.for_each(|(set, &x)| set.add(x));
        }
        true
    })?;
    let mut checks = Vec::new();
    for ((column, observed), predicted) in columns.iter().zip(&observed).zip(&predicted) {
        let sets: Vec<_> = predicted.iter().map(Moments::statistics).collect();
        for (s, (statistic, value)) in observed.statistics().into_iter().enumerate() {
            let own: Vec<f64> = sets.iter().map(|set| set[s].1).collect();
            checks.extend(Check::new(column, statistic, value, &own));
        }
    }
    Ok(checks)
}

/// The warnings about unlikely statistics.
pub(crate) fn warnings(checks: &[Check]) -> Vec<String> {
    let unlikely: Vec<&Check> =
        checks.iter().filter(|check| check.p_value.min(check.p_value_below) < SMALL).collect();
    let warning = |check: &&Check| {
        let Check { column, statistic, observed, predicted, p_value, p_value_below } = *check;
        let (p, size) =
            if p_value < p_value_below { (*p_value, "large") } else { (*p_value_below, "small") };
        let share =
            if p > 0.0 { format!("only {:.1} per cent", 100.0 * p) } else { "none".to_owned() };
        format!(
            "the {statistic} of {column} is {observed:.4}, but as {size} in {share} of the data sets \
             that the model predicts, and {predicted:.4} on average; check the likelihood"
        )
    };
    let mut warnings: Vec<String> = unlikely.iter().take(MOST_WARNINGS).map(warning).collect();
    if unlikely.len() > MOST_WARNINGS {
        let more = unlikely.len() - MOST_WARNINGS;
        warnings.push(format!("{more} more statistics of the data are as unlikely"));
    }
    warnings
}

impl Check {
    /// `None` if the data has no such statistic, or too few predicted data sets have it.
    fn new(column: &str, statistic: &str, observed: f64, predicted: &[f64]) -> Option<Self> {
        let kept: Vec<f64> = predicted.iter().copied().filter(|x| x.is_finite()).collect();
        if !observed.is_finite() || kept.len() < FEWEST_SETS {
            return None;
        }
        let share = |is_so: &dyn Fn(f64, f64) -> bool| {
            let close = |x: f64| ROUNDING * observed.abs().max(x.abs());
            kept.iter().filter(|&&x| is_so(x - observed, close(x))).count() as f64
                / kept.len() as f64
        };
        Some(Self {
            column: column.to_owned(),
            statistic: statistic.to_owned(),
            observed,
            predicted: kept.iter().sum::<f64>() / kept.len() as f64,
            p_value: share(&|above, rounding| above >= -rounding),
            p_value_below: share(&|above, rounding| above <= rounding),
        })
    }
}

/// Running moments and extremes of numbers (Welford); all are NaN if one number is.
#[derive(Debug, Clone)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    smallest: f64,
    largest: f64,
}

impl Default for Moments {
    fn default() -> Self {
        let (smallest, largest) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0.0, mean: 0.0, squares: 0.0, smallest, largest }
    }
}

impl Moments {
    fn add(&mut self, x: f64) {
        self.count += 1.0;
        let before = x - self.mean;
        self.mean += before / self.count;
        self.squares += before * (x - self.mean);
        // `f64::min` and `f64::max` would ignore a NaN.
        self.smallest = if x < self.smallest || x.is_nan() { x } else { self.smallest };
        self.largest = if x > self.largest || x.is_nan() { x } else { self.largest };
    }

    fn statistics(&self) -> [(&'static str, f64); 4] {
        let Self { count, mean, squares, smallest, largest } = *self;
        let nan_if_lost = |x: f64| if mean.is_nan() { f64::NAN } else { x };
        [
            ("mean", mean),
            ("sd", (squares / (count - 1.0)).sqrt()),
            ("smallest value", nan_if_lost(smallest)),
            ("largest value", nan_if_lost(largest)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::{
        Batch,
        support::rng::{Purpose, Stream},
    };

    fn check(observed: f64, predicted: &[f64]) -> Option<Check> {
        Check::new("y", "mean", observed, predicted)
    }

    #[test]
    fn shares_count_what_is_equal_on_both_sides() {
        let mut predicted: Vec<f64> = (0..100).map(f64::from).collect();
        let made = check(97.0, &predicted).unwrap();
        assert_eq!((made.p_value, made.p_value_below, made.predicted), (0.03, 0.98, 49.5));
        // A largest value that is always 1 is not unlikely.
        let same = check(1.0, &[1.0 + 1e-13; 100]).unwrap();
        assert_eq!((same.p_value, same.p_value_below), (1.0, 1.0));
        assert!(warnings(&[made, same]).is_empty());
        predicted[3] = f64::NAN;
        assert_eq!(check(5.0, &predicted), None, "99 are too few");
        assert_eq!(check(f64::NAN, &[1.0; 200]), None);
    }

    #[test]
    fn both_tails_are_warned_of() {
        let predicted: Vec<f64> = (0..200).map(f64::from).collect();
        let both = [-1.0, 250.0].map(|observed| check(observed, &predicted).unwrap());
        let said = warnings(&both);
        assert!(said[0].contains("as small in none of"), "{said:?}");
        assert!(said[1].contains("as large in none of"), "{said:?}");
        let many = vec![both[0].clone(); 9];
        assert_eq!(
            warnings(&many).last().unwrap(),
            "5 more statistics of the data are as unlikely"
        );
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        let mut moments = Moments::default();
        [1.0, 6.0, 2.0].into_iter().for_each(|x| moments.add(x));
        let [mean, sd, smallest, largest] = moments.statistics().map(|(_, x)| x);
        assert_eq!((mean, smallest, largest), (3.0, 1.0, 6.0));
        assert!((sd - 7f64.sqrt()).abs() < 1e-14);
        moments.add(f64::NAN);
        moments.add(0.0);
        assert!(moments.statistics().iter().all(|(_, x)| x.is_nan()));
    }

    /// The model has too little noise: the mean fits the data, but the spread does not.
    #[test]
    fn a_model_with_too_little_noise_is_found_out() {
        let text = "[data]\ny = [-3, -2, -1, 1, 2, 3]\n[parameters]\nmu = \"normal(0, 5)\"\n\
                    [likelihood]\ny = \"normal(mu, 0.5)\"\n";
        let model = Model::parse("m.toml", text).unwrap();
        // Draws of the exact posterior, whose mean is 0 and whose precision is 24.04.
        let stream = Stream::new(5, Purpose::Evaluation);
        let points: Vec<[f64; 1]> =
            (0..1000).map(|i| [stream.normal_at(i) / 24.04_f64.sqrt()]).collect();
        let points = Batch::from_points(1, &points);
        let equal = vec![0.0; 1000];
        let sample = Sample::of_draws(points.clone(), points, equal.clone(), equal).unwrap();
        let checks = checks(&model, &sample, 1).unwrap();
        let p: Vec<(&str, f64)> = checks.iter().map(|c| (&c.statistic[..], c.p_value)).collect();
        let [("mean", mean), ("sd", sd), ("smallest value", low), ("largest value", high)] = p[..]
        else {
            panic!("{p:?}")
        };
        // Six predictions lie within five standard deviations of 0.54 of their middle.
        assert!((0.3..0.7).contains(&mean) && sd == 0.0 && low == 1.0 && high == 0.0, "{p:?}");
        assert_eq!(warnings(&checks).len(), 3);
    }
}
