//! Elementary functions over lanes.

use super::{F64, Lane};
use fearless_simd::Simd;

/// Elementary functions, elementwise.
pub trait Math<S: Simd>: Lane<S> {
    /// tanh(self)
    fn tanh(self) -> Self;
}

impl<S: Simd> Math<S> for F64<S> {
    #[inline(always)]
    fn tanh(self) -> Self {
        self
    }
}
