//! Special functions of symbolic numbers.

use super::expr::Expr;
use super::op::Unary;
use crate::simd::{HALF_LN_TAU, Special};

impl Expr<'_> {
    /// The arc tangent.
    pub fn atan(self) -> Self {
        self.unary(Unary::Special(Special::Atan))
    }

    /// The largest integer not above self; its derivative is 0 everywhere.
    pub fn floor(self) -> Self {
        self.unary(Unary::Special(Special::Floor))
    }

    /// ln Γ(self) for self > 0; ∞ at 0, NaN below.
    pub fn ln_gamma(self) -> Self {
        self.unary(Unary::Special(Special::LnGamma))
    }

    /// ψ(self), the derivative of ln Γ, for self > 0; −∞ at 0, NaN below.
    pub fn digamma(self) -> Self {
        self.unary(Unary::Special(Special::Polygamma(0)))
    }

    /// ln B(self, other) = ln Γ(self) + ln Γ(other) − ln Γ(self + other) for both above 0, accurate
    /// even where ln Γ itself is large.
    pub fn ln_beta(self, other: impl Into<Self>) -> Self {
        // Stirling's leading terms, cancelled analytically, and their remainders.
        let (a, b) = (self, other.into());
        let leading = (0.5 - a) * (b / a).ln_1p() - b * (a / b).ln_1p() - 0.5 * b.ln();
        let rests = ln_gamma_rest(a) + (ln_gamma_rest(b) - ln_gamma_rest(a + b));
        leading + rests + HALF_LN_TAU
    }

    /// The error function.
    pub fn erf(self) -> Self {
        self.unary(Unary::Special(Special::Erf))
    }

    /// 1 − erf(self), with all digits until it underflows.
    pub fn erfc(self) -> Self {
        self.unary(Unary::Special(Special::Erfc))
    }

    /// ln Φ(self), the logarithm of the normal distribution function, with all digits on both sides.
    pub fn ln_normal_cdf(self) -> Self {
        self.unary(Unary::Special(Special::LnNormalCdf))
    }
}

/// The remainder of Stirling's formula for ln Γ(x) with x > 0.
pub(crate) fn ln_gamma_rest(x: Expr<'_>) -> Expr<'_> {
    x.unary(Unary::Special(Special::LnGammaRest))
}
