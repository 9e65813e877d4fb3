//! Linear and logarithmic scales that map data to positions.

/// A linear or logarithmic map of `low..high` onto `from..to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) log: bool,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// Positions are clamped to this: no window is so large, and painters fail for numbers like 1e300.
const FAR: f64 = 1e5;

impl Scale {
    /// The position of a value. `None` if it is not finite, or not positive on a logarithmic scale.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        Some((self.from + share * (self.to - self.from)).clamp(-FAR, FAR))
    }
}

/// The range of an axis: the requested one, or all values with a margin.
///
/// With `grounded`, a lower end of zero gets no margin, because columns start there.
pub(crate) fn fit(
    asked: Option<[f64; 2]>,
    log: bool,
    values: impl Iterator<Item = f64>,
    margin: f64,
    grounded: bool,
) -> [f64; 2] {
    let shown = |x: &f64| x.is_finite() && (!log || *x > 0.0);
    if let Some([low, high]) = asked.filter(|[low, high]| low < high && shown(low) && shown(high)) {
        return [low, high];
    }
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.filter(shown).fold(ends, |(low, high), x| (low.min(x), high.max(x)));
    match (low, high, log) {
        (low, high, true) if low > high => [0.1, 10.0],
        (low, high, false) if low > high => [0.0, 1.0],
        (low, high, true) if high / low < 1.0 + 1e-9 => [low / 2.0, high * 2.0],
        (low, high, true) => {
            let factor = (high / low).powf(margin);
            [low / factor, high * factor]
        }
        (low, high, false) if high - low <= 1e-12 * low.abs().max(high.abs()) => {
            let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            [low - half, high + half]
        }
        (low, high, false) => {
            let room = margin * (high - low);
            [if grounded && low == 0.0 { 0.0 } else { low - room }, high + room]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_map_ends_to_ends() {
        let linear = Scale { low: -1.0, high: 3.0, log: false, from: 100.0, to: 20.0 };
        assert_eq!([-1.0, 1.0, 3.0].map(|x| linear.at(x).unwrap()), [100.0, 60.0, 20.0]);
        assert_eq!((linear.at(f64::NAN), linear.at(1e300)), (None, Some(-FAR)));
        let log = Scale { low: 0.01, high: 1.0, log: true, from: 0.0, to: 10.0 };
        assert!((log.at(0.1).unwrap() - 5.0).abs() < 1e-12);
        assert_eq!(log.at(0.0), None);
    }

    #[test]
    fn ranges_hold_everything_that_can_be_shown() {
        let fit = |log, values: &[f64]| fit(None, log, values.iter().copied(), 0.1, true);
        assert_eq!(fit(false, &[0.0, 10.0, f64::NAN]), [0.0, 11.0]);
        assert_eq!(fit(false, &[]), [0.0, 1.0]);
        assert_eq!(fit(false, &[5.0, 5.0]), [4.5, 5.5]);
        let [low, high] = fit(true, &[0.0, -1.0, 1.0, 100.0]);
        assert!((0.6..0.7).contains(&low) && (150.0..160.0).contains(&high));
    }

    #[test]
    fn a_range_that_makes_no_sense_is_not_used() {
        let values = || [1.0, 2.0].into_iter();
        assert_eq!(fit(Some([0.5, 4.0]), true, values(), 0.1, true), [0.5, 4.0]);
        for asked in [[4.0, 0.5], [f64::NAN, 1.0], [-1.0, 4.0]] {
            assert!(fit(Some(asked), true, values(), 0.1, true)[0] > 0.9, "{asked:?}");
        }
    }
}
