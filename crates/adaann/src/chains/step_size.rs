//! The length of a leapfrog step, by dual averaging of the acceptance probability (Hoffman and Gelman
//! 2014).

/// Dual averaging of log ε.
#[derive(Debug, Clone)]
pub(super) struct DualAveraging {
    /// The target acceptance probability.
    aim: f64,
    /// The value towards which log ε is pulled.
    centre: f64,
    log_step_size: f64,
    /// Mean of log ε, with more weight on later values.
    log_average: f64,
    /// The mean difference between the target and the actual acceptance probability.
    shortfall: f64,
    count: f64,
}

/// γ, t₀ and κ of the paper's equation 6.
const GAIN: f64 = 0.05;
const DELAY: f64 = 10.0;
const FORGETTING: f64 = 0.75;

impl DualAveraging {
    /// Starts at the length for a Gaussian whose covariance is the metric: steps decrease as d^(−1/4)
    /// (Beskos and others 2013). A wrong metric shows within a few iterations, which are cheap because
    /// long steps are few.
    pub(super) fn new(dim: usize, aim: f64) -> Self {
        let centre = (1.4 / (dim as f64).powf(0.25)).ln();
        Self { aim, centre, log_step_size: centre, log_average: centre, shortfall: 0.0, count: 0.0 }
    }

    /// The length to try next.
    pub(super) fn next(&self) -> f64 {
        self.log_step_size.exp()
    }

    /// The final length.
    pub(super) fn settled(&self) -> f64 {
        self.log_average.exp()
    }

    /// Adapts to a mean acceptance probability.
    pub(super) fn adapt(&mut self, acceptance: f64) {
        self.count += 1.0;
        let share = 1.0 / (self.count + DELAY);
        self.shortfall += share * (self.aim - acceptance - self.shortfall);
        self.log_step_size = self.centre - self.count.sqrt() / GAIN * self.shortfall;
        let weight = self.count.powf(-FORGETTING);
        self.log_average += weight * (self.log_step_size - self.log_average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The acceptance probability falls as exp(−(ε/s)⁴), for any scale s.
    #[test]
    fn it_settles_where_as_much_is_accepted_as_was_aimed_at() {
        for scale in [1e-4, 0.1, 3.0] {
            let mut tuned = DualAveraging::new(50, 0.8);
            let accepted = |size: f64| (-(size / scale).powi(4)).exp();
            (0..150).for_each(|_| tuned.adapt(accepted(tuned.next())));
            let found = accepted(tuned.settled());
            assert!((found - 0.8).abs() < 0.05, "{scale}: {found}");
        }
    }
}
