//! A guard for phase transitions: when particles lag, they go back, equilibrate, and take shorter
//! steps.
//!
//! In a first-order transition, most of the mass moves from a wide region to a narrow one within a
//! short interval of t. The moves may not follow, and the evidence then misses the undiscovered mass
//! by many of its reported errors. AdaAnn's rule sees only the spread of b. The guard checks two
//! more quantities, and only ever shortens the rule's step:
//!
//! - the weights: if they rest on far fewer particles than the spread predicts, because b has a hump
//!   far above the others, the step is halved until they do not ([`super::reweight`]);
//! - a rise of b under the moves ([`super::drift`]): particles lag, and have done so for some
//!   temperatures once it is detected. They go back, move until b is stationary, and continue with
//!   shorter steps.
//!
//! The guard detects only what moves can reach. It cannot detect a region that no particle has
//! approached.

use super::{
    drift::{Before, Lag},
    sampler::Sampler,
    start::BASE,
    state::{At, State},
};
use crate::{Result, schedule::Rule};

/// Number of temperatures that particles go back: a lag is detected after about as many.
const BACK: usize = 4;

/// Maximum number of returns in a run.
const MOST_RETURNS: usize = 12;

/// The shortest step, as a fraction of the rule's step.
const SHORTEST: f64 = 1.0 / 16.0;

/// Growth factor of the step at each temperature without a lag.
const RECOVERY: f64 = 1.1;

/// Maximum number of rounds of moves at one temperature until b is stationary.
const MOST_ROUNDS: usize = 20;

/// A rise of b below this, in standard errors, counts as stationary.
const REST: f64 = 0.5;

impl Sampler<'_> {
    /// Whether to undo the step to the current temperature.
    pub(super) fn lags(&self, state: &State) -> bool {
        // A planned schedule is never changed.
        let is_free = self.settings.schedule.needs_draws();
        is_free && state.lag.is_seen() && state.returns < MOST_RETURNS
    }

    /// Restores the oldest stored state, or `before` if none is stored, and equilibrates there.
    pub(super) fn go_back(&self, state: &mut State, before: State) -> Result<()> {
        let past = std::mem::take(&mut state.past);
        let earlier = past.into_iter().next().unwrap_or(before);
        let now = std::mem::replace(state, earlier);
        // Use new random numbers, and carry over what was spent and learned since.
        state.draws = now.draws;
        state.evaluations = now.evaluations;
        state.step_sizes = now.step_sizes;
        state.path_length = now.path_length;
        state.returns = now.returns + 1;
        state.pace = (0.5 * now.pace).max(SHORTEST);
        state.lag = Lag::default();
        self.wait(state)
    }

    /// Moves particles at their temperature until b no longer rises.
    fn wait(&self, state: &mut State) -> Result<()> {
        let path = self.settings.path;
        let (from, to, t) = match state.at {
            At::Start(at) => (BASE, self.first(), at.t),
            At::Path(at) => (path.weights(0.0), path.weights(1.0), at.t),
        };
        // Draws of the base are exact.
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
    /// Stores an earlier state, in case particles have to go back.
    pub(super) fn keep(&mut self, before: Self) {
        self.past.push(before);
        if self.past.len() > BACK {
            self.past.remove(0);
        }
        self.pace = (RECOVERY * self.pace).min(1.0);
    }

    /// A copy without stored states.
    pub(super) fn without_past(&mut self) -> Self {
        let past = std::mem::take(&mut self.past);
        let copy = self.clone();
        self.past = past;
        copy
    }
}
