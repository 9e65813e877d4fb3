//! Checks whether every parameter's standard deviation is known.
//!
//! A posterior may not have a standard deviation, for example that of a scale with a flat prior, or of a
//! ratio. Its draws still have one, but the most extreme draws determine it, and it changes from sample to
//! sample. The weights do not show this.

use crate::importance::Sample;

/// A parameter's standard deviation and its error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub(super) name: String,
    /// The relative error of the standard deviation.
    pub(super) error: f64,
}

/// The parameter whose standard deviation has the largest relative error.
pub(super) fn least_known(sample: &Sample, names: &[String]) -> Option<Spread> {
    let spread = |(d, name): (usize, &String)| {
        let sd = sample.coordinate(d).ok()?.sd();
        let error = sd.error / sd.value;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        // A constant parameter has no unknown standard deviation.
        (sd.value != 0.0).then(|| Spread { name: name.clone(), error })
    };
    let all = names.iter().enumerate().filter_map(spread);
    all.max_by(|a, b| a.error.total_cmp(&b.error))
}
