//! The state of a run between iterations, and one iteration.

use super::{
    Observer, Progress, Settings,
    length::Length,
    metric::Metric,
    places::Places,
    trajectory::{Moved, Moves},
};
use crate::{
    Batch, Error, Result,
    path::{Parts, Tempered},
    rng::{Purpose, Stream},
    target::Unconstrained,
};

/// The constants of a run.
pub(super) struct Sampler<'a> {
    pub(super) settings: &'a Settings,
    pub(super) density: Tempered<'a>,
    /// The weights of log p + log|J|.
    pub(super) weights: Parts,
    stream: Stream,
}

/// The state of a run.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct State {
    pub(super) places: Places,
    pub(super) metric: Metric,
    pub(super) length: Length,
    pub(super) step_size: f64,
    /// The number of iterations so far, which numbers the random draws.
    pub(super) iteration: u64,
    pub(super) evaluations: usize,
    pub(super) divergences: usize,
    /// R-hat and effective sample size at the last check.
    pub(super) r_hat: Option<f64>,
    pub(super) bulk_ess: Option<f64>,
    /// Has the observer stopped this run? A resumed run continues.
    #[serde(skip)]
    pub(super) is_stopped: bool,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(target: &Unconstrained<'a>, settings: &'a Settings) -> Self {
        let density = Tempered::untempered(target.clone());
        let weights = density.path.weights(1.0);
        let stream = Stream::new(settings.seed, Purpose::Chains);
        Self { settings, density, weights, stream }
    }

    pub(super) fn start(&self, starts: &Batch, shape: Option<&[f64]>) -> Result<State> {
        let dim = self.density.target.dim();
        let metric = shape.map_or_else(|| Ok(Metric::identity(dim)), |s| Metric::new(dim, s))?;
        // An even selection if there are more starts than chains.
        let chains = self.settings.chains;
        let used = starts.len().min(chains);
        let mut some = Batch::zeros(starts.dim(), used);
        (0..used).for_each(|i| some.copy_points(i, starts, i * starts.len() / used, 1));
        let places = Places::start(&self.density, self.weights, &some, chains)?;
        Ok(State {
            places,
            metric,
            length: Length::new(),
            step_size: 1.0,
            iteration: 0,
            evaluations: self.density.target.values_with_gradients(used),
            divergences: 0,
            r_hat: None,
            bulk_ess: None,
            is_stopped: false,
        })
    }

    /// Leapfrog steps of the next iteration.
    fn steps(&self, state: &State) -> usize {
        let steps = (state.length.at(state.iteration) / state.step_size).round();
        (steps as usize).clamp(1, self.settings.max_steps)
    }

    /// Trajectories of the next iteration and their steps; none if they would take more evaluations
    /// than `most` or the deadline has passed. Chains stay at their positions until
    /// [`State::move_to`].
    pub(super) fn iterate(&self, state: &mut State, most: usize) -> Result<Option<(Moved, usize)>> {
        let steps = self.steps(state);
        let each = self.density.target.values_with_gradients(state.places.len());
        let evaluations = state.evaluations + steps * each;
        if evaluations > most {
            return Ok(None);
        }
        let moves = Moves {
            density: &self.density,
            weights: self.weights,
            metric: &state.metric,
            stream: &self.stream,
            step_size: state.step_size,
            steps,
        };
        let moved = match moves.iterate(&state.places, state.iteration) {
            Err(Error::OutOfTime) => return Ok(None),
            moved => moved?,
        };
        state.evaluations = evaluations;
        state.divergences += moved.divergences;
        Ok(Some((moved, steps)))
    }
}

impl State {
    /// Moves the chains to their new positions.
    pub(super) fn move_to(&mut self, moved: Moved) {
        self.places = moved.places;
        self.iteration += 1;
    }

    /// Reports an iteration to the observer.
    pub(super) fn tell(
        &mut self,
        observer: &mut dyn Observer,
        is_warm_up: bool,
        iteration: usize,
        moved: &Moved,
        steps: usize,
    ) {
        let progress = Progress {
            is_warm_up,
            iteration,
            acceptance: moved.mean_acceptance(),
            step_size: self.step_size,
            steps,
            divergences: self.divergences,
            evaluations: self.evaluations,
            r_hat: self.r_hat,
            bulk_ess: self.bulk_ess,
        };
        self.is_stopped |= observer.observe(&progress).is_break();
    }
}
