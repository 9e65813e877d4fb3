//! Ascents on the terms of a density that is a sum, such as a mixture.
//!
//! An ascent on p itself reaches a narrow term only from within its small basin. On the term alone it reaches it from anywhere.

use super::ascend::{Limits, arrive};
use crate::modes::{heights::Heights, laplace, units::Units};
use crate::{Result, linear, target::Unconstrained};
use serde::{Deserialize, Serialize};

/// What became of the terms of a density that is a sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How many there are; 0 if the density is not known to be a sum.
    pub count: usize,
    /// How many have led to a peak of the density.
    pub climbed: usize,
    /// Are all of them proved to be log-concave, so that each has one peak?
    pub are_log_concave: bool,
}

impl Terms {
    /// Is all of the mass in terms with one peak each, and has every one of these been reached?
    pub fn are_all_known(&self) -> bool {
        self.count > 0 && self.are_log_concave && self.climbed == self.count
    }
}

/// The highest peak of one term that ascents from some starts reach, as units in which its Gaussian is a standard one;
/// none if none arrives. Also the evaluations.
pub(super) fn peak(
    term: &Unconstrained,
    starts: &[Vec<f64>],
    limits: Limits,
) -> Result<(Option<Units>, usize)> {
    let units = Units::of(starts, term.dim());
    let mut heights = Heights::new(term, units.clone(), usize::MAX);
    let places = heights.places(starts.iter().map(|z| units.to_u(z)).collect())?;
    let mut used = heights.used();
    let finite = places.into_iter().filter(|place| place.height.is_finite());
    let climbing: Vec<_> = finite.map(|place| (place, 1.0)).collect();
    if climbing.is_empty() {
        return Ok((None, used));
    }
    let (arrived, of_ascents) = arrive(term, (units, climbing), limits, &[])?;
    used += of_ascents;
    let peaks = arrived.into_iter().filter(|end| end.has_peaked);
    let highest = peaks.max_by(|a, b| a.log_density.total_cmp(&b.log_density));
    let Some(highest) = highest else { return Ok((None, used)) };
    let mut heights = Heights::new(term, Units::around(highest.z.clone()), usize::MAX);
    let curved = laplace::curvature(&mut heights, &vec![0.0; term.dim()])?;
    used += heights.used();
    let factor = linear::cholesky(term.dim(), &curved.covariance).ok();
    Ok((factor.map(|factor| Units::whitening(highest.z, factor)), used))
}
