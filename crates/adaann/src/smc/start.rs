//! The way from the base to the density at the schedule's first t, along q_0^(1 − s) p_{t_0}^s.

use super::{
    Stage,
    ancestry::Ancestry,
    drift::Lag,
    length::PathLength,
    particles::{PIECE, Particles},
    sampler::Sampler,
    settle::Ahead,
    state::{At, State},
    step_size::StepSizes,
};
use crate::{
    Batch, Error, Result,
    flow::Noise,
    mixture::Mixture,
    path::Parts,
    schedule::{EssBisection, Position, Rule},
};

/// Each step retains this fraction of the effective sample size.
const RULE: EssBisection = EssBisection { t0: 0.0, ess: 0.85 };

/// Sweeps after each step, unless there is only one: particles need time to spread from the base to
/// a flat density.
const SWEEPS: usize = 3;

/// Upper limit on steps; distant densities need several dozen.
const MOST_STEPS: usize = 200;

/// The base: only the reference part.
pub(super) const BASE: Parts = Parts { prior: 0.0, likelihood: 0.0, jacobian: 0.0, reference: 1.0 };

impl Sampler<'_> {
    /// Draws particles from the base.
    pub(super) fn start(&self) -> Result<State> {
        let (dim, count) = (self.density.target.dim(), self.count());
        let pieces = self.density.each_piece(count, PIECE, |range| {
            let mut noise = Noise::zeros(dim, range.len());
            let mut z = Batch::zeros(dim, range.len());
            let mut log_q = vec![0.0; z.padded_len()];
            self.base.draw(&self.stream, 0, range.start as u64, &mut noise);
            self.base.forward(&noise, &mut z, &mut log_q);
            Particles::evaluate(&self.density, z, None)
        })?;
        let particles = Particles::concat(&pieces);
        let equal = 1.0 / count as f64;
        // On the bridge path the first density may be the base itself.
        let at = match self.first() == BASE {
            true => At::Path(Position::start(&self.settings.schedule)),
            false => At::Start(Position::start(&RULE)),
        };
        Ok(State {
            at,
            mixture: Mixture::fit(&particles.z, &vec![equal; count], None),
            particles,
            log_weights: vec![equal.ln(); count],
            ancestry: Ancestry::new(count),
            step_sizes: StepSizes::new(dim),
            path_length: PathLength::default(),
            lag: Lag::default(),
            pace: 1.0,
            returns: 0,
            past: Vec::new(),
            draws: 1,
            log_z: 0.0,
            evaluations: count,
        })
    }

    /// Takes one step from the base towards the first t.
    pub(super) fn advance_from_base(&self, state: &mut State, at: Position) -> Result<Stage> {
        let schedule = &self.settings.schedule;
        if at.index == MOST_STEPS {
            return Err(Error::Target(format!(
                "the path from the base to the density at t = {} takes too many steps: it may have no \
                 integral there, or lie far from the base; raise t0, use the path bridge or \
                 likelihood, or move the base (base-mean, base-sd)",
                schedule.first()
            )));
        }
        let first = self.first();
        let ends = [BASE, first];
        let step = state.advance(&RULE, at, ends)?;
        let at = at.after(&step);
        let has_arrived = at.t == 1.0;
        let ahead = Ahead {
            weights: BASE.towards(first, at.t),
            fewest_sweeps: if step.epsilon < 1.0 { SWEEPS } else { 1 },
            may_spare: false,
            is_end: has_arrived && schedule.first() == 1.0,
        };
        let settled = self.settle(state, ends, ahead)?;
        state.at = if has_arrived { At::Path(Position::start(schedule)) } else { At::Start(at) };
        Ok(settled.stage(self, state, 0.0, Some(at.t), step.std_b))
    }

    /// The weight of each part in the density at the first t.
    pub(super) fn first(&self) -> Parts {
        self.settings.path.weights(self.settings.schedule.first())
    }
}
