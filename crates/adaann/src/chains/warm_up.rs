//! Warm-up: windows in which the length of steps and of trajectories is tuned, and after each of which
//! the metric is learned anew from the draws of all chains.

use super::{
    Observer,
    draws::Draws,
    length::Length,
    state::{Sampler, State},
    step_size::DualAveraging,
};
use crate::Result;

/// Iterations of the first window, and by how much each is longer than the one before. The first ones see
/// chains on their way and are short.
const FIRST_WINDOW: usize = 20;
const GROWTH: f64 = 1.5;

/// No window is longer: with 64 chains it has as many draws as 100 for each of 150 coordinates.
const LONGEST_WINDOW: usize = 250;

/// Windows before the first that may be the last.
const FEWEST_WINDOWS: usize = 4;

/// The share of a window that goes by before draws count: steps are being tuned.
const LEFT_OUT: f64 = 0.3;

/// Chains whose R-hat within a window is below this have come to where the mass is. Windows are short: of
/// halves of 125 iterations, each worth a tenth, it is 1.04 at best.
const SETTLED_R_HAT: f64 = 1.1;

/// Iterations at the end in which the steps for the last metric are found.
const LAST_WINDOW: usize = 50;

impl Sampler<'_> {
    /// Goes on until the chains of a window agree, or the iterations or evaluations of warm-up are used
    /// up, and leaves metric and lengths settled.
    pub(super) fn warm_up(&self, state: &mut State, observer: &mut dyn Observer) -> Result<()> {
        let (mut done, mut window) = (0, FIRST_WINDOW);
        let mut number = 0;
        loop {
            let left = self.settings.max_warm_up.saturating_sub(done + LAST_WINDOW);
            let (draws, has_moved) =
                self.window(state, observer, done, window.min(left), number > 0)?;
            done += draws.iterations();
            number += 1;
            if draws.iterations() >= FEWEST {
                let from = (LEFT_OUT * draws.iterations() as f64) as usize;
                // Each trajectory sets off in a new direction, so that squares add up.
                let trajectories = (draws.iterations() - from) as f64;
                let longest = self.settings.max_steps as f64 * state.step_size;
                let reach = longest.min(state.length.mean()) * trajectories.sqrt();
                state.metric = state.metric.learn(&draws.batch(from), reach)?;
                if number <= FEWEST_WINDOWS {
                    release(state, &has_moved);
                }
            }
            let has_ended = draws.iterations() < window || state.is_stopped;
            if has_ended {
                break;
            }
            state.r_hat = Some(draws.look().0);
            if number >= FEWEST_WINDOWS && state.r_hat < Some(SETTLED_R_HAT) {
                break;
            }
            window = ((GROWTH * window as f64) as usize).min(LONGEST_WINDOW);
        }
        let left = self.settings.max_warm_up.saturating_sub(done);
        self.window(state, observer, done, LAST_WINDOW.min(left), true)?;
        state.length.settle();
        state.r_hat = None;
        Ok(())
    }

    /// Iterations with one metric; fewer than asked for if evaluations are used up or the observer stops.
    /// Also tells which chains have moved more than now and then.
    fn window(
        &self,
        state: &mut State,
        observer: &mut dyn Observer,
        done: usize,
        iterations: usize,
        adapts_length: bool,
    ) -> Result<(Draws, Vec<bool>)> {
        let (dim, chains) = (state.places.z.dim(), state.places.len());
        let mut draws = Draws::new(dim, chains);
        // What suits one metric says little of the next.
        state.length = Length::new();
        let mut tuned = DualAveraging::new(dim, self.settings.acceptance);
        let mut moves = vec![0_usize; chains];
        for n in 1..=iterations {
            if state.is_stopped {
                break;
            }
            state.step_size = tuned.next();
            let most = self.settings.max_evaluations / 2;
            let Some((moved, steps)) = self.iterate(state, most)? else { break };
            tuned.adapt(moved.mean_acceptance());
            if adapts_length && steps < self.settings.max_steps {
                state.length.adapt(&state.metric, &state.places.z, &moved, state.iteration);
            }
            state.tell(observer, true, done + n, &moved, steps);
            moves.iter_mut().zip(&moved.is_taken).for_each(|(n, is)| *n += usize::from(*is));
            state.move_to(moved);
            draws.push(&state.places);
        }
        if draws.iterations() > 0 {
            state.step_size = tuned.settled();
        }
        let few = NOW_AND_THEN * draws.iterations() as f64;
        Ok((draws, moves.into_iter().map(|n| n as f64 > few).collect()))
    }
}

/// Iterations that a metric is learned from, and after which a chain that has not moved is stuck.
const FEWEST: usize = 10;

/// The share of trajectories that are taken where a chain is stuck, when of all it is four in five.
const NOW_AND_THEN: f64 = 0.1;

/// Chains that hardly a trajectory of a window has moved are where steps that suit the others are far too
/// long: they go on from where others are, chosen in turn, and only in the first windows, when all are on
/// their way. A chain that moves, in a mode of its own, stays there.
fn release(state: &mut State, has_moved: &[bool]) {
    let moving: Vec<usize> = (0..has_moved.len()).filter(|&i| has_moved[i]).collect();
    let stuck = (0..has_moved.len()).filter(|&i| !has_moved[i]);
    for (chain, &other) in stuck.zip(moving.iter().cycle()) {
        state.places.put(chain, other);
    }
}
