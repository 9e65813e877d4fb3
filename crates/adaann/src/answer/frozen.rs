//! Fresh draws of a proposal that no longer changes: what is reported comes from them alone.

use super::Settings;
use crate::{Result, approximation::Approximation, importance::Sample};

/// Draws until they are worth what is asked for, or as many as are allowed.
pub(super) fn draw(
    approximation: &Approximation,
    ess_share: f64,
    settings: &Settings,
    seed: u64,
) -> Result<Sample> {
    let most = settings.most_draws;
    // A tenth more than foreseen: the share was measured by chance.
    let wanted = 1.1 * settings.target_ess / ess_share.max(1e-6);
    let mut sample = approximation.sample((wanted as usize).clamp(100, most), seed)?;
    for _ in 0..3 {
        let ess = sample.weight_sums()?.ess();
        if ess >= settings.target_ess || sample.len() >= most {
            break;
        }
        let share = (ess / sample.len() as f64).max(1e-6);
        let total = (1.1 * settings.target_ess / share) as usize;
        let more = total.saturating_sub(sample.len()).clamp(100, most - sample.len().min(most));
        if more == 0 {
            break;
        }
        sample = sample.join(&approximation.sample_from(sample.len(), more, seed)?)?;
    }
    Ok(sample)
}
