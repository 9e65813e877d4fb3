//! The edges of the drawn region: draws that every proposal so far makes too rarely, and proposals around
//! them.
//!
//! Where p continues along a thin bent ridge, or decays more slowly than a proposal, the outermost draws
//! have weights far above the mean, and the region beyond them has no draws at all. Components around such
//! draws, shaped by their neighbours, reach further; each such step extends the covered region by about
//! their width. A. Raftery, L. Bao, "Estimating and projecting trends in HIV/AIDS generalized epidemics
//! using incremental mixture importance sampling" (2010).

use super::{Shape, archive::Archive};
use crate::{
    Batch,
    importance::{covariance, log_sum_exp},
    mixture::{Component, Mixture},
    non_finite,
    weight::log_weight,
};

/// The most dimensions in which neighbours determine the shape of an edge.
const MOST_DIMENSIONS: usize = 25;

/// The most components to place.
const MOST: usize = 12;

/// A draw is rare if p/(Z q̄) there, whose mean is 1, is above this.
const RARE: f64 = 3.0;

/// Rare draws matter if they have this share of the mass or of the spread of p: a few errors of estimates
/// from 4,000 draws are as large.
const MATTERS: f64 = 0.004;

/// A draw with less than this share of the mean weight is off the ridge.
const ON_RIDGE: f64 = 0.05;

/// Neighbours that shape a component, in addition to four for each coordinate.
const NEIGHBOURS: usize = 8;

/// The share of the covariance of all draws that is added.
const ROUND: f64 = 1e-3;

/// Degrees of freedom of the components.
const DEGREES: f64 = 5.0;

/// Components around edges.
pub(super) struct Edges {
    /// The components to draw from, on the whole line: a map that bends a shape may be wrong where it has
    /// no points.
    pub(super) drawn: Mixture,
    /// The same in the coordinates of a shape, ready to join it.
    pub(super) joining: Vec<Component>,
}

impl Archive {
    /// Components around draws that all proposals together make too rarely; none if such draws matter
    /// neither for the mass nor for the spread of p.
    pub(super) fn edges(&self, shape: &Shape) -> Option<Edges> {
        let (dim, count) = (self.z.dim(), self.len());
        if dim > MOST_DIMENSIONS {
            return None;
        }
        let log_weights: Vec<f64> = (self.log_p.iter().zip(&self.log_q))
            .map(|(p, q)| non_finite::log_density(log_weight(*p, *q)))
            .collect();
        let log_z = log_sum_exp(log_weights.iter().copied());
        // p/(Z q̄), whose mean over the draws is 1.
        let ratio = |log_weight: &f64| (log_weight - log_z).exp() * count as f64;
        let all: Vec<f64> = log_weights.iter().map(ratio).collect();
        let members: Vec<usize> = (0..count).filter(|&i| all[i] > ON_RIDGE).collect();
        let ratios: Vec<f64> = members.iter().map(|&i| all[i]).collect();
        let mut rare: Vec<usize> = (0..members.len()).filter(|&i| ratios[i] > RARE).collect();
        let points = pick(&self.z, &members);
        let whole = whole(&points, &ratios)?;
        // A distant draw counts for the spread by its squared distance, whose mean is `dim`.
        let squares = squares(&whole, &points)?;
        let counts = |&i: &usize| ratios[i] * f64::max(1.0, squares[i] / dim as f64);
        if rare.len() < 2 || rare.iter().map(counts).sum::<f64>() < MATTERS * count as f64 {
            return None;
        }
        let straight = shape.warp.as_ref().map(|warp| warp.straighten(&points).0);
        let straight_whole = straight.as_ref().and_then(|points| self::whole(points, &ratios));
        rare.sort_by(|&i, &j| ratios[j].total_cmp(&ratios[i]));
        let rare_points = pick(&points, &rare);
        let mut is_covered = vec![false; rare.len()];
        let (mut drawn, mut joining) = (Vec::new(), Vec::new());
        for at in 0..rare.len() {
            if is_covered[at] || drawn.len() == MOST {
                continue;
            }
            let Some(component) = around(rare[at], &points, &whole) else { continue };
            let squares = self::squares(&component, &rare_points)?;
            is_covered.iter_mut().zip(squares).for_each(|(is, square)| *is |= square < dim as f64);
            match (&straight, &straight_whole) {
                (None, _) => joining.push(component.clone()),
                (Some(points), Some(whole)) => joining.extend(around(rare[at], points, whole)),
                (Some(_), None) => {}
            }
            drawn.push(component);
        }
        Some(Edges { drawn: Mixture::of(&drawn)?, joining })
    }
}

/// All points as a single component.
fn whole(points: &Batch, weights: &[f64]) -> Option<Component> {
    let mean = (0..points.dim()).map(|d| mean(points.row(d), weights)).collect();
    let covariance = covariance(points, weights).ok()?;
    Some(Component { weight: 1.0, mean, covariance, degrees: None })
}

/// Some of the points.
fn pick(points: &Batch, members: &[usize]) -> Batch {
    let mut picked = Batch::zeros(points.dim(), members.len());
    for d in 0..points.dim() {
        let from = points.row(d);
        picked.row_mut(d).iter_mut().zip(members).for_each(|(to, &i)| *to = from[i]);
    }
    picked
}

fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(weights).map(|(x, w)| x * w).sum();
    sum / weights.iter().sum::<f64>()
}

/// Squared distances from a component's centre in units of its covariance; none if that is not positive
/// definite.
fn squares(component: &Component, points: &Batch) -> Option<Vec<f64>> {
    let mixture = Mixture::of(std::slice::from_ref(component))?;
    Some(mixture.components[0].squares(points, None))
}

/// A component at a point, with the second moments of its nearest neighbours about it: it reaches as far
/// outwards as they reach inwards.
fn around(at: usize, points: &Batch, whole: &Component) -> Option<Component> {
    let (dim, centre) = (points.dim(), points.point(at));
    let squares = squares(&Component { mean: centre.clone(), ..whole.clone() }, points)?;
    let mut order: Vec<usize> = (0..points.len()).collect();
    let wanted = (NEIGHBOURS + 4 * dim).min(points.len());
    if wanted <= dim {
        return None;
    }
    order.select_nth_unstable_by(wanted - 1, |&i, &j| {
        squares[i].total_cmp(&squares[j]).then(i.cmp(&j))
    });
    let mut near: Vec<usize> = order[..wanted].to_vec();
    // Sums are in the order of the points, whatever order the selection leaves.
    near.sort_unstable();
    let moment = |at: usize| -> f64 {
        let (i, j) = (at / dim, at % dim);
        let (a, b) = (points.row(i), points.row(j));
        let sum: f64 = near.iter().map(|&n| (a[n] - centre[i]) * (b[n] - centre[j])).sum();
        sum / wanted as f64 + ROUND * whole.covariance[at]
    };
    let covariance: Vec<f64> = (0..dim * dim).map(moment).collect();
    let component = Component { weight: 1.0, mean: centre, covariance, degrees: Some(DEGREES) };
    Mixture::of(std::slice::from_ref(&component)).map(|_| component)
}
