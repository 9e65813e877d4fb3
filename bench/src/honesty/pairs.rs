//! Two Gaussians of different widths, and forty of the same width, without a prior.

use super::{
    classes::in_turn,
    mixtures::{beside, scale},
    recipe::{Part, Prior, Recipe, Tails},
};
use crate::dice::Dice;

/// Dimension, the second component's width, and its weight.
const PAIRS: [(usize, f64, f64); 4] =
    [(10, 0.7, 0.5), (20, 0.7, 0.5), (5, 0.5, 0.5), (3, 0.5, 0.3)];

/// |(6, 3)|
const DISTANCE: f64 = 6.708_203_932_499_369;

/// A component of width 1 and a narrower one. Seeds cycle through [`PAIRS`].
pub(crate) fn recipe(seed: u64) -> Recipe {
    let mut dice = Dice::new("pairs", seed);
    let (dim, width, weight) = in_turn(&PAIRS, seed);
    let scale = scale(&mut dice);
    let first: Vec<f64> = dice.normals(dim).iter().map(|x| 3.0 * scale * x).collect();
    let centre = beside(&first, DISTANCE * scale, None, &mut dice);
    let parts = vec![
        Part { weight: 1.0 - weight, centre: first, width: scale },
        Part { weight, centre, width: width * scale },
    ];
    Recipe { parts, axes: None, tails: Tails::Normal, prior: Prior::Flat }
}

const FORTY_DIMS: [usize; 4] = [2, 10, 50, 100];

/// log(1 + e), as in the published mixture of forty.
const FORTY_WIDTH: f64 = 1.313_261_687_518_222_8;

/// Forty equal components in [−40, 40]^d, shifted and scaled together. Seeds cycle through the dimensions.
pub(crate) fn forty(seed: u64) -> Recipe {
    let mut dice = Dice::new("forty", seed);
    let dim = in_turn(&FORTY_DIMS, seed);
    let scale = scale(&mut dice);
    let shift: Vec<f64> = dice.normals(dim).iter().map(|x| 20.0 * x).collect();
    let parts = (0..40)
        .map(|_| Part {
            weight: 1.0 / 40.0,
            centre: shift.iter().map(|x| scale * (x + dice.uniform(-40.0, 40.0))).collect(),
            width: scale * FORTY_WIDTH,
        })
        .collect();
    Recipe { parts, axes: None, tails: Tails::Normal, prior: Prior::Flat }
}
