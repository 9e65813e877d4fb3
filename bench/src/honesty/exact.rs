//! The exact posterior of a [`Recipe`]: evidence, moments, and the weight of each mode.

use super::recipe::{Prior, Recipe, Tails};
use crate::dice::{Dice, normalised};
use crate::ladder::subject::{Truth, Whitening};
use adaann::registry::{Known, Mode};
use std::f64::consts::TAU;

/// Draws of each component for the weights of modes. A weight w then has an error of 0.005 w.
const DRAWS: usize = 10_000;

/// Quadrature points for a coordinate between two bounds.
const NODES: usize = 8_000;

/// The posterior as a mixture of components, each a product over the axes.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    pub(crate) log_z: f64,
    pub(crate) parts: Vec<PosteriorPart>,
}

#[derive(Debug, Clone)]
pub(crate) struct PosteriorPart {
    pub(crate) weight: f64,
    pub(crate) mean: Vec<f64>,
    /// Along each axis.
    pub(crate) variance: Vec<f64>,
}

/// An integral over a coordinate, with the mean and the variance of the integrand.
struct Moments {
    log_mass: f64,
    mean: f64,
    variance: f64,
}

impl Recipe {
    pub(crate) fn posterior(&self) -> Posterior {
        let mut log_weights = Vec::new();
        let mut parts = Vec::new();
        for part in &self.parts {
            let centre = self.along(&part.centre);
            let each: Vec<Moments> = (centre.iter().zip(self.lengths()).enumerate())
                .map(|(k, (centre, length))| self.moments(k, *centre, length * part.width))
                .collect();
            log_weights.push(part.weight.ln() + each.iter().map(|m| m.log_mass).sum::<f64>());
            let mean: Vec<f64> = each.iter().map(|m| m.mean).collect();
            let mean = self.axes.as_ref().map_or(mean.clone(), |axes| axes.point(&mean));
            let variance = each.iter().map(|m| m.variance).collect();
            parts.push(PosteriorPart { weight: 0.0, mean, variance });
        }
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let relative: Vec<f64> = log_weights.iter().map(|w| (w - largest).exp()).collect();
        let log_z = largest + relative.iter().sum::<f64>().ln();
        for (part, weight) in parts.iter_mut().zip(normalised(&relative)) {
            part.weight = weight;
        }
        Posterior { log_z, parts }
    }

    fn along(&self, x: &[f64]) -> Vec<f64> {
        self.axes.as_ref().map_or(x.to_vec(), |axes| axes.along(x))
    }

    /// A component times the prior, over its axis `k`.
    fn moments(&self, k: usize, centre: f64, width: f64) -> Moments {
        let variance = match self.tails {
            Tails::Normal => width * width,
            Tails::Student(nu) => width * width * nu / (nu - 2.0),
        };
        let whole = |log_mass| Moments { log_mass, mean: centre, variance };
        match &self.prior {
            Prior::Flat => whole(0.0),
            // The generators keep rotated components at least six standard deviations away from all bounds.
            Prior::Box { low, high } if self.axes.is_some() => whole(-(high - low).ln()),
            Prior::Box { low, high } => within(centre, width, *low, *high),
            Prior::Normal { mean, sd } => {
                let (prior_mean, prior_variance) = (self.along(mean)[k], sd * sd);
                let sum = variance + prior_variance;
                Moments {
                    log_mass: -0.5 * (TAU * sum).ln() - 0.5 * (centre - prior_mean).powi(2) / sum,
                    mean: (centre * prior_variance + prior_mean * variance) / sum,
                    variance: variance * prior_variance / sum,
                }
            }
        }
    }

    /// All exact values for a comparison with a run. The points of a mode are those nearest to the mean of its
    /// component, in the coordinates in which components are spheres. For overlapping components their share differs
    /// from the weight of the component, so it is counted from exact draws.
    pub(crate) fn truth(&self) -> Truth {
        let posterior = self.posterior();
        let dim = self.dim();
        let over = |f: &dyn Fn(&PosteriorPart) -> f64| -> f64 {
            posterior.parts.iter().map(|part| part.weight * f(part)).sum()
        };
        let mean: Vec<f64> = (0..dim).map(|d| over(&|part| part.mean[d])).collect();
        let second =
            |part: &PosteriorPart, d| self.variance(part, d) + (part.mean[d] - mean[d]).powi(2);
        let sd = (0..dim).map(|d| over(&|part| second(part, d)).sqrt()).collect();
        let whitening = self.axes.as_ref().map(|axes| Whitening(axes.whitening().concat()));
        let place = |x: &[f64]| whitening.as_ref().map_or(x.to_vec(), |whitening| whitening.of(x));
        let modes = posterior.parts.iter().map(|part| Mode::new(place(&part.mean), 0.0)).collect();
        let mut known = Known {
            log_z: Some(posterior.log_z),
            mean: Some(mean),
            sd: Some(sd),
            modes,
            ..Known::default()
        };
        let mut dice = Dice::new("weights of modes", 0);
        // With many components, each is light and needs fewer draws.
        let draws = DRAWS.min(100_000 / posterior.parts.len());
        for (at, part) in posterior.parts.iter().enumerate() {
            for _ in 0..draws {
                let draw = place(&self.draw(at, &posterior, &mut dice));
                let mode = known.mode_of(&draw).unwrap_or(at);
                known.modes[mode].weight += part.weight / draws as f64;
            }
        }
        match whitening {
            None => Truth::Known(known),
            Some(whitening) => Truth::Whitened(known, whitening),
        }
    }

    /// The variance of a coordinate within a component.
    fn variance(&self, part: &PosteriorPart, d: usize) -> f64 {
        let dim = self.dim();
        self.axes.as_ref().map_or(part.variance[d], |axes| {
            part.variance.iter().enumerate().map(|(k, v)| axes.rows[k * dim + d].powi(2) * v).sum()
        })
    }

    /// A draw of one component of the posterior.
    pub(crate) fn draw(&self, at: usize, posterior: &Posterior, dice: &mut Dice) -> Vec<f64> {
        loop {
            let x = self.draw_anywhere(at, posterior, dice);
            match self.prior {
                Prior::Box { low, high } if x.iter().any(|x| *x < low || *x > high) => {}
                _ => return x,
            }
        }
    }

    fn draw_anywhere(&self, at: usize, posterior: &Posterior, dice: &mut Dice) -> Vec<f64> {
        let part = &self.parts[at];
        let lengths = self.lengths();
        // Student draws are normal draws divided by √(χ²/ν).
        let stretch = match self.tails {
            Tails::Normal => 1.0,
            Tails::Student(nu) => {
                let chi_square: f64 = dice.normals(nu as usize).iter().map(|x| x * x).sum();
                (nu / chi_square).sqrt()
            }
        };
        let (mean, sd): (_, Vec<f64>) = match self.prior {
            Prior::Normal { .. } => {
                let own = &posterior.parts[at];
                (&own.mean, own.variance.iter().map(|v| v.sqrt()).collect())
            }
            _ => (&part.centre, lengths.iter().map(|length| length * part.width).collect()),
        };
        let along: Vec<f64> = sd.iter().map(|sd| stretch * sd * dice.normal()).collect();
        let offset = self.axes.as_ref().map_or(along.clone(), |axes| axes.point(&along));
        mean.iter().zip(offset).map(|(mean, offset)| mean + offset).collect()
    }
}

/// N(centre, width²) times the uniform density between two bounds, by the trapezoid rule. Its spacing h is
/// at most 1/400 of the width, and its relative error below h²/12 where a bound cuts.
fn within(centre: f64, width: f64, low: f64, high: f64) -> Moments {
    let (from, to) = (low.max(centre - 10.0 * width), high.min(centre + 10.0 * width));
    let spacing = (to - from) / NODES as f64;
    let mut sums = [0.0; 3];
    for i in 0..=NODES {
        let x = from + spacing * i as f64 - centre;
        let end = if i == 0 || i == NODES { 0.5 } else { 1.0 };
        let density = end * (-0.5 * (x / width).powi(2)).exp();
        sums[0] += density;
        sums[1] += density * x;
        sums[2] += density * x * x;
    }
    let mass = sums[0] * spacing / (width * TAU.sqrt());
    let shift = sums[1] / sums[0];
    Moments {
        log_mass: mass.ln() - (high - low).ln(),
        mean: centre + shift,
        variance: sums[2] / sums[0] - shift * shift,
    }
}
