//! Regression of one coordinate on others: y   N(m(x), exp(2 s(x))), m quadratic and s linear.
//!
//! Alternates weighted least squares for m with Fisher scoring for s. All linear terms of m are included from
//! the start. A product enters m, and a coordinate enters s, if the score statistic is significant. Its error
//! is the sandwich estimate, which accounts for unequal weights. At the end, insignificant slopes are
//! dropped.

use super::standardised::Standardised;
use crate::{flow::quadratic::pairs_and_squares, linear};

/// Rounds of least squares and scoring.
const TURNS: usize = 6;

/// Rounds until convergence if nothing enters.
const SETTLED: usize = 2;

/// Products that may enter per round.
const AT_ONCE: usize = 5;

/// Steps of Fisher scoring per round, and halvings per step.
const SCORINGS: usize = 4;
const HALVINGS: usize = 6;

/// The coefficients of one coordinate's mean and log scale.
pub(super) struct Regression {
    pub(super) shift: f64,
    pub(super) slopes: Vec<f64>,
    /// The coefficients of x_a x_b with a ≤ b, ordered by b, then by a.
    pub(super) squares: Vec<f64>,
    pub(super) log_scale: f64,
    pub(super) log_scale_slopes: Vec<f64>,
    /// Gain in nats over linear regression, minus half of the log number of points per additional parameter
    /// (the Bayesian information criterion).
    pub(super) gain: f64,
}

impl Regression {
    /// The coordinates that the mean (nonlinearly) or the scale depends on.
    pub(super) fn ruled_by(&self, others: &[usize]) -> Vec<usize> {
        let mut rules: Vec<bool> = self.log_scale_slopes.iter().map(|c| *c != 0.0).collect();
        let mut squares = self.squares.iter();
        for b in 0..others.len() {
            for a in 0..=b {
                if squares.next().is_some_and(|c| *c != 0.0) {
                    (rules[a], rules[b]) = (true, true);
                }
            }
        }
        others.iter().zip(rules).filter_map(|(d, rules)| rules.then_some(*d)).collect()
    }
}

/// A regression in progress.
struct State<'a> {
    y: &'a [f64],
    x: Vec<&'a [f64]>,
    weights: &'a [f64],
    effective: f64,
    /// Products in the mean, and the index of each among all products.
    products: Vec<(usize, Vec<f64>)>,
    /// Coordinates in the mean.
    sloping: Vec<usize>,
    /// Coordinates in the log scale.
    scaling: Vec<usize>,
    /// Coefficients of 1, the coordinates in the mean, and the products.
    middle: Vec<f64>,
    /// Their squared errors.
    variances: Vec<f64>,
    /// Coefficients of 1 and the coordinates in the log scale.
    log_scale: Vec<f64>,
    residuals: Vec<f64>,
    log_scales: Vec<f64>,
}

/// Fits coordinate `own` given `others`; `None` if the numbers overflow.
pub(super) fn fit(points: &Standardised, own: usize, others: &[usize]) -> Option<Regression> {
    let Standardised { rows, weights, effective, .. } = points;
    let mut state = State {
        y: &rows[own],
        x: others.iter().map(|&d| &rows[d][..]).collect(),
        weights,
        effective: *effective,
        products: Vec::new(),
        sloping: (0..others.len()).collect(),
        scaling: Vec::new(),
        middle: Vec::new(),
        variances: Vec::new(),
        log_scale: vec![0.0],
        residuals: rows[own].clone(),
        log_scales: vec![0.0; weights.len()],
    };
    state.least_squares()?;
    state.score();
    let linear = state.log_likelihood();
    for turn in 0..TURNS {
        // Scales first: the mean is best determined where they are small.
        let has_grown = state.add_scaling() || state.add_products();
        if !has_grown && turn >= SETTLED {
            break;
        }
        state.least_squares()?;
        state.score();
    }
    state.drop_slopes()?;
    state.score();
    let (numbers, effective) = ((state.products.len() + state.scaling.len()) as f64, *effective);
    let gain = state.log_likelihood() - linear - 0.5 * numbers * effective.ln() / effective;
    let count = others.len();
    let mut squares = vec![0.0; pairs_and_squares(count)];
    let mut slopes = vec![0.0; count];
    for (j, c) in state.sloping.iter().zip(&state.middle[1..]) {
        slopes[*j] = *c;
    }
    for ((at, _), c) in state.products.iter().zip(&state.middle[1 + state.sloping.len()..]) {
        squares[*at] = *c;
    }
    let mut log_scale_slopes = vec![0.0; count];
    for (j, c) in state.scaling.iter().zip(&state.log_scale[1..]) {
        log_scale_slopes[*j] = *c;
    }
    let all = state.middle.iter().chain(&state.log_scale);
    (gain.is_finite() && all.clone().all(|c| c.is_finite())).then(|| Regression {
        shift: state.middle[0],
        slopes,
        squares,
        log_scale: state.log_scale[0],
        log_scale_slopes,
        gain,
    })
}

impl State<'_> {
    /// w e^−2s: the weight of a squared residual.
    fn precisions(&self) -> Vec<f64> {
        self.weights.iter().zip(&self.log_scales).map(|(w, s)| w * (-2.0 * s).exp()).collect()
    }

    /// Σ w (−s − ½ r² e^−2s)
    fn log_likelihood(&self) -> f64 {
        let terms = self.weights.iter().zip(&self.log_scales).zip(&self.residuals);
        terms.map(|((w, s), r)| w * (-s - 0.5 * r * r * (-2.0 * s).exp())).sum()
    }

    /// Fits the mean by weighted least squares.
    fn least_squares(&mut self) -> Option<()> {
        let precisions = self.precisions();
        let ones = vec![1.0; self.y.len()];
        let features: Vec<&[f64]> = std::iter::once(&ones[..])
            .chain(self.sloping.iter().map(|&j| self.x[j]))
            .chain(self.products.iter().map(|(_, product)| &product[..]))
            .collect();
        let count = features.len();
        let (mut matrix, mut right) = (vec![0.0; count * count], vec![0.0; count]);
        let mut weighted = vec![0.0; self.y.len()];
        for i in 0..count {
            for ((to, f), p) in weighted.iter_mut().zip(features[i]).zip(&precisions) {
                *to = f * p;
            }
            for j in 0..=i {
                let entry = linear::dot(&weighted, features[j]);
                (matrix[i * count + j], matrix[j * count + i]) = (entry, entry);
            }
            // A weak prior: a slope of one unit of spread is worth one point.
            matrix[i * count + i] += self.effective.recip();
            right[i] = linear::dot(&weighted, self.y);
        }
        let factor = linear::cholesky(count, &matrix).ok()?;
        linear::solve_lower(count, &factor, &mut right);
        linear::solve_lower_transposed(count, &factor, &mut right);
        self.residuals.copy_from_slice(self.y);
        for (c, feature) in right.iter().zip(&features) {
            self.residuals.iter_mut().zip(*feature).for_each(|(r, f)| *r -= c * f);
        }
        self.middle = right;
        let inverse = linear::inverse_from_cholesky(count, &factor);
        self.variances = (0..count).map(|i| inverse[i * count + i] / self.effective).collect();
        Some(())
    }

    /// Drops insignificant slopes, which could mislead where the scale is small, far from most points.
    fn drop_slopes(&mut self) -> Option<()> {
        let threshold = self.threshold(1);
        let is_sure = |i: usize| self.middle[i].powi(2) > threshold * self.variances[i];
        self.sloping =
            (0..self.sloping.len()).filter(|&i| is_sure(1 + i)).map(|i| self.sloping[i]).collect();
        self.least_squares()
    }

    /// Fits the log scale by Fisher scoring.
    fn score(&mut self) {
        // The best common shift of all scales has a closed form.
        let square: f64 =
            self.precisions().iter().zip(&self.residuals).map(|(p, r)| p * r * r).sum();
        if square > 0.0 && square.is_finite() {
            self.log_scale[0] += 0.5 * square.ln();
            self.set_log_scales();
        }
        // The Fisher information is twice this, for any scales.
        let Some(factor) = self.scaling_factor() else { return };
        let mut best = self.log_likelihood();
        for _ in 0..SCORINGS {
            let surprise: Vec<f64> = (self.residuals.iter().zip(&self.log_scales))
                .zip(self.weights)
                .map(|((r, s), w)| 0.5 * w * (r * r * (-2.0 * s).exp() - 1.0))
                .collect();
            let step = self.scaling_step(&factor, &surprise);
            let before = (self.log_scale.clone(), self.log_scales.clone());
            let mut share = 1.0;
            let mut has_gained = false;
            for _ in 0..HALVINGS {
                self.log_scale = before.0.iter().zip(&step).map(|(c, s)| c + share * s).collect();
                self.set_log_scales();
                let reached = self.log_likelihood();
                if reached > best {
                    (best, has_gained) = (reached, true);
                    break;
                }
                share *= 0.5;
            }
            if !has_gained {
                (self.log_scale, self.log_scales) = before;
                return;
            }
        }
    }

    fn set_log_scales(&mut self) {
        self.log_scales.fill(self.log_scale[0]);
        for (c, &j) in self.log_scale[1..].iter().zip(&self.scaling) {
            self.log_scales.iter_mut().zip(self.x[j]).for_each(|(s, x)| *s += c * x);
        }
    }

    /// The threshold for the squared ratio of a slope to its error: the Bayesian information criterion,
    /// raised with the number of slopes tried.
    fn threshold(&self, tried: usize) -> f64 {
        self.effective.ln() + 2.0 * (tried as f64).ln()
    }

    fn add_products(&mut self) -> bool {
        let precisions = self.precisions();
        let pulls: Vec<f64> = precisions.iter().zip(&self.residuals).map(|(p, r)| p * r).collect();
        let total: f64 = precisions.iter().sum();
        let threshold = self.threshold(pairs_and_squares(self.x.len()).max(1));
        let mut found = Vec::new();
        let mut at = 0;
        for b in 0..self.x.len() {
            for a in 0..=b {
                let is_new = self.products.iter().all(|(known, _)| *known != at);
                if is_new {
                    let product: Vec<f64> =
                        self.x[a].iter().zip(self.x[b]).map(|(a, b)| a * b).collect();
                    let mean = linear::dot(&precisions, &product) / total;
                    let strength = strength(&pulls, product.iter().map(|p| p - mean));
                    if strength > threshold {
                        found.push((strength, at, product));
                    }
                }
                at += 1;
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(AT_ONCE);
        let has_grown = !found.is_empty();
        self.products.extend(found.into_iter().map(|(_, at, product)| (at, product)));
        has_grown
    }

    /// Adds coordinates to the log scale by regression of log |r|, which has the same spread everywhere.
    /// Squared residuals are dominated by the few with the largest scale (A. Harvey, "Estimating regression
    /// models with multiplicative heteroscedasticity", 1976).
    fn add_scaling(&mut self) -> bool {
        let too_small: Vec<f64> = (self.residuals.iter().zip(&self.log_scales))
            .map(|(r, s)| r.abs().max(f64::MIN_POSITIVE).ln() - MEAN_LOG_NORMAL - s)
            .collect();
        let mean = linear::dot(&too_small, self.weights);
        let pulls: Vec<f64> =
            too_small.iter().zip(self.weights).map(|(t, w)| w * (t - mean)).collect();
        let threshold = self.threshold(self.x.len().max(1));
        let before = self.scaling.len();
        for j in 0..self.x.len() {
            let is_new = !self.scaling.contains(&j);
            if is_new && strength(&pulls, self.x[j].iter().copied()) > threshold {
                self.scaling.push(j);
                self.log_scale.push(0.0);
            }
        }
        if self.scaling.len() == before {
            return false;
        }
        let pulls: Vec<f64> = too_small.iter().zip(self.weights).map(|(t, w)| t * w).collect();
        if let Some(factor) = self.scaling_factor() {
            let step = self.scaling_step(&factor, &pulls);
            self.log_scale.iter_mut().zip(&step).for_each(|(c, s)| *c += s);
            self.set_log_scales();
        }
        true
    }

    /// 1 and the coordinates in the log scale, at every point.
    fn scaling_features<'a>(&'a self, ones: &'a [f64]) -> Vec<&'a [f64]> {
        std::iter::once(ones).chain(self.scaling.iter().map(|&j| self.x[j])).collect()
    }

    /// The factor of Σ w f fᵀ for the features of the log scale.
    fn scaling_factor(&self) -> Option<Vec<f64>> {
        let ones = vec![1.0; self.y.len()];
        let features = self.scaling_features(&ones);
        let count = features.len();
        let mut matrix = vec![0.0; count * count];
        for i in 0..count {
            let weighted: Vec<f64> =
                features[i].iter().zip(self.weights).map(|(f, w)| f * w).collect();
            for j in 0..=i {
                let entry = linear::dot(&weighted, features[j]);
                (matrix[i * count + j], matrix[j * count + i]) = (entry, entry);
            }
            matrix[i * count + i] += self.effective.recip();
        }
        linear::cholesky(count, &matrix).ok()
    }

    /// (Σ w f fᵀ)⁻¹ Σ a f for the features of the log scale.
    fn scaling_step(&self, factor: &[f64], pulls: &[f64]) -> Vec<f64> {
        let ones = vec![1.0; self.y.len()];
        let features = self.scaling_features(&ones);
        let mut step: Vec<f64> = features.iter().map(|f| linear::dot(f, pulls)).collect();
        linear::solve_lower(features.len(), factor, &mut step);
        linear::solve_lower_transposed(features.len(), factor, &mut step);
        step
    }
}

/// E[log |ξ|] of a standard normal ξ: −(γ + log 2)/2.
const MEAN_LOG_NORMAL: f64 = -0.635_181_422_730_739;

/// (Σ a f)²/Σ (a f)²: the squared ratio of a slope to its error, about 1 without an effect.
fn strength(pulls: &[f64], feature: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (pull, f) in pulls.iter().zip(feature) {
        sum += pull * f;
        squares += (pull * f).powi(2);
    }
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}
