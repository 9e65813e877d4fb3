//! Adaptive importance sampling: a mixture that follows the weights of its own draws.

use super::archive::Archive;
use crate::{
    Result,
    approximation::Approximation,
    flow::{Flow, FlowSpec},
    mixture::{Component, Mixture},
    target::Target,
};

/// A mixture that proposes, and how well it does.
#[derive(Clone)]
pub(super) struct Proposal {
    pub(super) mixture: Mixture,
    pub(super) flow: Flow,
    /// Share of its own fresh draws that count as draws of the target.
    pub(super) ess_share: f64,
}

/// Where adapting ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Draws of a round.
    pub(super) draws: usize,
    /// A share of this is enough.
    pub(super) enough: f64,
    /// The most rounds, and those in a row that may bring nothing.
    pub(super) most_rounds: usize,
    pub(super) patience: usize,
}

impl Rules {
    pub(super) fn new(dim: usize) -> Self {
        Self { draws: 1_000 + 20 * dim, enough: 0.75, most_rounds: 12, patience: 2 }
    }
}

/// Gains that are less than this factor are none.
const GAIN: f64 = 1.05;

/// Share of a component's weight that its heavy twin has, and how much wider it is.
const DEFENCE: f64 = 0.1;
const WIDER: f64 = 1.3;
const DEFENCE_DEGREES: f64 = 3.0;

/// Components up to which each has a twin; more of them cover each other.
const MOST_DEFENDED: usize = 16;

/// The mixture with a heavy twin of each component, which keeps weights bounded where its tails are too
/// light.
fn defended(mixture: &Mixture) -> Option<Mixture> {
    let mut components = mixture.to_components();
    if components.len() > MOST_DEFENDED {
        return Some(mixture.clone());
    }
    let twins: Vec<Component> = components
        .iter()
        .map(|component| Component {
            weight: DEFENCE * component.weight,
            mean: component.mean.clone(),
            covariance: component.covariance.iter().map(|c| WIDER * WIDER * c).collect(),
            degrees: Some(DEFENCE_DEGREES),
        })
        .collect();
    components.iter_mut().for_each(|component| component.weight *= 1.0 - DEFENCE);
    components.extend(twins);
    Mixture::of(&components)
}

/// The flow that draws from a mixture.
pub(super) fn flow_of(mixture: &Mixture) -> Result<Flow> {
    let defended = defended(mixture);
    Flow::new(&FlowSpec::Affine, defended.as_ref().unwrap_or(mixture).to_base()?)
}

/// Rounds of draws and fits from a mixture on. The draws go to the archive; what comes back is the best
/// that was there, by fresh draws of its own.
pub(super) fn adapt(
    target: &dyn Target,
    start: Mixture,
    rules: Rules,
    seed: u64,
    archive: &mut Archive,
) -> Result<Proposal> {
    let mut best: Option<Proposal> = None;
    let (mut current, mut in_vain) = (start, 0);
    for round in 0..rules.most_rounds {
        let flow = flow_of(&current)?;
        let approximation = Approximation::new(target, flow.clone())?;
        let sample = approximation.sample(rules.draws, seed.wrapping_add(round as u64))?;
        let ess_share = sample.weight_sums()?.ess_share();
        archive.add(approximation.target(), &flow, &sample)?;
        let gain = best.as_ref().map_or(f64::INFINITY, |best| ess_share / best.ess_share);
        if gain > 1.0 || gain.is_nan() {
            best = Some(Proposal { mixture: current, flow, ess_share });
        }
        in_vain = if gain > GAIN { 0 } else { in_vain + 1 };
        let share = best.as_ref().map_or(0.0, |best| best.ess_share);
        if share >= rules.enough || in_vain > rules.patience {
            break;
        }
        let from = best.as_ref().expect("just set").mixture.clone();
        current = match archive.weights() {
            Some(weights) => from.adapt(archive.z(), &weights),
            None => break,
        };
    }
    Ok(best.expect("at least one round"))
}
