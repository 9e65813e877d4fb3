//! Heavy-tailed components of different widths, and a light narrow mode beside a heavy wide one.

use super::{
    mixtures::{beside, scale},
    recipe::{Part, Prior, Recipe, Tails},
};
use crate::dice::Dice;

const DIM: usize = 8;
const WIDTHS: [f64; 4] = [1.0, 0.15, 0.6, 0.3];
const DEGREES: f64 = 5.0;

/// Four Student components in eight dimensions. The narrower ones are 8 to 12 times the largest width from the widest.
pub(crate) fn recipe(seed: u64) -> Recipe {
    let mut dice = Dice::new("students", seed);
    let scale = scale(&mut dice);
    let first: Vec<f64> = dice.normals(DIM).iter().map(|x| 3.0 * scale * x).collect();
    let weights = dice.weights(WIDTHS.len());
    let parts = (WIDTHS.iter().zip(weights).enumerate())
        .map(|(i, (width, weight))| {
            let radius = if i == 0 { 0.0 } else { scale * dice.uniform(8.0, 12.0) };
            let centre = beside(&first, radius, None, &mut dice);
            Part { weight, centre, width: scale * width }
        })
        .collect();
    Recipe { parts, axes: None, tails: Tails::Student(DEGREES), prior: Prior::Flat }
}

/// 7 per cent of the mass in a quarter of the width, 6 to 10 widths away, in four dimensions.
pub(crate) fn light(seed: u64) -> Recipe {
    let mut dice = Dice::new("light", seed);
    let scale = scale(&mut dice);
    let first: Vec<f64> = dice.normals(4).iter().map(|x| 3.0 * scale * x).collect();
    let radius = scale * dice.uniform(6.0, 10.0);
    let centre = beside(&first, radius, None, &mut dice);
    let parts = vec![
        Part { weight: 0.93, centre: first, width: scale },
        Part { weight: 0.07, centre, width: 0.25 * scale },
    ];
    Recipe { parts, axes: None, tails: Tails::Normal, prior: Prior::Flat }
}
