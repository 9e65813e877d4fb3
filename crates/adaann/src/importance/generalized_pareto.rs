//! The generalized Pareto distribution, fitted to excesses over a threshold.
//!
//! J. Zhang, M. Stephens, "A new and efficient estimation method for the generalized Pareto
//! distribution", Technometrics 51 (2009). With b = −k/σ the likelihood is profiled over k, and the
//! estimate of b is its mean over a grid. Here k > 0 is a heavy tail; their k has the opposite sign.

/// P(X > x) = (1 + k x/σ)^(−1/k)
#[derive(Debug, Clone, Copy)]
pub(super) struct GeneralizedPareto {
    pub(super) k: f64,
    sigma: f64,
}

/// Weight of the prior on k, in excesses of shape ½.
const PRIOR_WEIGHT: f64 = 10.0;
const PRIOR_K: f64 = 0.5;

/// The prior of b is scaled by three times the first quartile.
const PRIOR_SCALE: f64 = 3.0;

impl GeneralizedPareto {
    /// Fits positive excesses, given in ascending order; `None` if no finite fit exists.
    pub(super) fn fit(excesses: &[f64]) -> Option<Self> {
        let count = excesses.len() as f64;
        let largest = excesses.last()?;
        let quartile = excesses.get(((count / 4.0 + 0.5) as usize).checked_sub(1)?)?;
        let steps = 30 + count.sqrt() as usize;
        let grid: Vec<(f64, f64)> = (0..steps)
            .map(|j| {
                let place = 1.0 - (steps as f64 / (j as f64 + 0.5)).sqrt();
                let b = 1.0 / largest + place / (PRIOR_SCALE * quartile);
                let k = profiled_k(b, excesses);
                (b, count * ((-b / k).ln() - k - 1.0))
            })
            // At b = 0 the likelihood exists only as a limit.
            .filter(|(_, log_likelihood)| log_likelihood.is_finite())
            .collect();
        let b = posterior_mean(&grid);
        let k = profiled_k(b, excesses);
        let sigma = -k / b;
        let k = (count * k + PRIOR_WEIGHT * PRIOR_K) / (count + PRIOR_WEIGHT);
        (k.is_finite() && sigma > 0.0).then_some(Self { k, sigma })
    }

    /// The quantile at level `p`.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let exponential = -(-p).ln_1p();
        let in_sigmas = if self.k.abs() < f64::EPSILON {
            exponential
        } else {
            (self.k * exponential).exp_m1() / self.k
        };
        self.sigma * in_sigmas
    }
}

/// The k of maximum likelihood at b = −k/σ.
fn profiled_k(b: f64, excesses: &[f64]) -> f64 {
    excesses.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / excesses.len() as f64
}

/// The mean of b over a grid of (b, log likelihood), without negligible points; NaN for an empty
/// grid.
fn posterior_mean(grid: &[(f64, f64)]) -> f64 {
    let largest = grid.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let likelihood = |point: &(f64, f64)| (point.1 - largest).exp();
    let negligible = 10.0 * f64::EPSILON * grid.iter().map(likelihood).sum::<f64>();
    let (mut sum, mut total) = (0.0, 0.0);
    for (point, likelihood) in grid.iter().map(|point| (point, likelihood(point))) {
        if likelihood >= negligible {
            sum += likelihood * point.0;
            total += likelihood;
        }
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        // (1 + k x/σ)^(−1/k) = 1 − p
        for (k, sigma, p, x) in
            [(0.5, 2.0, 0.75, 4.0), (-1.0, 3.0, 0.25, 0.75), (0.0, 2.0, 0.5, 2.0 * 2_f64.ln())]
        {
            let law = GeneralizedPareto { k, sigma };
            assert!((law.quantile(p) - x).abs() < 1e-14, "{k}: {}", law.quantile(p));
        }
    }

    #[test]
    fn what_cannot_be_fitted() {
        for excesses in
            [&[][..], &[1.0], &[0.0, 0.0, 0.0, 0.0, 1.0], &[1e-310, 1e-310, 2e-310, 1.0, 1e308]]
        {
            let fit = GeneralizedPareto::fit(excesses);
            assert!(fit.is_none(), "{excesses:?} {fit:?}");
        }
    }

    #[test]
    fn equal_excesses_have_an_end_and_not_a_heavy_tail() {
        let law = GeneralizedPareto::fit(&[4.0; 100]).unwrap();
        assert!(law.k < -0.5, "{law:?}");
    }
}
