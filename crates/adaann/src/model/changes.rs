//! What happens to a system on its way: the ways in which its states jump, and what flows into them when.

use super::names::Meaning;
use crate::posterior::{Effect, Event, MovingEvent};

/// What the numbers of jumps and of stretches stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) jumps: Vec<Jump>,
    pub(super) flows: Vec<Flow>,
    pub(super) moments: Vec<Moment>,
    /// Where the numbers of each input begin among those of a stretch.
    pub(super) inputs: Vec<usize>,
    /// How many numbers a stretch has: those of flows, then those of inputs.
    pub(super) numbers: usize,
    /// Rows that are no measurements.
    pub(super) unmeasured: Vec<u32>,
}

/// A way in which states jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Jump {
    /// So much is added to a state as the event says.
    Dose(usize),
    /// All states have their start values again.
    Reset,
    /// What an event of the file's list does, by its number there.
    Listed(usize),
}

/// A time that is a function of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// When an event of the file's list happens, by its number there.
    Listed(usize),
    /// How much later a dose arrives in a state.
    Lag(usize),
}

/// What happens to one subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Story {
    pub(super) events: Vec<Event>,
    pub(super) moving: Vec<MovingEvent>,
}

/// Something that flows in on stretches; the stretch has its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Into a state, at the rate that the stretch has.
    Infusion(usize),
    /// That of an event of the file's list, so many times at once as the stretch has.
    Listed(usize),
}

/// A stretch of time on which something flows in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inflow {
    pub(super) flow: usize,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) rate: f64,
}

/// The number of something among others, to which it is added if it is new.
pub(super) fn number<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|other| *other == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// Events at which the sum of what flows in changes.
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
            // Nothing is left of what has ended, not even rounding.
            if active == 0 {
                sum = 0.0;
            }
            events.push(Event { time, before: 0, effect: Effect::Set(flow, vec![sum]) });
        }
    }
    events
}

/// The state that a name means.
pub(super) fn as_state(meaning: Option<Meaning>) -> Option<usize> {
    match meaning {
        Some(Meaning::State(state)) => Some(state),
        _ => None,
    }
}
