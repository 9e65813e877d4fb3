//! Axis ranges, histograms of draws, and grids of points.

/// The share of the draws that may lie outside the plot on either side.
const TAIL: f64 = 5e-4;

/// The range of the draws and the marks, with a margin, within `bounds`.
///
/// ```
/// let [low, high] = adaann_report::bins::range(&[0.1, 0.5, 0.9], &[2.0], [0.0, f64::INFINITY]);
/// assert!(low == 0.0 && high > 2.0);
/// ```
pub fn range(draws: &[f64], marks: &[f64], bounds: [f64; 2]) -> [f64; 2] {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = sorted.len().checked_sub(1)?;
        Some(sorted[((share * sorted.len() as f64) as usize).min(last)])
    };
    let ends = at(TAIL).zip(at(1.0 - TAIL)).into_iter().flat_map(|(low, high)| [low, high]);
    let marks = marks.iter().copied().filter(|x| x.is_finite());
    let (low, high) = ends
        .chain(marks)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = if low > high { (0.0, 0.0) } else { (low, high) };
    let margin = if high > low { 0.12 * (high - low) } else { low.abs().max(1.0) };
    [(low - margin).max(bounds[0]), (high + margin).min(bounds[1])]
}

/// Midpoints of `count` cells, which never lie on the bound of a support.
pub fn midpoints([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let width = (high - low) / count as f64;
    (0..count).map(|i| low + (i as f64 + 0.5) * width).collect()
}

/// The density of the draws in `count` bins, as the outline of a histogram.
pub fn histogram(draws: &[f64], [low, high]: [f64; 2], count: usize) -> Vec<(f64, f64)> {
    let width = (high - low) / count as f64;
    let mut bins = vec![0usize; count];
    for &x in draws.iter().filter(|&&x| (low..high).contains(&x)) {
        bins[(((x - low) / width) as usize).min(count - 1)] += 1;
    }
    let height = |bin: usize| bin as f64 / (draws.len().max(1) as f64 * width);
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
    fn ranges_hold_marks_and_keep_to_their_bounds() {
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        let draws: Vec<f64> = (0..1000).map(|i| i as f64 / 1000.0).collect();
        let [low, high] = range(&draws, &[2.0], [0.0, f64::INFINITY]);
        assert!(low == 0.0 && high > 2.0);
        let [low, high] = range(&[1.0, f64::NAN, 2.0], &[f64::INFINITY], free);
        assert!(0.5 < low && low < 1.0 && 2.0 < high && high < 2.5, "{low} {high}");
        // No draws and equal draws still have a range around them.
        for (draws, inside) in [(&[][..], 0.0), (&[3.0, 3.0], 3.0)] {
            let [low, high] = range(draws, &[], free);
            assert!(low < inside && inside < high, "{low} {high}");
        }
        assert_eq!(midpoints([0.0, 1.0], 2), [0.25, 0.75]);
    }
}
