//! The density and its approximation at any points, on all threads.

use adaann::{
    Batch, Result,
    approximation::Approximation,
    target::{Support, Target},
};
use rayon::prelude::*;

/// Points evaluated at once by a thread.
const CHUNK: usize = 4096;

/// Both log densities at points.
pub(crate) struct Densities {
    pub(crate) log_p: Vec<f64>,
    pub(crate) log_q: Vec<f64>,
}

/// Both log densities at points anywhere: −∞ outside the support.
pub(crate) fn evaluate(
    approximation: &Approximation,
    target: &dyn Target,
    points: &Batch,
) -> Result<Densities> {
    let supports: Vec<_> = (0..target.dim()).map(|d| target.support(d)).collect();
    let inside: Vec<usize> =
        (0..points.len()).filter(|&i| Support::contain(&supports, &points.point(i))).collect();
    let chunks = inside
        .par_chunks(CHUNK)
        .map(|chunk| {
            let chosen: Vec<_> = chunk.iter().map(|&i| points.point(i)).collect();
            let chosen = Batch::from_points(points.dim(), &chosen);
            Ok((approximation.log_p(&chosen)?, approximation.log_q(&chosen)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut log_p = vec![f64::NEG_INFINITY; points.len()];
    let mut log_q = log_p.clone();
    for (chunk, (p, q)) in inside.chunks(CHUNK).zip(chunks) {
        for ((&i, p), q) in chunk.iter().zip(p).zip(q) {
            (log_p[i], log_q[i]) = (p, q);
        }
    }
    Ok(Densities { log_p, log_q })
}
