//! Activations of planar layers: increasing, bounded by 1, with slope in (0, 1].

use crate::simd::{Lane, Math};
use fearless_simd::Simd;
use serde::{Deserialize, Serialize};

/// The activation h of a planar layer.
///
/// All have h(0) = 0, |h| < 1, slope 0 < h' <= 1 and h'(0) = 1, so that the single condition u·w >
/// −1 makes a layer invertible for every activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// h(x) = tanh x, the paper's choice.
    #[default]
    Tanh,
    /// h(x) = x/√(1 + x²): polynomial tails, so that a layer also moves distant points; no
    /// exponential.
    Algebraic,
}

/// An activation, as used by the kernels.
pub(super) trait Curve {
    /// Whether to compile special kernels for each small dimension. They are a third faster, but
    /// each is compiled for every instruction set and precision.
    const HELD: bool;
    /// h(x)
    fn value<S: Simd, V: Math<S>>(x: V) -> V;
    /// h'(x) from h(x)
    fn slope<S: Simd, V: Lane<S>>(value: V) -> V;
    /// h''(x)/h'(x) from h(x)
    fn bend<S: Simd, V: Lane<S>>(value: V) -> V;
}

pub(super) struct Tanh;

impl Curve for Tanh {
    const HELD: bool = true;

    #[inline(always)]
    fn value<S: Simd, V: Math<S>>(x: V) -> V {
        x.tanh_quick()
    }
    #[inline(always)]
    fn slope<S: Simd, V: Lane<S>>(h: V) -> V {
        h.neg_mul_add(h, V::splat(h.token(), 1.0))
    }
    #[inline(always)]
    fn bend<S: Simd, V: Lane<S>>(h: V) -> V {
        V::splat(h.token(), -2.0) * h
    }
}

pub(super) struct Algebraic;

impl Curve for Algebraic {
    const HELD: bool = false;

    #[inline(always)]
    fn value<S: Simd, V: Math<S>>(x: V) -> V {
        // Beyond 2^60 the square could overflow; h is 1 to the last bit there.
        let bound = V::splat(x.token(), (1u64 << 60) as f64);
        let x = x.max(-bound).min(bound);
        x / x.mul_add(x, V::splat(x.token(), 1.0)).sqrt()
    }
    #[inline(always)]
    fn slope<S: Simd, V: Lane<S>>(h: V) -> V {
        // 1 − h² = 1/(1 + x²), and h' is its power 3/2. Rounding may push |h| above 1 by an ulp:
        // keep the root real.
        let rest = h.neg_mul_add(h, V::splat(h.token(), 1.0)).max(V::splat(h.token(), 0.0));
        rest * rest.sqrt()
    }
    #[inline(always)]
    fn bend<S: Simd, V: Lane<S>>(h: V) -> V {
        let rest = h.neg_mul_add(h, V::splat(h.token(), 1.0));
        V::splat(h.token(), -3.0) * h * rest.sqrt()
    }
}
