//! A guard at transitions, where particles fall behind: they go back, wait, and take shorter steps.
//!
//! Where most of the mass goes from a wide region to a narrow one within a short interval of t, a
//! transition of first order, moves may not follow: the evidence then lacks what the particles have
//! not found, by many of its stated errors. AdaAnn's rule sees the spread of b alone. The guard
//! looks at two more things, and only ever shortens the rule's step:
//!
//! - weights that rest on far fewer particles than the spread foresees, since b has a hump far above
//!   the others: the step is halved until they do not ([`super::reweight`]);
//! - b that rises under the moves ([`super::drift`]): particles lag, and have done so for some
//!   temperatures when it shows. They go back, are moved until b rests, and go on by shorter steps.
//!
//! It sees what moves can show. A region that no particle has ever been near is not seen.

use super::{
    drift::{Before, Lag},
    sampler::Sampler,
    start::BASE,
    state::{At, State},
};
use crate::{Result, schedule::Rule};

/// Temperatures that particles go back: a lag has grown for about as many before it is seen.
const BACK: usize = 4;

/// How often particles go back in a run.
const MOST_RETURNS: usize = 12;

/// The shortest step, as a share of the rule's.
const SHORTEST: f64 = 1.0 / 16.0;

/// By how much steps grow again at each temperature without a lag.
const RECOVERY: f64 = 1.1;

/// Times that particles are moved on at one temperature until b rests there.
const MOST_ROUNDS: usize = 20;

/// A rise of b, in standard errors, that is rest.
const REST: f64 = 0.5;

impl Sampler<'_> {
    /// Is the step that has led here to be taken back?
    pub(super) fn lags(&self, state: &State) -> bool {
        // A plan is kept to.
        let is_free = self.settings.schedule.needs_draws();
        is_free && state.lag.is_seen() && state.returns < MOST_RETURNS
    }

    /// Takes on the oldest state that is kept, or the one before the last step, and waits there.
    pub(super) fn go_back(&self, state: &mut State, before: State) -> Result<()> {
        let past = std::mem::take(&mut state.past);
        let earlier = past.into_iter().next().unwrap_or(before);
        let now = std::mem::replace(state, earlier);
        // New random numbers, and all that was spent and learned since.
        state.draws = now.draws;
        state.evaluations = now.evaluations;
        state.step_sizes = now.step_sizes;
        state.path_length = now.path_length;
        state.returns = now.returns + 1;
        state.pace = (0.5 * now.pace).max(SHORTEST);
        state.lag = Lag::default();
        self.wait(state)
    }

    /// Moves particles where they are until b no longer rises.
    fn wait(&self, state: &mut State) -> Result<()> {
        let path = self.settings.path;
        let (from, to, t) = match state.at {
            At::Start(at) => (BASE, self.first(), at.t),
            At::Path(at) => (path.weights(0.0), path.weights(1.0), at.t),
        };
        // Draws of the base are where they should be.
        let rounds = if from.towards(to, t) == BASE { 0 } else { MOST_ROUNDS };
        for _ in 0..rounds {
            let Some(before) = Before::new(&state.log_ratios(from, to), &state.weights()) else {
                break;
            };
            self.stir(state, from.towards(to, t))?;
            if before.rise(&state.log_ratios(from, to), &state.weights()) < REST {
                break;
            }
        }
        Ok(())
    }
}

impl State {
    /// Keeps an earlier state, in case particles have to go back.
    pub(super) fn keep(&mut self, before: Self) {
        self.past.push(before);
        if self.past.len() > BACK {
            self.past.remove(0);
        }
        self.pace = (RECOVERY * self.pace).min(1.0);
    }

    /// A copy that keeps nothing of the past.
    pub(super) fn without_past(&mut self) -> Self {
        let past = std::mem::take(&mut self.past);
        let copy = self.clone();
        self.past = past;
        copy
    }
}
