//! The kinds of starts for ascents: each misses modes that another one finds.

use super::summit::Summit;
use crate::{
    Batch,
    flow::{Base, Noise},
    rng::Stream,
    target::{Support, Unconstrained},
};
use serde::{Deserialize, Serialize};

/// A kind of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Draws of the base, which has the prior's centre and spread if there is a prior.
    Base,
    /// Local maxima along lines through the highest peak.
    Line,
    /// Images of known peaks: sign flips, exchanged coordinates, continued differences.
    Image,
    /// Shells around known peaks, in their own metric.
    Shell,
    /// Shells wider than all distances known so far.
    Far,
    /// Points where the target is high above an approximation.
    Given,
    /// Peaks of the terms of a density that is a sum.
    Term,
    /// Ends of ascents on log p − log q, with q the Gaussians of known peaks.
    Residual,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Base,
        Self::Line,
        Self::Image,
        Self::Shell,
        Self::Far,
        Self::Given,
        Self::Term,
        Self::Residual,
    ];

    /// A description of starts of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "draws of the base",
            Self::Line => "lines",
            Self::Image => "images of others",
            Self::Shell => "shells around others",
            Self::Far => "distant shells",
            Self::Given => "draws with large weights",
            Self::Term => "terms of the sum",
            Self::Residual => "ascents on log p - log q",
        }
    }
}

/// Scales of the base for starts, to which the draws are distributed. Far out, a wide mode attracts all ascents,
/// especially in many dimensions; between modes, a narrow one gets its share.
const SCALES: [f64; 8] = [1.0, 0.1, 3.0, 0.3, 1.0, 0.03, 0.5, 0.2];

/// A start, and the length of its first step in units of the widest peak.
pub(super) struct Start {
    pub(super) z: Vec<f64>,
    pub(super) step: f64,
}

/// Draws of the base, at a ladder of scales times a factor.
pub(super) fn of_base(
    base: &Base,
    stream: &Stream,
    draw: u64,
    factor: f64,
    count: usize,
) -> Vec<Vec<f64>> {
    let (dim, mut noise) = (base.dim(), Noise::zeros(base.dim(), count));
    let (mut z, mut log_q) = (Batch::zeros(dim, count), vec![0.0; count.next_multiple_of(32)]);
    base.draw(stream, draw, 0, &mut noise);
    base.forward(&noise, &mut z, &mut log_q);
    let middle = base.mean();
    let scaled = |i: usize| -> Vec<f64> {
        let scale = factor * SCALES[i % SCALES.len()];
        z.point(i).iter().zip(middle).map(|(z, m)| m + scale * (z - m)).collect()
    };
    (0..count).map(scaled).collect()
}

/// Points on shells around peaks: m + r L u with u on the unit sphere and log r uniform, for every second point only
/// above `middle`. The peaks take turns.
pub(super) fn of_shells(
    peaks: &[&Summit],
    (low, middle, high): (f64, f64, f64),
    stream: &Stream,
    draw: u64,
    count: usize,
) -> Vec<Start> {
    let dim = peaks[0].z.len();
    let mut normals = Batch::zeros(dim, count);
    stream.fill_normals(draw, 0, &mut normals);
    let start = |i: usize| {
        let mut y = normals.point(i);
        let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        let share = stream.point_uniform_of(draw, i as u64, 1);
        // The number of peaks may be even: each must get both kinds of radii.
        let low = if (i / peaks.len()).is_multiple_of(2) { low } else { middle };
        let radius = low * (high / low).powf(share);
        y.iter_mut().for_each(|y| *y *= radius / length);
        // Modes are about as wide as the radius of the shell: a first step of an eighth does not skip one.
        Start { z: peaks[i % peaks.len()].coloured(&y), step: (radius / 8.0).max(1.0) }
    };
    (0..count).map(start).collect()
}

/// Images of known peaks under symmetries that are common in posteriors.
pub(super) fn images(target: &Unconstrained, peaks: &[&Summit], most: usize) -> Vec<Vec<f64>> {
    let dim = target.dim();
    let units: Vec<(f64, f64)> = (0..dim).map(|d| target.target().standardisation(d)).collect();
    let supports: Vec<Support> = (0..dim).map(|d| target.target().support(d)).collect();
    let is_line = |d: usize| matches!(supports[d], Support::Real);
    // A sign flip of the user's own coordinate x = m + s z.
    let flipped = |z: &[f64], d: usize| -z[d] - 2.0 * units[d].0 / units[d].1;
    let mut images: Vec<Vec<f64>> = Vec::new();
    for peak in peaks {
        let z = &peak.z;
        let all = (0..dim).map(|d| if is_line(d) { flipped(z, d) } else { z[d] }).collect();
        images.push(all);
        for d in (0..dim).filter(|&d| is_line(d)) {
            let mut image = z.clone();
            image[d] = flipped(z, d);
            images.push(image);
        }
        for (i, j) in (0..dim).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if supports[i] == supports[j] && units[i] == units[j] {
                let mut image = z.clone();
                image.swap(i, j);
                images.push(image);
            }
            if images.len() >= most {
                break;
            }
        }
    }
    for (a, b) in peaks.iter().flat_map(|a| peaks.iter().map(move |b| (a, b))) {
        if !std::ptr::eq(*a, *b) {
            images.push(a.z.iter().zip(&b.z).map(|(a, b)| 2.0 * b - a).collect());
        }
    }
    images.truncate(most);
    // Off the peak by a tenth of a width: an ascent that cannot move is not known to have arrived.
    for (d, shift) in peaks[0].widths().into_iter().enumerate() {
        images.iter_mut().for_each(|image| image[d] += 0.1 * shift);
    }
    images
}
