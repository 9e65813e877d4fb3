//! Elementary functions over lanes.

use super::{F64, Lane};
use fearless_simd::Simd;

/// Elementary functions, elementwise.
pub trait Math<S: Simd>: Lane<S> {
    /// e^self
    fn exp(self) -> Self;
    /// e^self − 1
    fn exp_m1(self) -> Self;
    /// ln(self)
    fn ln(self) -> Self;
    /// ln(1 + self)
    fn ln_1p(self) -> Self;
    /// tanh(self)
    fn tanh(self) -> Self;
    /// ln(1 + e^self)
    fn softplus(self) -> Self;
    /// sin(self)
    fn sin(self) -> Self;
    /// cos(self)
    fn cos(self) -> Self;
}

/// Placeholder: one call of the standard library a lane.
macro_rules! by_lane {
    ($($name:ident: $function:expr;)*) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            let mut lanes = [0.0; 8];
            self.store(&mut lanes);
            Self::load(self.token(), &lanes.map($function))
        })*
    };
}

impl<S: Simd> Math<S> for F64<S> {
    by_lane! {
        exp: f64::exp;
        exp_m1: f64::exp_m1;
        ln: f64::ln;
        ln_1p: f64::ln_1p;
        tanh: f64::tanh;
        softplus: |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        sin: f64::sin;
        cos: f64::cos;
    }
}
