//! Convergence diagnostics of chains: rank-normalised R-hat, bulk and tail effective sample sizes.
//!
//! As defined by A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner ("Rank-normalization,
//! folding, and localization: an improved R-hat for assessing convergence of MCMC", 2021). Chains are split in
//! halves, so that a chain that drifts disagrees with itself, and numbers are replaced by normal scores of their
//! ranks, so that heavy tails do no harm. R-hat above 1.01 means that the chains have not mixed.
//!
//! Draws are given iteration by iteration: number n·M + m is the draw of chain m of M in iteration n. All
//! functions return NaN for fewer than four iterations, for no or incomplete chains, and if a draw is not
//! finite.
//!
//! ```
//! use adaann::chains::rank;
//!
//! // Two chains that swing with different periods, and two that are far apart.
//! let swing = |n: usize| [(n as f64 * 2.4).sin(), (n as f64 * 1.9).cos()];
//! let mixed: Vec<f64> = (0..500).flat_map(swing).collect();
//! assert!(rank::r_hat(&mixed, 2) < 1.01);
//! let apart: Vec<f64> = (0..500).flat_map(|n| [swing(n)[0], 5.0 + swing(n)[1]]).collect();
//! assert!(rank::r_hat(&apart, 2) > 1.5 && rank::bulk_ess(&apart, 2) < 10.0);
//! ```

use super::normal_quantile::normal_quantile;

/// The larger of the R-hats of ranks and of folded ranks, the ranks of the distance from the median. The latter
/// detects chains that differ only in spread.
pub fn r_hat(draws: &[f64], chains: usize) -> f64 {
    r_hat_and_bulk_ess(draws, chains)[0]
}

/// The effective sample size in the bulk of the distribution.
pub fn bulk_ess(draws: &[f64], chains: usize) -> f64 {
    let Some(split) = Split::new(draws, chains) else { return f64::NAN };
    split.normal_scores(&split.order()).ess()
}

/// Both from a single sorting, which is most of the work.
pub(super) fn r_hat_and_bulk_ess(draws: &[f64], chains: usize) -> [f64; 2] {
    let Some(split) = Split::new(draws, chains) else { return [f64::NAN; 2] };
    let order = split.order();
    let (scores, folded) = (split.normal_scores(&order), split.normal_scores(&folded(&order)));
    [f64::max(scores.r_hat(), folded.r_hat()), scores.ess()]
}

/// The effective sample size in the tails: the smaller of those for the shares below the 5 and 95 per cent
/// quantiles.
pub fn tail_ess(draws: &[f64], chains: usize) -> f64 {
    let Some(split) = Split::new(draws, chains) else { return f64::NAN };
    let mut sorted = draws.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let below = |p: f64| {
        let at = quantile(&sorted, p);
        split.map(|x| f64::from(u8::from(x <= at))).ess()
    };
    below(0.05).min(below(0.95))
}

/// The effective sample size for the mean: (number of draws) / (1 + 2 Σ ρ_t).
pub fn mean_ess(draws: &[f64], chains: usize) -> f64 {
    Split::new(draws, chains).map_or(f64::NAN, |split| split.ess())
}

/// Chains split in halves, iteration by iteration; the middle iteration of an odd number is dropped.
struct Split {
    chains: usize,
    values: Vec<f64>,
}

impl Split {
    fn new(draws: &[f64], chains: usize) -> Option<Self> {
        let is_whole = chains > 0 && draws.len().is_multiple_of(chains);
        let iterations = draws.len().checked_div(chains)?;
        if !is_whole || iterations < 4 || draws.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let (half, second) = (iterations / 2, iterations - iterations / 2);
        let at = |n: usize| &draws[n * chains..][..chains];
        let values = (0..half).flat_map(|n| [at(n), at(second + n)].concat()).collect();
        Some(Self { chains: 2 * chains, values })
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { chains: self.chains, values: self.values.iter().map(|&x| f(x)).collect() }
    }

    /// The values in ascending order, each with its index.
    fn order(&self) -> Vec<(f64, usize)> {
        let mut order: Vec<(f64, usize)> = self.values.iter().copied().zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        order
    }

    /// Φ⁻¹((r − 3/8)/(S + 1/4)) for the rank r of each of S values in ascending order; ties share the mean of
    /// their ranks (equation 14).
    fn normal_scores(&self, order: &[(f64, usize)]) -> Self {
        let count = order.len() as f64;
        let mut scores = vec![0.0; order.len()];
        let mut first = 0;
        for equal in order.chunk_by(|a, b| a.0 == b.0) {
            let rank = first as f64 + 0.5 * (equal.len() as f64 + 1.0);
            let score = normal_quantile((rank - 0.375) / (count + 0.25));
            equal.iter().for_each(|&(_, at)| scores[at] = score);
            first += equal.len();
        }
        Self { chains: self.chains, values: scores }
    }

    /// Iterations of a half.
    fn iterations(&self) -> f64 {
        (self.values.len() / self.chains) as f64
    }

    /// The mean of each half chain.
    fn means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.chains];
        for iteration in self.values.chunks_exact(self.chains) {
            means.iter_mut().zip(iteration).for_each(|(mean, x)| *mean += x);
        }
        means.iter_mut().for_each(|mean| *mean /= self.iterations());
        means
    }

    /// Every value minus the mean of its half chain.
    fn deviations(&self, means: &[f64]) -> Vec<f64> {
        let iterations = self.values.chunks_exact(self.chains);
        iterations.flat_map(|row| row.iter().zip(means).map(|(x, mean)| x - mean)).collect()
    }

    /// √((B/W + n − 1)/n), with B/n the variance of the halves' means and W the mean of their variances.
    fn r_hat(&self) -> f64 {
        let (means, n) = (self.means(), self.iterations());
        let deviations = self.deviations(&means);
        let within = dot(&deviations, &deviations) / (self.chains as f64 * (n - 1.0));
        ((n * variance(&means) / within + n - 1.0) / n).sqrt()
    }

    /// Equations 10 and 11, with Geyer's initial positive and monotone sequences.
    ///
    /// Only the means of autocovariances over all halves are needed. They lie side by side: that of lag t is one
    /// product of the deviations with themselves, and lags beyond the last one needed are never computed.
    fn ess(&self) -> f64 {
        let (means, n) = (self.means(), self.iterations());
        let deviations = self.deviations(&means);
        let count = self.values.len() as f64;
        let autocovariance = |lag: usize| {
            let from = lag * self.chains;
            dot(&deviations[from..], &deviations[..deviations.len() - from]) / count
        };
        let at_0 = autocovariance(0);
        let (within, total) = (at_0 * n / (n - 1.0), at_0 + variance(&means));
        if total == 0.0 {
            // The values are constant, so the mean is known.
            return count;
        }
        let correlation = |lag: usize| 1.0 - (within - autocovariance(lag)) / total;
        let mut pair = [1.0, correlation(1)];
        let mut pairs = vec![pair];
        let mut lag = 2;
        while lag + 2 < n as usize && pair[0] + pair[1] > 0.0 {
            pair = [correlation(lag), correlation(lag + 1)];
            pairs.push(pair);
            lag += 2;
        }
        // The last pair ends the sequence; its even lag still counts if it is positive.
        let [last, odd] = pairs.pop().expect("the first pair");
        let last = if last + odd < 0.0 { last.max(0.0) } else { last };
        let mut sum = 0.0;
        let mut least = f64::INFINITY;
        for [even, odd] in pairs {
            least = least.min(even + odd);
            sum += least;
        }
        let time = 2.0 * sum - 1.0 + last;
        count / time.max(1.0 / count.log10())
    }
}

/// Distances from the median in ascending order, from values in ascending order: merges the distances below it,
/// in reverse, with those above.
fn folded(order: &[(f64, usize)]) -> Vec<(f64, usize)> {
    let sorted: Vec<f64> = order.iter().map(|(x, _)| *x).collect();
    let median = quantile(&sorted, 0.5);
    let (below, above) = order.split_at(order.partition_point(|(x, _)| *x < median));
    let mut below = below.iter().rev().map(|(x, at)| (median - x, *at)).peekable();
    let mut above = above.iter().map(|(x, at)| (x - median, *at)).peekable();
    let mut merged = Vec::with_capacity(order.len());
    while let (Some(left), Some(right)) = (below.peek(), above.peek()) {
        merged.extend(if left.0 < right.0 { below.next() } else { above.next() });
    }
    merged.extend(below.chain(above));
    merged
}

/// The quantile of probability p of sorted values, with linear interpolation.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (sorted.len() - 1) as f64;
    let (low, share) = (at.floor() as usize, at.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + share * (sorted[high] - sorted[low])
}

/// Σ (x − mean)²/(n − 1)
fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)
}

/// Σ x y in eight partial sums, which a processor computes at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Batch,
        rng::{Purpose, Stream},
    };

    #[test]
    fn what_cannot_be_judged_is_no_number() {
        for (draws, chains) in [
            (&[][..], 2),
            (&[1.0; 8], 0),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], 2),
            (&[1.0, 2.0, 3.0], 1),
            (&[1.0, 2.0, f64::NAN, 4.0], 1),
        ] {
            for of in [r_hat, bulk_ess, tail_ess, mean_ess] {
                assert!(of(draws, chains).is_nan(), "{draws:?} of {chains} chains");
            }
        }
        assert_eq!((bulk_ess(&[3.0; 40], 4), mean_ess(&[3.0; 40], 4)), (40.0, 40.0));
    }

    /// x' = ρ x + √(1 − ρ²) ξ has 1 + 2 Σ ρ^t = (1 + ρ)/(1 − ρ).
    #[test]
    fn an_autoregressive_chain_is_worth_what_theory_says() {
        for rho in [0.0_f64, 0.5, 0.9, -0.5] {
            let mut noise = Batch::zeros(2_000, 8);
            Stream::new(1, Purpose::Chains).fill_normals(0, 0, &mut noise);
            let mut draws: Vec<f64> = noise.row(0).to_vec();
            for n in 1..2_000 {
                let new = |m: usize| {
                    rho * draws[8 * (n - 1) + m] + (1.0 - rho * rho).sqrt() * noise.row(n)[m]
                };
                let new: Vec<f64> = (0..8).map(new).collect();
                draws.extend(new);
            }
            let exact = 16_000.0 * (1.0 - rho) / (1.0 + rho);
            // Over seeds the ratio varies by a few per cent.
            for of in [bulk_ess, mean_ess] {
                let found = of(&draws, 8);
                assert!((found / exact - 1.0).abs() < 0.2, "{rho}: {found} is not {exact}");
            }
            // With 1 + 2 Σ ρ^t = 19 it is 1.009 for halves of 1000.
            assert!(r_hat(&draws, 8) < 1.02);
        }
    }
}
