//! The sums over the points of an update, apart from their gradient.

/// Sums over the points of an update.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    /// Σ c ℓ over the finite points, with weights c and losses ℓ: log q − log p_t on draws, −log q on
    /// given points.
    pub(crate) sum: f64,
    /// Σ c over the finite points, the divisor of a mean. If all weights are 1, as for a Gaussian
    /// base, it is the number of finite points.
    pub(crate) weight: f64,
    /// Points with a finite density and gradient.
    pub(crate) kept: usize,
    /// The finite points whose gradient is longer than the typical one. It counts points, not
    /// weights: the limit is meant for points that are unlike the others.
    pub(crate) above: usize,
}

impl Totals {
    /// Estimate of the objective; NaN if no point was finite.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    /// Adds the totals of another shard.
    pub(super) fn add(&mut self, more: &Self) {
        self.sum += more.sum;
        self.weight += more.weight;
        self.kept += more.kept;
        self.above += more.above;
    }
}
