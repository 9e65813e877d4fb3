//! Elementary functions over lanes: one algorithm for both precisions, tables for each.
//!
//! The largest measured errors, in units in the last place, over two million arguments for each
//! number, one million for the single-precision sin_cos_turns (`f64` against `libquadmath`, `f32`
//! against `f64`). The arguments cover the range of normal results, values near 0, and values near
//! the points where a reduction changes:
//!
//! | | `f64`, FMA | `f64`, no FMA | `f32`, FMA | `f32`, no FMA |
//! | --- | --- | --- | --- | --- |
//! | exp | 1.03 | 0.98 | 1.02 | 0.97 |
//! | exp_m1 | 1.68 | 1.63 | 1.54 | 1.67 |
//! | ln | 0.83 | 0.81 | 0.81 | 0.81 |
//! | ln_1p | 1.31 | 1.28 | 1.36 | 1.36 |
//! | tanh | 1.85 | 2.06 | 5.06 | 5.78 |
//! | softplus | 1.62 | 1.66 | 1.61 | 1.61 |
//! | sin, cos | 1.01 | 1.02 | 0.85 | 0.85 |
//! | sin_cos_turns | 1.82 | 1.82 | 1.93 | 1.93 |
//!
//! `tests/math.rs` enforces bounds a little above these. The single-precision tanh trades accuracy
//! for speed, and never leaves [−1, 1].
//!
//! Values at and beyond the ends of the range (zeros with their signs, subnormals, infinities, NaN)
//! are those of the standard library.

mod exponential;
mod log_product;
mod logarithm;
mod polynomial;
mod tables;
mod tanh;
mod trigonometric;

pub use log_product::LogProduct;
pub(crate) use logarithm::ln_positive;
pub(in crate::simd) use polynomial::horner;

use super::{F32, F64, Lane};
use fearless_simd::Simd;
use tables::Tables;

/// Elementary functions, elementwise.
///
/// A lane's result depends on that lane's argument alone, never on its neighbours.
///
/// ```
/// use adaann::support::simd::{F64, Kernel, Lane, Math, dispatch};
///
/// struct Tanh<'a>(&'a mut [f64]);
///
/// impl Kernel for Tanh<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run<S: fearless_simd::Simd>(self, simd: S) {
///         for chunk in self.0.chunks_exact_mut(F64::<S>::LEN) {
///             F64::<S>::load(simd, chunk).tanh().store(chunk);
///         }
///     }
/// }
///
/// let mut values = [0.5; 16];
/// dispatch(Tanh(&mut values));
/// assert!((values[3] - 0.5_f64.tanh()).abs() < 1e-15);
/// ```
pub trait Math<S: Simd>: Lane<S> + Tables {
    /// e^self, with gradual underflow.
    #[inline(always)]
    fn exp(self) -> Self {
        exponential::exp(self)
    }

    /// e^self − 1, without cancellation near 0.
    #[inline(always)]
    fn exp_m1(self) -> Self {
        exponential::exp_m1(self)
    }

    /// The hyperbolic tangent, with one division; exactly odd.
    fn tanh(self) -> Self;

    /// tanh to an absolute error of 3 units in the last place of 1, at two thirds of the cost: for
    /// the activations of flows, which add it to numbers of size 1. NaN may give ±1.
    #[inline(always)]
    fn tanh_quick(self) -> Self {
        tanh::quick(self)
    }

    /// The natural logarithm: −∞ at 0, NaN below.
    #[inline(always)]
    fn ln(self) -> Self {
        logarithm::ln_scaled(self, Self::splat(self.token(), 0.0))
    }

    /// ln(1 + self), without cancellation near 0.
    #[inline(always)]
    fn ln_1p(self) -> Self {
        logarithm::ln_1p(self)
    }

    /// ln(1 + e^self), without overflow or loss of small values: it approaches e^self for small and
    /// self for large arguments.
    #[inline(always)]
    fn softplus(self) -> Self {
        logarithm::softplus(self)
    }

    /// The sine; the standard library's, lane by lane, beyond 10⁶ (10⁴ in single precision).
    #[inline(always)]
    fn sin(self) -> Self {
        self.sin_cos().0
    }

    /// The cosine; the standard library's, lane by lane, beyond 10⁶ (10⁴ in single precision).
    #[inline(always)]
    fn cos(self) -> Self {
        self.sin_cos().1
    }

    /// Sine and cosine for little more than the cost of one.
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        trigonometric::sin_cos(self)
    }

    /// Sine and cosine of 2π·self: cheaper than [`Math::sin_cos`], as whole turns drop out exactly.
    ///
    /// For |self| below 10⁶; unspecified beyond.
    #[inline(always)]
    fn sin_cos_turns(self) -> (Self, Self) {
        trigonometric::sin_cos_turns(self)
    }
}

impl<S: Simd> Math<S> for F64<S> {
    #[inline(always)]
    fn tanh(self) -> Self {
        tanh::double(self)
    }
}

impl<S: Simd> Math<S> for F32<S> {
    #[inline(always)]
    fn tanh(self) -> Self {
        tanh::single(self)
    }
}
