//! Gaps between two estimators of the same answer, which neither estimator's error shows.
//!
//! Weighted draws of one proposal carry no information on regions that the proposal rarely visits. Draws of
//! other proposals, weighted together, have different errors. If both estimators are right, they differ by
//! no more than their errors. If they differ by more, the difference itself is a lower bound on the error.
//! So the reported error of an estimate is the larger of its own error and this gap.

use super::{Coordinate, Estimate, QUANTILES, Quantity};
use crate::{Batch, Result};

/// Gaps between two estimates of log Z and of the numbers of each coordinate.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gaps {
    log_z: f64,
    /// Mean, standard deviation and quantiles of each coordinate, coordinate by coordinate.
    coordinates: Vec<f64>,
}

/// Numbers per coordinate.
const NUMBERS: usize = 2 + QUANTILES.len();

impl Gaps {
    /// The gaps between estimates and those of other weighted points.
    ///
    /// # Errors
    /// As [`Quantity::new`].
    pub(crate) fn between(
        log_z: f64,
        coordinates: &[Coordinate],
        other_log_z: f64,
        (x, weights): (&Batch, &[f64]),
    ) -> Result<Self> {
        let mut gaps = Vec::with_capacity(NUMBERS * coordinates.len());
        for (d, coordinate) in coordinates.iter().enumerate() {
            let other = Quantity::new(x.row(d), weights)?.coordinate();
            let pairs = numbers(coordinate).into_iter().zip(numbers(&other));
            gaps.extend(pairs.map(|(own, other)| (own.value - other.value).abs()));
        }
        Ok(Self { log_z: (log_z - other_log_z).abs(), coordinates: gaps })
    }

    /// Raises the error of an estimate of log Z to the gap.
    pub(crate) fn widen_log_z(&self, log_z: Estimate) -> Estimate {
        widened(log_z, self.log_z)
    }

    /// The same for the numbers of a coordinate.
    pub(crate) fn widen(&self, d: usize, coordinate: Coordinate) -> Coordinate {
        let Some(gaps) = self.coordinates.chunks_exact(NUMBERS).nth(d) else { return coordinate };
        let Coordinate { mean, sd, mut quantiles } = coordinate;
        quantiles.iter_mut().zip(&gaps[2..]).for_each(|(q, gap)| *q = widened(*q, *gap));
        Coordinate { mean: widened(mean, gaps[0]), sd: widened(sd, gaps[1]), quantiles }
    }
}

fn numbers(coordinate: &Coordinate) -> Vec<Estimate> {
    let Coordinate { mean, sd, quantiles } = coordinate;
    [*mean, *sd].into_iter().chain(*quantiles).collect()
}

/// Raises the error to the gap; a NaN gap is ignored.
fn widened(estimate: Estimate, gap: f64) -> Estimate {
    Estimate { error: estimate.error.max(gap), ..estimate }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two points at 0 and 1 compared with three at 0, 1 and 4: means ½ and 5/3, and a difference of 0.1 in
    /// log Z.
    #[test]
    fn errors_are_the_larger_of_their_own_and_the_gap() {
        let own = Quantity::new(&[0.0, 1.0], &[1.0, 1.0]).unwrap().coordinate();
        let x = Batch::from_points(1, &[[0.0], [1.0], [4.0]]);
        let gaps = Gaps::between(2.0, &[own], 2.1, (&x, &[1.0; 3])).unwrap();
        let log_z = Estimate { value: 2.0, error: 0.02 };
        assert!((gaps.widen_log_z(log_z).error - 0.1).abs() < 1e-12);
        let sure = Estimate { value: 2.0, error: 0.5 };
        assert_eq!(gaps.widen_log_z(sure), sure);
        let widened = gaps.widen(0, own);
        assert_eq!(widened.mean.value, 0.5);
        // The mean's own error is 1/√8.
        assert!((widened.mean.error - (5.0 / 3.0 - 0.5)).abs() < 1e-12);
        let median = widened.quantiles[2];
        assert!((median.error - f64::max(0.5, own.quantiles[2].error)).abs() < 1e-12);
        assert_eq!(gaps.widen(1, own), own, "a coordinate without gaps is unchanged");
    }
}
