//! Builds the result from the particles at t = 1, or from those of a stopped run.

use super::{
    Population, Stage, particles::Particles, sampler::Sampler, state::State, sweep::Swept,
};
use crate::{Error, Result, mixture::Mixture};

impl Sampler<'_> {
    /// The result of particles at t = 1, after [`Sampler::keep_moving`].
    pub(super) fn finish(&self, mut state: State, stages: Vec<Stage>) -> Result<Population> {
        // One sweep's number of particles suffices to fit the mixture.
        let count = self.count() * self.settings.islands;
        let kept = state.particles.len() / count;
        let chosen = (0..count).map(|i| i * kept);
        let weights = match self.settings.islands {
            1 => vec![1.0 / count as f64; count],
            _ => {
                let chosen: Vec<f64> = chosen.clone().map(|i| state.log_weights[i].exp()).collect();
                let total: f64 = chosen.iter().sum();
                chosen.iter().map(|weight| weight / total).collect()
            }
        };
        let thinned = state.particles.gather(chosen);
        state.mixture = Mixture::fit(&thinned.z, &weights, Some(&state.mixture));
        match self.population_monte_carlo(&mut state) {
            // The current mixture describes them as well.
            Err(Error::OutOfTime) => {}
            sharpened => sharpened?,
        }
        Ok(Population { kept_sweeps: kept, ..self.population(state, stages, false) })
    }

    /// The result of a run that was stopped.
    pub(super) fn stopped(&self, state: State, stages: Vec<Stage>) -> Population {
        self.population(state, stages, true)
    }

    /// Runs more sweeps at t = 1 and retains the particles of each.
    pub(super) fn keep_moving(&self, state: &mut State) -> Result<()> {
        let weights = self.settings.path.weights(1.0);
        let kept = self.settings.kept_sweeps;
        let mut all = Vec::with_capacity(kept);
        for sweep in 0..kept {
            if sweep > 0 && self.is_spent(state.evaluations) {
                break;
            }
            let swept = match sweep {
                0 => Ok(()),
                _ => self.sweep(state, weights, &mut Swept::default()),
            };
            match swept {
                Err(Error::OutOfTime) => break,
                swept => swept?,
            }
            all.push(Particles { gradient: None, ..state.particles.clone() });
        }
        state.particles = Particles::concat(&all);
        state.equal_weights();
        state.ancestry.repeat(all.len());
        Ok(())
    }

    fn population(&self, state: State, stages: Vec<Stage>, stopped: bool) -> Population {
        let weights = state.weights();
        let State { particles: Particles { z, parts, .. }, ancestry, mixture, .. } = state;
        let (points, _) = self.density.target.constrain(&z);
        Population {
            points,
            z,
            log_p: parts.prior.iter().zip(&parts.likelihood).map(|(a, b)| a + b).collect(),
            log_z: state.log_z,
            log_z_error: ancestry.log_z_error(&weights),
            island_log_z: vec![state.log_z],
            island_lengths: vec![weights.len()],
            weights,
            stages,
            evaluations: state.evaluations,
            stopped,
            failure: None,
            kept_sweeps: 1,
            ancestry,
            mixture,
        }
    }
}
