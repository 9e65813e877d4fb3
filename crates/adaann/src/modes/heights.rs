//! The density to climb, log p + log|J|, evaluated at many points per call and within a budget.

use crate::modes::units::Units;
use crate::{
    Batch, Result, non_finite,
    path::{Tempered, Tile},
    target::{Unconstrained, Weights},
};
use std::ops::Range;

/// Points per call to the target: the same for any number of threads.
const CHUNK: usize = 64;

/// A log density of z, with its gradient.
pub(super) type LogDensity<'a> = dyn Fn(&[f64]) -> (f64, Vec<f64>) + Sync + 'a;

/// The density in units of the draws.
pub(super) struct Heights<'a> {
    density: Tempered<'a>,
    units: Units,
    /// log q, which is subtracted from log p.
    log_q: Option<&'a LogDensity<'a>>,
    used: usize,
    budget: usize,
}

/// A point with its height and slope.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) u: Vec<f64>,
    /// log p + log|J|; −∞ if it, or its slope, is not finite.
    pub(super) height: f64,
    /// Its gradient with respect to u.
    pub(super) slope: Vec<f64>,
}

impl<'a> Heights<'a> {
    pub(super) fn new(target: &Unconstrained<'a>, units: Units, budget: usize) -> Self {
        Self { density: Tempered::untempered(target.clone()), units, log_q: None, used: 0, budget }
    }

    /// Heights of log p − log q.
    pub(super) fn above(self, log_q: &'a LogDensity<'a>) -> Self {
        Self { log_q: Some(log_q), ..self }
    }

    pub(super) fn standardisation(&self) -> &Units {
        &self.units
    }

    /// Evaluations so far, in values of the density.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// The number of points with slopes that the budget still allows.
    pub(super) fn left(&self) -> usize {
        self.budget.saturating_sub(self.used) / self.density.target.values_with_gradients(1)
    }

    /// Heights and slopes at points, at most [`Heights::left`] of them.
    pub(super) fn places(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Place>> {
        let seen = self.evaluate(&points, true)?;
        let place = |(u, (height, slope)): (Vec<f64>, (f64, Vec<f64>))| Place { u, height, slope };
        Ok(points.into_iter().zip(seen).map(place).collect())
    }

    /// Heights alone.
    pub(super) fn at(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        Ok(self.evaluate(points, false)?.into_iter().map(|(height, _)| height).collect())
    }

    fn evaluate(&mut self, points: &[Vec<f64>], slopes: bool) -> Result<Vec<(f64, Vec<f64>)>> {
        debug_assert!(points.len() <= self.left());
        let of = slopes.then_some(Weights::ALL);
        self.used += self.density.target.values(points.len(), of);
        let chunk = |range: Range<usize>| self.evaluate_chunk(&points[range], slopes);
        Ok(self.density.each_piece(points.len(), CHUNK, chunk)?.concat())
    }

    fn evaluate_chunk(&self, points: &[Vec<f64>], slopes: bool) -> Result<Vec<(f64, Vec<f64>)>> {
        let dim = self.units.dim();
        let z: Vec<_> = points.iter().map(|u| self.units.to_z(u)).collect();
        let mut tile = Tile::zeros(dim, z.len());
        let weights = self.density.path.weights(1.0);
        let z = Batch::from_points(dim, &z);
        self.density.evaluate_parts(&z, slopes.then_some(weights), &mut tile)?;
        let one = |i: usize| {
            let mut height = tile.log_density(weights, i);
            let mut slope = if slopes { tile.gradient().point(i) } else { Vec::new() };
            if let Some(log_q) = self.log_q {
                let (value, gradient) = log_q(&z.point(i));
                height -= value;
                slope.iter_mut().zip(gradient).for_each(|(slope, of_q)| *slope -= of_q);
            }
            let slope = if slopes { self.units.pull_back(&slope) } else { slope };
            let is_followed = non_finite::is_followed(height, slope.iter().copied());
            (if is_followed { height } else { f64::NEG_INFINITY }, slope)
        };
        Ok((0..z.len()).map(one).collect())
    }
}
