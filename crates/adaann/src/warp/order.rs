//! Finds the order of the coordinates from the last to the first: at each step the coordinate that the
//! remaining ones describe best.

use super::{regression, standardised::Standardised};
use rayon::prelude::*;

/// A candidate for the last of the remaining coordinates.
struct Candidate {
    own: usize,
    gain: f64,
    /// Coordinates that its mean or scale depends on.
    ruled_by: Vec<usize>,
}

/// An order; `None` if linear regression describes every coordinate as well.
pub(super) fn find(points: &Standardised) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..points.rows.len()).collect();
    let mut behind = Vec::new();
    while left.len() > 1 {
        let candidate = |&own: &usize| {
            let others: Vec<usize> = left.iter().copied().filter(|d| *d != own).collect();
            let fitted = regression::fit(points, own, &others)?;
            let ruled_by = fitted.ruled_by(&others);
            let is_bent = fitted.gain > 0.0 && !ruled_by.is_empty();
            is_bent.then_some(Candidate { own, gain: fitted.gain, ruled_by })
        };
        let mut candidates: Vec<Candidate> = left.par_iter().filter_map(candidate).collect();
        if candidates.is_empty() {
            break;
        }
        candidates.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        // Independent coordinates are removed together: in a funnel, all but its axis.
        let mut gone: Vec<Candidate> = Vec::new();
        for new in candidates {
            let is_apart = |old: &Candidate| {
                !new.ruled_by.contains(&old.own) && !old.ruled_by.contains(&new.own)
            };
            if gone.iter().all(is_apart) {
                gone.push(new);
            }
        }
        left.retain(|d| gone.iter().all(|candidate| candidate.own != *d));
        behind.extend(gone.into_iter().map(|candidate| candidate.own));
    }
    if behind.is_empty() {
        return None;
    }
    left.extend(behind.into_iter().rev());
    Some(left)
}
