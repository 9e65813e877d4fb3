//! The rule for lost points: which count for nothing, wherever densities are looked at.
//!
//! A point is lost where its log density is −∞ or no number. It has weight 0 and is counted. A log
//! density of +∞ is a pole: who weighs points refuses it by name, since its weight would be all.

/// Is a point of this log density, or of this log ratio of densities, lost?
pub(crate) fn is_lost(log_density: f64) -> bool {
    log_density.is_nan() || log_density == f64::NEG_INFINITY
}
