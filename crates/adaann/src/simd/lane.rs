//! The lane types: as many numbers as fit the machine's widest register, with arithmetic.

use fearless_simd::{
    Bytes, ExtractToken, Select, Simd, SimdBase, SimdFloat, SimdMask, SimdNarrow, SimdWiden,
};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A register of floating-point numbers on instruction set `S`.
///
/// Operations are elementwise. `mul_add` is fused where the instruction set fuses it and a product
/// and a sum elsewhere, never a call into libm.
pub trait Lane<S: Simd>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number that a lane holds.
    type Element: Copy + Default + bytemuck::Pod;
    /// The result of a comparison.
    type Mask: Copy
        + BitAnd<Output = Self::Mask>
        + BitOr<Output = Self::Mask>
        + Not<Output = Self::Mask>;
    /// How many numbers a register holds.
    const LEN: usize;
    /// Explicit bits of the significand.
    const SIGNIFICAND_BITS: u32;

    /// Proof that the instructions are available; constants need it.
    fn token(self) -> S;
    /// The same number in every lane, rounded to the element type.
    fn splat(simd: S, value: f64) -> Self;
    /// The first [`Self::LEN`] numbers of a slice.
    fn load(simd: S, from: &[Self::Element]) -> Self;
    /// Writes the first [`Self::LEN`] numbers of a slice.
    fn store(self, to: &mut [Self::Element]);
    /// Reads [`Self::LEN`] doubles, rounding them to the element type.
    fn load_f64(simd: S, from: &[f64]) -> Self;
    /// Writes [`Self::LEN`] doubles.
    fn store_f64(self, to: &mut [f64]);
    /// Adds [`Self::LEN`] doubles to those in the slice, in double precision.
    fn accumulate_f64(self, to: &mut [f64]);

    /// self · factor + term
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// term − self · factor
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        (-self).mul_add(factor, term)
    }
    /// |self|
    fn abs(self) -> Self;
    /// √self
    fn sqrt(self) -> Self;
    /// The smaller; unspecified which if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger; unspecified which if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The magnitude of self with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// 2^self for an integer self in the range of normal exponents.
    fn exp2_integer(self) -> Self;
    /// (k, 2^k) for the integer k nearest to self · factor, in the range of normal exponents.
    fn nearest_power(self, factor: Self) -> (Self, Self);
    /// (m, e) with self = m·2^e and m in [1, 2), for positive normal self.
    fn split_exponent(self) -> (Self, Self);

    /// The sum of the lanes, from the first to the last, in double precision.
    fn add_lanes(self) -> f64;

    /// self < other
    fn lt(self, other: Self) -> Self::Mask;
    /// self <= other
    fn le(self, other: Self) -> Self::Mask;
    /// self == other
    fn eq(self, other: Self) -> Self::Mask;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> Self::Mask;
    /// `yes` where the mask is set, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Whether the mask is set in any lane.
    fn any(mask: Self::Mask) -> bool;
}

/// A register of doubles.
#[derive(Clone, Copy)]
pub struct F64<S: Simd>(pub S::f64s);

/// A register of single-precision numbers.
#[derive(Clone, Copy)]
pub struct F32<S: Simd>(pub S::f32s);

macro_rules! arithmetic {
    ($lane:ident: $($op:ident $method:ident),*) => {
        $(impl<S: Simd> $op for $lane<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        })*
        impl<S: Simd> Neg for $lane<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
    };
}
arithmetic!(F64: Add add, Sub sub, Mul mul, Div div);
arithmetic!(F32: Add add, Sub sub, Mul mul, Div div);

/// The operations with the same code for both precisions.
macro_rules! elementwise {
    ($mask:ident) => {
        type Mask = S::$mask;

        #[inline(always)]
        fn token(self) -> S {
            self.0.token()
        }

        #[inline(always)]
        fn load(simd: S, from: &[Self::Element]) -> Self {
            Self(SimdBase::from_slice(simd, &from[..<Self as Lane<S>>::LEN]))
        }
        #[inline(always)]
        fn store(self, to: &mut [Self::Element]) {
            self.0.store_slice(&mut to[..<Self as Lane<S>>::LEN]);
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            Self(self.0.mul_add(factor.0, term.0))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Self(self.0.abs())
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(self.0.sqrt())
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Self(self.0.min(other.0))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(self.0.max(other.0))
        }
        #[inline(always)]
        fn copysign(self, sign: Self) -> Self {
            Self(self.0.copysign(sign.0))
        }
        #[inline(always)]
        fn add_lanes(self) -> f64 {
            let mut sum = 0.0;
            for &lane in self.0.as_slice() {
                sum += f64::from(lane);
            }
            sum
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Self::Mask {
            self.0.simd_lt(other.0)
        }
        #[inline(always)]
        fn le(self, other: Self) -> Self::Mask {
            self.0.simd_le(other.0)
        }
        #[inline(always)]
        fn eq(self, other: Self) -> Self::Mask {
            self.0.simd_eq(other.0)
        }
        #[inline(always)]
        fn is_finite(self) -> Self::Mask {
            self.0.is_finite()
        }
        #[inline(always)]
        fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
            Self(mask.select(yes.0, no.0))
        }
        #[inline(always)]
        fn any(mask: Self::Mask) -> bool {
            mask.any_true()
        }
    };
}

impl<S: Simd> F64<S> {
    /// The largest integer not above self.
    #[inline(always)]
    pub(super) fn floor(self) -> Self {
        Self(self.0.floor())
    }
}

impl<S: Simd> Lane<S> for F64<S> {
    type Element = f64;
    const LEN: usize = <S::f64s as SimdBase<S>>::LEN;
    const SIGNIFICAND_BITS: u32 = 52;
    elementwise!(mask64s);

    #[inline(always)]
    fn splat(simd: S, value: f64) -> Self {
        Self(SimdBase::splat(simd, value))
    }
    #[inline(always)]
    fn load_f64(simd: S, from: &[f64]) -> Self {
        Self::load(simd, from)
    }
    #[inline(always)]
    fn store_f64(self, to: &mut [f64]) {
        self.store(to);
    }
    #[inline(always)]
    fn accumulate_f64(self, to: &mut [f64]) {
        (Self::load(self.token(), to) + self).store(to);
    }
    #[inline(always)]
    fn exp2_integer(self) -> Self {
        self.nearest_power(Self::splat(self.token(), 1.0)).1
    }
    #[inline(always)]
    fn nearest_power(self, factor: Self) -> (Self, Self) {
        // Adding 1.5·2^52 leaves the integer in the low bits of the significand; shifted into the
        // exponent and added to the bits of 1.0 it gives 2^k.
        let shift = Self::splat(self.token(), 6_755_399_441_055_744.0);
        let shifted = self.mul_add(factor, shift);
        let integer: S::u64s = shifted.0.bitcast();
        let bits: S::u64s = (integer << 52) + 1.0_f64.to_bits();
        (shifted - shift, Self(bits.bitcast()))
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let bits: S::u64s = self.0.bitcast();
        // The biased exponent as a double: put it under the significand of 2^52, then subtract.
        let biased: S::u64s = (bits >> 52) | 4_503_599_627_370_496.0_f64.to_bits();
        let biased: S::f64s = biased.bitcast();
        let significand: S::u64s = (bits & 0x000f_ffff_ffff_ffff) | 1.0_f64.to_bits();
        (Self(significand.bitcast()), Self(biased - (4_503_599_627_370_496.0 + 1023.0)))
    }
}

impl<S: Simd> Lane<S> for F32<S> {
    type Element = f32;
    const LEN: usize = <S::f32s as SimdBase<S>>::LEN;
    const SIGNIFICAND_BITS: u32 = 23;
    elementwise!(mask32s);

    #[inline(always)]
    fn splat(simd: S, value: f64) -> Self {
        Self(SimdBase::splat(simd, value as f32))
    }
    #[inline(always)]
    fn load_f64(simd: S, from: &[f64]) -> Self {
        let half = <S::f64s as SimdBase<S>>::LEN;
        let low: S::f64s = SimdBase::from_slice(simd, &from[..half]);
        let high: S::f64s = SimdBase::from_slice(simd, &from[half..2 * half]);
        Self(low.narrow(high))
    }
    #[inline(always)]
    fn store_f64(self, to: &mut [f64]) {
        let half = <S::f64s as SimdBase<S>>::LEN;
        let (low, high) = self.0.widen();
        low.store_slice(&mut to[..half]);
        high.store_slice(&mut to[half..2 * half]);
    }
    #[inline(always)]
    fn accumulate_f64(self, to: &mut [f64]) {
        let half = <S::f64s as SimdBase<S>>::LEN;
        let (low, high) = self.0.widen();
        F64::<S>(low).accumulate_f64(&mut to[..half]);
        F64::<S>(high).accumulate_f64(&mut to[half..2 * half]);
    }
    #[inline(always)]
    fn exp2_integer(self) -> Self {
        self.nearest_power(Self::splat(self.token(), 1.0)).1
    }
    #[inline(always)]
    fn nearest_power(self, factor: Self) -> (Self, Self) {
        let shift = Self::splat(self.token(), 12_582_912.0);
        let shifted = self.mul_add(factor, shift);
        let integer: S::u32s = shifted.0.bitcast();
        let bits: S::u32s = (integer << 23) + 1.0_f32.to_bits();
        (shifted - shift, Self(bits.bitcast()))
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let bits: S::u32s = self.0.bitcast();
        let biased: S::u32s = (bits >> 23) | 8_388_608.0_f32.to_bits();
        let biased: S::f32s = biased.bitcast();
        let significand: S::u32s = (bits & 0x007f_ffff) | 1.0_f32.to_bits();
        (Self(significand.bitcast()), Self(biased - (8_388_608.0 + 127.0)))
    }
}
