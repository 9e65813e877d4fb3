//! One update of any objective: mean gradient, clipping, the optimizer's step.

use super::totals::Totals;
use crate::{
    Result,
    flow::Flow,
    optim::{self, Optimizer, clip_by_norm},
    pieces,
};
use serde::{Deserialize, Serialize};

/// Consecutive updates that may be skipped because of a non-finite gradient; beyond that, training
/// has diverged.
pub(crate) const MOST_SKIPPED_IN_A_ROW: usize = 100;

/// The objective that an update descends.
pub(crate) trait Objective {
    /// Fills `gradient` with the gradient of a sum over the points of an update, after `made`
    /// earlier updates. The totals contain the divisor.
    fn gradient(&mut self, flow: &mut Flow, made: usize, gradient: &mut [f64]) -> Result<Totals>;
}

/// The step size of an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The learning rate.
    pub(crate) rate: f64,
    /// Gradients longer than this are clipped.
    pub(crate) clip: Option<f64>,
}

/// The state of training between updates, apart from the flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    optimizer: optim::State,
    updates: usize,
    skipped: usize,
    skipped_in_a_row: usize,
}

impl State {
    /// The state before the first update.
    pub(crate) fn new(optimizer: Optimizer, flow: &Flow) -> Self {
        Self {
            optimizer: optim::State::new(optimizer, flow.parameters().len()),
            updates: 0,
            skipped: 0,
            skipped_in_a_row: 0,
        }
    }

    /// Number of updates, including skipped ones.
    pub(crate) fn updates(&self) -> usize {
        self.updates
    }

    /// Number of updates skipped because of a non-finite gradient.
    pub(crate) fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether too many consecutive updates were skipped.
    pub(crate) fn has_lost_its_way(&self) -> bool {
        self.skipped_in_a_row >= MOST_SKIPPED_IN_A_ROW
    }

    /// The number of parameters that it belongs to.
    pub(crate) fn parameters(&self) -> usize {
        self.optimizer.len()
    }
}

/// Runs updates; holds their working memory.
pub(crate) struct Trainer {
    gradient: Vec<f64>,
}

impl Trainer {
    pub(crate) fn new(flow: &Flow) -> Self {
        Self { gradient: vec![0.0; flow.parameters().len()] }
    }

    /// Performs one update of the flow. An update with a non-finite gradient is counted and
    /// skipped, so that no NaN reaches a parameter.
    ///
    /// # Errors
    /// Returns the target's errors.
    pub(crate) fn update(
        &mut self,
        state: &mut State,
        flow: &mut Flow,
        objective: &mut impl Objective,
        pace: Pace,
    ) -> Result<Totals> {
        let totals = objective.gradient(flow, state.updates, &mut self.gradient)?;
        state.updates += 1;
        // Without finite points this is 0/0, and the update is skipped.
        pieces::each(&mut self.gradient, |gradient| {
            for g in gradient {
                *g /= totals.weight;
            }
        });
        if clip_by_norm(&mut self.gradient, pace.clip.unwrap_or(f64::INFINITY)).is_finite() {
            state.skipped_in_a_row = 0;
            let (optimizer, gradient) = (&mut state.optimizer, &self.gradient);
            flow.update(|parameters| optimizer.update(parameters, gradient, pace.rate));
        } else {
            state.skipped += 1;
            state.skipped_in_a_row += 1;
        }
        Ok(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Base, FlowSpec};

    /// Returns the given gradients, with weight 2.
    struct Given(Vec<f64>);

    impl Objective for Given {
        fn gradient(&mut self, _: &mut Flow, made: usize, gradient: &mut [f64]) -> Result<Totals> {
            gradient.fill(self.0[made % self.0.len()]);
            Ok(Totals { weight: 2.0, ..Totals::default() })
        }
    }

    fn affine() -> (Flow, State) {
        let flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let state = State::new(Optimizer::named("sgd").unwrap(), &flow);
        (flow, state)
    }

    #[test]
    fn a_gradient_that_is_not_finite_is_left_out_and_counted() {
        let (mut flow, mut state) = affine();
        let mut trainer = Trainer::new(&flow);
        let mut given = Given(vec![1.0, f64::NAN, f64::INFINITY, 3.0]);
        for _ in 0..4 {
            let pace = Pace { rate: 0.5, clip: None };
            trainer.update(&mut state, &mut flow, &mut given, pace).unwrap();
        }
        // Two steps of 0.5 along the means 1/2 and 3/2.
        assert_eq!(flow.parameters(), [-1.0, -1.0]);
        assert_eq!((state.updates(), state.skipped(), state.has_lost_its_way()), (4, 2, false));
    }

    #[test]
    fn it_has_lost_its_way_after_a_hundred_in_a_row() {
        let (mut flow, mut state) = affine();
        let mut trainer = Trainer::new(&flow);
        let pace = Pace { rate: 0.5, clip: Some(1.0) };
        for made in 0..MOST_SKIPPED_IN_A_ROW {
            assert!(!state.has_lost_its_way(), "after {made}");
            let mut given = Given(vec![f64::NAN]);
            trainer.update(&mut state, &mut flow, &mut given, pace).unwrap();
        }
        assert!(state.has_lost_its_way());
        trainer.update(&mut state, &mut flow, &mut Given(vec![8.0]), pace).unwrap();
        assert!(!state.has_lost_its_way());
        // A mean of 4 in each of two parameters, clipped to length 1.
        let expected = -0.5 / 2.0_f64.sqrt();
        for parameter in flow.parameters() {
            assert!((parameter - expected).abs() < 1e-15, "{parameter}");
        }
    }
}
