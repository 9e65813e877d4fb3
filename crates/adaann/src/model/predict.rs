//! Posterior predictions: simulated measurements for the rows of the data or for new inputs.

use super::outline::Outline;
use super::value::Law;
use crate::posterior::Dynamics;
use crate::rng::{Purpose, Stream};
use crate::table::Table;
use crate::{Batch, Result};

/// The predictions of all draws for one measurement of one row.
pub struct Prediction<'p> {
    /// The index of the row, from 0, in the order of the data or of the new inputs.
    pub row: usize,
    /// The index of the line of the likelihood, from 0.
    pub line: usize,
    /// A simulated measurement for each draw; NaN where there is none.
    pub simulated: &'p [f64],
    /// The mean of the measurement for each draw; NaN where there is none.
    pub expected: &'p [f64],
}

impl Outline {
    /// Calls `see` with the predictions of each row and line, at the points of a batch in the
    /// target's coordinates; `see` returns whether to continue.
    pub(super) fn predict(
        &self,
        dynamics: Option<&Dynamics>,
        points: &Batch,
        inputs: Option<&Table>,
        seed: u64,
        see: &mut dyn FnMut(Prediction<'_>) -> bool,
    ) -> Result<()> {
        let stream = Stream::new(seed, Purpose::Prediction);
        let mut number = 0;
        let mut uniform = move || {
            number += 1;
            stream.uniform_at(number - 1)
        };
        self.visit_rows(dynamics, points, inputs, &mut |visited, scopes| {
            for (line, (_, formula)) in self.file.likelihood.iter().enumerate() {
                let laws: Vec<Option<Law<'_>>> =
                    scopes.iter_mut().map(|scope| self.law_of_row(scope, formula)).collect();
                let expected: Vec<f64> = laws
                    .iter()
                    .map(|law| law.as_ref().and_then(|law| law.mean(0)).unwrap_or(f64::NAN))
                    .collect();
                let simulated: Vec<f64> = laws
                    .iter()
                    .map(|law| {
                        let drawn = law.as_ref().and_then(|law| law.draw(1, &mut uniform));
                        drawn.map_or(f64::NAN, |drawn| drawn[0])
                    })
                    .collect();
                let (row, simulated, expected) = (visited.row, &simulated[..], &expected[..]);
                if !see(Prediction { row, line, simulated, expected }) {
                    return false;
                }
            }
            true
        })
    }
}
