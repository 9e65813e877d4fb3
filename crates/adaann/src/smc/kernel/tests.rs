//! Tests that each kernel leaves an asymmetric density invariant and counts its evaluations, and that
//! common mistakes in kernels are detected.
//!
//! Particles that start as independent draws stay independent draws under a correct kernel, so a mean
//! over N of them has the standard error sd/√N after any number of steps.

use super::*;
use crate::{
    flow::Base,
    path::{
        PathKind,
        lopsided::{Lopsided, MOMENTS},
    },
    rng::Purpose,
    smc::choice::LOCALS,
    target::Unconstrained,
};

const PARTICLES: usize = 32_768;
const STEPS: u64 = 20;

/// The largest deviation among 7 moments under 4 kernels exceeds 4.5 standard errors with probability
/// 2e-4.
const RIGHT: f64 = 4.5;

/// The least deviation of a mistaken kernel: a correct kernel exceeds six standard errors once in 10⁸
/// tests. The smallest deviation observed is seven, for a random walk without its ratio.
const WRONG: f64 = 6.0;

fn tempered(target: &Lopsided) -> Tempered<'_> {
    let target = Unconstrained::new(target).unwrap();
    Tempered { target, path: PathKind::Power, reference: Some(Base::standard(2)) }
}

/// A mixture with a narrow component inside the density, and a wide one. A correct kernel works with
/// any mixture. A mistake in its ratios shows, since it accumulates particles where steps are short,
/// or drives them away.
fn mixture() -> Mixture {
    let mut z = Batch::zeros(2, 1_000);
    Stream::new(9, Purpose::MonteCarlo).fill_normals(0, 0, &mut z);
    for i in 0..1_000 {
        let (u, v) = (z.row(0)[i], z.row(1)[i]);
        let is_narrow = i % 3 == 0;
        let point = if is_narrow {
            [0.8 + 0.2 * u, 0.4 + 0.2 * v]
        } else {
            [1.4 + u, 1.2 + 0.8 * v - 0.5 * u]
        };
        z.set_point(i, &point);
    }
    let mixture = Mixture::fit(&z, &[1e-3; 1_000], None);
    assert!(mixture.components.len() > 1);
    mixture
}

/// All kernels, with steps long enough that their ratios matter.
fn kernels() -> Vec<(&'static str, Box<dyn Kernel>)> {
    let local = |local: &Local| (local.name, (local.new)(0.9 * (local.first_step_size)(2), 10));
    let independence: Box<dyn Kernel> = Box::new(independence::Independence);
    LOCALS.iter().map(local).chain([("independence", independence)]).collect()
}

/// The moment with the largest deviation after [`STEPS`] steps from exact draws, with weight
/// `jacobian` of log|J| in the density: its name, its deviation in standard errors, and the
/// acceptance rate.
fn furthest(kernel: &dyn Kernel, jacobian: f64) -> (&'static str, f64, f64) {
    let target = Lopsided::default();
    let (density, mixture) = (tempered(&target), mixture());
    let stream = Stream::new(5, Purpose::MonteCarlo);
    let weights = Parts { jacobian, ..density.path.weights(1.0) };
    let z = Lopsided::draws(4, PARTICLES);
    let mut particles = Particles::evaluate(&density, z, None).unwrap();
    let mut acceptance = 0.0;
    for step in 0..STEPS {
        let draw = 1 + step * DRAWS;
        let on = Invariant { density: &density, weights, mixture: &mixture, stream: &stream, draw };
        let (moved, info) = kernel.step(&on, &particles).unwrap();
        particles = moved;
        acceptance += info.acceptance / STEPS as f64;
    }
    let score = |(name, f, exact): (&'static str, fn(f64, f64) -> f64, f64)| {
        let (x, y) = (particles.z.row(0), particles.z.row(1));
        let values: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (name, (mean - exact) / (variance / count).sqrt())
    };
    let scores = MOMENTS.into_iter().map(score);
    let (moment, score) = scores.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
    (moment, score, acceptance)
}

#[test]
fn each_kernel_leaves_the_density_as_it_is() {
    for (name, kernel) in kernels() {
        let (moment, score, acceptance) = furthest(&*kernel, 1.0);
        assert!(score.abs() < RIGHT, "{name}: {moment} is off by {score} standard errors");
        // Particles that never move would pass any test.
        assert!(acceptance > 0.1, "{name}: {acceptance}");
    }
}

/// A kernel with a mistake in its acceptance ratio.
struct Mistaken {
    kernel: Box<dyn Kernel>,
    ratio: fn(f64) -> f64,
}

impl Kernel for Mistaken {
    fn needs_gradient(&self) -> bool {
        self.kernel.needs_gradient()
    }

    fn evaluations(&self) -> usize {
        self.kernel.evaluations()
    }

    fn propose(&self, on: &Invariant, from: &Particles, first: usize) -> Result<Proposal> {
        let mut proposal = self.kernel.propose(on, from, first)?;
        proposal.log_ratio.iter_mut().for_each(|ratio| *ratio = (self.ratio)(*ratio));
        Ok(proposal)
    }
}

#[test]
fn a_sign_or_a_term_that_is_wrong_is_seen() {
    for ratio in [(|_| 0.0) as fn(f64) -> f64, |ratio| -ratio] {
        for (name, kernel) in kernels() {
            let (moment, score, _) = furthest(&Mistaken { kernel, ratio }, 1.0);
            assert!(score.abs() > WRONG, "{name}: {moment} is off by only {score}");
        }
    }
}

#[test]
fn a_jacobian_left_out_is_seen() {
    for (name, kernel) in kernels() {
        let (moment, score, _) = furthest(&*kernel, 0.0);
        assert!(score.abs() > WRONG, "{name}: {moment} is off by only {score}");
    }
}

/// The first step of a gradient-based kernel evaluates all particles once more; later steps do not. A
/// random walk drops gradients; a jump preserves them.
#[test]
fn evaluations_are_those_that_the_target_counts() {
    let target = Lopsided::default();
    let (density, mixture) = (tempered(&target), mixture());
    let stream = Stream::new(5, Purpose::MonteCarlo);
    let weights = density.path.weights(1.0);
    let start = Particles::evaluate(&density, Lopsided::draws(4, 300), None).unwrap();
    assert_eq!(target.count(), 300);
    let on = Invariant { density: &density, weights, mixture: &mixture, stream: &stream, draw: 1 };
    let step = |kernel: &dyn Kernel, particles: &Particles| {
        let (moved, info) = kernel.step(&on, particles).unwrap();
        assert_eq!((moved.len(), target.count()), (300, info.evaluations));
        (moved, info.evaluations / 300)
    };
    for (name, kernel) in kernels() {
        let extra = usize::from(kernel.needs_gradient());
        let (moved, each) = step(&*kernel, &start);
        assert_eq!(each, kernel.evaluations() + extra, "{name}");
        assert_eq!(moved.gradient.is_some(), kernel.needs_gradient(), "{name}");
        let (_, each) = step(&*kernel, &moved);
        assert_eq!(each, kernel.evaluations(), "{name}");
    }
    let (with_gradients, _) = step(&*(mala::LOCAL.new)(0.5, 10), &start);
    assert!(step(&independence::Independence, &with_gradients).0.gradient.is_some());
    assert!(step(&*(random_walk::LOCAL.new)(0.5, 10), &with_gradients).0.gradient.is_none());
    assert_eq!((hmc::LOCAL.new)(0.2, 10).evaluations(), 8);
    // A quarter of an oscillation has 31 steps of 0.05, truncated by the bound.
    for (most, steps) in [(10, 10), (25, 25), (40, 31)] {
        assert_eq!(step(&*(hmc::LOCAL.new)(0.05, most), &with_gradients).1, steps);
    }
}

/// Nothing is accepted outside the support, and a particle that starts there comes back.
#[test]
fn lost_particles_come_back_and_none_is_lost() {
    let target = crate::Program::record(2, |z| {
        let value = -0.5 * (z[0].square() + z[1].square());
        z[0].gt(-0.5).select(value, f64::NAN)
    });
    let density = Tempered {
        target: Unconstrained::new(&target).unwrap(),
        path: PathKind::Power,
        reference: Some(Base::standard(2)),
    };
    let (mixture, stream) = (mixture(), Stream::new(5, Purpose::MonteCarlo));
    let weights = density.path.weights(1.0);
    let mut z = Batch::zeros(2, 400);
    stream.fill_normals(0, 0, &mut z);
    let inside = |particles: &Particles| -> usize {
        particles.z.row(0).iter().filter(|x| **x > -0.5).count()
    };
    for (name, kernel) in kernels() {
        let mut particles = Particles::evaluate(&density, z.clone(), None).unwrap();
        let first = inside(&particles);
        assert!((200..350).contains(&first), "{first}");
        for step in 0..30 {
            let draw = 1 + step * DRAWS;
            let on =
                Invariant { density: &density, weights, mixture: &mixture, stream: &stream, draw };
            let before = inside(&particles);
            particles = kernel.step(&on, &particles).unwrap().0;
            assert!(inside(&particles) >= before, "{name}");
        }
        // Without a gradient, only chance leads a path back.
        let has_returned = inside(&particles) > first;
        assert!(has_returned || kernel.needs_gradient(), "{name}: {}", inside(&particles));
    }
}
