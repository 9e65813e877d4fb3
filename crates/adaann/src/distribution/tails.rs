//! The two parts that a number cuts a distribution into.

use crate::Expr;
use std::f64::consts::LN_2;

/// The logarithms of the two parts that a number cuts a distribution into.
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

    /// The same where x is above `low`; below it there is nothing.
    pub(super) fn from(self, low: impl Into<Expr<'g>>, x: Expr<'g>) -> Self {
        let low = low.into();
        Self {
            below: x.gt(low).select(self.below, f64::NEG_INFINITY),
            above: x.gt(low).select(self.above, 0.0),
        }
    }

    /// The same where x is below `high`; above it there is nothing.
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
    // Of two forms the one that has its digits; each is kept where it is finite.
    let near = (-a.max(-LN_2).min(-f64::MIN_POSITIVE).exp_m1()).ln();
    let far = (-a.min(-LN_2).exp()).ln_1p();
    a.gt(-LN_2).select(near, far)
}
