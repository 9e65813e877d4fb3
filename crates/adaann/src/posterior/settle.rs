//! A system that reaches its steady state before it starts: a preceding stretch during which the
//! time in its rates stands still.

use super::recorded::Recorded;
use super::subjects::{Effect, Event};
use crate::program::{Node, RowInput};

/// Adds this stretch to the course of every subject. Rates see start + c (t − start) in place of
/// the time, where c is a number of the stretch: 0 until the start, and 1 from then on.
pub(crate) fn settle(recorded: &mut Recorded) {
    let Some(system) = &mut recorded.system else { return };
    if system.settle == 0.0 {
        return;
    }
    let number = system.subjects.stretches.first().map_or(0, Vec::len);
    recorded.row_inputs.push(RowInput::Stretch(number));
    let (graph, parameters) = (&mut recorded.graph, recorded.parameters);
    let mut inputs: Vec<Node> =
        (0..parameters + recorded.row_inputs.len()).map(|i| graph.input(i as u32)).collect();
    let time = recorded.row_inputs.iter().position(|input| *input == RowInput::Time);
    if let (Some(time), Some(&runs), Some(&start)) =
        (time, inputs.last(), system.subjects.starts.first())
    {
        let place = &mut inputs[parameters + time];
        let start = graph.constant(start);
        let since = graph.sub(*place, start);
        let moved = graph.mul(runs, since);
        *place = graph.add(start, moved);
        let recorded = graph.clone();
        system.rates = graph.embed(&recorded, &system.rates, &inputs);
    }
    let subjects = &mut system.subjects;
    for (events, &start) in subjects.events.iter_mut().zip(&subjects.starts) {
        // Before all other events at the start.
        let effect = Effect::Set(number, vec![1.0]);
        events.insert(0, Event { time: start, before: 0, effect });
    }
    subjects.stretches.iter_mut().for_each(|stretch| stretch.push(0.0));
}
