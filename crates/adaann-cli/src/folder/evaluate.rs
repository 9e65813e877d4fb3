//! Evaluates the density and its approximation at any points, on all threads.

use adaann::{
    Batch, Result,
    approximation::Approximation,
    target::{Support, Target},
};
use rayon::prelude::*;

/// Number of points that a thread evaluates at once.
const CHUNK: usize = 4096;

/// log p at points anywhere: −∞ outside the support.
pub(crate) fn log_p(approximation: &Approximation, points: &Batch) -> Result<Vec<f64>> {
    inside(approximation.target().target(), points, |chosen| approximation.log_p(chosen))
}

/// log q at points anywhere: −∞ outside the support.
pub(crate) fn log_q(approximation: &Approximation, points: &Batch) -> Result<Vec<f64>> {
    inside(approximation.target().target(), points, |chosen| approximation.log_q(chosen))
}

fn inside(
    target: &dyn Target,
    points: &Batch,
    log_density: impl Fn(&Batch) -> Result<Vec<f64>> + Sync,
) -> Result<Vec<f64>> {
    let supports: Vec<_> = (0..target.dim()).map(|d| target.support(d)).collect();
    let inside: Vec<usize> =
        (0..points.len()).filter(|&i| Support::contain(&supports, &points.point(i))).collect();
    let chunks = inside
        .par_chunks(CHUNK)
        .map(|chunk| {
            let chosen: Vec<_> = chunk.iter().map(|&i| points.point(i)).collect();
            log_density(&Batch::from_points(points.dim(), &chosen))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut values = vec![f64::NEG_INFINITY; points.len()];
    for (&i, value) in inside.iter().zip(chunks.iter().flatten()) {
        values[i] = *value;
    }
    Ok(values)
}
