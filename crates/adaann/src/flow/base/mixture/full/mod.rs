//! Full covariances: log q₀ and its gradient over registers of points, by substitution.
//!
//! For a group of points, e = L⁻¹(z − μ) and x = L⁻ᵀ e are rows of a scratch buffer, one row per coordinate. So
//! are the terms of log-sum-exp, one row per component.

mod component;
mod group;

pub(super) use component::{row_below, row_below_mut};

use super::Mixture;
use crate::{
    Batch,
    batch::PAD,
    simd::{Buffer, F64, Kernel, Lane, Math, dispatch},
};
use component::Component;
use fearless_simd::Simd;
use group::{Group, REGISTERS, width};
use std::cell::Cell;

thread_local! {
    /// Taken and put back, so that updates do not allocate.
    static SCRATCH: Cell<Buffer> = Cell::default();
}

pub(super) fn with_scratch(len: usize, work: impl FnOnce(&mut [f64])) {
    let mut scratch = SCRATCH.take();
    scratch.reserve(len);
    work(&mut scratch[..len]);
    SCRATCH.set(scratch);
}

/// Terms, e and x of a group.
fn scratch_len(mixture: &Mixture) -> usize {
    (mixture.logit.len() + 2 * mixture.dim()) * PAD
}

/// Adds log q₀ to `log_q`, padding included.
pub(super) fn add_log_density(mixture: &Mixture, z: &Batch, log_q: &mut [f64]) {
    with_scratch(scratch_len(mixture), |scratch| {
        dispatch(AddLogDensity { mixture, z, log_q, scratch });
    });
}

/// Adds the gradient of Σ k_n log q₀(z_n) for the block of points that starts at `at`: to `g_z` and, if given,
/// to the sums of the logits, means, log scales and entries below the diagonal. Points with k = 0 are skipped;
/// their coordinates may be infinite.
pub(super) fn pull(
    mixture: &Mixture,
    z: &Batch,
    at: usize,
    k: &[f64; PAD],
    g_z: &mut Batch,
    sums: Option<&mut [f64]>,
) {
    with_scratch(scratch_len(mixture), |scratch| {
        dispatch(Pull { mixture, z, at, k, g_z, sums, scratch });
    });
}

struct AddLogDensity<'a> {
    mixture: &'a Mixture,
    z: &'a Batch,
    log_q: &'a mut [f64],
    scratch: &'a mut [f64],
}

impl Kernel for AddLogDensity<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { mixture, z, log_q, scratch } = self;
        for at in (0..z.padded_len()).step_by(width::<S>()) {
            let own = log_density(simd, mixture, z, at, scratch);
            for r in 0..REGISTERS {
                let log_q = &mut log_q[at + r * <F64<S> as Lane<S>>::LEN..];
                (F64::load(simd, log_q) + own[r]).store(log_q);
            }
        }
    }
}

struct Pull<'a> {
    mixture: &'a Mixture,
    z: &'a Batch,
    at: usize,
    k: &'a [f64; PAD],
    g_z: &'a mut Batch,
    sums: Option<&'a mut [f64]>,
    scratch: &'a mut [f64],
}

impl Kernel for Pull<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { mixture, z, at, k, g_z, mut sums, scratch } = self;
        let (lanes, width) = (<F64<S> as Lane<S>>::LEN, width::<S>());
        let (components, dim) = (mixture.logit.len(), mixture.dim());
        let zero = F64::splat(simd, 0.0);
        for first in (0..PAD).step_by(width) {
            let (at, k) = (at + first, &k[first..first + width]);
            let log_q = log_density(simd, mixture, z, at, scratch);
            let (terms, rows) = scratch.split_at_mut(components * width);
            let (e, x) = rows.split_at_mut(dim * width);
            let mut total = zero;
            for r in 0..REGISTERS {
                total = total + F64::load(simd, &k[r * lanes..]);
            }
            let total = total.add_lanes();
            for c in 0..components {
                // k times the responsibility of the component.
                let mut share = [zero; REGISTERS];
                let mut sum = zero;
                let mut is_needed = false;
                for r in 0..REGISTERS {
                    let k = F64::load(simd, &k[r * lanes..]);
                    let term = F64::load(simd, &terms[c * width + r * lanes..]);
                    share[r] = F64::select(k.eq(zero), zero, (term - log_q[r]).exp() * k);
                    sum = sum + share[r];
                    is_needed |= F64::<S>::any(!share[r].eq(zero));
                }
                if let Some(sums) = sums.as_deref_mut() {
                    sums[c] += sum.add_lanes() - mixture.derived.weight[c] * total;
                }
                // Modes are often so far apart that no other component contributes.
                if !is_needed {
                    continue;
                }
                let of = Component::new(mixture, c);
                let square = of.solve(simd, z, at, e);
                let mut pull = share;
                if let Some(nu) = mixture.degrees_of(c) {
                    // The slope of a Student density in |e|²/2 is (ν + d)/(ν + |e|²); that of a Gaussian is 1.
                    let (nu, all) = (F64::splat(simd, nu), F64::splat(simd, nu + dim as f64));
                    for r in 0..REGISTERS {
                        pull[r] = share[r] * (all / (nu + square[r]));
                    }
                }
                for at in (0..dim * width).step_by(width) {
                    for r in 0..REGISTERS {
                        let at = at + r * lanes;
                        // Zero times an infinite coordinate would be NaN.
                        let own = F64::load(simd, &e[at..]);
                        let own = F64::select(share[r].eq(zero), zero, own);
                        own.store(&mut e[at..]);
                        let pull = F64::select(share[r].eq(zero), zero, pull[r]);
                        (pull * own).store(&mut x[at..]);
                    }
                }
                of.solve_transposed(simd, x);
                for i in 0..dim {
                    let (x, g_z) = (&x[i * width..], &mut g_z.padded_row_mut(i)[at..]);
                    for r in 0..REGISTERS {
                        let g_z = &mut g_z[r * lanes..];
                        (F64::load(simd, g_z) - F64::load(simd, &x[r * lanes..])).store(g_z);
                    }
                }
                if let Some(sums) = sums.as_deref_mut() {
                    of.add_sums(simd, mixture, e, x, sum.add_lanes(), &mut sums[components..]);
                }
            }
        }
    }
}

/// log q₀ of the group of points that starts at `at`. The first rows of the scratch buffer receive, for each
/// component, the logarithm of its weight times its density.
#[inline(always)]
fn log_density<S: Simd>(
    simd: S,
    mixture: &Mixture,
    z: &Batch,
    at: usize,
    scratch: &mut [f64],
) -> Group<S> {
    let (lanes, width) = (<F64<S> as Lane<S>>::LEN, width::<S>());
    let components = mixture.logit.len();
    let (terms, e) = scratch.split_at_mut(components * width);
    let far = F64::splat(simd, f64::INFINITY);
    // Start from a finite value, so that a point infinitely far from every component has log density −∞ and not
    // NaN.
    let mut largest = [F64::splat(simd, f64::MIN); REGISTERS];
    for c in 0..components {
        let square = Component::new(mixture, c).solve(simd, z, at, e);
        let log_peak = F64::splat(simd, mixture.derived.log_peak[c]);
        for r in 0..REGISTERS {
            // Overflowing coordinates may have been subtracted from each other, which gives NaN.
            let square = F64::select(square[r].eq(square[r]), square[r], far);
            let term = match mixture.degrees_of(c) {
                None => square.mul_add(F64::splat(simd, -0.5), log_peak),
                Some(nu) => {
                    let power = F64::splat(simd, -0.5 * (nu + mixture.dim() as f64));
                    let scaled = square.mul_add(F64::splat(simd, 1.0 / nu), F64::splat(simd, 1.0));
                    scaled.ln().mul_add(power, log_peak)
                }
            };
            term.store(&mut terms[c * width + r * lanes..]);
            largest[r] = largest[r].max(term);
        }
    }
    let mut log_q = [F64::splat(simd, 0.0); REGISTERS];
    for c in 0..components {
        for r in 0..REGISTERS {
            let term = F64::load(simd, &terms[c * width + r * lanes..]);
            log_q[r] = log_q[r] + (term - largest[r]).exp();
        }
    }
    for r in 0..REGISTERS {
        log_q[r] = largest[r] + log_q[r].ln();
        for i in 0..mixture.dim() {
            // A NaN coordinate must give NaN, not −∞.
            let z = F64::load(simd, &z.padded_row(i)[at + r * lanes..]);
            log_q[r] = F64::select(z.eq(z), log_q[r], z);
        }
    }
    log_q
}
