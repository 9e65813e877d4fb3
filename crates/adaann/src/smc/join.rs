//! Joins successive populations of one target.

use super::{Population, Stage, ancestry::Ancestry, spread::standard_error};
use crate::{
    Batch, Result, error,
    importance::log_sum_exp,
    mixture::Mixture,
    target::{Target, Unconstrained},
};
use serde::{Deserialize, Serialize};

impl Population {
    /// Joins these particles with those of another run of the same target with other random numbers. Z is
    /// the mean of both, weighted by the number of particles; it is unbiased if both are.
    ///
    /// ```
    /// use adaann::{Program, smc::{Settings, smc}};
    ///
    /// // A standard normal, with log Z = log √(2π).
    /// let target = Program::record(1, |z| -0.5 * z[0].square());
    /// let send = |particles, seed| {
    ///     smc(&target, &Settings { particles, seed, ..Settings::default() }, &mut ())
    /// };
    /// let both = send(500, 1)?.join(&send(2_000, 2)?)?;
    /// assert_eq!(both.island_log_z.len(), 2);
    /// assert!((both.log_z - 0.9189385).abs() < 5.0 * both.log_z_error);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If they differ in dimension.
    pub fn join(&self, other: &Self) -> Result<Self> {
        let both = [self, other];
        if self.z.dim() != other.z.dim() {
            return Err(error::shape("the particles to join", other.z.dim(), self.z.dim()));
        }
        let all = (self.weights.len() + other.weights.len()) as f64;
        let log_masses = both.map(|one| one.log_z + (one.weights.len() as f64 / all).ln());
        let log_z = log_sum_exp(log_masses.into_iter());
        let shares = log_masses.map(|mass| (mass - log_z).exp());
        let weights = both.iter().zip(shares);
        let weights = weights.flat_map(|(one, share)| one.weights.iter().map(move |w| share * w));
        let squares = both.iter().zip(shares).map(|(one, share)| (share * one.log_z_error).powi(2));
        let island_log_z = [&self.island_log_z[..], &other.island_log_z].concat();
        let island_lengths = [&self.island_lengths[..], &other.island_lengths].concat();
        let spread = standard_error(&island_log_z, &island_lengths);
        let components = both.iter().zip(shares).flat_map(|(one, share)| {
            let mut own = one.mixture.to_components();
            own.iter_mut().for_each(|component| component.weight *= share);
            own
        });
        let later = other.stages.iter().map(|stage| Stage {
            island: self.island_log_z.len() + stage.island,
            evaluations: self.evaluations + stage.evaluations,
            ..stage.clone()
        });
        Ok(Self {
            points: joined(&self.points, &other.points),
            z: joined(&self.z, &other.z),
            weights: weights.collect(),
            log_p: [&self.log_p[..], &other.log_p].concat(),
            log_z,
            log_z_error: squares.sum::<f64>().sqrt().max(spread),
            island_log_z,
            stages: self.stages.iter().cloned().chain(later).collect(),
            evaluations: self.evaluations + other.evaluations,
            stopped: self.stopped || other.stopped,
            failure: self.failure.clone().or_else(|| other.failure.clone()),
            island_lengths,
            kept_sweeps: self.kept_sweeps,
            ancestry: Ancestry::join(both.iter().map(|one| &one.ancestry)),
            mixture: Mixture::of(&components.collect::<Vec<_>>())
                .unwrap_or_else(|| self.mixture.clone()),
        })
    }

    /// All data of the population except its particles.
    pub fn lineage(&self) -> Lineage {
        Lineage {
            log_z: self.log_z,
            log_z_error: self.log_z_error,
            island_log_z: self.island_log_z.clone(),
            island_lengths: self.island_lengths.clone(),
            stages: self.stages.clone(),
            evaluations: self.evaluations,
            kept_sweeps: self.kept_sweeps,
            ancestry: self.ancestry.clone(),
            mixture: self.mixture.clone(),
        }
    }

    /// Restores a finished population from its lineage and its particles, in the target's own coordinates.
    ///
    /// # Errors
    /// If the lengths are inconsistent, or a particle is outside the support.
    pub fn of_lineage(
        lineage: Lineage,
        target: &dyn Target,
        points: Batch,
        weights: Vec<f64>,
        log_p: Vec<f64>,
    ) -> Result<Self> {
        let count = points.len();
        let Lineage { log_z, log_z_error, island_log_z, island_lengths, .. } = lineage;
        let lengths =
            [weights.len(), log_p.len(), lineage.ancestry.len(), island_lengths.iter().sum()];
        if let Some(found) = lengths.into_iter().find(|length| *length != count) {
            return Err(error::shape("the data of the particles", found, count));
        }
        if island_log_z.len() != island_lengths.len() || lineage.mixture.dim() != points.dim() {
            return Err(error::shape("the islands", island_log_z.len(), island_lengths.len()));
        }
        let z = Unconstrained::new(target)?.unconstrain(&points)?;
        Ok(Self {
            points,
            z,
            weights,
            log_p,
            log_z,
            log_z_error,
            island_log_z,
            stages: lineage.stages,
            evaluations: lineage.evaluations,
            stopped: false,
            failure: None,
            island_lengths,
            kept_sweeps: lineage.kept_sweeps,
            ancestry: lineage.ancestry,
            mixture: lineage.mixture,
        })
    }
}

/// The data of a population except its particles: evidence, genealogy, temperatures.
/// [`Population::of_lineage`] restores the population from both, so that others can [join](Population::join)
/// it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lineage {
    log_z: f64,
    log_z_error: f64,
    island_log_z: Vec<f64>,
    island_lengths: Vec<usize>,
    stages: Vec<Stage>,
    evaluations: usize,
    kept_sweeps: usize,
    ancestry: Ancestry,
    mixture: Mixture,
}

fn joined(a: &Batch, b: &Batch) -> Batch {
    let mut all = Batch::zeros(a.dim(), a.len() + b.len());
    all.copy_points(0, a, 0, a.len());
    all.copy_points(a.len(), b, 0, b.len());
    all
}
