//! The density that proposes draws: a mixture, and heavy twins of its components.

use crate::mixture::{Component, Mixture};

/// The share of a component's weight that its heavy twin gets, and the factor by which it is wider.
const DEFENCE: f64 = 0.1;
const WIDER: f64 = 1.3;
const DEGREES: f64 = 5.0;

/// The least total weight that is shared equally by all components: a mode whose mass was
/// underestimated then has draws that show it.
const FLOOR: f64 = 0.03;

/// The most components with a twin each; more components cover each other.
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
