//! Markov kernels that leave a density invariant, one per file.
//!
//! A kernel makes proposals; the Metropolis-Hastings rule, implemented here once, accepts or
//! rejects them. To add a kernel with a tuned step length, write a file with a [`Local`] and add a
//! line to [`Move`](super::Move).

pub(super) mod hmc;
pub(super) mod independence;
mod leapfrog;
mod local;
pub(super) mod mala;
pub(super) mod random_walk;
#[cfg(test)]
mod tests;

use super::particles::{PIECE, Particles};
use crate::{
    Batch, Result,
    mixture::Mixture,
    non_finite,
    path::{Parts, Tempered},
    rng::Stream,
};

/// The invariant density of a kernel, and the inputs of its proposals.
#[derive(Clone, Copy)]
pub(super) struct Invariant<'a> {
    pub(super) density: &'a Tempered<'a>,
    /// The weight of each part in log π.
    pub(super) weights: Parts,
    /// The mixture that describes the particles' shape.
    pub(super) mixture: &'a Mixture,
    pub(super) stream: &'a Stream,
    /// The first of the [`DRAWS`] draws that a step may use.
    pub(super) draw: u64,
}

/// Number of random draws per step. Each draw has four uniform numbers per particle, used
/// differently by each kernel, and normals, which are independent of the uniforms of the same draw.
pub(super) const DRAWS: u64 = 4;

/// The uniform numbers of a particle.
#[derive(Clone, Copy)]
enum Uniform {
    Component = 0,
    Accept = 1,
    First = 2,
    Second = 3,
}

impl Invariant<'_> {
    fn uniform(&self, which: Uniform, particle: usize) -> f64 {
        self.stream.point_uniform_at(self.draw + which as u64, particle as u64)
    }

    fn normals(&self, first: usize, dim: usize, len: usize) -> Batch {
        let mut normals = Batch::zeros(dim, len);
        self.stream.fill_normals(self.draw, first as u64, &mut normals);
        normals
    }
}

/// Statistics of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Info {
    /// Mean acceptance probability.
    pub(super) acceptance: f64,
    /// Number of points at which the target was evaluated.
    pub(super) evaluations: usize,
}

/// The proposals for some particles.
pub(super) struct Proposal {
    particles: Particles,
    /// Log of the factor that multiplies π(y)/π(x) in the acceptance probability.
    log_ratio: Vec<f64>,
}

/// A Markov kernel.
pub(super) trait Kernel: Sync {
    /// Whether it uses gradients.
    fn needs_gradient(&self) -> bool {
        false
    }

    /// Whether its proposals have gradients if the particles do.
    fn keeps_gradient(&self) -> bool {
        false
    }

    /// Number of target evaluations per particle.
    fn evaluations(&self) -> usize {
        1
    }

    /// Whether a path would have more steps than this without the bound.
    fn wants_more_steps(&self, _than: usize) -> bool {
        false
    }

    /// Makes proposals for some particles; `first` is the global number of the first one. The
    /// particles have gradients if the kernel needs them.
    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal>;

    /// Moves particles and returns statistics. The particles have gradients afterwards if the
    /// proposals do.
    fn step(&self, on: &Invariant, particles: &Particles) -> Result<(Particles, Info)> {
        let len = particles.len();
        let lacks_gradient = self.needs_gradient() && particles.gradient.is_none();
        let moved = on.density.each_piece(len, PIECE, |range| {
            let mut piece = particles.gather(range.clone());
            if lacks_gradient {
                piece = Particles::evaluate(on.density, piece.z, Some(on.weights))?;
            }
            let proposal = self.propose(on, &piece, range.start)?;
            let accepted = accept(on, &mut piece, range.start, &proposal);
            Ok((piece, accepted))
        })?;
        let (pieces, accepted): (Vec<_>, Vec<_>) = moved.into_iter().unzip();
        let with_gradient =
            self.needs_gradient() || self.keeps_gradient() && particles.gradient.is_some();
        let values = |points: usize, with_gradient: bool| {
            let of = with_gradient.then_some(on.weights.of_target());
            on.density.target.values(points, of)
        };
        let info = Info {
            acceptance: accepted.iter().sum::<f64>() / len as f64,
            evaluations: values(self.evaluations() * len, with_gradient)
                + values(usize::from(lacks_gradient) * len, true),
        };
        Ok((Particles::concat(&pieces), info))
    }
}

/// The Metropolis-Hastings rule: accepts a proposal with probability min(1, ratio · π(y)/π(x)).
/// Returns the sum of these probabilities.
fn accept(on: &Invariant, particles: &mut Particles, first: usize, proposal: &Proposal) -> f64 {
    let Proposal { particles: proposed, log_ratio } = proposal;
    if proposed.gradient.is_none() {
        particles.gradient = None;
    }
    let mut accepted = 0.0;
    for (i, log_ratio) in log_ratio.iter().enumerate() {
        let here = particles.log_density(on.weights, i);
        let there = proposed.log_density(on.weights, i);
        let mut gradient = proposed.gradient.iter().flat_map(|g| (0..g.dim()).map(|d| g.row(d)[i]));
        if non_finite::is_non_finite(there) || !gradient.all(f64::is_finite) {
            continue;
        }
        // A non-finite particle accepts every proposal.
        let log_accept =
            if non_finite::is_non_finite(here) { 0.0 } else { there - here + log_ratio };
        if log_accept.is_nan() {
            continue;
        }
        accepted += log_accept.min(0.0).exp();
        if on.uniform(Uniform::Accept, first + i).ln() < log_accept {
            particles.take(proposed, i);
        }
    }
    accepted
}

/// A kernel that moves particles within a mode, with a tuned step length.
pub(super) struct Local {
    /// Its name, as in settings.
    pub(super) name: &'static str,
    /// A one-line description.
    pub(super) about: &'static str,
    /// The acceptance rate with the largest distance per evaluation.
    pub(super) best_acceptance: f64,
    /// The initial step length in a given dimension, in units of the local covariance.
    pub(super) first_step_size: fn(usize) -> f64,
    /// Makes the kernel with a step length and a bound on the steps per path.
    pub(super) new: fn(f64, usize) -> Box<dyn Kernel>,
}
