//! Moves that leave a density as it is: random walks, Langevin and Hamiltonian paths, and jumps.
//!
//! A particle first picks a component c of the mixture that describes the particles' shape, by the
//! component's share r(c|x) in the mixture's density at x, and then moves on π(x) r(c|x) with the
//! covariance L Lᵀ of that component. Picking is a Gibbs step, so the pair is left as it is, and a
//! density with modes of different widths has steps of the right length in each.

use crate::smc::gaussians::{Gaussians, STUDENT};
use crate::smc::landscape::{Cells, Landscape};
use crate::{Batch, Result, names, path::Parts, rng::Stream};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How particles move within a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Move {
    /// Random-walk Metropolis: needs no gradients.
    Rwm,
    /// Langevin steps (MALA): one gradient a move.
    Mala,
    /// Hamiltonian paths of a quarter of an oscillation, in as many steps as their length asks for.
    Hmc,
    /// Random walks where jumps alone renew the particles, and Hamiltonian paths elsewhere.
    #[default]
    Auto,
}

impl Move {
    /// Every move's name, with a line on what it does.
    pub const ALL: &[(&str, &str)] = &[
        ("rwm", "random-walk Metropolis: needs no gradients"),
        ("mala", "Langevin steps: one gradient a move"),
        ("hmc", "Hamiltonian paths: several gradients a move, and far"),
        ("auto", "rwm where jumps renew the particles, hmc elsewhere"),
    ];

    /// The move of this name.
    ///
    /// # Errors
    /// If there is none; the message has the name nearest to it.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "rwm" => Ok(Self::Rwm),
            "mala" => Ok(Self::Mala),
            "hmc" => Ok(Self::Hmc),
            "auto" => Ok(Self::Auto),
            _ => Err(names::unknown("move", name, Self::ALL.iter().map(|(known, _)| *known))),
        }
    }

    /// The move's name, as in [`Move::ALL`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Rwm => "rwm",
            Self::Mala => "mala",
            Self::Hmc => "hmc",
            Self::Auto => "auto",
        }
    }

    /// The move to make, given whether jumps renew the particles.
    pub(super) fn choose(self, are_renewed: bool) -> Local {
        match self {
            Self::Rwm => Local::Walk,
            Self::Mala => Local::Langevin,
            Self::Hmc => Local::Hamilton,
            Self::Auto if are_renewed => Local::Walk,
            Self::Auto => Local::Hamilton,
        }
    }
}

/// A move within a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    Walk,
    Langevin,
    Hamilton,
}

impl Local {
    pub(super) const ALL: [Self; 3] = [Self::Walk, Self::Langevin, Self::Hamilton];

    /// Does it look at gradients?
    pub(super) fn needs_gradients(self) -> bool {
        self != Self::Walk
    }

    /// The share of accepted moves at which it goes furthest for its cost: 0.234 to 0.44 for walks
    /// (Gelman, Roberts and Gilks 1996), 0.574 for Langevin steps (Roberts and Rosenthal 1998), and
    /// 0.65 and more for Hamiltonian paths (Beskos and others 2013).
    pub(super) fn best_acceptance(self) -> f64 {
        match self {
            Self::Walk => 0.3,
            Self::Langevin => 0.574,
            Self::Hamilton => 0.7,
        }
    }

    /// The length of a step to begin with, in units of the component's covariance.
    pub(super) fn first_scale(self, dim: usize) -> f64 {
        let dim = dim as f64;
        match self {
            Self::Walk => 2.38 / dim.sqrt(),
            Self::Langevin => 1.4 / dim.powf(1.0 / 6.0),
            Self::Hamilton => 1.1 / dim.powf(0.25),
        }
    }

    /// Evaluations of the target that a move costs.
    pub(super) fn leaps(self, scale: f64) -> usize {
        match self {
            Self::Walk | Self::Langevin => 1,
            Self::Hamilton => {
                ((std::f64::consts::FRAC_PI_2 / scale).round() as usize).clamp(1, MOST_LEAPS)
            }
        }
    }
}

/// Steps of one Hamiltonian path; where more are needed, more paths are better.
const MOST_LEAPS: usize = 10;

/// Random draws that a sweep uses: components, acceptance, jitter or tails (two), normals.
pub(super) const DRAWS: u64 = 4;

/// What all particles share in a sweep.
pub(super) struct Sweep<'a> {
    pub(super) landscape: &'a Landscape<'a>,
    /// How much of each part is in log π.
    pub(super) weights: Parts,
    pub(super) shape: &'a Gaussians,
    pub(super) stream: &'a Stream,
    /// The first of the sweep's [`DRAWS`] draws.
    pub(super) draw: u64,
}

/// Particles after a move, and the sum of their probabilities to accept it.
pub(super) struct Moved {
    pub(super) cells: Cells,
    pub(super) accepted: f64,
}

impl Sweep<'_> {
    fn uniform(&self, which: u64, point: usize) -> f64 {
        self.stream.point_uniform_at(self.draw + which, point as u64)
    }

    fn normals(&self, first: usize, like: &Batch) -> Batch {
        let mut normals = Batch::zeros(like.dim(), like.len());
        self.stream.fill_normals(self.draw, first as u64, &mut normals);
        normals
    }

    /// Takes what is accepted of `proposed`, given the log of the ratio that multiplies π(y)/π(x).
    fn decide(&self, cells: Cells, first: usize, proposed: &Cells, log_ratio: &[f64]) -> Moved {
        let (mut cells, mut accepted) = (cells, 0.0);
        for i in 0..cells.len() {
            let here = cells.log_density(self.weights, i);
            let there = proposed.log_density(self.weights, i);
            let finite = (0..proposed.z.dim()).all(|d| proposed.gradient.row(d)[i].is_finite());
            if there == f64::NEG_INFINITY || !finite {
                continue;
            }
            let log_accept =
                if here == f64::NEG_INFINITY { 0.0 } else { there - here + log_ratio[i] };
            if log_accept.is_nan() {
                continue;
            }
            accepted += log_accept.min(0.0).exp();
            if self.uniform(1, first + i).ln() < log_accept {
                cells.put_point(i, proposed, i);
            }
        }
        Moved { cells, accepted }
    }

    /// Points from the mixture with Student tails.
    pub(super) fn fresh(&self, points: Range<usize>, dim: usize) -> Batch {
        let mut z = Batch::zeros(dim, points.len());
        let normals = self.normals(points.start, &z);
        let mut point = vec![0.0; dim];
        for (i, number) in points.enumerate() {
            let component = &self.shape.components[self.shape.pick(self.uniform(0, number))];
            // χ² with four degrees of freedom is −2 ln(u v).
            let (u, v) = (self.uniform(2, number), self.uniform(3, number));
            let scale = (STUDENT / (-2.0 * (u.ln() + v.ln()))).sqrt();
            component.place(&normals.point(i), scale, &mut point);
            z.set_point(i, &point);
        }
        z
    }

    /// y from the mixture with Student tails, wherever x is: the way from mode to mode.
    pub(super) fn jump(&self, cells: Cells, first: usize, gradients: bool) -> Result<Moved> {
        let z = self.fresh(first..first + cells.len(), cells.z.dim());
        let from = self.shape.log_student(&cells.z);
        let to = self.shape.log_student(&z);
        let proposed = self.landscape.survey(z, gradients.then_some(self.weights))?;
        let log_ratio: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
        Ok(self.decide(cells, first, &proposed, &log_ratio))
    }

    /// The component of each particle, picked by its share.
    fn pick(&self, shares: &[Vec<f64>], first: usize, len: usize) -> Vec<usize> {
        let pick = |i: usize| {
            let mut rest = self.uniform(0, first + i);
            for (k, row) in shares.iter().enumerate() {
                rest -= row[i].exp();
                if rest < 0.0 {
                    return k;
                }
            }
            shares.len() - 1
        };
        (0..len).map(pick).collect()
    }

    /// log r(c|y) − log r(c|x)
    fn share_ratio(&self, before: &[Vec<f64>], picked: &[usize], z: &Batch) -> Vec<f64> {
        let after = self.shape.log_shares(z);
        picked.iter().enumerate().map(|(i, &c)| after[c][i] - before[c][i]).collect()
    }

    /// y = x + s L ξ
    pub(super) fn walk(&self, cells: Cells, first: usize, scale: f64) -> Result<Moved> {
        let dim = cells.z.dim();
        let shares = self.shape.log_shares(&cells.z);
        let picked = self.pick(&shares, first, cells.len());
        let normals = self.normals(first, &cells.z);
        let mut z = cells.z.clone();
        let mut step = vec![0.0; dim];
        for i in 0..cells.len() {
            self.shape.components[picked[i]].stretch(&normals.point(i), &mut step);
            for d in 0..dim {
                z.row_mut(d)[i] += scale * step[d];
            }
        }
        let log_ratio = self.share_ratio(&shares, &picked, &z);
        let proposed = self.landscape.survey(z, None)?;
        Ok(self.decide(cells, first, &proposed, &log_ratio))
    }

    /// A Hamiltonian path of `leaps` leapfrog steps, in coordinates where the component's covariance
    /// is 1: x' = L v, v' = Lᵀ ∇ log π. One step is a Langevin step.
    pub(super) fn glide(
        &self,
        cells: Cells,
        first: usize,
        scale: f64,
        leaps: usize,
    ) -> Result<Moved> {
        let (dim, len) = (cells.z.dim(), cells.len());
        let shares = self.shape.log_shares(&cells.z);
        let picked = self.pick(&shares, first, len);
        let mut velocity = self.normals(first, &cells.z);
        let kinetic = |velocity: &Batch, i: usize| -> f64 {
            (0..dim).map(|d| 0.5 * velocity.row(d)[i].powi(2)).sum()
        };
        let before: Vec<f64> = (0..len).map(|i| kinetic(&velocity, i)).collect();
        // Steps of different lengths, so that no path returns to where it began.
        let steps: Vec<f64> =
            (0..len).map(|i| scale * (0.6 + 0.8 * self.uniform(2, first + i))).collect();
        let mut stretched = vec![0.0; dim];
        let kick = |velocity: &mut Batch, gradient: &Batch, stretched: &mut [f64], share: f64| {
            for i in 0..len {
                let component = &self.shape.components[picked[i]];
                component.stretch_back(&gradient.point(i), stretched);
                for d in 0..dim {
                    velocity.row_mut(d)[i] += share * steps[i] * stretched[d];
                }
            }
        };
        let mut at = cells.clone();
        for leap in 0..leaps {
            kick(&mut velocity, &at.gradient, &mut stretched, if leap == 0 { 0.5 } else { 1.0 });
            let mut z = at.z;
            for i in 0..len {
                self.shape.components[picked[i]].stretch(&velocity.point(i), &mut stretched);
                for d in 0..dim {
                    z.row_mut(d)[i] += steps[i] * stretched[d];
                }
            }
            at = self.landscape.survey(z, Some(self.weights))?;
        }
        kick(&mut velocity, &at.gradient, &mut stretched, 0.5);
        let mut log_ratio = self.share_ratio(&shares, &picked, &at.z);
        for i in 0..len {
            log_ratio[i] += before[i] - kinetic(&velocity, i);
        }
        Ok(self.decide(cells, first, &at, &log_ratio))
    }
}
