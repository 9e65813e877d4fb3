//! Splits components where two explain their points better than one.
//!
//! A component is split along the axis on which its points look least Gaussian. Its halves first share
//! one covariance. They then differ by only d + 1 parameters, so that a pair of modes is detected in any
//! dimension; separate covariances would cost more than they gain.

use super::{Mixture, component::Gaussian, em::ROUNDS, own_weights, points::Points};
use crate::{linear, weight::effective_size};
use rayon::prelude::*;

/// Upper limit on the number of components.
const MOST: usize = 64;

/// Beyond this dimension, splitting along one axis cannot separate modes.
const MOST_DIMENSIONS: usize = 60;

impl Mixture {
    /// Splits every component whose points are described better by two.
    pub(super) fn split(&self, points: &Points) -> Self {
        let shares = self.log_shares(points.z);
        let halves: Vec<Vec<Gaussian>> = (self.components.par_iter().zip(&shares))
            .map(|(component, shares)| {
                let own = own_weights(shares, points.weights);
                halves(points, component, &own).unwrap_or_else(|| vec![component.clone()])
            })
            .collect();
        if halves.iter().map(Vec::len).sum::<usize>() > MOST {
            return self.clone();
        }
        let mut split = Self { components: halves.concat(), dim: self.dim };
        split.normalise();
        split
    }
}

/// Two components for the points of one, if they improve the score.
fn halves(points: &Points, component: &Gaussian, own: &[f64]) -> Option<Vec<Gaussian>> {
    let dim = points.z.dim();
    let total: f64 = own.iter().sum();
    if total * points.effective < 2.0 * points.fewest() || dim > MOST_DIMENSIONS {
        return None;
    }
    // The best single component: the given one may be shrunk towards an earlier fit.
    let whole = points.component(own, None).unwrap_or_else(|| component.clone());
    let one = Mixture { components: vec![Gaussian { degrees: component.degrees, ..whole }], dim };
    let before = points.mean_log_density(&one, own);
    // Two modes gain far more than this, and a Gaussian gains at most half of it by chance.
    let cost = (1.0 + dim as f64) * points.effective.ln() / points.effective;
    axes(points, component, own).iter().find_map(|axis| {
        let mut two = cut(points, component, own, axis)?;
        for _ in 0..ROUNDS {
            two = tied(points, &two, own)?;
        }
        (points.mean_log_density(&two, own) - before > cost).then_some(two.components)
    })
}

/// Splits the points at the mean along an axis.
fn cut(points: &Points, component: &Gaussian, own: &[f64], axis: &[f64]) -> Option<Mixture> {
    let along = along(points, component, axis);
    let middle = linear::dot(&along, own) / own.iter().sum::<f64>();
    let sides = [false, true].map(|is_above| -> Vec<f64> {
        let pairs = own.iter().zip(&along);
        pairs.map(|(w, x)| if (*x > middle) == is_above { *w } else { 0.0 }).collect()
    });
    of_shares(points, sides, component.degrees)
}

/// The position of each point along an axis, from the component's mean.
fn along(points: &Points, component: &Gaussian, axis: &[f64]) -> Vec<f64> {
    let mut along = vec![0.0; points.z.len()];
    for (d, a) in axis.iter().enumerate() {
        let (row, mean) = (points.z.row(d), component.mean[d]);
        along.iter_mut().zip(row).for_each(|(x, z)| *x += a * (z - mean));
    }
    along
}

/// One round of expectation–maximisation with one covariance for both components.
fn tied(points: &Points, mixture: &Mixture, own: &[f64]) -> Option<Mixture> {
    let shares = mixture.log_shares(points.z);
    let sides = [0, 1].map(|k| own_weights(&shares[k], own));
    of_shares(points, sides, mixture.components[0].degrees)
}

/// Two components with one covariance, given each point's weight in either; `None` if either has too few
/// points.
fn of_shares(points: &Points, sides: [Vec<f64>; 2], degrees: Option<f64>) -> Option<Mixture> {
    let dim = points.z.dim();
    let all: f64 = sides.iter().flatten().sum();
    let mut covariance = vec![0.0; dim * dim];
    let mut parts = Vec::new();
    for weights in &sides {
        let total: f64 = weights.iter().sum();
        if total.is_nan() || total * points.effective < points.fewest() {
            return None;
        }
        let mean: Vec<f64> =
            (0..dim).map(|d| linear::dot(weights, points.z.row(d)) / total).collect();
        let within = points.covariance(weights, total, &mean);
        covariance.iter_mut().zip(within).for_each(|(sum, own)| *sum += total / all * own);
        parts.push((total, mean));
    }
    let component =
        |(total, mean)| Some(Gaussian { degrees, ..Gaussian::new(total, mean, &covariance)? });
    Some(Mixture { components: parts.into_iter().map(component).collect::<Option<_>>()?, dim })
}

/// Principal axes with variance below this, relative to the correlations, are rounding.
const THINNEST: f64 = 1e-6;

/// The axes to split a component along: the one on which its points are least Gaussian, and the longest.
///
/// For a Gaussian, skewness and excess kurtosis have standard errors of √(6/n) and √(24/n). Two modes
/// have a negative excess. Heavy tails have a positive one, which splitting along an axis does not fix.
fn axes(points: &Points, component: &Gaussian, own: &[f64]) -> Vec<Vec<f64>> {
    let dim = points.z.dim();
    let total: f64 = own.iter().sum();
    let covariance = component.covariance();
    let scale: Vec<f64> = (0..dim).map(|d| covariance[d * dim + d].sqrt()).collect();
    let correlation: Vec<f64> =
        (0..dim * dim).map(|at| covariance[at] / (scale[at / dim] * scale[at % dim])).collect();
    let (values, vectors) = linear::symmetric_eigen(dim, &correlation);
    let count = effective_size(total, own.iter().map(|w| w * w).sum());
    // Coordinates of a point along an axis are those of the standardised point.
    let axis = |i: usize| -> Vec<f64> {
        vectors[i].iter().zip(&scale).map(|(a, scale)| a / scale).collect()
    };
    let oddness = |i: usize| -> f64 {
        let along = along(points, component, &axis(i));
        let moment = |power: i32, middle: f64| -> f64 {
            let terms = along.iter().zip(own);
            terms.map(|(x, w)| w * (x - middle).powi(power)).sum::<f64>() / total
        };
        let middle = moment(1, 0.0);
        let variance = moment(2, middle);
        let skewness = moment(3, middle) / variance.powf(1.5);
        let flatness = 3.0 - moment(4, middle) / variance.powi(2);
        count * (skewness.powi(2) / 6.0 + flatness.max(0.0).powi(2) / 24.0)
    };
    let seen: Vec<usize> = (0..dim).filter(|&i| values[i] > THINNEST).collect();
    let odd: Vec<(usize, f64)> = seen.par_iter().map(|&i| (i, oddness(i))).collect();
    let oddest = odd.iter().filter(|(_, odd)| !odd.is_nan()).max_by(|a, b| a.1.total_cmp(&b.1));
    let longest = seen.iter().max_by(|&&i, &&j| values[i].total_cmp(&values[j]));
    let mut chosen: Vec<usize> =
        oddest.map(|(i, _)| *i).into_iter().chain(longest.copied()).collect();
    chosen.dedup();
    chosen.into_iter().map(axis).collect()
}
