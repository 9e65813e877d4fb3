//! Checks that the approximation covers the peaks that searches have found.
//!
//! A mixture component with a wrong shape can lose its weight in adaptation. No draw then comes from its mode, so the
//! weights cannot show the loss, but the search still knows the peak.

use super::{Finding, Place, Reason, Trust, thresholds::LACKING_RATIO};
use crate::{
    Batch, Result,
    approximation::Approximation,
    modes::{Searched, Summit},
};

/// A peak counts if the Gaussian of its curvature has this share of the evidence. For a density that is a sum of known
/// terms, every peak counts.
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
    // On a ridge with many narrow peaks, no peak is a mode of its own.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Program, adaptive,
        flow::Base,
        mixture::{Component, Mixture},
        modes::{self, Search},
        program::log_sum_exp,
        target::Unconstrained,
    };

    /// Two unit Gaussians at a distance of 9: an approximation that has lost one of them does not cover its peak.
    #[test]
    fn a_peak_without_a_component_is_named() {
        let target = Program::record(1, |z| {
            let at = |mean: f64| -0.5 * (z[0] - mean).square();
            log_sum_exp(&[at(-3.0), at(6.0)])
        });
        let unconstrained = Unconstrained::new(&target).unwrap();
        let base = Base::diagonal(&[0.0], &[5.0]).unwrap();
        let searched = modes::search(&unconstrained, &base, &Search::new(1), 1).unwrap();
        assert_eq!(searched.peaks(), 2);
        let log_z = std::f64::consts::TAU.sqrt().ln() + 2_f64.ln();
        let uncovered = |means: &[f64]| {
            let component = |&mean: &f64| Component {
                weight: 1.0 / means.len() as f64,
                mean: vec![mean],
                covariance: vec![1.0],
                degrees: None,
            };
            let components: Vec<Component> = means.iter().map(component).collect();
            let flow = adaptive::flow_of(&Mixture::of(&components).unwrap()).unwrap();
            let approximation = Approximation::new(&target, flow).unwrap();
            uncovered(&approximation, &[&searched], log_z).unwrap()
        };
        assert_eq!(uncovered(&[-3.0, 6.0]), None);
        let Some(Reason {
            trust: Trust::Care, finding: Finding::PeakNotCovered { at, .. }, ..
        }) = uncovered(&[-3.0])
        else {
            panic!("the peak at 6 is not covered")
        };
        assert!(at.to_string().contains("6.0"), "{at}");
    }
}
