//! Random mixtures of two to four Gaussians with random locations, scales and shapes.

use super::recipe::{Axes, Part, Prior, Recipe, Tails};
use crate::dice::Dice;

const DIMS: [usize; 7] = [2, 3, 5, 8, 10, 15, 20];

/// The distance of the other components from the first, in its standard deviations.
const DISTANCE: (f64, f64) = (6.0, 12.0);

/// The instance with this seed. Every second one has random axes: a rotation, with lengths log-uniform in [1/3, 3].
pub(crate) fn recipe(seed: u64) -> Recipe {
    let mut dice = Dice::new("mixtures", seed);
    let dim = dice.one_of(&DIMS);
    let parts = dice.one_of(&[2, 2, 3, 4]);
    let prior = dice.one_of(&["flat", "flat", "box", "normal"]);
    let scale = scale(&mut dice);
    let axes = dice.one_of(&[false, true]).then(|| axes(dim, &mut dice));
    let first: Vec<f64> = dice.normals(dim).iter().map(|x| 3.0 * scale * x).collect();
    let weights = dice.weights(parts);
    let parts = (weights.into_iter().enumerate())
        .map(|(i, weight)| {
            if i == 0 {
                return Part { weight, centre: first.clone(), width: scale };
            }
            let width = scale * dice.uniform(-1.5, 0.0).exp2();
            let radius = scale * dice.uniform(DISTANCE.0, DISTANCE.1);
            let centre = beside(&first, radius, axes.as_ref(), &mut dice);
            Part { weight, centre, width }
        })
        .collect();
    let mut recipe = Recipe { parts, axes, tails: Tails::Normal, prior: Prior::Flat };
    recipe.prior = match prior {
        "box" => around(&recipe, 6.0 * recipe.largest_sd()),
        "normal" => {
            let mean = first.iter().map(|x| x + 2.0 * scale * dice.normal()).collect();
            Prior::Normal { mean, sd: 15.0 * scale }
        }
        _ => Prior::Flat,
    };
    recipe
}

/// 10^U(−1, 1.5)
pub(crate) fn scale(dice: &mut Dice) -> f64 {
    10_f64.powf(dice.uniform(-1.0, 1.5))
}

/// A point at a distance in a random direction, in units of the axes.
pub(crate) fn beside(from: &[f64], radius: f64, axes: Option<&Axes>, dice: &mut Dice) -> Vec<f64> {
    let direction = dice.direction(from.len());
    let offset = match axes {
        None => direction,
        Some(axes) => {
            let along: Vec<f64> =
                direction.iter().zip(&axes.lengths).map(|(x, length)| x * length).collect();
            axes.point(&along)
        }
    };
    from.iter().zip(offset).map(|(from, offset)| from + radius * offset).collect()
}

fn axes(dim: usize, dice: &mut Dice) -> Axes {
    let rows = dice.rotation(dim);
    let lengths = (0..dim).map(|_| 3_f64.powf(dice.uniform(-1.0, 1.0))).collect();
    Axes { rows, lengths }
}

/// A box with the same bounds for all coordinates and this margin around all centres.
pub(crate) fn around(recipe: &Recipe, margin: f64) -> Prior {
    let all = || recipe.parts.iter().flat_map(|part| part.centre.iter().copied());
    Prior::Box {
        low: all().fold(f64::INFINITY, f64::min) - margin,
        high: all().fold(f64::NEG_INFINITY, f64::max) + margin,
    }
}
