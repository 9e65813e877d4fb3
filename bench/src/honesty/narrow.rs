//! A narrow Gaussian beside a wide one in a box, down to a volume ratio of 10⁻⁹.

use super::{
    classes::in_turn,
    recipe::{Part, Prior, Recipe, Tails},
};
use crate::dice::Dice;

const DIMS: [usize; 5] = [2, 3, 5, 8, 10];

/// log₁₀ of the volume ratio.
const LOG10_RATIOS: [f64; 3] = [-3.0, -6.0, -9.0];

const SIDE: f64 = 10.0;
const WIDTH: f64 = 1.5;

/// Centres keep three widths from the bounds and are at least six widths apart.
const INNER: f64 = SIDE - 3.0 * WIDTH;
const APART: f64 = 6.0 * WIDTH;

/// Cycles through the ratios, and then through the dimensions. The box of the class determines location and scale.
pub(crate) fn recipe(seed: u64) -> Recipe {
    let mut dice = Dice::new("narrow", seed);
    let ratio = in_turn(&LOG10_RATIOS, seed);
    let dim = in_turn(&DIMS, seed / LOG10_RATIOS.len() as u64);
    let mut place = || -> Vec<f64> { (0..dim).map(|_| dice.uniform(-INNER, INNER)).collect() };
    let (wide, narrow) = loop {
        let (wide, narrow) = (place(), place());
        let square: f64 = wide.iter().zip(&narrow).map(|(a, b)| (a - b).powi(2)).sum();
        if square >= APART * APART {
            break (wide, narrow);
        }
    };
    let width = WIDTH * 10_f64.powf(ratio / dim as f64);
    let parts = vec![
        Part { weight: 0.5, centre: wide, width: WIDTH },
        Part { weight: 0.5, centre: narrow, width },
    ];
    let prior = Prior::Box { low: -SIDE, high: SIDE };
    Recipe { parts, axes: None, tails: Tails::Normal, prior }
}
