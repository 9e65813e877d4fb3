//! Units of the coordinates: centre and spread of the draws, or the shape of the density at a point.

use crate::linear;

/// For a normal distribution, the median distance from its centre in standard deviations.
const MEDIAN_DEVIATION: f64 = 0.674_489_750_196_081_7;

/// Centre and spread of the draws in each coordinate: z = middle + spread · u; or z = middle + L u with
/// a lower-triangular L.
#[derive(Debug, Clone)]
pub(super) struct Units {
    pub(super) middle: Vec<f64>,
    scale: Scale,
}

#[derive(Debug, Clone)]
enum Scale {
    Spread(Vec<f64>),
    Factor(Vec<f64>),
}

/// The median of numbers, or the mean of the two in the middle; none if there are no numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some(0.5 * numbers[last / 2] + 0.5 * numbers[last.div_ceil(2)])
}

/// The spread of deviations, insensitive to a few huge ones: from their median, or else their mean
/// square, or else 1.
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
        Self { middle, scale: Scale::Spread(spread) }
    }

    /// Units in which a Gaussian with this centre and factor is a standard one.
    pub(super) fn whitening(middle: Vec<f64>, factor: Vec<f64>) -> Self {
        Self { middle, scale: Scale::Factor(factor) }
    }

    /// The original coordinates, relative to a point.
    pub(super) fn around(middle: Vec<f64>) -> Self {
        let scale = Scale::Spread(vec![1.0; middle.len()]);
        Self { middle, scale }
    }

    /// Centre and half-width of each coordinate, this many spreads wide; only for units given by
    /// spreads.
    pub(super) fn ranges(&self, spreads: f64) -> Vec<(f64, f64)> {
        let half = |d: usize| match &self.scale {
            Scale::Spread(spread) => spreads * spread[d],
            Scale::Factor(factor) => spreads * factor[d * (self.dim() + 1)],
        };
        (0..self.dim()).map(|d| (self.middle[d], half(d))).collect()
    }

    pub(super) fn dim(&self) -> usize {
        self.middle.len()
    }

    pub(super) fn to_u(&self, z: &[f64]) -> Vec<f64> {
        let mut u: Vec<f64> = z.iter().zip(&self.middle).map(|(z, middle)| z - middle).collect();
        match &self.scale {
            Scale::Spread(spread) => u.iter_mut().zip(spread).for_each(|(u, spread)| *u /= spread),
            Scale::Factor(factor) => linear::solve_lower(u.len(), factor, &mut u),
        }
        u
    }

    pub(super) fn to_z(&self, u: &[f64]) -> Vec<f64> {
        let dim = u.len();
        let along = |d: usize| match &self.scale {
            Scale::Spread(spread) => spread[d] * u[d],
            Scale::Factor(factor) => linear::dot(&factor[d * dim..][..=d], &u[..=d]),
        };
        (0..dim).map(|d| self.middle[d] + along(d)).collect()
    }

    /// The gradient with respect to u from that with respect to z.
    pub(super) fn pull_back(&self, slope: &[f64]) -> Vec<f64> {
        match &self.scale {
            Scale::Spread(spread) => {
                slope.iter().zip(spread).map(|(s, spread)| s * spread).collect()
            }
            Scale::Factor(factor) => {
                let dim = slope.len();
                let mut out = vec![0.0; dim];
                for (i, slope) in slope.iter().enumerate() {
                    let row = &factor[i * dim..][..=i];
                    out.iter_mut().zip(row).for_each(|(out, l)| *out += l * slope);
                }
                out
            }
        }
    }

    /// The gradient with respect to z from that with respect to u.
    pub(super) fn pull_forth(&self, slope: &[f64]) -> Vec<f64> {
        match &self.scale {
            Scale::Spread(spread) => {
                slope.iter().zip(spread).map(|(s, spread)| s / spread).collect()
            }
            Scale::Factor(factor) => {
                let mut out = slope.to_vec();
                linear::solve_lower_transposed(slope.len(), factor, &mut out);
                out
            }
        }
    }

    /// A covariance with respect to z from one with respect to u, row by row.
    pub(super) fn covariance_in_z(&self, covariance: &[f64]) -> Vec<f64> {
        let dim = self.dim();
        // A Σ Aᵀ, each product by the columns of A.
        let times = |matrix: &[f64]| -> Vec<f64> {
            let mut out = vec![0.0; dim * dim];
            for j in 0..dim {
                let column: Vec<f64> = (0..dim).map(|i| matrix[i * dim + j]).collect();
                let image = match &self.scale {
                    Scale::Spread(spread) => {
                        column.iter().zip(spread).map(|(c, s)| c * s).collect()
                    }
                    Scale::Factor(factor) => (0..dim)
                        .map(|i| linear::dot(&factor[i * dim..][..=i], &column[..=i]))
                        .collect::<Vec<f64>>(),
                };
                // Transposed, so that the second product multiplies from the other side.
                out[j * dim..][..dim].copy_from_slice(&image);
            }
            out
        };
        let mut product = times(&times(covariance));
        for i in 0..dim {
            for j in 0..i {
                let mean = 0.5 * (product[i * dim + j] + product[j * dim + i]);
                product[i * dim + j] = mean;
                product[j * dim + i] = mean;
            }
        }
        product
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
        assert_eq!(units.to_z(&[1.0, 1.0]), [3.0 + 1.0 / MEDIAN_DEVIATION, 8.0]);
    }

    #[test]
    fn whitened_units_go_there_and_back_and_pull_slopes_and_covariances_along() {
        // L = [[2, 0], [1, 3]]
        let units = Units::whitening(vec![1.0, -1.0], vec![2.0, 0.0, 1.0, 3.0]);
        assert_eq!(units.to_z(&[0.5, 2.0]), [2.0, 5.5]);
        assert_eq!(units.to_u(&[2.0, 5.5]), [0.5, 2.0]);
        // Lᵀ (1, 10)
        assert_eq!(units.pull_back(&[1.0, 10.0]), [12.0, 30.0]);
        assert_eq!(units.pull_forth(&[12.0, 30.0]), [1.0, 10.0]);
        // L Lᵀ, and L diag(1, 4) Lᵀ
        assert_eq!(units.covariance_in_z(&[1.0, 0.0, 0.0, 1.0]), [4.0, 2.0, 2.0, 10.0]);
        assert_eq!(units.covariance_in_z(&[1.0, 0.0, 0.0, 4.0]), [4.0, 2.0, 2.0, 37.0]);
    }
}
