//! Integrals of densities: e^h for a function h with one peak, by the double exponential rule.

/// ln ∫ e^h from `low` to `high`, both finite, for an h that rises up to `peak` and falls from
/// there on. If h is smooth, `peak` may be any number between the two. Relative error 1e-13, or
/// `None`.
pub(super) fn ln_integral(h: impl Fn(f64) -> f64, low: f64, peak: f64, high: f64) -> Option<f64> {
    let peak = peak.clamp(low, high);
    let top = h(peak);
    if !top.is_finite() {
        return None;
    }
    let part = |end: f64| {
        let end = reach(&h, peak, end, top);
        double_exponential(|t| (h(t) - top).exp(), peak, end, 1e-13)
    };
    let sum = part(high)? - part(low)?;
    (sum > 0.0).then(|| top + sum.ln())
}

/// Where e^h is so far below its top that the rest does not matter, or `end` if that comes first.
fn reach(h: &impl Fn(f64) -> f64, peak: f64, end: f64, top: f64) -> f64 {
    // e^−50 of the top; a log-concave density falls by as much again over the same distance.
    const DEPTH: f64 = 50.0;
    let is_deep = |t: f64| h(t) < top - DEPTH;
    if !is_deep(end) {
        return end;
    }
    let (mut near, mut far) = (peak, end);
    for _ in 0..200 {
        let middle = near + 0.5 * (far - near);
        *(if is_deep(middle) { &mut far } else { &mut near }) = middle;
        if (far - near).abs() < 0.1 * (near - peak).abs() {
            break;
        }
    }
    far
}

/// ∫ f from `a` to `b` (H. Takahasi, M. Mori 1974): t = tanh(π/2 sinh s) crowds points at both ends.
/// The step is halved until two results agree to the relative `tolerance`; for a smooth function the
/// last result has about twice as many digits.
fn double_exponential(f: impl Fn(f64) -> f64, a: f64, b: f64, tolerance: f64) -> Option<f64> {
    // At s = ±3.2 the weight is 1e-14 of that in the middle, and further points contribute less.
    const FARTHEST: f64 = 3.3;
    const LEVELS: i32 = 11;
    // Rounding of large arguments may not allow more.
    let enough = tolerance.max(1e-10);
    let width = b - a;
    if width == 0.0 {
        return Some(0.0);
    }
    let term = |s: f64| {
        let q = (-std::f64::consts::PI * s.sinh().abs()).exp();
        // The distance from the nearer end, as a share of the width.
        let share = q / (1.0 + q);
        let t = if s < 0.0 { a + width * share } else { b - width * share };
        let weight = std::f64::consts::PI * s.cosh() * q / ((1.0 + q) * (1.0 + q));
        weight * f(t)
    };
    let (mut step, mut sum) = (1.0, term(0.0));
    let both = |s: f64| term(s) + term(-s);
    let on_grid = |step: f64, first: f64, stride: f64| {
        let count = ((FARTHEST / step - first) / stride).floor() as i64;
        (0..=count).map(|i| both(step * (first + stride * i as f64))).sum::<f64>()
    };
    sum += on_grid(step, 1.0, 1.0);
    let (mut last, mut change) = (step * sum, f64::INFINITY);
    for level in 0..LEVELS {
        step *= 0.5;
        sum += on_grid(step, 1.0, 2.0);
        let next = step * sum;
        change = (next - last).abs();
        last = next;
        if level > 1 && change <= tolerance * last.abs() {
            break;
        }
    }
    (change <= enough * last.abs()).then_some(width * last)
}

/// |∫ f| from `from` to `to`, for a decreasing function of at most 1: piece by piece, each twice as
/// long as everything before it. `None` if f has no value at a point, or if the integral does not
/// converge.
pub(crate) fn integral_of_tail(from: f64, to: f64, f: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    /// The most pieces, which nearly reach the end of the floating-point range, and the largest
    /// contribution of the last one.
    const MOST: usize = 200;
    const LEAST: f64 = 1e-12;
    /// Loose, since there is one integral for each draw and row.
    const TOLERANCE: f64 = 1e-7;
    let (sign, end) = (if to < from { -1.0 } else { 1.0 }, (to - from).abs());
    let at = |distance: f64| f(from + sign * distance).unwrap_or(f64::NAN);
    // About where f has fallen to a quarter of its initial value, which may be small.
    let first = at(0.0);
    if first == 0.0 {
        return Some(0.0);
    }
    let mut length: f64 = 1.0;
    while length > 1e-300 && at(length) < 0.25 * first {
        length *= 0.5;
    }
    while length < 1e300 && at(length) >= 0.25 * first {
        length *= 2.0;
    }
    let (mut start, mut sum) = (0.0, 0.0);
    for _ in 0..MOST {
        let next = if start == 0.0 { length } else { 2.0 * start };
        // A bound on the rest, since f decreases.
        if start > 0.0 && at(start) * (next - start) <= LEAST * sum {
            return Some(sum);
        }
        let piece = double_exponential(at, start, next.min(end), TOLERANCE)?;
        sum += piece;
        if next >= end || piece <= LEAST * sum {
            return Some(sum);
        }
        start = next;
    }
    None
}
