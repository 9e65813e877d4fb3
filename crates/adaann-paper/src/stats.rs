//! Quantiles, and numbers formatted for readers.

/// A quantile by linear interpolation between the sorted values. NaN for an empty list.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The median. NaN for an empty list.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Formats a count with commas, like 10,401. Below 10,000 it keeps a half, which medians may have.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let unit = if value.abs() < 10_000.0 { 0.5 } else { 1.0 };
    let rounded = (value.abs() / unit).round() * unit;
    let digits = format!("{:.0}", rounded.trunc());
    let mut text = if value < 0.0 { String::from("-") } else { String::new() };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if rounded.fract() > 0.0 { text + ".5" } else { text }
}

/// Formats a number with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    match () {
        () if !value.is_finite() => "–".into(),
        () if value == 0.0 => "0".into(),
        () if size >= 1000.0 => count(value.round()),
        () if size >= 100.0 => format!("{value:.0}"),
        () if size >= 10.0 => format!("{value:.1}"),
        () if size >= 1.0 => format!("{value:.2}"),
        () if size >= 0.1 => format!("{value:.3}"),
        () if size >= 1e-4 => {
            let digits = (2.0 - size.log10().floor()) as usize;
            format!("{value:.digits$}")
        }
        () => format!("{value:.1e}"),
    }
}

/// A ratio, as `0.97` or `1,340`.
pub(crate) fn ratio(ours: f64, theirs: f64) -> String {
    short(ours / theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(median(&values), 2.5);
        assert_eq!(quantile(&values, 1.0), 4.0);
        assert!((quantile(&values, 0.05) - 1.15).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(count(10_401.0), "10,401");
        assert_eq!(count(385.5), "385.5");
        assert_eq!([count(3_651.8), count(2_485.2), count(12_345.6)], ["3,652", "2,485", "12,346"]);
        assert_eq!(count(-1_234_567.0), "-1,234,567");
        assert_eq!(short(0.016_61), "0.0166");
        assert_eq!(short(0.5), "0.500");
        assert_eq!(short(12.34), "12.3");
        assert_eq!(short(1234.4), "1,234");
        assert_eq!(short(1e-7), "1.0e-7");
        assert_eq!(short(f64::NAN), "–");
    }
}
