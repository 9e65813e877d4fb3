//! Checks that the approximation covers the peaks that searches have found.
//!
//! A mixture component with a wrong shape can lose its weight in adaptation. No draw then comes from its mode, so that the
//! weights cannot show the loss, but the search still knows the peak.

use super::{Finding, Place, Reason, Trust, thresholds::LACKING_RATIO};
use crate::{
    Batch, Result,
    approximation::Approximation,
    modes::{Searched, Summit},
};

/// A peak counts if the Gaussian of its curvature has this share of the evidence. The terms of a sum count all.
const LEAST_SHARE: f64 = 0.01;

/// The peak that the approximation covers least, if p is more than the lacking ratio above q there.
pub(super) fn uncovered(
    approximation: &Approximation,
    searches: &[&Searched],
    log_z: f64,
) -> Result<Option<Reason>> {
    let matters = |searched: &Searched, peak: &Summit| {
        peak.is_peak && (searched.terms.are_all_known() || peak.log_mass > log_z + LEAST_SHARE.ln())
    };
    // On a ridge of many peaks each is narrow, and none is a mode.
    let listed = searches.iter().filter(|searched| !searched.is_endless);
    let peaks: Vec<&Summit> = listed
        .flat_map(|searched| searched.that_matter().filter(|peak| matters(searched, peak)))
        .collect();
    if peaks.is_empty() {
        return Ok(None);
    }
    let target = approximation.target();
    let places: Vec<&[f64]> = peaks.iter().map(|peak| &peak.z[..]).collect();
    let z = Batch::from_points(target.dim(), &places);
    let log_q = approximation.flow().log_density(&z)?;
    let log_ratio = |i: &usize| peaks[*i].log_density - log_q[*i] - log_z;
    let worst = (0..peaks.len())
        .filter(|i| log_ratio(i).is_nan() || log_ratio(i) > LACKING_RATIO.value.ln())
        .max_by(|a, b| log_ratio(a).total_cmp(&log_ratio(b)));
    Ok(worst.map(|i| {
        let (points, _) = target.constrain(&z);
        let at = Place::new(&target.target().names(), &points.point(i));
        Reason::new(Trust::Care, Finding::PeakNotCovered { at, log_ratio: log_ratio(&i) })
    }))
}
