//! Thresholds of a verdict that others share.

/// A mode is lost if q has less than this share of its weight.
///
/// The answer is the weighted sample. At a tenth its weights there are ten times those elsewhere: of
/// 10,000 draws a mode of ten per cent has 100, which tell its weight to a tenth of itself, and two
/// equal modes leave a fifth of the draws effective. Below, an answer hangs on a few draws.
pub const MODE_LOST: f64 = 0.1;

/// Has q, with `share` of its draws in a mode of this weight, lost it?
pub fn is_mode_lost(share: f64, weight: f64) -> bool {
    share < MODE_LOST * weight
}
