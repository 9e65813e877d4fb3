//! Ascents on the terms of a density that is a sum, such as a mixture.
//!
//! An ascent on p itself reaches a narrow term only from within its small basin. An ascent on the term alone reaches it
//! from anywhere.

use super::{
    ascend::{Limits, arrive},
    summit::{Arrived, Summit},
};
use crate::modes::{
    heights::Heights,
    laplace::{self, Curved},
    units::Units,
};
use crate::{Result, linear, target::Unconstrained};
use serde::{Deserialize, Serialize};

/// The results for the terms of a density that is a sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The number of terms; 0 if the density is not known to be a sum.
    pub count: usize,
    /// The number of known terms: by a peak of the density, or by their own Gaussian if another peak hides theirs.
    pub climbed: usize,
    /// Are all terms proved to be log-concave, so that each has one peak?
    pub are_log_concave: bool,
}

impl Terms {
    /// Do all terms have one peak each, and has every one been reached?
    pub fn are_all_known(&self) -> bool {
        self.count > 0 && self.are_log_concave && self.climbed == self.count
    }
}

/// The highest peak of one term that ascents from some starts reach, and the evaluations; none if no ascent arrives.
pub(super) fn peak(
    term: &Unconstrained,
    starts: &[Vec<f64>],
    limits: Limits,
) -> Result<(Option<Summit>, usize)> {
    let dim = term.dim();
    let units = Units::of(starts, dim);
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
    let Some(Arrived { z, log_density, .. }) = highest else { return Ok((None, used)) };
    let mut heights = Heights::new(term, Units::around(z.clone()), usize::MAX);
    let Curved { covariance, log_det, is_peak } =
        laplace::curvature(&mut heights, &vec![0.0; dim])?;
    used += heights.used();
    let Ok(factor) = linear::cholesky(dim, &covariance) else { return Ok((None, used)) };
    let log_mass = log_density + log_det + 0.5 * dim as f64 * std::f64::consts::TAU.ln();
    let peak = Summit { z, log_density, covariance, log_mass, ascents: 1, is_peak, any: 0, factor };
    Ok((Some(peak), used))
}
