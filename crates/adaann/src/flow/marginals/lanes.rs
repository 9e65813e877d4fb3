//! Forward and inverse maps through the marginal distributions, for many points at once.

use crate::{
    Batch,
    simd::{F64, HALF_LN_TAU, Kernel, Lane, Math, Special},
};
use fearless_simd::Simd;

/// A component of a coordinate's distribution, in the form that the kernels read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hump {
    pub(super) log_weight: f64,
    pub(super) mean: f64,
    pub(super) sd: f64,
    pub(super) per_sd: f64,
    /// log(weight/(sd √(2π)))
    pub(super) log_height: f64,
}

/// Maximum number of steps in the search for x.
const MOST_STEPS: usize = 60;

/// Newton steps that take a quantile from three digits to full precision.
const QUANTILE_STEPS: usize = 3;

/// log Σ exp, accumulated term by term.
#[derive(Clone, Copy)]
struct LogSum<S: Simd> {
    largest: F64<S>,
    sum: F64<S>,
}

impl<S: Simd> LogSum<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        // Start from a finite value, so that no difference of infinities occurs.
        Self { largest: F64::splat(simd, f64::MIN), sum: F64::splat(simd, 0.0) }
    }

    #[inline(always)]
    fn add(&mut self, term: F64<S>) {
        let largest = self.largest.max(term);
        self.sum = self.sum * (self.largest - largest).exp() + (term - largest).exp();
        self.largest = largest;
    }

    #[inline(always)]
    fn value(self) -> F64<S> {
        self.largest + self.sum.ln()
    }
}

/// log f at x.
#[inline(always)]
fn log_density<S: Simd>(simd: S, humps: &[Hump], x: F64<S>) -> F64<S> {
    let half = F64::splat(simd, 0.5);
    let mut sum = LogSum::new(simd);
    for i in 0..humps.len() {
        let u = (x - F64::splat(simd, humps[i].mean)) * F64::splat(simd, humps[i].per_sd);
        sum.add(F64::splat(simd, humps[i].log_height) - half * u * u);
    }
    sum.value()
}

/// Log mass below x for sign 1, above x for sign −1.
#[inline(always)]
fn log_tail<S: Simd>(simd: S, humps: &[Hump], x: F64<S>, sign: F64<S>) -> F64<S> {
    let mut sum = LogSum::new(simd);
    for i in 0..humps.len() {
        let u = (x - F64::splat(simd, humps[i].mean)) * F64::splat(simd, humps[i].per_sd);
        sum.add(F64::splat(simd, humps[i].log_weight) + Special::LnNormalCdf.of(sign * u));
    }
    sum.value()
}

/// Broadcasts a number to every lane.
#[inline(always)]
fn splat<S: Simd>(simd: S, value: f64) -> F64<S> {
    F64::splat(simd, value)
}

/// The normal quantile of a probability up to ½, given its logarithm: Abramowitz and Stegun 26.2.23, then
/// Newton steps on ln Φ, whose slope is the hazard.
#[inline(always)]
fn quantile<S: Simd>(simd: S, ln_p: F64<S>) -> F64<S> {
    let r = (splat(simd, -2.0) * ln_p).max(splat(simd, 0.0)).sqrt();
    let above = splat(simd, 0.010_328)
        .mul_add(r, splat(simd, 0.802_853))
        .mul_add(r, splat(simd, 2.515_517));
    let below = splat(simd, 0.001_308)
        .mul_add(r, splat(simd, 0.189_269))
        .mul_add(r, splat(simd, 1.432_788))
        .mul_add(r, splat(simd, 1.0));
    let mut x = above / below - r;
    for _ in 0..QUANTILE_STEPS {
        x = x + (ln_p - Special::LnNormalCdf.of(x)) / Special::NormalHazard.of(x);
    }
    x
}

#[inline(always)]
fn log_normal<S: Simd>(simd: S, z: F64<S>) -> F64<S> {
    F64::splat(simd, -0.5) * z * z - F64::splat(simd, HALF_LN_TAU)
}

/// The direction of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// z to x with F(x) = Φ(z).
    OfNormal,
    /// x to z.
    ToNormal,
}

/// Moves points, coordinate by coordinate, and adds log dx/dz to their log-determinants.
pub(super) struct Pass<'a> {
    pub(super) way: Way,
    /// The components of all coordinates; those of coordinate d start at d times the number per coordinate.
    pub(super) humps: &'a [Hump],
    pub(super) points: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
}

impl Kernel for Pass<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { way, humps, points, log_det } = self;
        let (dim, len) = (points.dim(), points.len());
        let count = humps.len() / dim;
        for d in 0..dim {
            let (humps, row) = (&humps[d * count..][..count], points.padded_row_mut(d));
            for at in (0..len).step_by(<F64<S> as Lane<S>>::LEN) {
                let from = F64::load(simd, &row[at..]);
                let to = match way {
                    Way::OfNormal => of_normal(simd, humps, from),
                    Way::ToNormal => to_normal(simd, humps, from),
                };
                to.store(&mut row[at..]);
                let (z, x) = if way == Way::OfNormal { (from, to) } else { (to, from) };
                let log_slope = log_normal(simd, z) - log_density(simd, humps, x);
                (F64::load(simd, &log_det[at..]) + log_slope).store(&mut log_det[at..]);
            }
        }
    }
}

/// z with Φ(z) = F(x), computed from the smaller tail, which is known to full precision.
#[inline(always)]
fn to_normal<S: Simd>(simd: S, humps: &[Hump], x: F64<S>) -> F64<S> {
    let one = splat(simd, 1.0);
    let below = log_tail(simd, humps, x, one);
    let above = log_tail(simd, humps, x, -one);
    let is_below = below.lt(above);
    let size = quantile(simd, F64::select(is_below, below, above));
    F64::select(is_below, size, -size)
}

/// x with F(x) = Φ(z): Newton steps on the logarithm of the tail that contains z, inside the bracket of the
/// components' own quantiles. A converged lane stays fixed, whatever its neighbours do.
#[inline(always)]
fn of_normal<S: Simd>(simd: S, humps: &[Hump], z: F64<S>) -> F64<S> {
    let (mut low, mut high) = (splat(simd, f64::INFINITY), splat(simd, f64::NEG_INFINITY));
    for i in 0..humps.len() {
        let x = splat(simd, humps[i].mean) + splat(simd, humps[i].sd) * z;
        (low, high) = (low.min(x), high.max(x));
    }
    let sign = F64::select(splat(simd, 0.0).lt(z), splat(simd, -1.0), splat(simd, 1.0));
    let wanted = Special::LnNormalCdf.of(sign * z);
    let mut x = splat(simd, 0.5) * (low + high);
    // 1 for a converged lane.
    let mut is_done = splat(simd, 0.0);
    for _ in 0..MOST_STEPS {
        let reached = log_tail(simd, humps, x, sign);
        let gap = wanted - reached;
        // The lower tail grows with x, and the upper one falls.
        let is_short = splat(simd, 0.0).lt(sign * gap);
        low = F64::select(is_short, x, low);
        high = F64::select(is_short, high, x);
        let step = sign * gap * (reached - log_density(simd, humps, x)).exp();
        let next = x + step;
        let middle = splat(simd, 0.5) * (low + high);
        let inside = F64::select(low.lt(next), F64::select(next.lt(high), next, middle), middle);
        let moved = (inside - x).abs();
        x = F64::select(is_done.lt(splat(simd, 0.5)), inside, x);
        is_done = F64::select(moved.le(splat(simd, 4e-16) * x.abs()), splat(simd, 1.0), is_done);
        // A NaN lane cannot improve.
        is_done = F64::select(moved.is_finite(), is_done, splat(simd, 1.0));
        if !<F64<S> as Lane<S>>::any(is_done.lt(splat(simd, 0.5))) {
            break;
        }
    }
    x
}
