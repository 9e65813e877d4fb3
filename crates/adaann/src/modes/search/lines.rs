//! Local maxima along lines through a peak, on a grid that is refined as long as this finds more of them.
//!
//! The period of a signal, for example, has one peak for each additional cycle over the time of observation: thousands
//! of narrow modes along one coordinate, between which no ascent passes.

use super::summit::Summit;
use crate::modes::heights::Heights;
use crate::{Result, linear};

/// Points of the first grid, and the factor by which each further grid is finer.
const FIRST: usize = 64;
const FINER: usize = 4;

/// Grids with fewer points are useless.
const FEWEST: usize = 8;

/// The finest grid.
const FINEST: usize = 1 << 15;

/// The number of maxima from which a line is rough, and the factor by which a finer grid has to increase it.
const ROUGH: usize = 6;
const MORE: f64 = 1.3;

/// The number of highest maxima of a line from which ascents start: on a smooth and on a rough one.
const KEPT: (usize, usize) = (3, 24);

/// The most dimensions in which lines along principal axes are added.
const MOST_PRINCIPAL: usize = 20;

/// Half-length of a line that stays near a peak, in the peak's widths.
const NEAR: f64 = 16.0;

/// A line: origin + a · direction with a from `low` to `high`.
struct Line {
    direction: Vec<f64>,
    low: f64,
    high: f64,
}

/// Points on lines through a peak from which ascents should start. `around` is the centre and the half-width in which
/// each coordinate is expected; `most` bounds the evaluations. Every line has a coarse grid; rough ones share the
/// remaining evaluations.
pub(super) fn maxima(
    heights: &mut Heights,
    peak: &Summit,
    around: &[(f64, f64)],
    most: usize,
) -> Result<Vec<Vec<f64>>> {
    let lines = lines(peak, around);
    let count = FIRST.min(most / lines.len().max(1));
    let (mut found, mut rough) = (Vec::new(), Vec::new());
    if count < FEWEST {
        return Ok(Vec::new());
    }
    for line in &lines {
        let maxima = along(heights, peak, line, count)?;
        if maxima.len() >= ROUGH { rough.push((line, maxima)) } else { found.push((line, maxima)) }
    }
    let lines = rough.len();
    for (k, (line, mut maxima)) in rough.into_iter().enumerate() {
        let share = most.saturating_sub(heights.used()) / (lines - k);
        let (before, mut count) = (heights.used(), count * FINER);
        while count <= FINEST && heights.used() - before + count <= share {
            let finer = along(heights, peak, line, count)?;
            let is_richer = finer.len() as f64 > MORE * maxima.len() as f64;
            maxima = finer;
            if !is_richer {
                break;
            }
            count *= FINER;
        }
        found.push((line, maxima));
    }
    let places = found.into_iter().flat_map(|(line, maxima)| highest(peak, line, maxima));
    Ok(places.collect())
}

fn lines(peak: &Summit, around: &[(f64, f64)]) -> Vec<Line> {
    let dim = peak.z.len();
    let mut lines = Vec::new();
    for (d, (middle, half)) in around.iter().enumerate() {
        let mut direction = vec![0.0; dim];
        direction[d] = 1.0;
        let width = NEAR * peak.covariance[d * dim + d].sqrt();
        let (low, high) = (middle - half - peak.z[d], middle + half - peak.z[d]);
        lines.push(Line { direction: direction.clone(), low: -width, high: width });
        lines.push(Line { direction, low: low.min(-width), high: high.max(width) });
    }
    if (2..=MOST_PRINCIPAL).contains(&dim) {
        let (variances, axes) = linear::symmetric_eigen(dim, &peak.covariance);
        for (variance, direction) in variances.into_iter().zip(axes) {
            let width = NEAR * variance.max(0.0).sqrt();
            lines.push(Line { direction, low: -width, high: width });
        }
    }
    lines.retain(|line| line.low.is_finite() && line.high.is_finite() && line.low < line.high);
    lines
}

/// Local maxima on an even grid of one line: their heights and positions.
fn along(
    heights: &mut Heights,
    peak: &Summit,
    line: &Line,
    count: usize,
) -> Result<Vec<(f64, f64)>> {
    let place = |i: usize| line.low + (line.high - line.low) * (i as f64 + 0.5) / count as f64;
    let units = heights.standardisation();
    let points: Vec<Vec<f64>> = (0..count).map(|i| units.to_u(&line.at(peak, place(i)))).collect();
    let seen = heights.at(&points)?;
    let is_above = |i: usize, j: usize| seen.get(j).is_none_or(|other| seen[i] > *other);
    let is_maximum =
        |&i: &usize| seen[i].is_finite() && is_above(i, i.wrapping_sub(1)) && is_above(i, i + 1);
    Ok((0..count).filter(is_maximum).map(|i| (seen[i], place(i))).collect())
}

/// The highest maxima of a line, except those of the peak itself.
fn highest(peak: &Summit, line: &Line, mut maxima: Vec<(f64, f64)>) -> Vec<Vec<f64>> {
    let kept = if maxima.len() >= ROUGH { KEPT.1 } else { KEPT.0 };
    maxima.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let is_elsewhere = |z: &Vec<f64>| {
        let y = peak.whitened(z);
        linear::dot(&y, &y) > 1.0
    };
    let places = maxima.into_iter().take(kept).map(|(_, a)| line.at(peak, a));
    places.filter(is_elsewhere).collect()
}

impl Line {
    /// A point of the line.
    fn at(&self, peak: &Summit, a: f64) -> Vec<f64> {
        peak.z.iter().zip(&self.direction).map(|(z, direction)| z + a * direction).collect()
    }
}
