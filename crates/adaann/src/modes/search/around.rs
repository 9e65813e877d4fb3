//! Ascents from points around the known peaks: images of them, and shells near and far.

use super::{
    kinds::{self, Kind, Start},
    residual,
    state::State,
    summit::Summit,
    work::{WIDER, Work, widest_units},
};
use crate::modes::{heights::Heights, units::Units};
use crate::{Batch, Result, linear};

/// The least radius of shells around a peak, in its widths.
const LEAST_RADIUS: f64 = 3.0;

/// Starts per widening, without and with a prior that integrates to 1. Such a prior leaves little mass that far
/// out.
const FAR_STARTS: (usize, usize) = (32, 8);

/// The largest radius of shells, as a multiple of the largest distance between two known peaks.
const BEYOND: f64 = 3.0;

/// The most starts per batch on shells.
const MOST_SHELLS: usize = 8_192;

/// The number of starts on shells per start on log p − log q, which costs about four times as much.
const SHELLS_PER_RESIDUAL: usize = 8;

/// The least starts per batch on shells, and the evaluations that an ascent from one may take.
const FEWEST_SHELLS: usize = 32;
const EACH: usize = 10;

/// Images to evaluate, and the number of them from which ascents start.
const IMAGES: (usize, usize) = (256, 16);

impl Work<'_, '_> {
    /// Ascents from the highest images of known peaks.
    pub(super) fn images(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().take(8).cloned().collect();
        state.imaged = state.found.that_matter().count();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let images = kinds::images(self.target, &peaks, IMAGES.0);
        let units = Units::around(peaks[0].z.clone());
        let mut heights = Heights::new(self.target, units, usize::MAX);
        let u: Vec<Vec<f64>> = images.iter().map(|z| heights.standardisation().to_u(z)).collect();
        let seen = heights.at(&u)?;
        state.found.evaluations += heights.used();
        let mut order: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].is_finite()).collect();
        order.sort_by(|&a, &b| seen[b].total_cmp(&seen[a]).then(a.cmp(&b)));
        order.truncate(IMAGES.1);
        let starts = order.into_iter().map(|i| Start { z: images[i].clone(), step: 1.0 });
        self.ascend_from(state, starts.collect(), Kind::Image)
    }

    /// Ascents from shells around known peaks.
    pub(super) fn shells(&self, state: &mut State) -> Result<()> {
        let peaks = state.found.landmarks();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let radii = self.radii(state, &peaks);
        let left = self.search.effort.saturating_sub(state.found.evaluations - state.of_base);
        let left = if state.has_just_found { usize::MAX } else { left };
        let count = state.shells.min(left / (EACH * self.search.values_each)).max(FEWEST_SHELLS);
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        state.has_just_found = self.finds(state, starts, Kind::Shell)?;
        // For an expensive target every start counts, so batches grow slowly.
        let grown =
            if self.is_cheap() { 2 * state.shells } else { state.shells + state.shells / 2 };
        state.shells = grown.min(MOST_SHELLS);
        state.is_far_next = true;
        state.residual = count / SHELLS_PER_RESIDUAL;
        // A cheap target is searched equally thoroughly a second time.
        let earlier = if self.is_cheap() { &[] } else { self.earlier };
        state.ask(&self.plant(), earlier);
        Ok(())
    }

    /// Ascents from the ends of ascents on log p − log q that started on shells.
    pub(super) fn residual(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().cloned().collect();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let radii = self.radii(state, &peaks);
        let count = std::mem::take(&mut state.residual);
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        let units =
            widest_units(&state.found).unwrap_or_else(|| Units::around(starts[0].z.clone()));
        let (starts, used) = residual::ends(self.target, &peaks, units, starts)?;
        state.found.evaluations += used;
        state.has_just_found |= self.finds(state, starts, Kind::Residual)?;
        Ok(())
    }

    /// Do ascents find a peak that matters or, if there are too many to list, one away from all others?
    fn finds(&self, state: &mut State, starts: Vec<Start>, kind: Kind) -> Result<bool> {
        let before = state.found.tally(kind).found;
        let crowd = state.found.crowd();
        self.ascend_from(state, starts, kind)?;
        Ok(match crowd {
            Some(crowd) => state.found.that_matter().any(|summit| crowd.is_far_from(&summit.z)),
            None => state.found.tally(kind).found > before,
        })
    }

    /// The least radius of shells, the least radius of every second start, and the largest.
    fn radii(&self, state: &mut State, peaks: &[&Summit]) -> (f64, f64, f64) {
        let furthest = furthest(peaks);
        state.reach = state.reach.max(BEYOND * furthest).max(self.prior_reach(peaks));
        (LEAST_RADIUS, (0.5 * furthest).max(LEAST_RADIUS), state.reach)
    }

    /// The distance of most draws of the prior from a peak, in its widths; 0 without a prior.
    fn prior_reach(&self, peaks: &[&Summit]) -> f64 {
        /// The number of draws of N(0, 1) in units of the prior, and the rank of the one whose distance is used.
        const DRAWS: usize = 64;
        const LONGEST: usize = 48;
        if !self.target.target().has_prior() {
            return 0.0;
        }
        let mut normals = Batch::zeros(self.target.dim(), DRAWS);
        self.stream().fill_normals(u64::MAX - 1, 0, &mut normals);
        let reach = |peak: &&Summit| {
            let length = |i: usize| {
                let y = peak.whitened(&normals.point(i));
                linear::dot(&y, &y).sqrt()
            };
            let mut lengths: Vec<f64> = (0..DRAWS).map(length).collect();
            lengths.sort_by(f64::total_cmp);
            lengths[LONGEST]
        };
        // Of peaks with different widths, the shells of the widest reach furthest.
        let reaches = peaks.iter().map(reach).filter(|reach| reach.is_finite());
        reaches.reduce(f64::min).unwrap_or(0.0)
    }

    /// Ascents from shells further out than any before.
    pub(super) fn far(&self, state: &mut State) -> Result<()> {
        let peaks = state.found.landmarks();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let low = state.reach * WIDER.powi(state.in_vain as i32);
        let radii = (low, low, low * WIDER);
        let target = self.target.target();
        let is_proper = target.has_prior() && target.has_proper_prior();
        let count = if is_proper { FAR_STARTS.1 } else { FAR_STARTS.0 };
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        if self.finds(state, starts, Kind::Far)? {
            (state.reach, state.in_vain) = (low * WIDER, 0);
        } else {
            state.in_vain += 1;
        }
        state.is_far_next = false;
        Ok(())
    }
}

/// The largest distance between two peaks, in widths of one of them.
fn furthest(peaks: &[&Summit]) -> f64 {
    let length = |y: Vec<f64>| linear::dot(&y, &y).sqrt();
    // Of many peaks the first are enough: shells go beyond that distance.
    let first = peaks.iter().take(8);
    let pairs = first.flat_map(|a| peaks.iter().map(move |b| length(a.whitened(&b.z))));
    pairs.filter(|length| length.is_finite()).fold(0.0, f64::max)
}
