//! Special functions over lanes of doubles; the scalar versions use the same code.

mod arctangent;
mod error_function;
mod gamma;

pub(crate) use gamma::HALF_LN_TAU;

use super::{F64, Kernel, Lane, dispatch};
use fearless_simd::Simd;

/// Special functions of one number, in double precision.
///
/// Errors are a few units in the last place: 1 for erf and atan, 3 for erfc until it underflows, 6
/// for ln Γ, including near its zeros. The digamma function is as accurate except near its zero,
/// where the error is 4e-16. The remainder of Stirling's formula has an error of 1e-14 below 10 and
/// of a few units from there on. `tests/special.rs` enforces these bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// ln Γ(x) for x > 0; ∞ at 0, NaN below.
    LnGamma,
    /// The derivative of ln Γ of order 1 + n for x > 0: 0 is the digamma function. NaN below 0.
    Polygamma(u8),
    /// ln Γ(x) − ((x − ½) ln x − x + ½ ln 2π), the remainder of Stirling's formula, for x > 0.
    LnGammaRest,
    /// Its derivative, ψ(x) − ln x + 1/(2x), for x > 0.
    DigammaRest,
    /// 2/√π ∫ exp(−s²) ds from 0 to x.
    Erf,
    /// 1 − erf(x), with all digits until it underflows.
    Erfc,
    /// ln Φ(x), the logarithm of the normal distribution function, with all digits on both sides.
    LnNormalCdf,
    /// φ(x)/Φ(x), the derivative of ln Φ.
    NormalHazard,
    /// The arc tangent.
    Atan,
    /// The largest integer not above x.
    Floor,
}

impl Special {
    /// The function of every lane. A lane's result depends on that lane's argument alone.
    #[inline(always)]
    pub fn of<S: Simd>(self, x: F64<S>) -> F64<S> {
        match self {
            Self::LnGamma => gamma::ln_gamma(x),
            Self::Polygamma(0) => gamma::digamma(x),
            Self::Polygamma(n) => gamma::polygamma(n, x),
            Self::LnGammaRest => gamma::ln_gamma_rest(x),
            Self::DigammaRest => gamma::digamma_rest(x),
            Self::Erf => error_function::erf(x),
            Self::Erfc => error_function::erfc(x),
            Self::LnNormalCdf => error_function::ln_normal_cdf(x),
            Self::NormalHazard => error_function::normal_hazard(x),
            Self::Atan => arctangent::atan(x),
            Self::Floor => x.floor(),
        }
    }

    /// The function of one number, with the same bits as a lane.
    pub fn at(self, x: f64) -> f64 {
        struct One(Special, f64);
        impl Kernel for One {
            type Output = f64;
            #[inline(always)]
            fn run<S: Simd>(self, simd: S) -> f64 {
                let mut lanes = [0.0; crate::simd::PAD];
                self.0.of(F64::<S>::splat(simd, self.1)).store(&mut lanes);
                lanes[0]
            }
        }
        dispatch(One(self, x))
    }
}
