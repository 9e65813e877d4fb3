//! The starts of adaptation, from the results of ascents.

use super::Shape;
use crate::{flow::Base, mixture::Mixture, modes::Searched, warp::MOST_DIMENSIONS};

/// The shapes to start from: the mixture of the Gaussians at the peaks or, if there are too many peaks,
/// the coordinates' distributions from a sample of them, and the base itself.
pub(crate) fn starts(searched: &Searched, base: &Base, seed: u64) -> Vec<Shape> {
    let components = searched.components();
    if !searched.is_endless
        && let Some(mixture) = Mixture::of(&components)
    {
        return vec![mixture.into()];
    }
    let sampled = Shape::of_sampled_peaks(&components, seed);
    // In more dimensions, a single Gaussian without a map has no chance.
    let is_worth_it = base.dim() <= MOST_DIMENSIONS;
    let wide = is_worth_it.then(|| Mixture::of_base(base, seed)).flatten();
    sampled.into_iter().chain(wide.map(Shape::from)).collect()
}
