//! Sequential Monte Carlo along a path: weight, resample, move.

use super::{
    Settings, Stage,
    sampler::Sampler,
    settle::Ahead,
    state::{At, State},
};
use crate::{Result, schedule::Position};

impl Sampler<'_> {
    /// Advances to the next temperature, possibly after going back; `None` after t = 1. On an error the
    /// particles stay at the last temperature.
    pub(super) fn advance(&self, state: &mut State) -> Result<Option<Stage>> {
        loop {
            let before = state.without_past();
            let stage = match state.at {
                At::Start(at) => self.advance_from_base(state, at),
                At::Path(at) if at.t < 1.0 => self.advance_on_path(state, at),
                At::Path(_) => return Ok(None),
            };
            let stage = match stage {
                Ok(stage) => stage,
                Err(error) => {
                    // A step that fails halfway leaves the particles unchanged.
                    *state = before;
                    return Err(error);
                }
            };
            if !self.lags(state) {
                state.keep(before);
                return Ok(Some(stage));
            }
            self.go_back(state, before)?;
        }
    }

    fn advance_on_path(&self, state: &mut State, at: Position) -> Result<Stage> {
        let Settings { path, schedule, spares_local_moves, .. } = self.settings;
        let ends = [path.weights(0.0), path.weights(1.0)];
        let step = state.advance(schedule, at, ends)?;
        let at = at.after(&step);
        let is_end = at.t == 1.0;
        let ahead = Ahead {
            weights: path.weights(at.t),
            fewest_sweeps: 1,
            may_spare: *spares_local_moves && !at.index.is_multiple_of(2) && !is_end,
            is_end,
        };
        let settled = self.settle(state, ends, ahead)?;
        state.at = At::Path(at);
        Ok(settled.stage(self, state, at.t, None, step.std_b))
    }
}
