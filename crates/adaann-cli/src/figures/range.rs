//! Which part of an axis to show, bins of draws, and grids of points.

use adaann::target::Support;

/// Share of the draws that may lie outside the plot on either side.
const TAIL: f64 = 5e-4;

/// Where the draws are, with a margin, the given marks and not beyond the support.
pub(super) fn range(draws: &[f64], marks: impl Iterator<Item = f64>, support: Support) -> [f64; 2] {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied();
    let (low, high) = (at(TAIL).unwrap_or(-1.0), at(1.0 - TAIL).unwrap_or(1.0));
    let (low, high) = marks.fold((low, high), |(low, high), x| (low.min(x), high.max(x)));
    let margin = if high > low { 0.12 * (high - low) } else { 1.0 };
    let (low, high) = (low - margin, high + margin);
    match support {
        Support::Real => [low, high],
        Support::Above(bound) => [low.max(bound), high],
        Support::Below(bound) => [low, high.min(bound)],
        Support::Between(from, to) => [low.max(from), high.min(to)],
    }
}

/// Midpoints of `count` cells: never on the bound of a support.
pub(super) fn midpoints([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let width = (high - low) / count as f64;
    (0..count).map(|i| low + (i as f64 + 0.5) * width).collect()
}

/// The draws' density in `count` bins, as the outline of its columns.
pub(super) fn histogram(draws: &[f64], [low, high]: [f64; 2], count: usize) -> Vec<(f64, f64)> {
    let width = (high - low) / count as f64;
    let mut bins = vec![0usize; count];
    for &x in draws.iter().filter(|&&x| (low..high).contains(&x)) {
        bins[(((x - low) / width) as usize).min(count - 1)] += 1;
    }
    let height = |bin: usize| bin as f64 / (draws.len() as f64 * width);
    let mut outline = vec![(low, 0.0)];
    for (i, &bin) in bins.iter().enumerate() {
        outline.push((low + i as f64 * width, height(bin)));
        outline.push((low + (i + 1) as f64 * width, height(bin)));
    }
    outline.push((high, 0.0));
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_is_a_density() {
        let draws = [0.1, 0.2, 0.7, 5.0];
        let outline = histogram(&draws, [0.0, 1.0], 2);
        let heights = [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (1.0, 0.5), (1.0, 0.0)];
        assert_eq!(outline, heights);
    }

    #[test]
    fn ranges_hold_marks_and_keep_to_the_support() {
        let draws: Vec<f64> = (0..1000).map(|i| i as f64 / 1000.0).collect();
        let [low, high] = range(&draws, [2.0].into_iter(), Support::Above(0.0));
        assert!(low == 0.0 && high > 2.0);
        assert!(range(&[], [].into_iter(), Support::Real)[0] < 0.0);
        assert_eq!(midpoints([0.0, 1.0], 2), [0.25, 0.75]);
    }
}
