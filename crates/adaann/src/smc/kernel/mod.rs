//! Markov kernels that leave a density as it is, one in each file.
//!
//! A kernel makes proposals; whether each is taken is Metropolis' and Hastings' rule, which stands
//! here once. A new kernel that is tuned by the length of its steps is a file with a [`Local`] and
//! its line in [`Move`](super::Move).

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
    Batch, Result, lost,
    mixture::Mixture,
    path::{Parts, Tempered},
    rng::Stream,
};

/// The density that a kernel leaves as it is, and what proposals are made of.
#[derive(Clone, Copy)]
pub(super) struct Invariant<'a> {
    pub(super) density: &'a Tempered<'a>,
    /// How much of each part is in log π.
    pub(super) weights: Parts,
    /// The particles' shape.
    pub(super) mixture: &'a Mixture,
    pub(super) stream: &'a Stream,
    /// The first of the [`DRAWS`] draws that a step may use.
    pub(super) draw: u64,
}

/// Random draws that a step uses: four uniform numbers a particle, of which each kernel has its own
/// use, and normals, which are independent of the uniforms of the same draw.
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

/// What happened in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Info {
    /// Mean probability to accept the proposal.
    pub(super) acceptance: f64,
    /// Points at which the target was evaluated.
    pub(super) evaluations: usize,
}

/// Where particles may go.
pub(super) struct Proposal {
    particles: Particles,
    /// log of what multiplies π(y)/π(x) in the probability to accept.
    log_ratio: Vec<f64>,
}

/// A Markov kernel.
pub(super) trait Kernel: Sync {
    /// Does it look at gradients?
    fn needs_gradient(&self) -> bool {
        false
    }

    /// Do its proposals have gradients where particles have them?
    fn keeps_gradient(&self) -> bool {
        false
    }

    /// Points at which it evaluates the target, for each particle.
    fn evaluations(&self) -> usize {
        1
    }

    /// Would a path have more steps than this, were it not for a bound on them?
    fn wants_more_steps(&self, _than: usize) -> bool {
        false
    }

    /// Proposals for some particles, of which the first has the number `first` among all. The
    /// particles have gradients if the kernel needs them.
    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal>;

    /// Moves particles, and says what happened. They have gradients afterwards if the proposals do.
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

/// Metropolis and Hastings: takes a proposal with the probability min(1, ratio · π(y)/π(x)). Gives
/// the sum of these probabilities.
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
        if lost::is_lost(there) || !gradient.all(f64::is_finite) {
            continue;
        }
        // A particle that is lost goes anywhere.
        let log_accept = if lost::is_lost(here) { 0.0 } else { there - here + log_ratio };
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

/// A kernel that moves particles within a mode, by steps whose length is tuned.
pub(super) struct Local {
    /// Its name, as in settings.
    pub(super) name: &'static str,
    /// A line on what it does.
    pub(super) about: &'static str,
    /// The share of accepted proposals at which it goes furthest for its cost.
    pub(super) best_acceptance: f64,
    /// The length of a step to begin with in so many dimensions, in units of the local covariance.
    pub(super) first_step_size: fn(usize) -> f64,
    /// The kernel with steps of this length, and at most so many in a path.
    pub(super) new: fn(f64, usize) -> Box<dyn Kernel>,
}
