//! What draws are proposed from: a mixture, and heavy twins of its components.

use crate::mixture::{Component, Mixture};

/// Share of a component's weight that its heavy twin has, and how much wider it is.
const DEFENCE: f64 = 0.1;
const WIDER: f64 = 1.3;
const DEGREES: f64 = 5.0;

/// What all components have at least together, in equal parts: a mode whose mass was thought to be less
/// has draws to say so.
const FLOOR: f64 = 0.03;

/// Components up to which each has a twin; more of them cover each other.
pub(super) const MOST_DEFENDED: usize = 64;

/// The mixture with a heavy twin of each component, which bounds the weights where its tails are too
/// light.
pub(super) fn defended(mixture: &Mixture) -> Option<Mixture> {
    let mut components = mixture.to_components();
    if components.len() > MOST_DEFENDED {
        return None;
    }
    let least = FLOOR / components.len() as f64;
    components.iter_mut().for_each(|component| component.weight = component.weight.max(least));
    let twin = |component: &Component| Component {
        weight: DEFENCE * component.weight,
        mean: component.mean.clone(),
        covariance: component.covariance.iter().map(|c| WIDER * WIDER * c).collect(),
        degrees: Some(DEGREES),
    };
    let twins: Vec<Component> = components.iter().map(twin).collect();
    components.iter_mut().for_each(|component| component.weight *= 1.0 - DEFENCE);
    components.extend(twins);
    Mixture::of(&components)
}
