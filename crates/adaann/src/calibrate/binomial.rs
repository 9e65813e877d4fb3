//! Tails of binomial distributions.

/// Tails of the number of successes among n, for success probability p.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tails {
    /// P(X ≤ k) for k = 0, ..., n.
    lower: Vec<f64>,
    /// P(X ≥ k) for k = 0, ..., n.
    upper: Vec<f64>,
}

impl Tails {
    /// `ln_factorials` holds ln k! for k up to n; p is above 0 and below 1.
    pub(super) fn new(n: usize, p: f64, ln_factorials: &[f64]) -> Self {
        let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
        let mass = |k: usize| {
            let ways = ln_factorials[n] - ln_factorials[k] - ln_factorials[n - k];
            (ways + k as f64 * ln_p + (n - k) as f64 * ln_q).exp()
        };
        let masses: Vec<f64> = (0..=n).map(mass).collect();
        // Sum each tail from its own end, so that small tails keep their precision.
        let running = |sum: &mut f64, mass: &f64| {
            *sum += mass;
            Some(sum.min(1.0))
        };
        let lower = masses.iter().scan(0.0, running).collect();
        let mut upper: Vec<f64> = masses.iter().rev().scan(0.0, running).collect();
        upper.reverse();
        Self { lower, upper }
    }

    /// Twice the smaller of the two tails at `count`.
    pub(super) fn of(&self, count: usize) -> f64 {
        2.0 * self.lower[count].min(self.upper[count])
    }

    /// The smallest and the largest count whose tails are at least half of `share`.
    pub(super) fn between(&self, share: f64) -> (usize, usize) {
        let n = self.lower.len() - 1;
        let low = self.lower.iter().position(|tail| 2.0 * tail >= share).unwrap_or(n);
        let high = self.upper.iter().rposition(|tail| 2.0 * tail >= share).unwrap_or(0);
        (low, high)
    }
}

/// ln k! for k = 0, ..., n.
pub(super) fn ln_factorials(n: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let next = |k: usize| {
        sum += (k.max(1) as f64).ln();
        sum
    };
    (0..=n).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_coins() {
        // Heads in three tosses of a coin with P(heads) = 1/4: probabilities 27, 27, 9 and 1 of 64.
        let tails = Tails::new(3, 0.25, &ln_factorials(3));
        for (k, (lower, upper)) in
            [(27.0, 64.0), (54.0, 37.0), (63.0, 10.0), (64.0, 1.0)].into_iter().enumerate()
        {
            assert!((64.0 * tails.lower[k] - lower).abs() < 1e-12);
            assert!((64.0 * tails.upper[k] - upper).abs() < 1e-12);
        }
        assert!((tails.of(3) - 2.0 / 64.0).abs() < 1e-14);
        assert_eq!(tails.between(0.1), (0, 2));
        assert_eq!(tails.between(0.02), (0, 3));
    }

    #[test]
    fn many_trials_keep_small_tails() {
        let tails = Tails::new(10_000, 0.5, &ln_factorials(10_000));
        // The sum of 10,000 logarithms is off by 1e-9 at most.
        assert!((tails.lower[10_000] - 1.0).abs() < 1e-8);
        assert!((tails.lower[4_000].ln() - tails.upper[6_000].ln()).abs() < 1e-8);
        // Twenty standard deviations: about e^-200.
        assert!(tails.lower[4_000] > 0.0 && tails.lower[4_000] < 1e-80);
    }
}
