//! Is every parameter's standard deviation known?
//!
//! A posterior may have none: a scale with a flat prior, a ratio. Its draws have one all the same, ruled by
//! the few that are furthest out, and another each time; the weights know nothing of it.

use crate::importance::Sample;

/// A parameter's standard deviation, and how well it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub(super) name: String,
    /// The error of the standard deviation, as a share of it.
    pub(super) error: f64,
}

/// The parameter whose standard deviation is known least.
pub(super) fn least_known(sample: &Sample, names: &[String]) -> Option<Spread> {
    let spread = |(d, name): (usize, &String)| {
        let sd = sample.coordinate(d).ok()?.sd();
        let error = sd.error / sd.value;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        // A parameter that does not move has nothing to be known.
        (sd.value != 0.0).then(|| Spread { name: name.clone(), error })
    };
    let all = names.iter().enumerate().filter_map(spread);
    all.max_by(|a, b| a.error.total_cmp(&b.error))
}
