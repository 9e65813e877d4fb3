//! Components in two where two explain their points better than one.
//!
//! A component is cut along the axis on which its points look least like a Gaussian's. Its halves first
//! share one shape: what tells them apart is then d + 1 numbers, and a pair of modes is seen in any
//! dimension, where two covariances of their own would cost more than they bring.

use super::{Mixture, component::Gaussian, em::ROUNDS, own_weights, points::Points};
use crate::{linear, weight::effective_size};
use rayon::prelude::*;

/// Components that are never exceeded.
const MOST: usize = 64;

/// Beyond, no cut along one axis makes a mixture of what is none.
const MOST_DIMENSIONS: usize = 60;

impl Mixture {
    /// Splits every component for whose own points two are worth more than one.
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

/// Two components for the points of one, if they pay.
fn halves(points: &Points, component: &Gaussian, own: &[f64]) -> Option<Vec<Gaussian>> {
    let dim = points.z.dim();
    let total: f64 = own.iter().sum();
    if total * points.effective < 2.0 * points.fewest() || dim > MOST_DIMENSIONS {
        return None;
    }
    let axis = least_gaussian(points, component, own);
    let one = Mixture { components: vec![component.clone()], dim };
    let shifted = |side: f64| {
        let mean = component.mean.iter().zip(&axis).map(|(m, a)| m + side * a);
        let log_weight = component.log_weight - std::f64::consts::LN_2;
        Gaussian { mean: mean.collect(), log_weight, ..component.clone() }
    };
    let mut two = Mixture { components: vec![shifted(-0.8), shifted(0.8)], dim };
    for _ in 0..ROUNDS {
        two = tied(points, &two, own)?;
    }
    let gain = points.mean_log_density(&two, own) - points.mean_log_density(&one, own);
    let cost = 0.5 * (1.0 + dim as f64) * points.effective.ln() / points.effective;
    (gain > cost).then_some(two.components)
}

/// A round of expectation–maximisation with one covariance for all components.
fn tied(points: &Points, mixture: &Mixture, own: &[f64]) -> Option<Mixture> {
    let shares = mixture.log_shares(points.z);
    let (dim, all) = (mixture.dim, own.iter().sum::<f64>());
    let mut covariance = vec![0.0; dim * dim];
    let mut parts = Vec::new();
    for row in &shares {
        let weights = own_weights(row, own);
        let total: f64 = weights.iter().sum();
        if total.is_nan() || total * points.effective < points.fewest() {
            return None;
        }
        let mean: Vec<f64> =
            (0..dim).map(|d| linear::dot(&weights, points.z.row(d)) / total).collect();
        let within = points.covariance(&weights, total, &mean);
        covariance.iter_mut().zip(within).for_each(|(sum, own)| *sum += total / all * own);
        parts.push((total, mean));
    }
    let degrees = mixture.components[0].degrees;
    let component = |(total, mean)| {
        Some(Gaussian { degrees, ..Gaussian::new(total, mean, &covariance)? })
    };
    Some(Mixture { components: parts.into_iter().map(component).collect::<Option<_>>()?, dim })
}

/// The axis of a component's covariance on which its points are least like a Gaussian's, as long as
/// their standard deviation there.
///
/// Skewness and excess kurtosis have standard errors of √(6/n) and √(24/n) for a Gaussian; two modes
/// have a negative excess, heavy tails a positive one, which splitting along an axis does not cure.
fn least_gaussian(points: &Points, component: &Gaussian, own: &[f64]) -> Vec<f64> {
    let dim = points.z.dim();
    let total: f64 = own.iter().sum();
    let (values, vectors) = linear::symmetric_eigen(dim, &component.covariance());
    let members: Vec<usize> = (0..own.len()).filter(|&i| own[i] > 0.0).collect();
    let count = effective_size(total, own.iter().map(|w| w * w).sum());
    let oddness = |axis: &Vec<f64>| -> f64 {
        let mut along = vec![0.0; members.len()];
        for (d, a) in axis.iter().enumerate() {
            let row = points.z.row(d);
            along.iter_mut().zip(&members).for_each(|(x, &i)| *x += a * (row[i] - component.mean[d]));
        }
        let moment = |power: i32, middle: f64| -> f64 {
            let terms = along.iter().zip(&members);
            terms.map(|(x, &i)| own[i] * (x - middle).powi(power)).sum::<f64>() / total
        };
        let middle = moment(1, 0.0);
        let variance = moment(2, middle);
        let skewness = moment(3, middle) / variance.powf(1.5);
        let flatness = 3.0 - moment(4, middle) / variance.powi(2);
        count * (skewness.powi(2) / 6.0 + flatness.max(0.0).powi(2) / 24.0)
    };
    let odd: Vec<f64> = vectors.par_iter().map(oddness).collect();
    // Of axes that all look like a Gaussian's the longest.
    let rank = |i: usize| (odd[i].max(9.0), values[i]);
    let best = (0..dim)
        .filter(|&i| !odd[i].is_nan())
        .max_by(|&i, &j| {
            let (a, b) = (rank(i), rank(j));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .unwrap_or(0);
    let length = values[best].max(0.0).sqrt();
    vectors[best].iter().map(|a| length * a).collect()
}
