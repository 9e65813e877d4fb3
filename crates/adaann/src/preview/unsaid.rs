//! What the data does not determine: directions along which the likelihood barely changes over the whole
//! width of the posterior.

use super::typical::Typical;
use crate::{
    Result, linear,
    target::{Unconstrained, Weights, Workspace},
};

/// A direction that only the prior constrains.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsaid {
    /// The coordinates that it moves, and by how many of their standard deviations, largest first.
    pub along: Vec<(usize, f64)>,
    /// How much the log likelihood changes over one standard deviation of the posterior in this direction:
    /// a root mean square over the points.
    pub change: f64,
}

/// A direction counts as undetermined if the log likelihood changes by less than this over one standard
/// deviation. A prior whose precision is a hundred times that of the data gives half as much.
const NOTHING: f64 = 0.02;

/// A coordinate belongs to a direction if it moves by at least this share of the largest move.
const MOVED: f64 = 0.2;

/// Finds what the likelihood leaves to the prior, at typical points and in units of the posterior.
///
/// Single coordinates come first, then combinations of the others, each of as few coordinates as
/// elimination allows.
///
/// # Errors Those of the target.
pub fn unsaid(target: &Unconstrained, typical: &Typical) -> Result<Vec<Unsaid>> {
    let dim = target.dim();
    let slopes = slopes(target, typical)?;
    if slopes.is_empty() {
        return Ok(Vec::new());
    }
    let change = |of: &dyn Fn(&[f64]) -> f64| {
        let squares: f64 = slopes.iter().map(|slope| of(slope).powi(2)).sum();
        (squares / slopes.len() as f64).sqrt()
    };
    let mut found = Vec::new();
    let mut others = Vec::new();
    for d in 0..dim {
        let change = change(&|slope| slope[d] * typical.sd[d]);
        if change < NOTHING {
            found.push(Unsaid { along: vec![(d, 1.0)], change });
        } else {
            others.push(d);
        }
    }
    // In coordinates whitened by the posterior's factor, a unit vector is one standard deviation.
    let whitened: Vec<Vec<f64>> = slopes.iter().map(|slope| whiten(typical, slope)).collect();
    let mut moments = vec![0.0; dim * dim];
    for slope in &whitened {
        for a in 0..dim {
            for b in 0..dim {
                moments[a * dim + b] += slope[a] * slope[b] / whitened.len() as f64;
            }
        }
    }
    let (values, vectors) = linear::symmetric_eigen(dim, &moments);
    let flat = (0..dim).filter(|&k| values[k].max(0.0).sqrt() < NOTHING);
    // As moves of the coordinates, in standard deviations of each; coordinates found above are left out.
    let mut moves: Vec<Vec<f64>> = flat
        .map(|k| {
            let step = |d: usize| {
                linear::dot(&typical.factor[d * dim..][..=d], &vectors[k][..=d]) / typical.sd[d]
            };
            others.iter().map(|&d| step(d)).collect()
        })
        .collect();
    for row in eliminate(&mut moves) {
        let largest = row.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let mut along: Vec<(usize, f64)> = row
            .iter()
            .zip(&others)
            .filter(|(x, _)| x.abs() >= MOVED * largest)
            .map(|(&x, &d)| (d, x / largest))
            .collect();
        along.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        let step = |slope: &[f64]| {
            let sum: f64 =
                row.iter().zip(&others).map(|(x, &d)| x / largest * typical.sd[d] * slope[d]).sum();
            sum
        };
        found.push(Unsaid { along, change: change(&step) });
    }
    Ok(found)
}

/// Gradients of the log likelihood at the typical points where they are finite.
fn slopes(target: &Unconstrained, typical: &Typical) -> Result<Vec<Vec<f64>>> {
    let mut work = Workspace::zeros(target.dim(), typical.points.len());
    let likelihood = Weights { prior: 0.0, likelihood: 1.0 };
    target.evaluate(&typical.points, Some((likelihood, 0.0)), &mut work)?;
    let all = (0..typical.points.len()).map(|i| work.evaluation.gradient.point(i));
    Ok(all.filter(|slope| slope.iter().all(|x| x.is_finite())).collect())
}

/// Lᵀ g.
fn whiten(typical: &Typical, slope: &[f64]) -> Vec<f64> {
    let dim = slope.len();
    (0..dim).map(|k| (k..dim).map(|d| typical.factor[d * dim + k] * slope[d]).sum()).collect()
}

/// A pivot below this is rounding, or belongs to a direction found before.
const LEAST_PIVOT: f64 = 1e-3;

/// The rows that span the same space with as many zeros as Gauss-Jordan elimination gives.
fn eliminate(rows: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..rows.len() {
        let free = (0..rows.len()).filter(|row| !kept.contains(row));
        let entries =
            free.flat_map(|row| rows[row].iter().enumerate().map(move |(d, x)| (row, d, x.abs())));
        let Some((row, pivot, size)) = entries.max_by(|a, b| a.2.total_cmp(&b.2)) else { break };
        if size < LEAST_PIVOT {
            break;
        }
        let chosen = rows[row].clone();
        for (other, entries) in rows.iter_mut().enumerate() {
            if other == row {
                entries.iter_mut().for_each(|x| *x /= chosen[pivot]);
            } else {
                let factor = entries[pivot] / chosen[pivot];
                entries.iter_mut().zip(&chosen).for_each(|(x, y)| *x -= factor * y);
            }
        }
        kept.push(row);
    }
    kept.into_iter().map(|row| rows[row].clone()).collect()
}
