//! A mixture of Gaussians fitted to weighted points: what moves take as the local shape of a density.
//!
//! Expectation–maximisation, with the number of components found by splitting: a component is cut
//! in two along its longest axis where two explain its points better than one by the Bayesian
//! information criterion.

use crate::{Batch, importance::log_sum_exp, linear};
use rayon::prelude::*;

/// Rounds of expectation–maximisation after each change of the components. The shape has to be
/// right for moves to be quick, not to the last digit.
const ROUNDS: usize = 8;

/// Rounds of splitting at each fit: up to 2⁶ components from one.
const SPLITS: usize = 6;

/// Components that are never exceeded.
const MOST: usize = 64;

/// One Gaussian of a mixture.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub(super) log_weight: f64,
    pub(super) mean: Vec<f64>,
    /// Lower triangle L with L Lᵀ the covariance.
    pub(super) factor: Vec<f64>,
    /// log det L
    log_det: f64,
}

/// A mixture of Gaussians.
#[derive(Debug, Clone)]
pub(super) struct Gaussians {
    pub(super) components: Vec<Component>,
    dim: usize,
}

impl Component {
    fn new(weight: f64, mean: Vec<f64>, covariance: &[f64]) -> Option<Self> {
        let dim = mean.len();
        let factor = linear::cholesky(dim, covariance).ok()?;
        let log_det = (0..dim).map(|d| factor[d * dim + d].ln()).sum();
        Some(Self { log_weight: weight.ln(), mean, factor, log_det })
    }

    /// |L⁻¹(x − centre)|² at every point, with `centre` the mean or another point for each.
    pub(super) fn squares(&self, points: &Batch, centres: Option<&Batch>) -> Vec<f64> {
        let (dim, len) = (points.dim(), points.len());
        let mut rows = vec![0.0; dim * len];
        let mut squares = vec![0.0; len];
        for d in 0..dim {
            let (before, row) = rows.split_at_mut(d * len);
            let row = &mut row[..len];
            match centres {
                Some(centres) => {
                    for ((y, x), c) in row.iter_mut().zip(points.row(d)).zip(centres.row(d)) {
                        *y = x - c;
                    }
                }
                None => {
                    for (y, x) in row.iter_mut().zip(points.row(d)) {
                        *y = x - self.mean[d];
                    }
                }
            }
            for k in 0..d {
                let factor = self.factor[d * dim + k];
                if factor != 0.0 {
                    for (y, before) in row.iter_mut().zip(&before[k * len..][..len]) {
                        *y -= factor * before;
                    }
                }
            }
            let scale = 1.0 / self.factor[d * dim + d];
            for (y, square) in row.iter_mut().zip(&mut squares) {
                *y *= scale;
                *square += *y * *y;
            }
        }
        squares
    }

    /// x ← mean + s L ξ for one point.
    pub(super) fn place(&self, normals: &[f64], scale: f64, out: &mut [f64]) {
        let dim = self.mean.len();
        for (d, out) in out.iter_mut().enumerate() {
            let row = &self.factor[d * dim..][..=d];
            let sum: f64 = row.iter().zip(normals).map(|(l, n)| l * n).sum();
            *out = self.mean[d] + scale * sum;
        }
    }

    /// y ← L ξ for one point.
    pub(super) fn stretch(&self, normals: &[f64], out: &mut [f64]) {
        let dim = self.mean.len();
        for (d, out) in out.iter_mut().enumerate() {
            let row = &self.factor[d * dim..][..=d];
            *out = row.iter().zip(normals).map(|(l, n)| l * n).sum();
        }
    }

    /// y ← Lᵀ g for one point.
    pub(super) fn stretch_back(&self, gradient: &[f64], out: &mut [f64]) {
        let dim = self.mean.len();
        for (d, out) in out.iter_mut().enumerate() {
            *out = (d..dim).map(|k| self.factor[k * dim + d] * gradient[k]).sum();
        }
    }

    /// The covariance, row by row.
    pub(super) fn covariance(&self) -> Vec<f64> {
        let dim = self.mean.len();
        let entry = |i: usize, j: usize| -> f64 {
            (0..=i.min(j)).map(|k| self.factor[i * dim + k] * self.factor[j * dim + k]).sum()
        };
        (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect()
    }
}

impl Gaussians {
    /// Fits points with weights that sum to 1, starting from an earlier fit if there is one.
    pub(super) fn fit(points: &Batch, weights: &[f64], earlier: Option<&Self>) -> Self {
        let dim = points.dim();
        let fitting = Fitting::new(points, weights);
        let mut best = Self { components: vec![fitting.whole()], dim };
        let mut best_score = fitting.score(&best);
        if let Some(earlier) = earlier.filter(|earlier| earlier.components.len() > 1) {
            let moved = fitting.improve(earlier.clone());
            let score = fitting.score(&moved);
            if score > best_score {
                (best, best_score) = (moved, score);
            }
        }
        for _ in 0..SPLITS {
            let split = fitting.split(&best);
            if split.components.len() == best.components.len() {
                break;
            }
            let split = fitting.improve(split);
            let score = fitting.score(&split);
            if score <= best_score {
                break;
            }
            (best, best_score) = (split, score);
        }
        best
    }

    /// log of weight times density of each component at every point, component by component;
    /// constants that all of them share are left out.
    fn log_terms(&self, points: &Batch) -> Vec<Vec<f64>> {
        let terms = |component: &Component| -> Vec<f64> {
            let height = component.log_weight - component.log_det;
            let squares = component.squares(points, None);
            squares.into_iter().map(|square| height - 0.5 * square).collect()
        };
        self.components.iter().map(terms).collect()
    }

    /// log Σ of weight times Student density with [`STUDENT`] degrees of freedom at every point, up
    /// to a constant.
    pub(super) fn log_student(&self, points: &Batch) -> Vec<f64> {
        let power = 0.5 * (STUDENT + self.dim as f64);
        let terms = |component: &Component| -> Vec<f64> {
            let height = component.log_weight - component.log_det;
            let squares = component.squares(points, None);
            squares.into_iter().map(|s| height - power * (s / STUDENT).ln_1p()).collect()
        };
        let terms: Vec<_> = self.components.iter().map(terms).collect();
        (0..points.len()).map(|i| log_sum_exp(terms.iter().map(|row| row[i]))).collect()
    }

    /// log of each component's share in the density at every point.
    pub(super) fn log_shares(&self, points: &Batch) -> Vec<Vec<f64>> {
        if self.components.len() == 1 {
            return vec![vec![0.0; points.len()]];
        }
        let mut terms = self.log_terms(points);
        for i in 0..points.len() {
            let total = log_sum_exp(terms.iter().map(|row| row[i]));
            terms.iter_mut().for_each(|row| row[i] -= total);
        }
        terms
    }

    /// The component that a uniform number picks by weight.
    pub(super) fn pick(&self, mut uniform: f64) -> usize {
        for (k, component) in self.components.iter().enumerate() {
            uniform -= component.log_weight.exp();
            if uniform < 0.0 {
                return k;
            }
        }
        self.components.len() - 1
    }
}

/// Degrees of freedom of the Student densities that jumps are drawn from: tails heavy enough for
/// particles that a Gaussian would leave behind, and χ² with 4 degrees is a product of uniforms.
pub(super) const STUDENT: f64 = 4.0;

/// Points to be fitted.
struct Fitting<'a> {
    points: &'a Batch,
    weights: &'a [f64],
    /// Points that the weights are worth.
    effective: f64,
    /// Variance of each coordinate over all points, by which components are kept from collapsing.
    variance: Vec<f64>,
}

impl<'a> Fitting<'a> {
    fn new(points: &'a Batch, weights: &'a [f64]) -> Self {
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let mut fitting = Self { points, weights, effective, variance: Vec::new() };
        fitting.variance = (0..points.dim())
            .map(|d| {
                let row = points.row(d);
                let mean: f64 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
                let square = weights.iter().zip(row).map(|(w, x)| w * (x - mean).powi(2)).sum();
                f64::max(square, f64::MIN_POSITIVE)
            })
            .collect();
        fitting
    }

    /// Numbers that describe one component.
    fn size(&self) -> f64 {
        let dim = self.points.dim();
        (1 + dim + dim * (dim + 1) / 2) as f64
    }

    /// Fewer points than this are no component: as many as half of the numbers that describe it.
    fn fewest(&self) -> f64 {
        (2.0 * self.points.dim() as f64 + 4.0).max(0.5 * self.size())
    }

    /// All points as one component.
    fn whole(&self) -> Component {
        self.component(self.weights).unwrap_or_else(|| {
            let dim = self.points.dim();
            let mean = (0..dim)
                .map(|d| self.weights.iter().zip(self.points.row(d)).map(|(w, x)| w * x).sum());
            let mut covariance = vec![0.0; dim * dim];
            for d in 0..dim {
                covariance[d * dim + d] = self.variance[d].max(1e-12);
            }
            Component::new(1.0, mean.collect(), &covariance).expect("a positive diagonal")
        })
    }

    /// The Gaussian of points with the given weights, whose sum is its own weight; none if they are
    /// too few.
    fn component(&self, weights: &[f64]) -> Option<Component> {
        let dim = self.points.dim();
        let total: f64 = weights.iter().sum();
        if total.is_nan() || total * self.effective < self.fewest() {
            return None;
        }
        let mean: Vec<f64> = (0..dim)
            .map(|d| {
                weights.iter().zip(self.points.row(d)).map(|(w, x)| w * x).sum::<f64>() / total
            })
            .collect();
        let mut covariance = vec![0.0; dim * dim];
        for i in 0..dim {
            let deviations: Vec<f64> = (self.points.row(i).iter().zip(weights))
                .map(|(x, w)| w * (x - mean[i]) / total)
                .collect();
            for j in 0..=i {
                let row = self.points.row(j);
                let sum = deviations.iter().zip(row).map(|(a, x)| a * (x - mean[j])).sum();
                covariance[i * dim + j] = sum;
                covariance[j * dim + i] = sum;
            }
            covariance[i * dim + i] += 1e-9 * self.variance[i];
        }
        // With few points for many coordinates correlations are mostly noise.
        let shrink = (dim as f64 / (total * self.effective)).min(0.5);
        for i in 0..dim {
            for j in 0..dim {
                if i != j {
                    covariance[i * dim + j] *= 1.0 - shrink;
                }
            }
        }
        Component::new(total, mean, &covariance)
    }

    /// Mean log density less what the components' numbers cost: half of the logarithm of the number
    /// of points for each.
    fn score(&self, mixture: &Gaussians) -> f64 {
        let count = mixture.components.len() as f64;
        self.mean_log_density(mixture, self.weights)
            - 0.5 * count * self.size() * self.effective.ln() / self.effective
    }

    /// Σ weight · log density
    fn mean_log_density(&self, mixture: &Gaussians, weights: &[f64]) -> f64 {
        let terms = mixture.log_terms(self.points);
        let log_density = |i: usize| log_sum_exp(terms.iter().map(|row| row[i]));
        (weights.iter().enumerate())
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(i, weight)| weight * log_density(i))
            .sum()
    }

    /// Some rounds of expectation–maximisation; components that die out are dropped.
    fn improve(&self, mut mixture: Gaussians) -> Gaussians {
        for _ in 0..ROUNDS {
            let shares = mixture.log_shares(self.points);
            let weighted = |row: &Vec<f64>| -> Vec<f64> {
                row.iter().zip(self.weights).map(|(share, w)| share.exp() * w).collect()
            };
            let components: Vec<_> =
                shares.par_iter().map(|row| self.component(&weighted(row))).collect();
            let components: Vec<Component> = components.into_iter().flatten().collect();
            if components.is_empty() {
                return mixture;
            }
            mixture.components = components;
            mixture.normalise();
        }
        mixture
    }

    /// Splits every component for whose own points two are worth more than one.
    fn split(&self, mixture: &Gaussians) -> Gaussians {
        let shares = mixture.log_shares(self.points);
        let halves: Vec<Vec<Component>> = (mixture.components.par_iter().zip(&shares))
            .map(|(component, shares)| {
                let own: Vec<f64> =
                    shares.iter().zip(self.weights).map(|(share, w)| share.exp() * w).collect();
                self.halves(component, &own).unwrap_or_else(|| vec![component.clone()])
            })
            .collect();
        if halves.iter().map(Vec::len).sum::<usize>() > MOST {
            return mixture.clone();
        }
        let mut split = Gaussians { components: halves.concat(), dim: mixture.dim };
        split.normalise();
        split
    }

    /// Two Gaussians for the points of one, cut along its longest axis, if they pay.
    fn halves(&self, component: &Component, own: &[f64]) -> Option<Vec<Component>> {
        let dim = self.points.dim();
        let total: f64 = own.iter().sum();
        if total * self.effective < 2.0 * self.fewest() {
            return None;
        }
        let (values, vectors) = linear::symmetric_eigen(dim, &component.covariance());
        let longest = (0..dim).max_by(|&i, &j| values[i].total_cmp(&values[j]))?;
        let (axis, length) = (&vectors[longest], values[longest].max(0.0).sqrt());
        let one = Gaussians { components: vec![component.clone()], dim };
        let shifted = |side: f64| {
            let mean = component.mean.iter().zip(axis).map(|(m, a)| m + side * length * a);
            let log_weight = component.log_weight - std::f64::consts::LN_2;
            Component { mean: mean.collect(), log_weight, ..component.clone() }
        };
        let mut two = Gaussians { components: vec![shifted(-0.8), shifted(0.8)], dim };
        for _ in 0..ROUNDS {
            let shares = two.log_shares(self.points);
            let fitted = shares.iter().map(|row| {
                let weights: Vec<f64> =
                    row.iter().zip(own).map(|(share, w)| share.exp() * w).collect();
                self.component(&weights)
            });
            two.components = fitted.collect::<Option<Vec<_>>>()?;
        }
        let gain = self.mean_log_density(&two, own) - self.mean_log_density(&one, own);
        let cost = 0.5 * self.size() * self.effective.ln() / self.effective;
        (gain > cost).then_some(two.components)
    }
}

impl Gaussians {
    fn normalise(&mut self) {
        let total = log_sum_exp(self.components.iter().map(|component| component.log_weight));
        self.components.iter_mut().for_each(|component| component.log_weight -= total);
    }
}
