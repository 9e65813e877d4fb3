//! A triangular map, fitted to weighted points by regression, that bends a Gaussian into a funnel or a
//! ridge.
//!
//! Each coordinate is normal given the previous ones, in an order that is searched (`order.rs`), with a
//! quadratic mean and a linear log scale (`regression.rs`): the parameters of the flow
//! [`FlowSpec::Quadratic`](crate::flow::FlowSpec). Hierarchical models have this form, where one coordinate
//! sets the width of many others, and so do bent ridges. The residual of a coordinate may have several humps
//! (`humps.rs`), as in a product of many two-humped coordinates, whose modes are too many to list. The
//! inverse map takes the points close to a standard normal, and a mixture describes the rest.

mod humps;
mod order;
mod regression;
mod standardised;
#[cfg(test)]
mod tests;

use crate::{
    Batch, Result,
    flow::{
        Base, Flow, FlowSpec, Layer, Order, Parameter, PerPoint, Stack, Weights,
        marginals::Marginals, quadratic::Quadratic,
    },
    weight::ess,
};
use rayon::prelude::*;
use regression::Regression;
use standardised::Standardised;

/// Largest dimension for which a map is fitted.
pub(crate) const MOST_DIMENSIONS: usize = 40;

/// Largest dimension for dependent coordinates: the work grows with its fourth power.
const MOST_RULING: usize = 25;

/// Largest number of points for the search of an order.
const MOST_POINTS: usize = 2_000;

/// Points per task of a thread.
const PIECE: usize = 256;

/// Least effective number of points per coordinate.
const LEAST_WORTH: f64 = 5.0;

/// Least gain over a Gaussian, in nats.
const LEAST_GAIN: f64 = 0.1;

/// The map, and the order and the units of its coordinates.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Warp {
    /// The coordinates in order.
    order: Vec<usize>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// The parameters of the quadratic map, if coordinates depend on each other.
    quadratic: Option<Vec<f64>>,
    /// The number of components of the residual distributions, and the parameters of these.
    marginals: Option<(usize, Vec<f64>)>,
    /// Number of fitted parameters, beyond those of a Gaussian.
    numbers: usize,
}

impl Warp {
    /// Fits the map to weighted points; `None` if a Gaussian fits as well, or the points are too few.
    pub(crate) fn fit(z: &Batch, weights: &[f64]) -> Option<Self> {
        let dim = z.dim();
        if !(2..=MOST_DIMENSIONS).contains(&dim) || ess(weights) < LEAST_WORTH * dim as f64 {
            return None;
        }
        let order = match dim <= MOST_RULING {
            true => order::find(&Standardised::new(z, weights, MOST_POINTS)?),
            false => None,
        };
        let is_ruled = order.is_some();
        let order = order.unwrap_or_else(|| (0..dim).collect());
        Self::in_order(&Standardised::new(z, weights, z.len())?, order, is_ruled)
    }

    /// Fits only the marginal distributions, for points that are too similar for more.
    pub(crate) fn of_laws(z: &Batch, weights: &[f64]) -> Option<Self> {
        if z.dim() > MOST_DIMENSIONS {
            return None;
        }
        let points = Standardised::new(z, weights, z.len())?;
        Self::in_order(&points, (0..z.dim()).collect(), false)
    }

    /// Refits the regressions and marginal distributions to other points, in the same order.
    pub(crate) fn refit(&self, z: &Batch, weights: &[f64]) -> Option<Self> {
        let points = Standardised::new(z, weights, z.len())?;
        Self::in_order(&points, self.order.clone(), self.quadratic.is_some())
    }

    fn in_order(points: &Standardised, order: Vec<usize>, is_ruled: bool) -> Option<Self> {
        let in_order = |from: &[f64]| order.iter().map(|&d| from[d]).collect();
        let (mean, sd) = (in_order(&points.mean), in_order(&points.sd));
        let (mut quadratic, mut gain) = (None, 0.0);
        if is_ruled {
            let (parameters, gained) = quadratic_map(points, &order)?;
            (quadratic, gain) = (Some(parameters), gained);
        }
        let residuals = residuals(points, &order, quadratic.as_deref());
        let laws: Vec<humps::Law> =
            residuals.par_iter().map(|row| humps::fit(row, &points.weights)).collect();
        gain += laws.iter().map(|law| law.gain).sum::<f64>();
        let marginals = marginal_maps(&laws);
        let bends = quadratic.iter().flatten().filter(|c| **c != 0.0).count();
        let humps: usize = laws.iter().map(|law| law.humps.len() - 1).sum();
        let numbers = bends + 3 * humps;
        (gain > LEAST_GAIN).then_some(Self { order, mean, sd, quadratic, marginals, numbers })
    }

    /// The points mapped back, and the log-determinant of the forward map.
    pub(crate) fn straighten(&self, z: &Batch) -> (Batch, Vec<f64>) {
        let dim = self.order.len();
        let units: f64 = self.sd.iter().map(|sd| sd.ln()).sum();
        let starts: Vec<usize> = (0..z.len()).step_by(PIECE).collect();
        let back = |&at: &usize| {
            let mut piece = Batch::zeros(dim, PIECE.min(z.len() - at));
            let mut log_det = vec![units; piece.padded_len()];
            for (k, &d) in self.order.iter().enumerate() {
                let from = &z.row(d)[at..at + piece.len()];
                for (to, from) in piece.row_mut(k).iter_mut().zip(from) {
                    *to = (from - self.mean[k]) / self.sd[k];
                }
            }
            if let Some(parameters) = &self.quadratic {
                let weights = Weights { parameters, derived: &[] };
                PerPoint(Quadratic::new(dim)).inverse(weights, &mut piece, &mut log_det, None);
            }
            if let Some((components, parameters)) = &self.marginals {
                let (map, weights) =
                    (Marginals::new(dim, *components), Weights { parameters, derived: &[] });
                map.inverse(weights, &mut piece, &mut log_det, None);
            }
            log_det.truncate(piece.len());
            (piece, log_det)
        };
        let pieces: Vec<(Batch, Vec<f64>)> = starts.par_iter().map(back).collect();
        let (mut straight, mut log_det) = (Batch::zeros(dim, z.len()), Vec::new());
        for (at, (piece, own)) in starts.into_iter().zip(pieces) {
            straight.copy_points(at, &piece, 0, piece.len());
            log_det.extend(own);
        }
        (straight, log_det)
    }

    /// The penalty for its parameters with this many points: half of the log number of points per parameter
    /// (the Bayesian information criterion).
    pub(crate) fn cost(&self, points: f64) -> f64 {
        0.5 * self.numbers as f64 * points.ln() / points
    }

    /// The map as a flow on a base.
    pub(crate) fn flow(&self, base: Base) -> Result<Flow> {
        let dim = self.order.len();
        let mut place = vec![0; dim];
        self.order.iter().enumerate().for_each(|(k, &d)| place[d] = k);
        let (mut specs, mut parameters) = (Vec::new(), Vec::new());
        if let Some((components, own)) = &self.marginals {
            specs.push(FlowSpec::Marginals { components: *components });
            parameters.extend_from_slice(own);
        }
        if let Some(own) = &self.quadratic {
            specs.push(FlowSpec::Quadratic);
            parameters.extend_from_slice(own);
        }
        specs.push(FlowSpec::Affine);
        parameters.extend_from_slice(&self.mean);
        parameters.extend(self.sd.iter().map(|sd| sd.ln()));
        specs.push(FlowSpec::Permutation(Order::Listed(place)));
        let mut flow = Flow::new(&FlowSpec::Compose(specs), base)?;
        flow.set_parameters(&parameters)?;
        Ok(flow)
    }
}

/// The parameters of the quadratic map for coordinates in an order, and its gain.
fn quadratic_map(points: &Standardised, order: &[usize]) -> Option<(Vec<f64>, f64)> {
    let map = Quadratic::new(order.len());
    let fit = |k: usize| regression::fit(points, order[k], &order[..k]);
    let fitted: Vec<Regression> =
        (0..order.len()).into_par_iter().map(fit).collect::<Option<_>>()?;
    let mut parameters = vec![0.0; map.parameters().iter().map(Parameter::len).sum()];
    let mut all = 0.0;
    for (k, fitted) in fitted.into_iter().enumerate() {
        let Regression { shift, slopes, squares, log_scale, log_scale_slopes, gain } = fitted;
        let rule = map.rule(k);
        parameters[rule.shift.start] = shift;
        parameters[rule.slopes].copy_from_slice(&slopes);
        parameters[rule.squares].copy_from_slice(&squares);
        parameters[rule.log_scale.start] = log_scale;
        parameters[rule.log_scale_slopes].copy_from_slice(&log_scale_slopes);
        all += gain;
    }
    Some((parameters, all))
}

/// The residuals of each coordinate under a quadratic map.
fn residuals(points: &Standardised, order: &[usize], quadratic: Option<&[f64]>) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = order.iter().map(|&d| points.rows[d].clone()).collect();
    if let Some(parameters) = quadratic {
        let map = Quadratic::new(order.len());
        let mut point = vec![0.0; order.len()];
        for i in 0..points.weights.len() {
            point.iter_mut().zip(&rows).for_each(|(to, row)| *to = row[i]);
            map.inverse(parameters, &mut point);
            rows.iter_mut().zip(&point).for_each(|(row, x)| row[i] = *x);
        }
    }
    rows
}

/// The parameters of the marginal maps, if a coordinate has more than one hump.
fn marginal_maps(laws: &[humps::Law]) -> Option<(usize, Vec<f64>)> {
    let components = laws.iter().map(|law| law.humps.len()).max().filter(|most| *most > 1)?;
    let map = Marginals::new(laws.len(), components);
    let mut parameters = vec![0.0; 3 * laws.len() * components];
    for (d, law) in laws.iter().enumerate() {
        for c in 0..components {
            // If a coordinate has fewer components, repeat the first with a fraction of its weight.
            let own = law.humps.get(c).unwrap_or(&law.humps[0]);
            let times = 1 + components - law.humps.len();
            let is_first = c == 0 || c >= law.humps.len();
            let weight = if is_first { own.weight / times as f64 } else { own.weight };
            parameters[map.place(0, d, c)] = weight.ln();
            parameters[map.place(1, d, c)] = own.mean;
            parameters[map.place(2, d, c)] = own.sd.ln();
        }
    }
    Some((components, parameters))
}
