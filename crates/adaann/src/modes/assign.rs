//! Assigns points to modes: to the mode of the nearest anchor.
//!
//! Anchors are the starts and the ends of the climbs, and points between ends; lengths are in units
//! of how far climbs go, in each coordinate. A mode whose nearest anchor is at distance r has the
//! density r^−d of a nearest neighbour there, up to a constant, if r is within the typical length l
//! of its own climbs: among such modes the nearest anchor decides. Beyond l, its density continues
//! as a Gaussian's, to which r^−d is tangent at r = l, so that a narrow mode does not reach into a
//! wide one beside it.

use crate::Batch;
use crate::modes::units::{Units, median};
use rayon::prelude::*;

/// A mode's typical length is averaged with this many climbs of the length typical for all modes.
const SHARED_CLIMBS: f64 = 8.0;

/// Points that one thread assigns at a time.
const CHUNK: usize = 256;

/// Points whose mode is known.
#[derive(Debug, Clone)]
pub(super) struct Anchors {
    units: Units,
    /// How far climbs go in each coordinate, in these units.
    reach: Vec<f64>,
    /// The anchors of each mode, in units of the reach, one after another.
    places: Vec<Vec<f64>>,
    /// The square of the typical length of a mode's climbs.
    typical: Vec<f64>,
}

impl Anchors {
    /// Anchors from climbs, each with its start, its end and its mode, and from further points.
    pub(super) fn new(
        units: Units,
        reach: Vec<f64>,
        count: usize,
        climbs: &[(&[f64], &[f64], usize)],
        others: &[(Vec<f64>, usize)],
    ) -> Self {
        let unit = |u: &[f64]| -> Vec<f64> { u.iter().zip(&reach).map(|(u, r)| u / r).collect() };
        let mut places = vec![Vec::new(); count];
        let mut squares = vec![Vec::new(); count];
        for (start, end, mode) in climbs {
            let (start, end) = (unit(start), unit(end));
            squares[*mode].push(start.iter().zip(&end).map(|(a, b)| (a - b).powi(2)).sum());
            places[*mode].extend(start);
            places[*mode].extend(end);
        }
        for (place, mode) in others {
            places[*mode].extend(unit(place));
        }
        let is_length = |square: &f64| square.is_finite() && *square > 0.0;
        let shared = median(squares.concat()).filter(is_length).unwrap_or(1.0);
        // Lengths differ by factors, so their logarithms are averaged.
        let typical = |own: Vec<f64>| {
            let trust = own.len() as f64 / (own.len() as f64 + SHARED_CLIMBS);
            let ratio = median(own).filter(is_length).map_or(1.0, |square| square / shared);
            shared * ratio.powf(trust)
        };
        let typical = squares.into_iter().map(typical).collect();
        Self { units, reach, places, typical }
    }

    pub(super) fn assign(&self, points: &Batch) -> Vec<Option<usize>> {
        let one = |i: usize| self.mode_of(&points.point(i));
        (0..points.len()).into_par_iter().with_min_len(CHUNK).map(one).collect()
    }

    fn mode_of(&self, z: &[f64]) -> Option<usize> {
        if z.len() != self.reach.len() || z.iter().any(|z| !z.is_finite()) {
            return None;
        }
        let u = self.units.to_u(z);
        let point: Vec<f64> = u.iter().zip(&self.reach).map(|(u, reach)| u / reach).collect();
        let dim = point.len();
        let log_density = |(places, &typical): (&Vec<f64>, &f64)| {
            let square = |place: &[f64]| -> f64 {
                place.iter().zip(&point).map(|(a, b)| (a - b).powi(2)).sum()
            };
            let square = places.chunks_exact(dim).map(square).fold(f64::INFINITY, f64::min);
            // In units of d/2: −log r² within, 1 − r²/l² − log l² beyond.
            if square <= typical { -square.ln() } else { 1.0 - square / typical - typical.ln() }
        };
        let modes = self.places.iter().zip(&self.typical).map(log_density).enumerate();
        modes.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(mode, _)| mode)
    }
}
