//! The mode of a point: that of the nearest place whose mode is known.
//!
//! Places are the starts and the ends of the climbs, and what is between ends; lengths are in units
//! of how far climbs go, in each coordinate. A mode whose nearest place is at distance r has the
//! density r^−d of a nearest neighbour there, up to a constant, if r is within the length l that its
//! own climbs typically have: among such modes the nearest place decides. Beyond, its density goes
//! on as a Gaussian's, to which r^−d is tangent at r = l, so that a narrow mode does not reach into
//! a wide one beside it.

use crate::Batch;
use crate::modes::units::{Units, median};
use rayon::prelude::*;

/// A mode's typical length counts as if this many more climbs had gone as far as those of all.
const SHARED_CLIMBS: f64 = 8.0;

/// Points that are assigned by one thread at a time.
const CHUNK: usize = 256;

/// Places whose mode is known.
#[derive(Debug, Clone)]
pub(super) struct Anchors {
    units: Units,
    /// How far climbs go in each coordinate, in these units.
    reach: Vec<f64>,
    /// For each mode its places, in units of the reach and one after another.
    places: Vec<Vec<f64>>,
    /// The square of the length that a mode's climbs typically have.
    typical: Vec<f64>,
}

impl Anchors {
    /// Anchors from climbs, each with its start, its end and its mode, and further places.
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
        // Lengths differ by factors, so it is their logarithms that are averaged.
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
