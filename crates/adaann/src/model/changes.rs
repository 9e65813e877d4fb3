//! Changes to a system along its trajectory: jumps of the states, and inflows over intervals of time.

use super::names::Meaning;
use crate::posterior::{Effect, Event, MovingEvent};

/// The jumps, inflows and moving times of a model, and the layout of an interval's numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) jumps: Vec<Jump>,
    pub(super) flows: Vec<Flow>,
    pub(super) moments: Vec<Moment>,
    /// For each input, where its numbers begin among those of an interval.
    pub(super) inputs: Vec<usize>,
    /// Number of values per interval: those of inflows, then those of inputs.
    pub(super) numbers: usize,
    /// Rows that are not measurements.
    pub(super) unmeasured: Vec<u32>,
}

/// A jump of the states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Jump {
    /// Adds the amount of the event to this state.
    Dose(usize),
    /// Resets all states to their start values.
    Reset,
    /// The effect of an event listed in the model file, by its number in the list.
    Listed(usize),
}

/// A time that is a function of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// The time of an event listed in the model file, by its number in the list.
    Listed(usize),
    /// The lag of doses into this state.
    Lag(usize),
}

/// The events of one subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Story {
    pub(super) events: Vec<Event>,
    pub(super) moving: Vec<MovingEvent>,
}

/// An inflow; each interval gives its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Into this state, at the rate that the interval gives.
    Infusion(usize),
    /// The infusion of an event listed in the model file; the interval gives how many run at the same
    /// time.
    Listed(usize),
}

/// An interval of time with an inflow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inflow {
    pub(super) flow: usize,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) rate: f64,
}

/// The index of an element; it is appended if it is new.
pub(super) fn number<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|other| *other == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// The events at which the total rate of an inflow changes.
pub(super) fn turns(inflows: &[Inflow]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut flows: Vec<usize> = inflows.iter().map(|inflow| inflow.flow).collect();
    flows.sort_unstable();
    flows.dedup();
    for flow in flows {
        let own = inflows.iter().filter(|inflow| inflow.flow == flow);
        let mut changes: Vec<(f64, f64)> = own
            .flat_map(|inflow| [(inflow.from, inflow.rate), (inflow.to, -inflow.rate)])
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut sum, mut active) = (0.0, 0_usize);
        for (i, &(time, by)) in changes.iter().enumerate() {
            sum += by;
            active = if by > 0.0 { active + 1 } else { active.saturating_sub(1) };
            if changes.get(i + 1).is_some_and(|next| next.0 == time) {
                continue;
            }
            // Once all have ended, clear the rounding error.
            if active == 0 {
                sum = 0.0;
            }
            events.push(Event { time, before: 0, effect: Effect::Set(flow, vec![sum]) });
        }
    }
    events
}

/// The state that a name stands for, if it is one.
pub(super) fn as_state(meaning: Option<Meaning>) -> Option<usize> {
    match meaning {
        Some(Meaning::State(state)) => Some(state),
        _ => None,
    }
}
