//! The maps from the whole line onto supports, and the chain rule through them, over lanes.
//!
//! In the forward direction, a coordinate needs the one before it (`After`) or what the parts
//! before it leave (`Share`). In the backward direction, a slope on a coordinate is also a slope on
//! those before it; one row carries these contributions.

use super::{Edge, Support};
use crate::simd::{F64, Kernel, Lane, Math};
use fearless_simd::Simd;

/// One coordinate of a batch onto its support: θ and T'(z) for each point, and log T' added up.
pub(super) struct Constrain<'a> {
    pub(super) support: &'a Support,
    pub(super) z: &'a [f64],
    /// θ of the coordinate before; empty for the first.
    pub(super) before: &'a [f64],
    /// For a simplex, the remainder after the parts so far, as a product, since 1 − Σ would cancel.
    /// For a moving support, the lower bound.
    pub(super) left: &'a mut [f64],
    /// For a simplex, the sum of the parts so far, as rounded. For a moving support, the upper
    /// bound.
    pub(super) sum: &'a mut [f64],
    pub(super) theta: &'a mut [f64],
    pub(super) slope: &'a mut [f64],
    pub(super) log_jacobian: &'a mut [f64],
}

impl Kernel for Constrain<'_> {
    type Output = ();
    /// Each kind of chain has its own loop, so that independent supports pay nothing for chains.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match *self.support {
            Support::After => self.after(simd),
            Support::Share { index, of } => self.share(simd, index, of),
            Support::Factor { column } => self.factor(simd, column),
            Support::Within { ref low, ref high } => self.within(simd, low, high),
            ref alone => self.alone(simd, alone),
        }
    }
}

impl Constrain<'_> {
    #[inline(always)]
    fn alone<S: Simd>(self, simd: S, support: &Support) {
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let (theta, slope, log_slope) = match *support {
                Support::Above(bound) => {
                    let e = z.exp();
                    (F64::splat(simd, bound) + e, e, z)
                }
                Support::Below(bound) => {
                    let e = z.exp();
                    (F64::splat(simd, bound) - e, -e, z)
                }
                Support::Between(low, high) => {
                    let width = F64::splat(simd, high - low);
                    // With e = exp(−|z|), the share on the far side of the middle is e/(1 + e).
                    let e = (-z.abs()).exp();
                    let minor = e / (one + e);
                    let from_low = zero.lt(z);
                    let theta = F64::select(
                        from_low,
                        width.neg_mul_add(minor, F64::splat(simd, high)),
                        width.mul_add(minor, F64::splat(simd, low)),
                    );
                    // log(width · e/(1 + e)²)
                    let log_slope = width.ln() - z.abs() - (e.ln_1p() + e.ln_1p());
                    (theta, width * minor * (one - minor), log_slope)
                }
                _ => (z, one, zero),
            };
            theta.store(&mut self.theta[at..]);
            slope.store(&mut self.slope[at..]);
            log_slope.accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }

    #[inline(always)]
    fn after<S: Simd>(self, simd: S) {
        let (tiny, epsilon) = (F64::splat(simd, f64::MIN_POSITIVE), F64::splat(simd, f64::EPSILON));
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let (e, before) = (z.exp(), F64::load(simd, &self.before[at..]));
            // A step that does not round away, so that the order is strict.
            let least = before.abs().mul_add(epsilon, tiny);
            (before + F64::select(e.lt(least), least, e)).store(&mut self.theta[at..]);
            e.store(&mut self.slope[at..]);
            z.accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }

    #[inline(always)]
    fn share<S: Simd>(self, simd: S, index: usize, of: usize) {
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let tiny = F64::splat(simd, f64::MIN_POSITIVE);
        // One ε for this part and each part to come, so that the rounded sum stays below 1.
        let margin = F64::splat(simd, (of - index) as f64 * f64::EPSILON);
        let to_come = F64::splat(simd, self.support.parts_to_come());
        if index == 0 {
            self.left.fill(1.0);
            self.sum.fill(0.0);
        }
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let left = F64::load(simd, &self.left[at..]);
            let sum = F64::load(simd, &self.sum[at..]);
            // A share s = 1/(1 + n e⁻ᶻ) of the remainder; n parts are still to come.
            let u = F64::load(simd, &self.z[at..]) - to_come.ln();
            let (share, rest, e) = shares(simd, u);
            let (theta, most) = (left * share, one - sum - margin);
            let theta = F64::select(most.lt(theta), most, theta);
            let theta = F64::select(theta.lt(tiny), tiny, theta);
            theta.store(&mut self.theta[at..]);
            (left * share * rest).store(&mut self.slope[at..]);
            (left * rest).store(&mut self.left[at..]);
            (sum + theta).store(&mut self.sum[at..]);
            // log s + n log(1 − s): the slope of this part is left · s (1 − s), and each of the n −
            // 1 coordinates after it gains a factor 1 − s through the remainder.
            let loss = F64::select(zero.lt(u), to_come * u, -u);
            let log_slope = -loss - (to_come + one) * e.ln_1p();
            log_slope.accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }
}

impl Constrain<'_> {
    #[inline(always)]
    fn factor<S: Simd>(self, simd: S, column: usize) {
        let one = F64::splat(simd, 1.0);
        let tiny = F64::splat(simd, f64::MIN_POSITIVE);
        // So that the rounded squares stay below 1.
        let margin = F64::splat(simd, 8.0 * f64::EPSILON);
        let inside = F64::splat(simd, 1.0 - 4.0 * f64::EPSILON);
        if column == 0 {
            // Stored as a logarithm here.
            self.left.fill(0.0);
            self.sum.fill(0.0);
        }
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let log_left = F64::load(simd, &self.left[at..]);
            let sum = F64::load(simd, &self.sum[at..]);
            let z = F64::load(simd, &self.z[at..]);
            let (tanh, _, log_slope) = tanh_with_slope(simd, z);
            let log_length = F64::splat(simd, 0.5) * log_left;
            let length = log_length.exp();
            let most = one - sum - margin;
            let most = F64::select(most.lt(tiny), tiny, most).sqrt() * inside;
            let size = (length * tanh).abs();
            let theta = F64::select(most.lt(size), most, size).copysign(z);
            theta.store(&mut self.theta[at..]);
            // The backward pass needs it without the factor 1 − tanh² z, which underflows.
            length.store(&mut self.slope[at..]);
            (log_left + log_slope).store(&mut self.left[at..]);
            theta.mul_add(theta, sum).store(&mut self.sum[at..]);
            (log_length + log_slope).accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }
}

/// tanh z, its slope 1 − tanh² z, and the logarithm of that.
#[inline(always)]
fn tanh_with_slope<S: Simd>(simd: S, z: F64<S>) -> (F64<S>, F64<S>, F64<S>) {
    let (one, two) = (F64::splat(simd, 1.0), F64::splat(simd, 2.0));
    let e = (-two * z.abs()).exp();
    let reciprocal = one / (one + e);
    let tanh = z.tanh();
    let slope = F64::splat(simd, 4.0) * e * reciprocal * reciprocal;
    let log_slope = F64::splat(simd, 4.0_f64.ln()) - two * (z.abs() + e.ln_1p());
    (tanh, slope, log_slope)
}

/// The chain rule for one coordinate, after those that follow it: g ← g T'(z) + weight · d
/// log|J|/dz.
pub(super) struct PullBack<'a> {
    pub(super) support: &'a Support,
    /// Whether the next coordinate depends on this one.
    pub(super) is_followed: bool,
    pub(super) jacobian_weight: f64,
    pub(super) z: &'a [f64],
    pub(super) slope: &'a [f64],
    /// The slope on what the following coordinates depend on: the coordinate itself under `After`,
    /// the remainder under `Share`.
    pub(super) carried: &'a mut [f64],
    /// Moving bounds, replaced by the slopes on them.
    pub(super) low: &'a mut [f64],
    pub(super) high: &'a mut [f64],
    pub(super) gradient: &'a mut [f64],
}

impl Kernel for PullBack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if let Support::Share { .. } = self.support {
            return self.share(simd);
        }
        if let Support::Factor { .. } = self.support {
            return self.factor(simd);
        }
        if self.is_followed {
            for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
                let carried = F64::load(simd, &self.carried[at..]);
                (F64::load(simd, &self.gradient[at..]) + carried).store(&mut self.gradient[at..]);
            }
        }
        if let Support::Within { low, high } = self.support {
            return self.within(simd, low, high);
        }
        if *self.support == Support::After {
            self.carried[..self.z.len()].copy_from_slice(self.gradient);
        }
        let weight = F64::splat(simd, self.jacobian_weight);
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let bend = match self.support {
                Support::Above(_) | Support::Below(_) | Support::After => F64::splat(simd, 1.0),
                // 1 − 2/(1 + e⁻ᶻ) = −tanh(z/2)
                Support::Between(..) => {
                    -(F64::splat(simd, 0.5) * F64::load(simd, &self.z[at..])).tanh()
                }
                _ => F64::splat(simd, 0.0),
            };
            let g = F64::load(simd, &self.gradient[at..]);
            let g = g.mul_add(F64::load(simd, &self.slope[at..]), weight * bend);
            g.store(&mut self.gradient[at..]);
        }
    }
}

impl PullBack<'_> {
    /// θ = left · s; the remainder for the following parts is left · (1 − s).
    #[inline(always)]
    fn share<S: Simd>(self, simd: S) {
        let one = F64::splat(simd, 1.0);
        let weight = F64::splat(simd, self.jacobian_weight);
        let to_come = F64::splat(simd, self.support.parts_to_come());
        if !self.is_followed {
            self.carried.fill(0.0);
        }
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let (share, rest, _) = shares(simd, F64::load(simd, &self.z[at..]) - to_come.ln());
            let carried = F64::load(simd, &self.carried[at..]);
            let g = F64::load(simd, &self.gradient[at..]);
            (g * share + carried * rest).store(&mut self.carried[at..]);
            // d log|J|/dz = 1 − (n + 1) s
            let bend = (to_come + one).neg_mul_add(share, one);
            let slope = F64::load(simd, &self.slope[at..]);
            (g - carried).mul_add(slope, weight * bend).store(&mut self.gradient[at..]);
        }
    }
}

impl PullBack<'_> {
    /// With ℓ for the remainder, θ = √ℓ t and the following elements get ℓ (1 − t²), where t = tanh
    /// z and log|J| has ½ log ℓ + log(1 − t²). The carried value is the slope in log ℓ.
    #[inline(always)]
    fn factor<S: Simd>(self, simd: S) {
        let half = F64::splat(simd, 0.5);
        let weight = F64::splat(simd, self.jacobian_weight);
        if !self.is_followed {
            self.carried.fill(0.0);
        }
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let (tanh, own, _) = tanh_with_slope(simd, z);
            let length = F64::load(simd, &self.slope[at..]);
            let carried = F64::load(simd, &self.carried[at..]);
            let g = F64::load(simd, &self.gradient[at..]);
            (half * (g * length * tanh + weight) + carried).store(&mut self.carried[at..]);
            let turned = (carried + weight) * (tanh + tanh);
            (g * length * own - turned).store(&mut self.gradient[at..]);
        }
    }
}

/// s = 1/(1 + e⁻ᵘ), 1 − s, and e^−|u|.
#[inline(always)]
fn shares<S: Simd>(simd: S, u: F64<S>) -> (F64<S>, F64<S>, F64<S>) {
    let one = F64::splat(simd, 1.0);
    let e = (-u.abs()).exp();
    let (major, minor) = (one / (one + e), e / (one + e));
    let is_major = F64::splat(simd, 0.0).lt(u);
    (F64::select(is_major, major, minor), F64::select(is_major, minor, major), e)
}

impl Constrain<'_> {
    /// As for constant bounds, with separate bounds for each point.
    #[inline(always)]
    fn within<S: Simd>(self, simd: S, low: &Edge, high: &Edge) {
        let one = F64::splat(simd, 1.0);
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let (below, above) =
                (F64::load(simd, &self.left[at..]), F64::load(simd, &self.sum[at..]));
            let (theta, slope, log_slope) = if let Edge::Open = high {
                let e = z.exp();
                (below + e, e, z)
            } else if let Edge::Open = low {
                let e = z.exp();
                (above - e, -e, z)
            } else {
                let width = above - below;
                let e = (-z.abs()).exp();
                let minor = e / (one + e);
                let from_low = F64::splat(simd, 0.0).lt(z);
                let theta = F64::select(
                    from_low,
                    width.neg_mul_add(minor, above),
                    width.mul_add(minor, below),
                );
                // Bounds that have crossed leave an empty interval.
                let log_slope =
                    width.max(F64::splat(simd, 0.0)).ln() - z.abs() - (e.ln_1p() + e.ln_1p());
                (theta, width * minor * (one - minor), log_slope)
            };
            theta.store(&mut self.theta[at..]);
            slope.store(&mut self.slope[at..]);
            log_slope.accumulate_f64(&mut self.log_jacobian[at..]);
        }
    }
}

impl PullBack<'_> {
    /// θ = low + (high − low) s and log|J| has log(high − low), so the bounds have slopes as well.
    #[inline(always)]
    fn within<S: Simd>(self, simd: S, low: &Edge, high: &Edge) {
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let weight = F64::splat(simd, self.jacobian_weight);
        for at in (0..self.z.len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let z = F64::load(simd, &self.z[at..]);
            let g = F64::load(simd, &self.gradient[at..]);
            let (of_low, of_high, bend) = if let Edge::Open = high {
                (g, zero, one)
            } else if let Edge::Open = low {
                (zero, g, one)
            } else {
                let width = F64::load(simd, &self.high[at..]) - F64::load(simd, &self.low[at..]);
                let (share, rest, _) = shares(simd, z);
                let wider = weight / width;
                (g * rest - wider, g * share + wider, rest - share)
            };
            of_low.store(&mut self.low[at..]);
            of_high.store(&mut self.high[at..]);
            g.mul_add(F64::load(simd, &self.slope[at..]), weight * bend)
                .store(&mut self.gradient[at..]);
        }
    }
}
