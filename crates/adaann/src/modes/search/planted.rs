//! The power of a search: how many modes planted at random its starts would have found.
//!
//! A planted mode turns p into (1 − w) p + w Z N(c, s² Σ). An ascent from a point where the second term is larger
//! ends at c. The starts of a search and log p there are recorded, so that no evaluation is needed to determine which
//! of the planted modes it would have found.

use super::summit::Summit;
use crate::{
    Batch, linear,
    rng::{Purpose, Stream},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The share of the mass of a planted mode.
const WEIGHT: f64 = 0.2;

/// The distance of planted modes from a known peak, in widths of the widest.
const DISTANCE: (f64, f64) = (6.0, 12.0);

/// The most numbers recorded for starts; later starts are not recorded.
const MOST_NUMBERS: usize = 2_000_000;

const PLANTED_SEED: u64 = 0x3b9a_ca07_c0ff_ee11;

/// The starts of ascents, and log p + log|J| there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Starts {
    /// The coordinates, one point after another.
    z: Vec<f64>,
    log_density: Vec<f64>,
}

impl Starts {
    /// The number of recorded starts.
    pub fn len(&self) -> usize {
        self.log_density.len()
    }

    /// Is no start recorded?
    pub fn is_empty(&self) -> bool {
        self.log_density.is_empty()
    }

    pub(super) fn record(&mut self, z: &[f64], log_density: f64) {
        if self.z.len() + z.len() <= MOST_NUMBERS {
            self.z.extend_from_slice(z);
            self.log_density.push(log_density);
        }
    }

    /// Adds the starts of another search.
    pub fn extend(&mut self, other: &Self) {
        self.z.extend_from_slice(&other.z);
        self.log_density.extend_from_slice(&other.log_density);
    }
}

/// The settings for planted modes.
#[derive(Debug, Clone, Copy)]
pub struct Plant {
    /// The number of planted modes.
    pub count: usize,
    /// The least width, as a share of the widest peak's; the largest is 1.
    pub narrowest: f64,
    /// Is every second mode planted where the prior is, at N(0, 1) in its units? The others are near known peaks.
    pub has_prior: bool,
    /// The seed of their positions.
    pub seed: u64,
}

/// A planted mode, in units of the widest peak's Gaussian.
struct Planted {
    centre: Vec<f64>,
    width: f64,
}

/// Peaks with less than this share of the largest mass are used neither as shapes nor as centres of planted modes.
const LEAST_MASS: f64 = 0.01;

/// The number of planted modes that the starts would have found. They have the shape of the widest peak.
pub fn caught(starts: &Starts, peaks: &[Summit], log_z: f64, plant: &Plant) -> usize {
    let mut missed = vec![true; plant.count];
    let peaks: Vec<&Summit> = peaks.iter().collect();
    catch(starts, 0, &peaks, log_z, plant, &mut missed);
    missed.iter().filter(|missed| !**missed).count()
}

/// Clears in `missed` the modes that the starts from number `first` on would have found.
pub(super) fn catch(
    starts: &Starts,
    first: usize,
    peaks: &[&Summit],
    log_z: f64,
    plant: &Plant,
    missed: &mut [bool],
) {
    let most = peaks.iter().map(|peak| peak.log_mass).fold(f64::NEG_INFINITY, f64::max);
    let heavy: Vec<&Summit> =
        peaks.iter().copied().filter(|peak| peak.log_mass > most + LEAST_MASS.ln()).collect();
    let by_volume = |a: &&&Summit, b: &&&Summit| a.log_det().total_cmp(&b.log_det());
    let Some(widest) = heavy.iter().max_by(by_volume) else { return };
    if starts.len() <= first {
        return;
    }
    let dim = widest.z.len();
    let planted = modes(widest, &heavy, plant);
    let open: Vec<_> = planted.iter().zip(missed).filter(|(_, missed)| **missed).collect();
    let mut y = starts.z[first * dim..].to_vec();
    y.par_chunks_mut(dim).for_each(|z| z.copy_from_slice(&widest.whitened(z)));
    let log_density = &starts.log_density[first..];
    let log_z = log_z - widest.log_det();
    open.into_par_iter().for_each(|(mode, missed)| {
        *missed = !leads_to(mode, &y, log_density, log_z);
    });
}

/// Is a start in the basin of a planted mode? With y the start and c the centre in units of the peak, log w + log Z −
/// log|L| − d log s − d/2 log 2π − |y − c|²/(2 s²) > log(1 − w) + log p.
fn leads_to(mode: &Planted, y: &[f64], log_density: &[f64], log_z: f64) -> bool {
    let (dim, width) = (mode.centre.len(), mode.width);
    let peak = (WEIGHT / (1.0 - WEIGHT)).ln() + log_z
        - dim as f64 * (width.ln() + 0.5 * std::f64::consts::TAU.ln());
    let scale = 2.0 * width * width;
    y.chunks_exact(dim).zip(log_density).any(|(y, log_density)| {
        let most = scale * (peak - log_density);
        let mut square = 0.0;
        for (y, c) in y.iter().zip(&mode.centre) {
            if square >= most {
                return false;
            }
            square += (y - c) * (y - c);
        }
        square < most
    })
}

/// The positions of planted modes: around the heavy peaks, which take turns.
fn modes(widest: &Summit, heavy: &[&Summit], plant: &Plant) -> Vec<Planted> {
    let dim = widest.z.len();
    let stream = Stream::new(plant.seed ^ PLANTED_SEED, Purpose::Modes);
    let mut normals = Batch::zeros(dim, plant.count);
    stream.fill_normals(0, 0, &mut normals);
    let one = |i: usize| {
        let uniform = |number| stream.point_uniform_of(0, i as u64, number);
        let width = plant.narrowest.powf(uniform(1));
        let normal = normals.point(i);
        let centre = if plant.has_prior && i % 2 == 1 {
            widest.whitened(&normal)
        } else {
            let length = linear::dot(&normal, &normal).sqrt();
            let distance = DISTANCE.0 + (DISTANCE.1 - DISTANCE.0) * uniform(2);
            let from = widest.whitened(&heavy[i / 2 % heavy.len()].z);
            from.iter().zip(&normal).map(|(from, y)| from + y * distance / length).collect()
        };
        Planted { centre, width }
    };
    (0..plant.count).map(one).collect()
}
