//! Rounds of draws and fits.

use super::{archive::Archive, proposal::flow_of};
use crate::{Result, approximation::Approximation, flow::Flow, mixture::Mixture, target::Target};

/// A mixture that proposes, and how well it does.
#[derive(Clone)]
pub(super) struct Proposal {
    pub(super) mixture: Mixture,
    pub(super) flow: Flow,
    /// Share of its own fresh draws that count as draws of the target.
    pub(super) ess_share: f64,
}

/// Gains of less than this factor are none, and so many rounds in a row may bring none.
const GAIN: f64 = 1.05;
const PATIENCE: usize = 2;

/// How rounds go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) draws: usize,
    pub(super) enough: f64,
    pub(super) most: usize,
    pub(super) seed: u64,
}

/// Rounds from a mixture on. The draws go to the archive; what comes back is the best that was there, by
/// fresh draws of its own.
pub(super) fn rounds(
    target: &dyn Target,
    start: Mixture,
    pace: Pace,
    archive: &mut Archive,
) -> Result<Proposal> {
    let mut best: Option<Proposal> = None;
    let (mut current, mut in_vain) = (start, 0);
    for round in 0..pace.most {
        let flow = flow_of(&current)?;
        let approximation = Approximation::new(target, flow.clone())?;
        let sample = approximation.sample(pace.draws, pace.seed.wrapping_add(round as u64))?;
        let ess_share = sample.weight_sums()?.ess_share();
        archive.add(approximation.target(), &flow, &sample)?;
        let gain = best.as_ref().map_or(f64::INFINITY, |best| ess_share / best.ess_share);
        if gain > 1.0 || gain.is_nan() {
            best = Some(Proposal { mixture: current, flow, ess_share });
        }
        in_vain = if gain > GAIN { 0 } else { in_vain + 1 };
        let from = best.as_ref().expect("just set");
        if from.ess_share >= pace.enough || in_vain > PATIENCE {
            break;
        }
        let Some((z, weights)) = archive.weighted(pace.seed) else { break };
        current = from.mixture.adapt(&z, &weights);
    }
    Ok(best.expect("at least one round"))
}
