//! The starts of ascents, and the lengths of their steps.

use crate::Batch;
use crate::modes::{ascent::End, units::spread};

/// An even selection of at most this many finite draws.
pub(super) fn choose(draws: &Batch, most: usize) -> Vec<Vec<f64>> {
    let is_finite = |&i: &usize| (0..draws.dim()).all(|d| draws.row(d)[i].is_finite());
    let finite: Vec<usize> = (0..draws.len()).filter(is_finite).collect();
    let count = finite.len().min(most);
    (0..count).map(|k| draws.point(finite[k * finite.len() / count])).collect()
}

/// How far climbs go in each coordinate, as a standard deviation.
pub(super) fn reach(from: &[Vec<f64>], ends: &[End]) -> Vec<f64> {
    let moved = |d: usize| from.iter().zip(ends).map(move |(from, end)| end.u[d] - from[d]);
    (0..from[0].len()).map(|d| spread(moved(d))).collect()
}

/// The length of each climb's first step: the distance to the nearest start at another position.
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
    fn draws_are_chosen_evenly_among_the_finite() {
        let draws =
            Batch::from_points(1, &[[0.0], [f64::NAN], [2.0], [3.0], [f64::INFINITY], [5.0]]);
        assert_eq!(choose(&draws, 2), [[0.0], [3.0]]);
        assert_eq!(choose(&draws, 9), [[0.0], [2.0], [3.0], [5.0]]);
        assert!(choose(&Batch::zeros(1, 0), 3).is_empty());
    }
}
