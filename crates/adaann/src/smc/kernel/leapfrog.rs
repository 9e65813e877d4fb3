//! Leapfrog steps of Hamilton's equations, shared by the Langevin and Hamiltonian kernels.
//!
//! They use coordinates in which the covariance of the picked component is 1: x' = L v, v' = Lᵀ ∇
//! log π. The steps preserve volume and are reversible, so that the acceptance depends only on the
//! change of energy.

use super::{Invariant, Proposal, Uniform, local::Picked};
use crate::{Batch, Result, path::Tile, smc::particles::Particles};

/// The endpoints of paths with this many steps, from particles with gradients.
pub(super) fn propose(
    on: &Invariant,
    from: &Particles,
    first: usize,
    step_size: f64,
    steps: usize,
) -> Result<Proposal> {
    let (dim, len) = (from.z.dim(), from.len());
    let picked = Picked::new(on, &from.z, first);
    let mut velocity = on.normals(first, dim, len);
    let kinetic = |velocity: &Batch, i: usize| -> f64 {
        (0..dim).map(|d| 0.5 * velocity.row(d)[i].powi(2)).sum()
    };
    let before: Vec<f64> = (0..len).map(|i| kinetic(&velocity, i)).collect();
    // Use random step lengths, so that no path returns to its start.
    let step_sizes: Vec<f64> =
        (0..len).map(|i| step_size * (0.6 + 0.8 * on.uniform(Uniform::First, first + i))).collect();
    let mut stretched = Batch::zeros(dim, len);
    let kick = |velocity: &mut Batch, gradient: &Batch, stretched: &mut Batch, share: f64| {
        picked.stretch_back(on, gradient, stretched);
        for d in 0..dim {
            let rows = velocity.row_mut(d).iter_mut().zip(stretched.row(d));
            for ((velocity, stretched), step_size) in rows.zip(&step_sizes) {
                *velocity += share * step_size * stretched;
            }
        }
    };
    let mut z = from.z.clone();
    let mut tile = Tile::zeros(dim, len);
    for step in 0..steps {
        // Two successive half kicks are one full kick.
        let (gradient, share) = match &from.gradient {
            Some(gradient) if step == 0 => (gradient, 0.5),
            _ => (tile.gradient(), 1.0),
        };
        kick(&mut velocity, gradient, &mut stretched, share);
        picked.stretch(on, &velocity, &mut stretched);
        for d in 0..dim {
            let rows = z.row_mut(d).iter_mut().zip(stretched.row(d));
            for ((z, stretched), step_size) in rows.zip(&step_sizes) {
                *z += step_size * stretched;
            }
        }
        on.density.evaluate_parts(&z, Some(on.weights), &mut tile)?;
    }
    kick(&mut velocity, tile.gradient(), &mut stretched, 0.5);
    let mut log_ratio = picked.log_share_ratio(on, &z);
    for i in 0..len {
        log_ratio[i] += before[i] - kinetic(&velocity, i);
    }
    Ok(Proposal { particles: Particles::evaluated(z, &tile, true), log_ratio })
}
