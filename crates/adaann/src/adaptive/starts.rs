//! Where adapting starts, by what ascents have found.

use super::Shape;
use crate::{flow::Base, mixture::Mixture, modes::Searched, warp::MOST_DIMENSIONS};

/// Shapes to start from: the mixture of the Gaussians at the peaks or, where these are too many, what a
/// sample of them says of each coordinate, and the base itself.
pub(crate) fn starts(searched: &Searched, base: &Base, seed: u64) -> Vec<Shape> {
    let components = searched.components();
    if !searched.is_endless
        && let Some(mixture) = Mixture::of(&components)
    {
        return vec![mixture.into()];
    }
    let sampled = Shape::of_sampled_peaks(&components, seed);
    // Beyond, one Gaussian that no map bends has no chance.
    let is_worth_it = base.dim() <= MOST_DIMENSIONS;
    let wide = is_worth_it.then(|| Mixture::of_base(base, seed)).flatten();
    sampled.into_iter().chain(wide.map(Shape::from)).collect()
}
