//! Diagonal covariances: log q₀ and its gradient over registers of points, by log-sum-exp.

use super::Mixture;
use crate::{
    Batch,
    batch::PAD,
    simd::{F64, Kernel, Lane, Math},
};
use fearless_simd::Simd;

/// (z_i − μ_ki)/σ_ki for the register of points that starts at `at`.
#[inline(always)]
fn scaled<S: Simd>(simd: S, mixture: &Mixture, k: usize, i: usize, row: &[f64]) -> F64<S> {
    let entry = k * mixture.dim() + i;
    (F64::load(simd, row) - F64::splat(simd, mixture.mean[entry]))
        * F64::splat(simd, mixture.derived.inverse_scale[entry])
}

/// log w_k N(z; μ_k, σ_k²)
#[inline(always)]
fn log_component<S: Simd>(simd: S, mixture: &Mixture, k: usize, z: &Batch, at: usize) -> F64<S> {
    let mut square = F64::splat(simd, 0.0);
    for i in 0..mixture.dim() {
        let e = scaled(simd, mixture, k, i, &z.padded_row(i)[at..]);
        square = e.mul_add(e, square);
    }
    square.mul_add(F64::splat(simd, -0.5), F64::splat(simd, mixture.derived.log_peak[k]))
}

/// log Σ_k w_k N(z; μ_k, σ_k²). Computing the terms twice is cheaper than storing them: d products
/// against an exponential.
#[inline(always)]
fn log_density<S: Simd>(simd: S, mixture: &Mixture, z: &Batch, at: usize) -> F64<S> {
    // Start from a finite value, so that a point infinitely far from every component has log
    // density −∞ and not NaN.
    let mut largest = F64::splat(simd, f64::MIN);
    for k in 0..mixture.logit.len() {
        largest = largest.max(log_component(simd, mixture, k, z, at));
    }
    let mut sum = F64::splat(simd, 0.0);
    for k in 0..mixture.logit.len() {
        sum = sum + (log_component(simd, mixture, k, z, at) - largest).exp();
    }
    largest + sum.ln()
}

/// Adds log q₀ to `log_q`, padding included.
pub(super) struct AddLogDensity<'a> {
    pub(super) mixture: &'a Mixture,
    pub(super) z: &'a Batch,
    pub(super) log_q: &'a mut [f64],
}

impl Kernel for AddLogDensity<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { mixture, z, log_q } = self;
        for at in (0..z.padded_len()).step_by(<F64<S> as Lane<S>>::LEN) {
            let log_q = &mut log_q[at..];
            (F64::load(simd, log_q) + log_density(simd, mixture, z, at)).store(log_q);
        }
    }
}

/// Adds the gradient of Σ k_n log q₀(z_n) for the block of points that starts at `at`. Points with
/// k = 0 are skipped; their coordinates may be infinite.
pub(super) struct Pull<'a> {
    pub(super) mixture: &'a Mixture,
    pub(super) z: &'a Batch,
    pub(super) at: usize,
    pub(super) k: &'a [f64; PAD],
    pub(super) g_z: &'a mut Batch,
    /// The gradients of the logits, means and log scales; `None` if only the points' gradient is
    /// needed.
    pub(super) sums: Option<&'a mut [f64]>,
}

impl Kernel for Pull<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { mixture, z, at, k, g_z, mut sums } = self;
        let lanes = <F64<S> as Lane<S>>::LEN;
        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
        let (components, dim) = (mixture.logit.len(), mixture.dim());
        let mut log_q = [0.0; PAD];
        let mut total = zero;
        for j in (0..PAD).step_by(lanes) {
            log_density(simd, mixture, z, at + j).store(&mut log_q[j..]);
            total = total + F64::load(simd, &k[j..]);
        }
        let total = total.add_lanes();
        // k times the responsibility of the component.
        let mut share = [0.0; PAD];
        for c in 0..components {
            let mut sum = zero;
            for j in (0..PAD).step_by(lanes) {
                let k = F64::load(simd, &k[j..]);
                let log_q = F64::load(simd, &log_q[j..]);
                let own = (log_component(simd, mixture, c, z, at + j) - log_q).exp() * k;
                let own = F64::select(k.eq(zero), zero, own);
                own.store(&mut share[j..]);
                sum = sum + own;
            }
            if let Some(sums) = sums.as_deref_mut() {
                sums[c] += sum.add_lanes() - mixture.derived.weight[c] * total;
            }
            for i in 0..dim {
                let entry = c * dim + i;
                let inverse_scale = F64::splat(simd, mixture.derived.inverse_scale[entry]);
                let (z, g_z) = (&z.padded_row(i)[at..], &mut g_z.padded_row_mut(i)[at..]);
                let (mut mean, mut log_scale) = (zero, zero);
                for j in (0..PAD).step_by(lanes) {
                    let share = F64::load(simd, &share[j..]);
                    let e = scaled(simd, mixture, c, i, &z[j..]);
                    // Zero times an infinite coordinate would be NaN.
                    let e = F64::select(share.eq(zero), zero, e);
                    let pull = share * e * inverse_scale;
                    (F64::load(simd, &g_z[j..]) - pull).store(&mut g_z[j..]);
                    mean = mean + pull;
                    log_scale = (e.mul_add(e, -one)).mul_add(share, log_scale);
                }
                if let Some(sums) = sums.as_deref_mut() {
                    sums[components + entry] += mean.add_lanes();
                    sums[components + components * dim + entry] += log_scale.add_lanes();
                }
            }
        }
    }
}
