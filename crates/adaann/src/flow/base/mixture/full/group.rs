//! Groups of points that are substituted together.

use crate::simd::{F64, Lane};
use fearless_simd::Simd;

/// Registers of points per group: enough that no product waits for the previous one.
pub(super) const REGISTERS: usize = 4;

pub(super) type Group<S> = [F64<S>; REGISTERS];

/// Points per group; a divisor of [`PAD`].
pub(super) const fn width<S: Simd>() -> usize {
    REGISTERS * <F64<S> as Lane<S>>::LEN
}
