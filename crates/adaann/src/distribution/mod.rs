//! Named distributions of single numbers: recorded log densities, draws, masses.
//!
//! Log densities are sums of terms of the arguments alone, terms of x alone, and products of the
//! two, as far as the mathematics allows. Over the rows of data, whatever does not depend on the
//! row is then computed once. For the same reason the support is expressed by a term of x alone,
//! which is 0 inside and −∞ outside.

mod argument;
mod bounded;
mod circle;
mod count;
mod cumulative;
mod density;
mod draw;
mod family;
mod incomplete;
mod interval;
mod joint;
mod line;
mod lkj;
mod mass;
mod mean;
mod multi_normal;
mod positive;
mod quadrature;
mod skewed;
mod tails;
#[cfg(test)]
mod tests;

pub(crate) use argument::Range;
pub(crate) use draw::ln_gamma_draw;
pub(crate) use family::Family;
pub(crate) use interval::outside;
pub(crate) use joint::{dirichlet, draw_dirichlet, mixture};
pub(crate) use lkj::{draw_lkj, lkj, lkj_factor};
pub(crate) use multi_normal::{Spread, draw_multi_normal, factor_of, multi_normal};
pub(crate) use quadrature::integral_of_tail;
pub(crate) use tails::{Tails, ln_complement};
