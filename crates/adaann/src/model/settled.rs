//! Checks whether a system is in a steady state when it starts.

use super::Model;
use crate::posterior::{Reading, Recorded, Trajectories, What};
use crate::program::RowInput;
use crate::{Batch, Result};

/// The relative change of a state that is allowed if it settles for twice as long.
const MOST_MOVED: f64 = 1e-3;

/// A change of this many absolute tolerances of the solver counts as steady.
const MOST_TOLERANCES: f64 = 100.0;

/// A state that is not steady when the system starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsettled {
    /// The name of the state.
    pub state: String,
    /// The number of the subject, if there are several.
    pub subject: Option<f64>,
    /// Its value at the start.
    pub value: f64,
    /// Its value if the system settles for twice as long.
    pub later: f64,
}

impl Model {
    /// The state that, at some points in the target's coordinates, changes most if the system settles for
    /// twice as long. None if all states are steady, or if the model has no `settle` or no likelihood.
    ///
    /// # Errors
    /// If the points have another dimension.
    pub fn unsettled(&self, points: &Batch) -> Result<Option<Unsettled>> {
        let Some(recorded) = self.target.recorded().filter(|_| self.outline.settle > 0.0) else {
            return Ok(None);
        };
        let mut longer = recorded.clone();
        if let Some(system) = &mut longer.system {
            system.settle *= 2.0;
        }
        let (once, twice) = (self.at_start(recorded, points)?, self.at_start(&longer, points)?);
        let atol = self.outline.file.ode.as_ref().and_then(|ode| ode.atol).unwrap_or(1e-9);
        let states = self.outline.file.ode.as_ref().map_or(&[][..], |ode| &ode.states);
        let subjects = self.outline.subjects.starts.len();
        let mut most: (f64, Option<Unsettled>) = (1.0, None);
        for row in 0..once.dim() {
            for (&value, &later) in once.row(row).iter().zip(twice.row(row)) {
                let rests = MOST_MOVED * value.abs() + MOST_TOLERANCES * atol;
                let moved = (later - value).abs() / rests;
                // A failed trajectory has no density, which is reported elsewhere.
                if moved > most.0 {
                    let (state, subject) = (row / subjects, row % subjects);
                    let subject = self.outline.subject_names.get(subject).copied();
                    let state = states[state].name.text.clone();
                    most = (moved, Some(Unsettled { state, subject, value, later }));
                }
            }
        }
        Ok(most.1)
    }

    /// All states of all subjects at the start.
    fn at_start(&self, recorded: &Recorded, points: &Batch) -> Result<Batch> {
        let mut recorded = recorded.clone();
        let inputs = recorded.row_inputs.iter().enumerate();
        let states = inputs.filter(|(_, input)| matches!(input, RowInput::State(_)));
        let readings: Vec<Reading> = states
            .map(|(i, _)| {
                let of = recorded.graph.input((recorded.parameters + i) as u32);
                Reading { of, what: What::At(self.outline.start) }
            })
            .collect();
        Trajectories::new(&recorded, &readings)?.evaluate(points)
    }
}
