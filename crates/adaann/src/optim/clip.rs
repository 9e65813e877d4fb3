//! Gradient clipping by norm that never produces NaN from finite numbers.

use crate::{error::setting, pieces};

/// The Euclidean norm that a gradient had before clipping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// At most the limit; the gradient is unchanged.
    Within(f64),
    /// Above the limit; the gradient has been scaled down to it.
    Clipped(f64),
    /// Infinite or NaN; the gradient is unchanged and must not be used.
    NotFinite,
}

impl Norm {
    /// Whether the gradient may be used.
    pub fn is_finite(self) -> bool {
        self != Self::NotFinite
    }

    /// The norm before clipping; infinite if it was not finite.
    pub fn value(self) -> f64 {
        match self {
            Self::Within(norm) | Self::Clipped(norm) => norm,
            Self::NotFinite => f64::INFINITY,
        }
    }
}

/// Scales a gradient down to the norm `max_norm` if it is longer; `max_norm` may be infinite.
pub fn clip_by_norm(gradient: &mut [f64], max_norm: f64) -> Norm {
    let norm = norm(gradient);
    if !norm.is_finite() {
        return Norm::NotFinite;
    }
    if norm <= max_norm {
        return Norm::Within(norm);
    }
    // Two steps: the ratio alone may underflow although the result does not.
    for g in gradient {
        *g = *g / norm * max_norm;
    }
    Norm::Clipped(norm)
}

/// Refuses a limit that is not positive.
pub fn check_max_norm(name: &'static str, max_norm: f64) -> crate::Result<()> {
    if max_norm > 0.0 {
        return Ok(());
    }
    Err(setting(name, max_norm, "above 0 (infinite: no clipping)"))
}

/// √Σg², also where the squares overflow or underflow.
fn norm(gradient: &[f64]) -> f64 {
    let plain = pieces::sum(gradient, |piece| sum_of_squares(piece, |g| g));
    if (1e-200..1e200).contains(&plain) {
        return plain.sqrt();
    }
    let largest = gradient.iter().fold(0.0, |largest: f64, g| largest.max(g.abs()));
    if largest == 0.0 || !largest.is_finite() {
        // The sum is 0, NaN or infinite, and so is the norm.
        return plain;
    }
    pieces::sum(gradient, |piece| sum_of_squares(piece, |g| g / largest)).sqrt() * largest
}

/// Σ scaled(g)² over eight fixed partial sums, so that it vectorises in a fixed order.
fn sum_of_squares(gradient: &[f64], scaled: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let (blocks, rest) = gradient.as_chunks::<8>();
    for block in blocks {
        for (sum, &g) in sums.iter_mut().zip(block) {
            *sum += scaled(g).powi(2);
        }
    }
    for (sum, &g) in sums.iter_mut().zip(rest) {
        *sum += scaled(g).powi(2);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_gradient_keeps_its_direction() {
        let mut gradient = [3.0, -4.0];
        assert_eq!(clip_by_norm(&mut gradient, 10.0), Norm::Within(5.0));
        assert_eq!(gradient, [3.0, -4.0]);
        assert_eq!(clip_by_norm(&mut gradient, 1.0), Norm::Clipped(5.0));
        assert!((gradient[0] - 0.6).abs() < 1e-15 && (gradient[1] + 0.8).abs() < 1e-15);
    }

    #[test]
    fn squares_may_overflow_and_underflow() {
        let mut gradient = [3e200, 4e200];
        assert!(matches!(clip_by_norm(&mut gradient, 1.0), Norm::Clipped(_)));
        assert!((gradient[0] - 0.6).abs() < 1e-15);
        let norm = clip_by_norm(&mut [3e-300, 4e-300], 1.0).value();
        assert!((norm / 5e-300 - 1.0).abs() < 1e-15);
        assert_eq!(clip_by_norm(&mut [0.0; 9], 1.0), Norm::Within(0.0));
        assert_eq!(clip_by_norm(&mut [], 1.0), Norm::Within(0.0));
    }

    #[test]
    fn what_is_not_finite_is_reported_and_left_alone() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for i in 0..11 {
                let mut gradient = [1e3; 11];
                gradient[i] = bad;
                assert_eq!(clip_by_norm(&mut gradient, 1.0), Norm::NotFinite);
                assert!(gradient.iter().enumerate().all(|(j, g)| i == j || *g == 1e3));
            }
        }
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        for max_norm in [0.0, -1.0, f64::NAN] {
            assert!(check_max_norm("clip", max_norm).is_err());
        }
        assert!(check_max_norm("clip", f64::INFINITY).is_ok());
    }

    proptest! {
        #[test]
        fn the_result_is_within_the_limit_and_finite(
            gradient in prop::collection::vec(any::<f64>(), 0..40), max_norm in 1e-3..1e3_f64,
        ) {
            let mut clipped = gradient.clone();
            let norm = clip_by_norm(&mut clipped, max_norm);
            if norm.is_finite() {
                prop_assert!(clipped.iter().all(|g| g.is_finite()));
                let length = clipped.iter().map(|g| g * g).sum::<f64>().sqrt();
                prop_assert!(length <= max_norm * (1.0 + 1e-12));
                prop_assert!(clipped.iter().zip(&gradient).all(|(c, g)| c.abs() <= g.abs()));
                prop_assert!(clipped.iter().zip(&gradient).all(|(c, g)| c * g >= 0.0));
            } else {
                // Compare bits, since NaN equals nothing.
                let bits = |v: &[f64]| v.iter().map(|g| g.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&clipped), bits(&gradient));
            }
        }

        #[test]
        fn the_norm_is_the_norm(gradient in prop::collection::vec(-1e6..1e6_f64, 1..40)) {
            let plain = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let norm = clip_by_norm(&mut gradient.clone(), f64::INFINITY);
            prop_assert!((norm.value() - plain).abs() <= 1e-12 * plain);
        }
    }
}
