//! A limit on the gradients of single points, relative to their median.

use super::totals::Totals;
use serde::{Deserialize, Serialize};

/// Limits the gradient of log p_t at a single point. A trajectory that almost diverges can have a
/// gradient many orders of magnitude longer than all others together, and an update that follows it
/// makes no progress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct PointClip {
    /// The current estimate of the median length.
    pub(super) typical: f64,
    /// The largest length in units of the median; `None` for no limit.
    pub(super) most: Option<f64>,
}

impl PointClip {
    /// Starts with a typical length of 1, which quickly adapts.
    pub(crate) fn new(most: Option<f64>) -> Self {
        Self { typical: 1.0, most }
    }

    /// Follows the median: the length that half of the points exceed.
    pub(crate) fn follow(&mut self, totals: &Totals) {
        let share = totals.above as f64 / totals.kept as f64;
        if self.most.is_some() && share.is_finite() {
            // Far from the median it moves by a factor of e per update; near it, in proportion to
            // the deviation of the fraction. It stays finite, since files cannot store infinity.
            self.typical = (self.typical * (2.0 * share - 1.0).exp()).min(f64::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten points with gradients of length 1 to 10: half of them exceed 5 to 6. If the fraction is
    /// off by a tenth, the median moves by a fifth, so it ends between 4 and 7.
    #[test]
    fn it_finds_the_median() {
        let mut clip = PointClip::new(Some(10.0));
        for _ in 0..50 {
            let above = (1..=10).filter(|length| f64::from(*length) > clip.typical).count();
            clip.follow(&Totals { kept: 10, above, ..Totals::default() });
        }
        assert!((4.0..7.0).contains(&clip.typical), "{clip:?}");
        let before = clip;
        clip.follow(&Totals::default());
        assert_eq!(clip, before, "no point says nothing");
        let mut none = PointClip::new(None);
        none.follow(&Totals { kept: 10, above: 10, ..Totals::default() });
        assert_eq!(none, PointClip::new(None));
    }
}
