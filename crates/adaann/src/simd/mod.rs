//! Lanes: kernels are written once over [`Lane`] and run with the widest instructions of the
//! machine.
//!
//! [`dispatch`] picks AVX-512, AVX2 with FMA, or the portable baseline of
//! the target (SSE2 on x86-64, NEON on aarch64) at run time, so a released binary needs no
//! `-C target-cpu`. Sums are taken in a fixed order, so a result depends on the instruction set but
//! never on the number of threads.
//!
//! A kernel implements [`Kernel`] and is compiled for each instruction set. Everything it calls
//! must be `#[inline(always)]`. Closures and iterator adapters that are not inlined run without the
//! lanes' instructions and cost a call for each operation, so kernels are written with index loops.

mod buffer;
mod lane;
mod math;
mod special;

pub use buffer::Buffer;
pub use lane::{F32, F64, Lane};
pub(crate) use math::ln_positive;
pub use math::{LogProduct, Math};
pub(crate) use special::HALF_LN_TAU;
pub use special::Special;

use crate::{Result, error};
use std::sync::OnceLock;

/// Rows are padded to a multiple of this many points: two of the widest registers (16 singles), so
/// that a kernel may always process two at a time.
pub(crate) const PAD: usize = 32;

/// The instruction set that kernels run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// AVX-512: 8 doubles a lane.
    Avx512,
    /// AVX2 with fused multiply-add: 4 doubles a lane.
    Avx2,
    /// The instructions that every processor of this architecture has.
    Baseline,
}

impl Instructions {
    /// The widest set of this machine, or the narrower one that [`Self::from_environment`] returns.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Instructions> = OnceLock::new();
        *CURRENT.get_or_init(|| Self::from_environment().unwrap_or(Self::widest()))
    }

    /// The set in the environment variable `ADAANN_SIMD` (`avx512`, `avx2` or `baseline`), limited
    /// to what this machine supports: for comparing machines bit by bit.
    ///
    /// # Errors
    /// If the variable has any other value.
    pub fn from_environment() -> Result<Self> {
        let widest = Self::widest();
        match std::env::var("ADAANN_SIMD").as_deref() {
            Err(_) | Ok("avx512") => Ok(widest),
            Ok("avx2") if widest == Self::Avx512 => Ok(Self::Avx2),
            Ok("avx2") => Ok(widest),
            Ok("baseline") => Ok(Self::Baseline),
            Ok(other) => Err(error::setting("ADAANN_SIMD", other, "avx512, avx2 or baseline")),
        }
    }

    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn widest() -> Self {
        let level = fearless_simd::Level::new();
        if level.as_avx512().is_some() {
            Self::Avx512
        } else if level.as_avx2().is_some() {
            Self::Avx2
        } else {
            Self::Baseline
        }
    }

    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fn widest() -> Self {
        Self::Baseline
    }
}

impl std::fmt::Display for Instructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2+FMA",
            Self::Baseline => "baseline",
        })
    }
}

/// The number of doubles in a register of [`Instructions::current`].
pub(crate) fn doubles_per_register() -> usize {
    struct Count;
    impl Kernel for Count {
        type Output = usize;
        #[inline(always)]
        fn run<S: fearless_simd::Simd>(self, _: S) -> usize {
            <F64<S> as Lane<S>>::LEN
        }
    }
    dispatch(Count)
}

/// Work that is compiled once for each instruction set.
///
/// A trait rather than a closure, since a closure cannot be generic over the lanes it runs on.
pub trait Kernel {
    /// What the kernel returns.
    type Output;
    /// The work; must be `#[inline(always)]`, like all it calls, so that it is compiled for the
    /// instructions of `S`.
    fn run<S: fearless_simd::Simd>(self, simd: S) -> Self::Output;
}

/// Runs a kernel with [`Instructions::current`].
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_on(Instructions::current(), kernel)
}

/// Runs a kernel with the given instructions, or the widest narrower ones that this machine has.
#[inline]
pub fn dispatch_on<K: Kernel>(instructions: Instructions, kernel: K) -> K::Output {
    use fearless_simd::Simd;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        // Unit tests would compile every kernel a third time for it; `tests/suite` runs all sets.
        #[cfg(not(test))]
        if instructions == Instructions::Avx512
            && let Some(simd) = level.as_avx512()
        {
            return simd.vectorize(
                #[inline(always)]
                || kernel.run(simd),
            );
        }
        if instructions != Instructions::Baseline
            && let Some(simd) = level.as_avx2()
        {
            return simd.vectorize(
                #[inline(always)]
                || kernel.run(simd),
            );
        }
        if let Some(simd) = level.as_sse2() {
            return simd.vectorize(
                #[inline(always)]
                || kernel.run(simd),
            );
        }
        unreachable!("x86-64 has SSE2")
    }
    #[cfg(target_arch = "aarch64")]
    {
        let _ = instructions;
        let simd = fearless_simd::Level::new().as_neon().expect("aarch64 has NEON");
        simd.vectorize(
            #[inline(always)]
            || kernel.run(simd),
        )
    }
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = instructions;
        fearless_simd::dispatch!(fearless_simd::Level::new(), simd => kernel.run(simd))
    }
}
