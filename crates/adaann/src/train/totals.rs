//! What the points of an update add up to, beside their gradient.

/// Sums over the points of an update.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    /// Σ c ℓ over the points kept, with the weight c that each stands for and its loss ℓ: log q − log p_t
    /// on draws, −log q on given points.
    pub(crate) sum: f64,
    /// Σ c over the points kept: what a sum over them is divided by to be a mean. With every weight
    /// 1, as for draws of a Gaussian base, it is their number.
    pub(crate) weight: f64,
    /// Points with a finite density and gradient.
    pub(crate) kept: usize,
    /// Points among them whose gradient is longer than the typical one. What is typical is asked of
    /// points, not of their weights: a limit is there for points that are unlike the others.
    pub(crate) above: usize,
}

impl Totals {
    /// Estimate of the objective; NaN if no point was kept.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    /// Adds those of another shard.
    pub(super) fn add(&mut self, more: &Self) {
        self.sum += more.sum;
        self.weight += more.weight;
        self.kept += more.kept;
        self.above += more.above;
    }
}
