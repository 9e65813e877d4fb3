//! The lower and upper tails of a distribution at a number.

use crate::Expr;
use std::f64::consts::LN_2;

/// The log probabilities below and above a number.
#[derive(Clone, Copy)]
pub(crate) struct Tails<'g> {
    /// ln P(X ≤ x)
    pub(crate) below: Expr<'g>,
    /// ln P(X > x)
    pub(crate) above: Expr<'g>,
}

impl<'g> Tails<'g> {
    pub(super) fn swapped(self) -> Self {
        Self { below: self.above, above: self.below }
    }

    /// The same for x above `low`; there is no mass below it.
    pub(super) fn from(self, low: impl Into<Expr<'g>>, x: Expr<'g>) -> Self {
        let low = low.into();
        Self {
            below: x.gt(low).select(self.below, f64::NEG_INFINITY),
            above: x.gt(low).select(self.above, 0.0),
        }
    }

    /// The same for x below `high`; there is no mass above it.
    pub(super) fn up_to(self, high: impl Into<Expr<'g>>, x: Expr<'g>) -> Self {
        let high = high.into();
        Self {
            below: x.lt(high).select(self.below, 0.0),
            above: x.lt(high).select(self.above, f64::NEG_INFINITY),
        }
    }
}

/// ln(1 − e^a) for a < 0.
pub(crate) fn ln_complement(a: Expr<'_>) -> Expr<'_> {
    // Of two forms, the accurate one; each is clamped to where it is finite.
    let near = (-a.max(-LN_2).min(-f64::MIN_POSITIVE).exp_m1()).ln();
    let far = (-a.min(-LN_2).exp()).ln_1p();
    a.gt(-LN_2).select(near, far)
}
