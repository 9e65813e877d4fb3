//! Warm-up: windows that tune the lengths of steps and trajectories; after each, the metric is learned again
//! from the draws of all chains.

use super::{
    Observer,
    draws::Draws,
    length::Length,
    state::{Sampler, State},
    step_size::DualAveraging,
};
use crate::{Batch, Result, checkpoint::Ledger};
use serde::{Deserialize, Serialize};

/// Iterations of the first window, and the factor by which each further window is longer. The first ones are
/// short, because the chains have not arrived yet.
const FIRST_WINDOW: usize = 20;
const GROWTH: f64 = 1.5;

/// The longest window: with 64 chains it has as many draws as 100 for each of 150 coordinates.
const LONGEST_WINDOW: usize = 250;

/// Windows before the first that may be the last.
const FEWEST_WINDOWS: usize = 4;

/// The first part of a window, whose draws do not count while steps are tuned.
const LEFT_OUT: f64 = 0.3;

/// Chains whose R-hat within a window is below this have reached the mass. Windows are short: with halves of
/// 125 iterations, of which a tenth is effective, R-hat is 1.04 at best.
const SETTLED_R_HAT: f64 = 1.1;

/// Chains whose R-hat is above this have not arrived yet.
const EARLY_R_HAT: f64 = 1.5;

/// Final iterations that tune the steps for the last metric.
const LAST_WINDOW: usize = 50;

/// The least iterations for learning a metric, and after which a chain that has not moved is stuck.
const FEWEST: usize = 10;

/// The acceptance rate below which a chain is stuck, if that of half of the chains is above 80 per cent.
const NOW_AND_THEN: f64 = 0.2;

/// The state of warm-up between two windows.
#[derive(Serialize, Deserialize)]
pub(super) struct Windows {
    pub(super) state: State,
    /// Iterations so far.
    done: usize,
    /// Windows so far.
    number: usize,
    /// Iterations of the next window.
    iterations: usize,
}

impl Windows {
    /// The state before the first window.
    pub(super) fn first(state: State) -> Self {
        Self { state, done: 0, number: 0, iterations: FIRST_WINDOW }
    }
}

/// The results of a window.
struct Window {
    draws: Draws,
    /// Which chains are not stuck.
    has_moved: Vec<bool>,
}

impl Sampler<'_> {
    /// Runs windows until their chains agree, or the iterations or evaluations of warm-up are spent, and
    /// fixes metric and lengths.
    pub(super) fn warm_up(
        &self,
        windows: &mut Windows,
        observer: &mut dyn Observer,
        ledger: &mut Ledger,
    ) -> Result<()> {
        loop {
            ledger.remember(windows);
            let Windows { state, done, number, iterations } = windows;
            let is_early = *number < FEWEST_WINDOWS || state.r_hat > Some(EARLY_R_HAT);
            let left = self.settings.max_warm_up.saturating_sub(*done + LAST_WINDOW);
            let window = self.window(state, observer, *done, left.min(*iterations), is_early)?;
            let seen = window.draws.iterations();
            (*done, *number) = (*done + seen, *number + 1);
            if seen >= FEWEST {
                self.learn(state, &window, is_early)?;
            }
            if seen < *iterations || state.is_stopped {
                break;
            }
            state.r_hat = Some(window.draws.look().0);
            if *number >= FEWEST_WINDOWS && state.r_hat < Some(SETTLED_R_HAT) {
                break;
            }
            *iterations = ((GROWTH * *iterations as f64) as usize).min(LONGEST_WINDOW);
        }
        let Windows { state, done, .. } = windows;
        let left = self.settings.max_warm_up.saturating_sub(*done);
        self.window(state, observer, *done, LAST_WINDOW.min(left), false)?;
        state.length.settle();
        state.r_hat = None;
        Ok(())
    }

    /// Runs iterations with one metric; fewer than requested if evaluations are spent or the observer stops
    /// the run.
    ///
    /// An early window uses steps that suit half of the chains. If some chains are in regions so narrow that
    /// they need far shorter steps, as in the neck of a funnel, all chains would otherwise stop with them.
    fn window(
        &self,
        state: &mut State,
        observer: &mut dyn Observer,
        done: usize,
        iterations: usize,
        is_early: bool,
    ) -> Result<Window> {
        let (dim, chains) = (state.places.z.dim(), state.places.len());
        let mut draws = Draws::new(dim, chains);
        // Lengths tuned for one metric say little about the next.
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
            tuned.adapt(if is_early { moved.median_acceptance() } else { moved.mean_acceptance() });
            if steps < self.settings.max_steps {
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
        Ok(Window { draws, has_moved: moves.into_iter().map(|n| n as f64 > few).collect() })
    }

    /// The metric of a window's draws, without chains far from the others. In an early window, stuck chains
    /// are excluded too, and move to positions of other chains.
    fn learn(&self, state: &mut State, window: &Window, is_early: bool) -> Result<()> {
        let Window { draws, has_moved } = window;
        let from = (LEFT_OUT * draws.iterations() as f64) as usize;
        let is_half = |some: &[bool]| 2 * some.iter().filter(|is_in| **is_in).count() >= some.len();
        let releases = is_early && is_half(has_moved);
        let mut counted = if releases { has_moved.clone() } else { vec![true; has_moved.len()] };
        let near = near(&state.metric.whitened(&draws.means(from)));
        let both: Vec<bool> = counted.iter().zip(near).map(|(a, b)| *a && b).collect();
        if is_half(&both) {
            counted = both;
        }
        // Each trajectory sets off in a new direction, so squares add up.
        let trajectories = (draws.iterations() - from) as f64;
        let longest = self.settings.max_steps as f64 * state.step_size;
        let reach = longest.min(state.length.mean()) * trajectories.sqrt();
        state.metric = state.metric.learn(&draws.some(from, &counted), reach)?;
        if releases {
            release(state, has_moved);
        }
        Ok(())
    }
}

/// Which chains are not far from the others, judged by their means in the metric's coordinates. A few chains
/// that have gone astray, down the neck of a funnel or into another mode, would set the scale for all.
fn near(means: &Batch) -> Vec<bool> {
    let median = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let mut near = vec![true; means.len()];
    for d in 0..means.dim() {
        let middle = median(means.row(d));
        let distances: Vec<f64> = means.row(d).iter().map(|x| (x - middle).abs()).collect();
        let far = ASTRAY * median(&distances);
        near.iter_mut().zip(distances).for_each(|(near, distance)| *near &= distance <= far);
    }
    near
}

/// A chain is astray beyond this many median distances from the median; none of a million normal values is.
const ASTRAY: f64 = 10.0;

/// Moves stuck chains to positions of the others, in turn. A chain that moves within a mode of its own stays
/// there; a mode that is too narrow for steps that suit half of the chains is lost.
fn release(state: &mut State, has_moved: &[bool]) {
    let moving: Vec<usize> = (0..has_moved.len()).filter(|&i| has_moved[i]).collect();
    let stuck = (0..has_moved.len()).filter(|&i| !has_moved[i]);
    for (chain, &other) in stuck.zip(moving.iter().cycle()) {
        state.places.put(chain, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_chain_astray_is_told_from_one_at_the_edge() {
        let mut means = Batch::zeros(3, 64);
        Stream::new(1, Purpose::Chains).fill_normals(0, 0, &mut means);
        assert!(near(&means).iter().all(|near| *near));
        means.row_mut(1)[7] = -9.0;
        let far: Vec<usize> = (0..64).filter(|&i| !near(&means)[i]).collect();
        assert_eq!(far, [7]);
    }
}
