//! Checks of the means and standard deviations of a base.

use crate::{Result, error};

/// log √(2π)
pub(super) const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Refuses a mean that is empty or has non-finite entries.
pub(super) fn check_mean(mean: &[f64]) -> Result<()> {
    error::at_least_one("dim", mean.len())?;
    match mean.iter().find(|mean| !mean.is_finite()) {
        Some(bad) => Err(error::setting("base-mean", bad, "finite")),
        None => Ok(()),
    }
}

/// Refuses a list of standard deviations that does not have `count` positive, finite entries.
pub(super) fn check_sd(sd: &[f64], count: usize) -> Result<()> {
    if sd.len() != count {
        return Err(error::setting(
            "base-sd",
            format!("a list of {}", sd.len()),
            format!("one number or {count}"),
        ));
    }
    match sd.iter().find(|sd| !(sd.is_finite() && **sd > 0.0)) {
        Some(bad) => Err(error::setting("base-sd", bad, "positive and finite")),
        None => Ok(()),
    }
}
