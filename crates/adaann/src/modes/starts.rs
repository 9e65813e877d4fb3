//! Where climbs start, in which units, and how far they go.

use crate::Batch;
use crate::modes::ascent::End;

/// Of a normal distribution, the median distance from its middle in standard deviations.
const MEDIAN_DEVIATION: f64 = 0.674_489_750_196_081_7;

/// Middle and spread of the draws in each coordinate: z = middle + spread · u.
#[derive(Debug, Clone)]
pub(super) struct Units {
    pub(super) middle: Vec<f64>,
    pub(super) spread: Vec<f64>,
}

/// At most this many of the finite draws, evenly taken.
pub(super) fn choose(draws: &Batch, most: usize) -> Vec<Vec<f64>> {
    let is_finite = |&i: &usize| (0..draws.dim()).all(|d| draws.row(d)[i].is_finite());
    let finite: Vec<usize> = (0..draws.len()).filter(is_finite).collect();
    let count = finite.len().min(most);
    (0..count).map(|k| draws.point(finite[k * finite.len() / count])).collect()
}

/// The middle of numbers, or what is between the two in the middle; none of no numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    Some(0.5 * numbers[last / 2] + 0.5 * numbers[last.div_ceil(2)])
}

/// The spread of deviations, which a few that are huge do not change: from their median, or else
/// their mean square, or else 1.
fn spread(deviations: impl Iterator<Item = f64> + Clone) -> f64 {
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

/// How far climbs go in each coordinate, as a standard deviation.
pub(super) fn reach(from: &[Vec<f64>], ends: &[End]) -> Vec<f64> {
    let moved = |d: usize| from.iter().zip(ends).map(move |(from, end)| end.u[d] - from[d]);
    (0..from[0].len()).map(|d| spread(moved(d))).collect()
}

/// The length of each climb's first step: the distance to the nearest start that is elsewhere.
pub(super) fn steps(from: &[Vec<f64>]) -> Vec<f64> {
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let nearest = |a: &Vec<f64>| {
        let others = from.iter().map(|b| square(a, b)).filter(|&square| square > 0.0);
        others.reduce(f64::min).map_or(1.0, f64::sqrt)
    };
    from.iter().map(nearest).collect()
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

    #[test]
    fn draws_are_chosen_evenly_among_the_finite() {
        let draws =
            Batch::from_points(1, &[[0.0], [f64::NAN], [2.0], [3.0], [f64::INFINITY], [5.0]]);
        assert_eq!(choose(&draws, 2), [[0.0], [3.0]]);
        assert_eq!(choose(&draws, 9), [[0.0], [2.0], [3.0], [5.0]]);
        assert!(choose(&Batch::zeros(1, 0), 3).is_empty());
    }
}
