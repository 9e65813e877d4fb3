//! Positions and texts of the numbers along an axis.

use crate::scale::Scale;

/// A number along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) words: String,
    /// An exponent after the text.
    pub(crate) power: String,
}

/// About `most` round numbers.
pub(crate) fn ticks(scale: &Scale, most: usize) -> Vec<Tick> {
    let decades = (scale.high / scale.low).log10();
    if scale.log && decades > 0.6 { logarithmic(scale, most) } else { linear(scale, most) }
}

/// Distances between round numbers, as multiples of a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

fn linear(scale: &Scale, most: usize) -> Vec<Tick> {
    let span = scale.high - scale.low;
    let power = (span / most as f64).log10().floor();
    let sizes = [power, power + 1.0]
        .into_iter()
        .flat_map(|power| STEPS.map(|step| step * 10f64.powf(power)));
    let mut sizes = sizes.filter(|size| (span / size).floor() <= most as f64);
    let step = sizes.next().unwrap_or(span);
    let (first, last) = (scale.low / step, scale.high / step);
    // Limit the count: in a narrow range far from 0, rounding would make the loop endless.
    let count = (last - first).min(50.0);
    let first = (first - 1e-9).ceil();
    let values: Vec<f64> = (0..)
        .map(|i| first + f64::from(i))
        .take_while(|i| *i <= last + 1e-9 && *i <= first + count + 1.0)
        .map(|i| i * step)
        .collect();
    let largest = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let exponent = if largest > 0.0 { largest.log10().floor() } else { 0.0 };
    if (-3.0..5.0).contains(&exponent) || largest == 0.0 {
        let digits = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
        let tick = |value: f64| Tick { value, words: plain(value, digits), power: String::new() };
        return values.into_iter().map(tick).collect();
    }
    let unit = 10f64.powf(exponent);
    let digits = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    let tick = |value: f64| {
        if value.abs() < 1e-9 * step {
            return Tick { value: 0.0, words: "0".into(), power: String::new() };
        }
        let words = format!("{}×10", plain(value / unit, digits));
        Tick { value, words, power: plain(exponent, 0) }
    };
    values.into_iter().map(tick).collect()
}

fn logarithmic(scale: &Scale, most: usize) -> Vec<Tick> {
    let (low, high) = (scale.low.log10() - 1e-9, scale.high.log10() + 1e-9);
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let parts: &[f64] = if high - low < 1.5 { &STEPS } else { &[1.0] };
    let every = ((high - low) / most as f64).ceil().max(1.0) as i32;
    (first..=last)
        .filter(|power| power.rem_euclid(every) == 0)
        .flat_map(|power| parts.iter().map(move |part| (*part, power)))
        .filter(|(part, power)| (low..=high).contains(&(part.log10() + f64::from(*power))))
        .map(|(part, power)| {
            let value = part * 10f64.powi(power);
            if (-3..=3).contains(&power) {
                let words = plain(value, (-power).max(0) as usize);
                return Tick { value, words, power: String::new() };
            }
            let words = if part == 1.0 { "10".into() } else { format!("{part}×10") };
            Tick { value, words, power: plain(f64::from(power), 0) }
        })
        .collect()
}

/// Lines between the numbers of a logarithmic axis.
pub(crate) fn between(scale: &Scale) -> Vec<f64> {
    let (low, high) = (scale.low.log10(), scale.high.log10());
    if !scale.log || !(0.6..=6.0).contains(&(high - low)) {
        return Vec::new();
    }
    (low.floor() as i32..=high.floor() as i32)
        .flat_map(|power| (2..10).map(move |part| f64::from(part) * 10f64.powi(power)))
        .filter(|x| (scale.low..=scale.high).contains(x))
        .collect()
}

/// A number with this many decimal places and a typographic minus sign.
fn plain(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(low: f64, high: f64, log: bool, most: usize) -> Vec<String> {
        let scale = Scale { low, high, log, from: 0.0, to: 1.0 };
        ticks(&scale, most).into_iter().map(|tick| tick.words + &tick.power).collect()
    }

    #[test]
    fn linear_numbers_are_round_and_share_their_digits() {
        assert_eq!(words(-0.3, 1.1, false, 6), ["0.0", "0.5", "1.0"]);
        assert_eq!(words(-2.0, 2.0, false, 5), ["−2", "−1", "0", "1", "2"]);
        assert_eq!(words(0.0, 12_000.0, false, 4), ["0", "5000", "10000"]);
        assert_eq!(words(0.0, 2.5e6, false, 3), ["0", "1×106", "2×106"]);
        assert_eq!(words(1e-5, 3.1e-5, false, 3), ["1×10−5", "2×10−5", "3×10−5"]);
    }

    #[test]
    fn logarithmic_numbers_are_powers_of_ten() {
        assert_eq!(words(1e-5, 1.0, true, 8), ["10−5", "10−4", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(words(1e-9, 1.0, true, 4), ["10−9", "10−6", "0.001", "1"]);
        assert_eq!(words(0.8, 12.0, true, 8), ["1", "2", "5", "10"]);
        assert_eq!(words(2.0, 4.0, true, 4), ["2.0", "2.5", "3.0", "3.5", "4.0"]);
    }

    #[test]
    fn hopeless_ranges_come_to_an_end() {
        for (low, high) in [(1e15, 1e15 + 1.0), (-1e300, 1e300), (1e-300, 2e-300)] {
            assert!(words(low, high, false, 5).len() < 60);
        }
    }
}
