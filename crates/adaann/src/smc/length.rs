//! The bound on the leapfrog steps of a path: raised where longer paths pay off.
//!
//! The step length is tuned by the acceptance, so steps are short where some direction is narrower
//! than the mixture suggests, as in a funnel. A path with a fixed number of steps then makes no
//! progress in the wide directions. Where particles did not move far enough in the available sweeps,
//! the bound is raised as long as the distance per evaluation increases. The squared distance grows
//! like the square of the number of steps until the path turns.

/// Available bounds.
const MOST_STEPS: [usize; 4] = [10, 16, 25, 40];

/// A new bound must increase the distance by this factor, since the distances of two sweeps differ
/// by chance.
const GAIN: f64 = 1.1;

/// Sweeps to wait after an unsuccessful trial of another bound.
const PATIENCE: usize = 6;

/// The bound, and the statistics for adapting it.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct PathLength {
    /// Whether particles did not move far enough at the last temperature.
    needed: bool,
    /// The index of the best bound so far.
    best: usize,
    /// Squared distance per evaluation with that bound.
    rate: f64,
    /// The index of the bound on trial.
    trial: Option<usize>,
    /// Whether to try a smaller bound next.
    down: bool,
    /// Sweeps until the next trial.
    wait: usize,
}

impl PathLength {
    /// Paths with more steps than this may be truncated.
    pub(super) const SHORTEST: usize = MOST_STEPS[0];

    /// The most steps of a path.
    pub(super) fn most_steps(&self) -> usize {
        if self.needed { MOST_STEPS[self.trial.unwrap_or(self.best)] } else { Self::SHORTEST }
    }

    /// Records whether longer paths are needed because particles did not move far enough.
    pub(super) fn need(&mut self, needed: bool) {
        // A raised bound stays in use.
        self.needed = needed || self.best > 0;
    }

    /// Whether to try other bounds.
    pub(super) fn is_needed(&self) -> bool {
        self.needed
    }

    /// Adapts to the squared distance per evaluation, measured on truncated paths.
    pub(super) fn adapt(&mut self, rate: f64) {
        match self.trial.take() {
            Some(tried) if rate > GAIN * self.rate => {
                (self.best, self.rate, self.wait) = (tried, rate, 0);
            }
            Some(_) => (self.down, self.wait) = (!self.down, PATIENCE),
            None => self.rate = rate,
        }
        if self.wait > 0 {
            self.wait -= 1;
        } else {
            let up = (self.best + 1 < MOST_STEPS.len()).then_some(self.best + 1);
            let down = self.best.checked_sub(1);
            self.trial = if self.down { down.or(up) } else { up.or(down) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean bound over 100 sweeps with this squared distance per evaluation.
    fn mean_bound(rate: impl Fn(f64) -> f64) -> f64 {
        let mut length = PathLength::default();
        assert_eq!(length.most_steps(), 10);
        length.need(true);
        let mut sum = 0.0;
        for _ in 0..100 {
            let steps = length.most_steps() as f64;
            sum += steps / 100.0;
            length.adapt(rate(steps));
        }
        sum
    }

    #[test]
    fn bounds_rise_where_paths_go_further_for_each_step_and_only_there() {
        // Steps in one direction: the squared distance per evaluation grows with their number.
        assert!(mean_bound(|steps| steps) > 35.0);
        // A random walk: constant. A path that has turned: decreasing.
        for rate in [(|_| 1.0) as fn(f64) -> f64, |steps| 1.0 / steps] {
            // One sweep in six tries 16 instead of 10.
            assert!(mean_bound(rate) < 11.1, "{}", mean_bound(rate));
        }
        // The maximum is at 16.
        let mean = mean_bound(|steps| (-(steps / 16.0).ln().powi(2)).exp());
        assert!((14.0..18.5).contains(&mean), "{mean}");
    }
}
