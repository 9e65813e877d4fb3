//! Units of the coordinates: middle and spread of the draws.

/// Of a normal distribution, the median distance from its middle in standard deviations.
const MEDIAN_DEVIATION: f64 = 0.674_489_750_196_081_7;

/// Middle and spread of the draws in each coordinate: z = middle + spread · u.
#[derive(Debug, Clone)]
pub(super) struct Units {
    pub(super) middle: Vec<f64>,
    pub(super) spread: Vec<f64>,
}

/// The middle of numbers, or what is between the two in the middle; none of no numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some(0.5 * numbers[last / 2] + 0.5 * numbers[last.div_ceil(2)])
}

/// The spread of deviations, which a few that are huge do not change: from their median, or else
/// their mean square, or else 1.
pub(super) fn spread(deviations: impl Iterator<Item = f64> + Clone) -> f64 {
    let is_spread = |spread: &f64| spread.is_finite() && *spread > 0.0;
    let typical = median(deviations.clone().map(f64::abs).collect());
    let count = deviations.clone().count() as f64;
    let mean_square = || deviations.map(|x| x * x).sum::<f64>() / count;
    let typical = typical.map(|typical| typical / MEDIAN_DEVIATION).filter(is_spread);
    typical.or_else(|| Some(mean_square().sqrt()).filter(is_spread)).unwrap_or(1.0)
}

impl Units {
    pub(super) fn of(points: &[Vec<f64>], dim: usize) -> Self {
        let column = |d: usize| points.iter().map(move |point| point[d]);
        let middle: Vec<f64> =
            (0..dim).map(|d| median(column(d).collect()).unwrap_or(0.0)).collect();
        let spread = (0..dim).map(|d| spread(column(d).map(|x| x - middle[d]))).collect();
        Self { middle, spread }
    }

    pub(super) fn to_u(&self, z: &[f64]) -> Vec<f64> {
        (0..z.len()).map(|d| (z[d] - self.middle[d]) / self.spread[d]).collect()
    }

    pub(super) fn to_z(&self, u: &[f64]) -> Vec<f64> {
        (0..u.len()).map(|d| self.middle[d] + self.spread[d] * u[d]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_hold_against_a_point_far_away_and_against_none() {
        let points: Vec<_> = [1.0, 2.0, 3.0, 4.0, 1e200].iter().map(|&x| vec![x, 7.0]).collect();
        let units = Units::of(&points, 2);
        assert_eq!(units.middle, [3.0, 7.0]);
        // Deviations 0, 1, 1, 2, huge.
        assert_eq!(units.spread, [1.0 / MEDIAN_DEVIATION, 1.0]);
    }
}
