//! How many leapfrog steps a path may have: more where they pay.
//!
//! Steps are tuned by what is accepted, so that they are short where some direction is narrower than
//! the mixture says, as in a funnel. A path that ends after a fixed number of them then goes nowhere
//! in the wide directions. Where particles did not get far enough in the sweeps that they have, the
//! bound is raised while they go further for each evaluation: the squared distance grows like the
//! square of the number of steps until the path turns.

/// Bounds to choose from.
const MOST_STEPS: [usize; 4] = [10, 16, 25, 40];

/// A bound is given up for another one at which particles go further by this factor, since distances
/// of two sweeps differ by chance.
const GAIN: f64 = 1.1;

/// Sweeps between two trials of other bounds, after one that did not pay.
const PATIENCE: usize = 6;

/// The bound, and what is known about it.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct PathLength {
    /// Did particles not get far enough at the last temperature?
    needed: bool,
    /// The bound that is best so far.
    best: usize,
    /// Squared distance for each evaluation with that.
    rate: f64,
    /// The one that is tried in its place.
    trial: Option<usize>,
    /// Is a smaller one tried next?
    down: bool,
    /// Sweeps until then.
    wait: usize,
}

impl PathLength {
    /// Paths of more steps than these may be cut.
    pub(super) const SHORTEST: usize = MOST_STEPS[0];

    /// The most steps of a path.
    pub(super) fn most_steps(&self) -> usize {
        if self.needed { MOST_STEPS[self.trial.unwrap_or(self.best)] } else { Self::SHORTEST }
    }

    /// Long paths are needed where particles did not get far enough with what they had.
    pub(super) fn need(&mut self, needed: bool) {
        // What has cured it is kept.
        self.needed = needed || self.best > 0;
    }

    /// Are other bounds to be tried?
    pub(super) fn is_needed(&self) -> bool {
        self.needed
    }

    /// Learns how far particles went for each evaluation, in squares, on paths that were cut.
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

    /// The mean bound over 100 sweeps in which particles go as far as this.
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
        // Steps in one direction: the squared distance for each grows with their number.
        assert!(mean_bound(|steps| steps) > 35.0);
        // A random walk: it stays the same. A path that has turned: it falls.
        for rate in [(|_| 1.0) as fn(f64) -> f64, |steps| 1.0 / steps] {
            // One sweep in six tries 16 in place of 10.
            assert!(mean_bound(rate) < 11.1, "{}", mean_bound(rate));
        }
        // Furthest at 16.
        let mean = mean_bound(|steps| (-(steps / 16.0).ln().powi(2)).exp());
        assert!((14.0..18.5).contains(&mean), "{mean}");
    }
}
