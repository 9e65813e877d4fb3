//! Means, spreads and quantiles under p from weighted draws of q, each with its Monte Carlo error.

use crate::{Error, Result, error, weight::effective_size};

/// A number and its Monte Carlo standard error.
#[derive(serde::Serialize, Debug, Clone, Copy, PartialEq, serde::Deserialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error; infinite where fewer than two draws have weight.
    pub error: f64,
}

impl Estimate {
    /// The difference from an independent estimate.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { value: self.value - other.value, error: self.error.hypot(other.error) }
    }

    /// Scales the value and its error by a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor }
    }

    /// The value in units of its standard error; 0 if the value is 0.
    pub fn z_score(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { self.value / self.error }
    }
}

/// The distribution under p of a coordinate or a derived quantity.
#[derive(serde::Serialize, Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    /// Mean.
    pub mean: Estimate,
    /// Standard deviation.
    pub sd: Estimate,
    /// Quantiles at [`QUANTILES`].
    pub quantiles: [Estimate; QUANTILES.len()],
}

/// The levels of the reported quantiles.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Levels whose error uses the bulk effective sample size; the others use that of the tails.
const MIDDLE: std::ops::RangeInclusive<f64> = 0.2..=0.8;

/// One quantity at weighted draws, in ascending order.
///
/// Errors use the delta method for self-normalised weights W. They are valid for a large effective sample
/// size, and do not cover regions that no draw has reached.
///
/// ```
/// use adaann::importance::Quantity;
///
/// let quantity = Quantity::new(&[3.0, 1.0, 2.0], &[0.25, 0.25, 0.5])?;
/// assert_eq!(quantity.mean().value, 2.0);
/// assert_eq!(quantity.quantile(0.5)?.value, 2.0);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    values: Vec<f64>,
    weights: Vec<f64>,
    /// For each draw, the sum of the weights before it and half its own.
    middles: Vec<f64>,
    /// Number of draws equivalent to one independent draw: for the mean and the bulk, and for the standard
    /// deviation and the tails.
    per_effective: [f64; 2],
}

impl Quantity {
    /// The values of a quantity at weighted draws. The weights need not be normalised. The value of a draw
    /// of weight 0 is ignored.
    ///
    /// # Errors
    /// If the numbers of weights and values differ, a weight is negative or not finite, no weight is
    /// positive, or a value with positive weight is NaN.
    pub fn new(values: &[f64], weights: &[f64]) -> Result<Self> {
        let total = total(weights, values.len())?;
        refuse_nan(values, weights)?;
        let used = values.iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let mut draws: Vec<(f64, f64)> = used.map(|(x, w)| (*x, w / total)).collect();
        draws.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (values, weights): (Vec<f64>, Vec<f64>) = draws.into_iter().unzip();
        let mut before = 0.0;
        let middle = |w: &f64| {
            before += w;
            before - 0.5 * w
        };
        let middles = weights.iter().map(middle).collect();
        Ok(Self { values, weights, middles, per_effective: [1.0; 2] })
    }

    /// Marks the draws as correlated. `per_effective` is the number of draws equivalent to one independent
    /// draw: for the mean and central quantiles, and for the standard deviation and tail quantiles. Errors
    /// grow by its square root.
    #[must_use]
    pub fn of_correlated(self, [middle, tails]: [f64; 2]) -> Self {
        Self { per_effective: [middle.max(1.0), tails.max(1.0)], ..self }
    }

    /// m = Σ W x, with variance Σ W² (x − m)² of independent draws.
    pub fn mean(&self) -> Estimate {
        let value = self.average(|x| x);
        self.estimate(value, self.error_of(self.per_effective[0], |x| x - value))
    }

    /// s = √(Σ W (x − m)²). The variance of s² is Σ W² ((x − m)² − s²)²; that of s is 1/(2 s)² times as
    /// large.
    pub fn sd(&self) -> Estimate {
        let mean = self.average(|x| x);
        let variance = self.average(|x| (x - mean).powi(2));
        let sd = variance.sqrt();
        let error = self.error_of(self.per_effective[1], |x| (x - mean).powi(2) - variance);
        self.estimate(sd, if sd == 0.0 { 0.0 } else { error / (2.0 * sd) })
    }

    /// The quantile at level `p`.
    ///
    /// Each draw lies at the centre of its weight, and the quantile is linear in p between draws. Before the
    /// first and after the last draw it is constant. With equal weights this is Hazen's quantile, type 5 of
    /// Hyndman and Fan (1996). The mass below the quantile has the standard error e = √(Σ W² (1[x ≤
    /// quantile] − p)²). The quantile's error is half the difference between the quantiles at p + e and p −
    /// e.
    ///
    /// # Errors
    /// If `p` is not between 0 and 1.
    pub fn quantile(&self, p: f64) -> Result<Estimate> {
        if !(0.0..=1.0).contains(&p) {
            return Err(error::setting("level of a quantile", p, "between 0 and 1"));
        }
        let value = self.value_at(p);
        let is_middle = MIDDLE.contains(&p);
        let per_effective = self.per_effective[usize::from(!is_middle)];
        let share = self.error_of(per_effective, |x| f64::from(u8::from(x <= value)) - p);
        let [low, high] = [p - share, p + share].map(|p| self.value_at(p));
        Ok(self.estimate(value, 0.5 * high - 0.5 * low))
    }

    /// The effective sample size, 1/Σ W² of independent draws.
    pub fn ess(&self) -> f64 {
        effective_size(1.0, self.weights.iter().map(|w| w * w).sum()) / self.per_effective[0]
    }

    /// Mean, standard deviation and quantiles at [`QUANTILES`].
    pub fn coordinate(&self) -> Coordinate {
        let quantile = |p| self.quantile(p).expect("levels are between 0 and 1");
        Coordinate { mean: self.mean(), sd: self.sd(), quantiles: QUANTILES.map(quantile) }
    }

    /// Number of draws with positive weight.
    pub fn draws(&self) -> usize {
        self.values.len()
    }

    /// Σ W f(x)
    fn average(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.values.iter().zip(&self.weights).map(|(&x, w)| w * f(x)).sum()
    }

    /// √(c Σ W² f(x)²): the standard error of Σ W f for f with mean 0, if c draws are equivalent to one.
    fn error_of(&self, per_effective: f64, f: impl Fn(f64) -> f64) -> f64 {
        let squares = self.values.iter().zip(&self.weights).map(|(&x, w)| (w * f(x)).powi(2));
        let sum: f64 = squares.sum();
        // A constant value has no error, even for correlated draws.
        if sum == 0.0 { 0.0 } else { (per_effective * sum).sqrt() }
    }

    /// With fewer than two draws the error is unknown: infinite.
    fn estimate(&self, value: f64, error: f64) -> Estimate {
        Estimate { value, error: if self.draws() < 2 { f64::INFINITY } else { error } }
    }

    /// The quantile at any level p.
    fn value_at(&self, p: f64) -> f64 {
        let after = self.middles.partition_point(|&middle| middle < p);
        let last = self.values.len() - 1;
        if after == 0 || after > last {
            return self.values[after.min(last)];
        }
        let [low, high] = [after - 1, after].map(|i| self.values[i]);
        if low == high {
            return low;
        }
        let [from, to] = [after - 1, after].map(|i| self.middles[i]);
        let t = (p - from) / (to - from);
        low * (1.0 - t) + high * t
    }
}

/// The sum of the weights of `draws` draws.
///
/// # Errors
/// If the number of weights differs, or they are not valid weights.
pub(super) fn total(weights: &[f64], draws: usize) -> Result<f64> {
    if weights.len() != draws {
        let (what, found) = (format!("weights of {draws} draws"), weights.len().to_string());
        return Err(Error::Shape { what, found, expected: draws.to_string() });
    }
    if let Some(i) = weights.iter().position(|w| !(0.0..f64::INFINITY).contains(w)) {
        let weight = format!("{} at draw {}", weights[i], i + 1);
        return Err(error::setting("weight", weight, "at least 0 and finite"));
    }
    let total = weights.iter().sum();
    if total > 0.0 && total < f64::INFINITY {
        return Ok(total);
    }
    Err(error::setting("sum of the weights", total, "positive and finite"))
}

/// # Errors
/// If a value of positive weight is NaN.
pub(super) fn refuse_nan(values: &[f64], weights: &[f64]) -> Result<()> {
    let at = values.iter().zip(weights).position(|(x, w)| x.is_nan() && *w > 0.0);
    at.map_or(Ok(()), |i| {
        Err(Error::Data(format!(
            "the value at draw {} is NaN, but the draw has a positive weight; set the weight of draws to \
             ignore to 0",
            i + 1
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(estimate: Estimate, value: f64, error: f64) {
        assert!((estimate.value - value).abs() < 1e-14, "{estimate:?} is not {value}");
        assert!((estimate.error - error).abs() < 1e-14, "{estimate:?} has not the error {error}");
    }

    #[test]
    fn differences_know_which_is_which() {
        let [a, b] = [(0.3, 0.04), (0.2, 0.03)].map(|(value, error)| Estimate { value, error });
        assert_near(a.minus(b), 0.1, 0.05);
        assert!((a.minus(b).z_score() - 2.0).abs() < 1e-13);
        assert!((b.minus(a).z_score() + 2.0).abs() < 1e-13);
        assert_eq!(Estimate { value: 0.0, error: 0.0 }.z_score(), 0.0);
    }

    #[test]
    fn three_draws_by_hand() {
        // W = 1/6, 2/6, 3/6 at 6, 3, 0: m = 2, deviations 4, 1, −2, squares 16, 1, 4: s² = 5.
        let quantity = Quantity::new(&[0.0, 6.0, 3.0], &[3.0, 1.0, 2.0]).unwrap();
        assert_near(quantity.mean(), 2.0, (16.0 + 4.0 + 36.0_f64).sqrt() / 6.0);
        let squares = (11.0_f64.powi(2) + 4.0 * 16.0 + 9.0).sqrt() / 6.0;
        assert_near(quantity.sd(), 5_f64.sqrt(), squares / (2.0 * 5_f64.sqrt()));
        assert!((quantity.ess() - 36.0 / 14.0).abs() < 1e-14);
        // The centres are 1/4, 2/3 and 11/12 at 0, 3 and 6; p = 11/24 is halfway to 3.
        let below = (13.0 / 24.0 / 2.0_f64).powi(2);
        let above = (11.0 / 24.0_f64).powi(2) * (4.0 + 1.0) / 36.0;
        let share = (below + above).sqrt();
        // Up to p + e = 0.797, between 2/3 and 11/12; p − e = 0.12 is before 1/4.
        let high = 3.0 + 3.0 * (11.0 / 24.0 + share - 2.0 / 3.0) / (11.0 / 12.0 - 2.0 / 3.0);
        assert_near(quantity.quantile(11.0 / 24.0).unwrap(), 1.5, high / 2.0);
    }

    #[test]
    fn equal_weights_make_hazens_quantiles() {
        // NumPy's method="hazen" of 1, 2, 4, 8, 16: knots at 0.1, 0.3, 0.5, 0.7 and 0.9.
        let quantity = Quantity::new(&[8.0, 1.0, 16.0, 2.0, 4.0], &[0.2; 5]).unwrap();
        let cases = [
            (0.0, 1.0),
            (0.1, 1.0),
            (0.25, 1.75),
            (0.5, 4.0),
            (0.75, 10.0),
            (0.95, 16.0),
            (1.0, 16.0),
        ];
        for (p, value) in cases {
            let quantile = quantity.quantile(p).unwrap().value;
            assert!((quantile - value).abs() < 1e-13, "{p}: {quantile}");
        }
    }

    #[test]
    fn equal_weights_make_textbook_errors() {
        let values: Vec<f64> = (0..1000).map(|i| (i * 617 % 1000) as f64 + 0.5).collect();
        let quantity = Quantity::new(&values, &[1.0; 1000]).unwrap();
        // The variance of 1, ..., n is (n² − 1)/12.
        let sd = ((1e6 - 1.0) / 12.0_f64).sqrt();
        let mean = quantity.mean();
        assert!(
            (mean.value - 500.0).abs() < 1e-9 && (mean.error - sd / 1000_f64.sqrt()).abs() < 1e-9
        );
        // √(p (1 − p)/n), in values 1/1000 of p apart. The indicator at the quantile itself counts a whole
        // draw, which changes the sum of squares by less than 1/1000.
        let quantile = quantity.quantile(0.2).unwrap();
        let error = 1000.0 * (0.2 * 0.8 / 1000.0_f64).sqrt();
        assert!((quantile.value - 200.0).abs() < 1e-9);
        assert!((quantile.error / error - 1.0).abs() < 1e-3, "{quantile:?}");
    }

    #[test]
    fn draws_without_weight_may_be_anything() {
        let nan = f64::NAN;
        let quantity =
            Quantity::new(&[nan, 1.0, f64::INFINITY, 3.0], &[0.0, 0.5, 0.0, 0.5]).unwrap();
        assert_near(quantity.mean(), 2.0, 0.5_f64.sqrt());
        assert_eq!((quantity.quantile(1.0).unwrap().value, quantity.draws()), (3.0, 2));
    }

    #[test]
    fn one_value_alone_or_repeated() {
        let one = Quantity::new(&[4.0], &[1.0]).unwrap();
        for estimate in [one.mean(), one.quantile(0.3).unwrap()] {
            assert_eq!(estimate, Estimate { value: 4.0, error: f64::INFINITY });
        }
        let same = Quantity::new(&[4.0; 3], &[1.0; 3]).unwrap();
        for estimate in [same.mean(), same.quantile(0.3).unwrap()] {
            assert_near(estimate, 4.0, 0.0);
        }
        assert_near(same.sd(), 0.0, 0.0);
    }

    #[test]
    fn infinite_values_have_quantiles() {
        let infinity = f64::INFINITY;
        let quantity = Quantity::new(&[infinity, 1.0, 2.0, infinity], &[1.0; 4]).unwrap();
        assert_eq!(quantity.quantile(0.25).unwrap().value, 1.5);
        assert_eq!(quantity.quantile(0.8).unwrap().value, infinity);
    }

    #[test]
    fn what_is_refused() {
        let new = |values: &[f64], weights: &[f64]| Quantity::new(values, weights).unwrap_err();
        for (error, says) in [
            (new(&[1.0, 2.0], &[1.0]), "weights of 2 draws: 1 found, 2 expected"),
            (new(&[1.0, 2.0], &[1.0, -0.5]), "-0.5 at draw 2"),
            (new(&[1.0, 2.0], &[f64::NAN, 1.0]), "NaN at draw 1"),
            (new(&[1.0, 2.0], &[0.0, 0.0]), "sum of the weights is 0"),
            (new(&[], &[]), "sum of the weights"),
            (new(&[1.0, f64::NAN], &[1.0, 1.0]), "value at draw 2 is NaN"),
        ] {
            assert!(error.to_string().contains(says), "{error}");
        }
        let quantity = Quantity::new(&[1.0, 2.0], &[1.0, 1.0]).unwrap();
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(quantity.quantile(p).is_err());
        }
    }
}
