//! The logarithm of a product of many numbers, at the cost of one logarithm.

use super::{Lane, logarithm, tables::Tables};
use fearless_simd::Simd;
use std::marker::PhantomData;

/// A running product of positive numbers, as mantissa · 2^exponent, so that it neither overflows
/// nor underflows: Σ ln xᵢ costs a multiplication for each factor and one logarithm at the end.
///
/// Between two calls of [`LogProduct::rescale`] the mantissa holds the bare product, so the caller
/// decides how often to rescale: at least every 8 factors if they lie within 2^±127 (2^±15 in
/// single precision).
///
/// A factor 0, ∞ or NaN decides the result: −∞, ∞ or NaN. A negative product gives NaN.
#[derive(Clone, Copy)]
pub struct LogProduct<S, V> {
    mantissa: V,
    exponent: V,
    instructions: PhantomData<S>,
}

impl<S: Simd, V: Lane<S> + Tables> LogProduct<S, V> {
    /// The product of no factors.
    #[inline(always)]
    pub fn one(simd: S) -> Self {
        Self {
            mantissa: V::splat(simd, 1.0),
            exponent: V::splat(simd, 0.0),
            instructions: PhantomData,
        }
    }

    /// Multiplies by a factor.
    #[inline(always)]
    pub fn multiply(&mut self, factor: V) {
        self.mantissa = self.mantissa * factor;
    }

    /// Moves the mantissa's exponent out, which leaves the mantissa in [1, 2). A mantissa that is
    /// not positive and normal stays unchanged.
    #[inline(always)]
    pub fn rescale(&mut self) {
        let simd = self.mantissa.token();
        let normal = V::splat(simd, V::MIN_NORMAL).le(self.mantissa)
            & self.mantissa.le(V::splat(simd, V::MAX));
        let (mantissa, exponent) = self.mantissa.split_exponent();
        self.mantissa = V::select(normal, mantissa, self.mantissa);
        self.exponent = self.exponent + V::select(normal, exponent, V::splat(simd, 0.0));
    }

    /// The logarithm of the product.
    #[inline(always)]
    pub fn ln(self) -> V {
        logarithm::ln_scaled(self.mantissa, self.exponent)
    }
}
