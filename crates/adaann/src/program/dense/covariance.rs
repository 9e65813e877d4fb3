//! Covariance functions at fixed distances, and their slopes in the settings.

use super::values::Values;
use crate::simd::{F64, Lane, Math};
use fearless_simd::Simd;
use std::f64::consts::PI;

/// A covariance function of the distance d, with variance v and length scale ρ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CovarianceKind {
    /// v e^{−d²/2ρ²}
    ExpQuad,
    /// v (1 + s) e^{−s} with s = √3 d/ρ
    Matern32,
    /// v (1 + s + s²/3) e^{−s} with s = √5 d/ρ
    Matern52,
    /// v e^{−2 sin²(π d/period)/ρ²}
    Periodic,
}

/// A covariance function with the distances at which it is evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Covariance {
    kind: CovarianceKind,
    /// As bits, so that equal distances can be recognised.
    distances: Vec<u64>,
}

impl Covariance {
    pub(crate) fn new(kind: CovarianceKind, distances: &[f64]) -> Self {
        Self { kind, distances: distances.iter().map(|d| d.to_bits()).collect() }
    }

    /// Variance, length scale and, for a periodic function, the period.
    pub(super) fn settings(&self) -> usize {
        if self.kind == CovarianceKind::Periodic { 3 } else { 2 }
    }

    pub(super) fn distances(&self) -> usize {
        self.distances.len()
    }

    /// Computes the values from the settings.
    #[inline(always)]
    pub(super) fn forward<S: Simd>(&self, simd: S, mut values: Values<'_>) {
        let one = F64::<S>::splat(simd, 1.0);
        for at in (0..values.samples).step_by(F64::<S>::LEN) {
            let variance = values.load(simd, 0, at);
            let reciprocal = one / values.load(simd, 1, at);
            let square = reciprocal * reciprocal;
            for m in 0..self.distances.len() {
                let d = F64::<S>::splat(simd, f64::from_bits(self.distances[m]));
                let correlation = match self.kind {
                    CovarianceKind::ExpQuad => (F64::splat(simd, -0.5) * d * d * square).exp(),
                    CovarianceKind::Matern32 => {
                        let s = F64::splat(simd, 3.0_f64.sqrt()) * d * reciprocal;
                        (one + s) * (-s).exp()
                    }
                    CovarianceKind::Matern52 => {
                        let s = F64::splat(simd, 5.0_f64.sqrt()) * d * reciprocal;
                        let third = F64::splat(simd, 1.0 / 3.0);
                        (s.mul_add(third, one).mul_add(s, one)) * (-s).exp()
                    }
                    CovarianceKind::Periodic => {
                        let angle = F64::splat(simd, PI) * d / values.load(simd, 2, at);
                        let sine = angle.sin();
                        (F64::splat(simd, -2.0) * sine * sine * square).exp()
                    }
                };
                values.store(m, at, variance * correlation);
            }
        }
    }

    /// Computes slopes in the settings from the settings, the values k and the slopes in these:
    /// each is a sum of slope · k · d log k.
    #[inline(always)]
    pub(super) fn backward<S: Simd>(&self, simd: S, mut values: Values<'_>) {
        let (zero, one) = (F64::<S>::splat(simd, 0.0), F64::<S>::splat(simd, 1.0));
        let first = self.settings();
        let count = self.distances.len();
        for at in (0..values.samples).step_by(F64::<S>::LEN) {
            let variance = values.load(simd, 0, at);
            let reciprocal = one / values.load(simd, 1, at);
            let square = reciprocal * reciprocal;
            let (mut all, mut in_scale, mut in_period) = (zero, zero, zero);
            for m in 0..count {
                let d = F64::<S>::splat(simd, f64::from_bits(self.distances[m]));
                let slope = values.load(simd, first + count + m, at);
                let part = slope * values.load(simd, first + m, at);
                all = all + part;
                // ρ d log k/dρ
                let bend = match self.kind {
                    CovarianceKind::ExpQuad => d * d * square,
                    CovarianceKind::Matern32 => {
                        let s = F64::splat(simd, 3.0_f64.sqrt()) * d * reciprocal;
                        s * s / (one + s)
                    }
                    CovarianceKind::Matern52 => {
                        let s = F64::splat(simd, 5.0_f64.sqrt()) * d * reciprocal;
                        let third = F64::splat(simd, 1.0 / 3.0);
                        let polynomial = s.mul_add(third, one).mul_add(s, one);
                        s * s * (one + s) * third / polynomial
                    }
                    CovarianceKind::Periodic => {
                        let period = values.load(simd, 2, at);
                        let angle = F64::splat(simd, PI) * d / period;
                        let (sine, cosine) = (angle.sin(), angle.cos());
                        let four = F64::splat(simd, 4.0);
                        let turn = four * sine * cosine * angle * square / period;
                        in_period = part.mul_add(turn, in_period);
                        four * sine * sine * square
                    }
                };
                in_scale = part.mul_add(bend, in_scale);
            }
            values.store(0, at, all / variance);
            values.store(1, at, in_scale * reciprocal);
            if self.kind == CovarianceKind::Periodic {
                values.store(2, at, in_period);
            }
        }
    }
}
