//! The rule for non-finite points: they have weight 0 in every method.
//!
//! A point is non-finite where its log density is −∞ or NaN and, where its gradient is used, where
//! the gradient is not finite. Such a point has weight 0 and is counted. A log density of +∞ is a
//! pole. Methods that weigh points refuse it with an error, because it would carry all of the
//! weight. Methods that follow gradients skip it like a non-finite point.

use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Whether a point with this log density, or log ratio of densities, is non-finite.
pub(crate) fn is_non_finite(log_density: f64) -> bool {
    log_density.is_nan() || log_density == f64::NEG_INFINITY
}

/// The log density that a point enters sums with: −∞ in place of NaN.
pub(crate) fn log_density(log_density: f64) -> f64 {
    if is_non_finite(log_density) { f64::NEG_INFINITY } else { log_density }
}

/// If one part of a log density is −∞, the point is outside the support. The other part becomes −∞
/// too unless it is finite.
#[inline(always)]
pub(crate) fn together(log_prior: &mut f64, log_likelihood: &mut f64) {
    if *log_prior == f64::NEG_INFINITY && !log_likelihood.is_finite() {
        *log_likelihood = f64::NEG_INFINITY;
    } else if *log_likelihood == f64::NEG_INFINITY && !log_prior.is_finite() {
        *log_prior = f64::NEG_INFINITY;
    }
}

/// Whether the log density and the gradient at a point are finite, so that an ascent can use them.
pub(crate) fn is_followed(log_density: f64, gradient: impl IntoIterator<Item = f64>) -> bool {
    log_density.is_finite() && gradient.into_iter().all(f64::is_finite)
}

/// [`is_followed`] for a register of points. It sums 0·x, which is 0 for a finite x and NaN for any
/// other.
#[derive(Clone, Copy)]
pub(crate) struct Probe<S: Simd>(F64<S>);

impl<S: Simd> Probe<S> {
    #[inline(always)]
    pub(crate) fn of(simd: S, x: F64<S>) -> Self {
        Self(F64::splat(simd, 0.0) * x)
    }

    #[inline(always)]
    pub(crate) fn and(self, simd: S, x: F64<S>) -> Self {
        Self(F64::splat(simd, 0.0).mul_add(x, self.0))
    }

    /// 0 where all numbers so far were finite, NaN elsewhere.
    #[inline(always)]
    pub(crate) fn sum(self) -> F64<S> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, dispatch};

    const NUMBERS: [f64; 8] =
        [0.0, -0.0, f64::MAX, -700.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 1e-310];

    #[test]
    fn what_is_no_number_counts_as_nothing_and_a_pole_is_left_to_be_refused() {
        let lost: Vec<bool> = NUMBERS.iter().map(|&x| is_non_finite(x)).collect();
        assert_eq!(lost, [false, false, false, false, true, true, false, false]);
        assert_eq!(log_density(f64::NAN), f64::NEG_INFINITY);
        assert_eq!(log_density(f64::INFINITY), f64::INFINITY);
        assert_eq!(log_density(-3.5), -3.5);
        assert!(is_followed(-3.5, [0.0, -1e300]) && is_followed(0.0, []));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!is_followed(0.0, [0.0, bad, 1.0]) && !is_followed(bad, [1.0]));
        }
    }

    #[test]
    fn a_part_that_is_lost_takes_what_is_no_number_with_it() {
        let nowhere = f64::NEG_INFINITY;
        for bad in [f64::NAN, f64::INFINITY, nowhere] {
            for mut parts in [[nowhere, bad], [bad, nowhere]] {
                let [prior, likelihood] = &mut parts;
                together(prior, likelihood);
                assert_eq!(parts, [nowhere; 2], "{bad}");
            }
        }
        for whole in [[nowhere, -1.5], [-1.5, nowhere], [f64::INFINITY, -1.5]] {
            let mut parts = whole;
            let [prior, likelihood] = &mut parts;
            together(prior, likelihood);
            assert_eq!(parts, whole);
        }
    }

    struct Probed;

    impl Kernel for Probed {
        type Output = Vec<(f64, f64)>;
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let mut out = Vec::new();
            for at in (0..NUMBERS.len()).step_by(F64::<S>::LEN) {
                let mut sums = [[0.0; 8]; 2];
                let x = F64::load(simd, &NUMBERS[at..]);
                let one = F64::splat(simd, 1.0);
                Probe::of(simd, x).sum().store(&mut sums[0]);
                Probe::of(simd, one).and(simd, x).sum().store(&mut sums[1]);
                out.extend((0..F64::<S>::LEN).map(|i| (sums[0][i], sums[1][i])));
            }
            out
        }
    }

    #[test]
    fn a_register_is_told_apart_point_by_point() {
        for ((first, second), x) in dispatch(Probed).into_iter().zip(NUMBERS) {
            assert_eq!((first == 0.0, second == 0.0), (x.is_finite(), x.is_finite()), "{x}");
        }
    }
}
