//! Quantities of whole trajectories, for each subject: values at some times, integrals, extremes.

use super::dynamics::arguments;
use super::equations::{Equations, Slots, shared};
use super::quantities::Quantities;
use super::recorded::Recorded;
use super::subjects::{Effect, Event};
use crate::ode::{Asked, Course, Does, Reader, Stop};
use crate::program::{Node, Numbered, RowInput};
use crate::{Batch, Error, Result};

/// A quantity of a trajectory, for a function of the same arguments as the rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) of: Node,
    pub(crate) what: What,
}

/// Times are finite, not before the start, and in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// The value at a time, before the events at that time.
    At(f64),
    /// ∫ dt from one time to another.
    Integral(f64, f64),
    /// The largest value between two times, or the smallest with −1; after the events at the first
    /// time and before those at the last.
    Extreme(f64, [f64; 2]),
    /// The time of that value.
    TimeOfExtreme(f64, [f64; 2]),
}

/// Readings of a system, compiled.
#[derive(Debug)]
pub(crate) struct Trajectories {
    reader: Reader,
    quantities: Quantities,
    /// The position of each reading among those of a subject.
    places: Vec<usize>,
}

impl Trajectories {
    /// Readings of the system of a model.
    ///
    /// # Errors
    /// If there is no system, or its solver's settings do not suit it.
    pub(crate) fn new(recorded: &Recorded, readings: &[Reading]) -> Result<Self> {
        let mut recorded = recorded.clone();
        let integrals = add_integrals(&mut recorded, readings)?;
        let (asked, functions, times, places) = questions(readings, &integrals);
        let mut system = recorded.system.take().ok_or_else(no_system)?;
        system.readings = functions;
        let of = &system;
        let (mut slots, is_shared) = (Slots::default(), shared(&recorded, of));
        let equations =
            Equations::new(&recorded.graph, recorded.inputs(), of, &is_shared, &mut slots)?;
        let (mut graph, mut values) = (recorded.graph.clone(), Numbered::default());
        let (mut courses, data) = (Vec::new(), recorded.data(&[]));
        for (subject, arguments) in
            arguments(&mut graph, &recorded, of, &slots, &mut values).into_iter().enumerate()
        {
            let row = of.subjects.first_rows()[subject];
            let mut own = of.subjects.stretches[subject].clone();
            let (mut stops, mut marks) = (Vec::new(), Vec::new());
            let mut events = of.subjects.events[subject].iter().peekable();
            for &time in &times {
                let is_before = |event: &&Event| {
                    event.time < time
                        || event.time == time && matches!(event.effect, Effect::Set(..))
                };
                while let Some(event) = events.next_if(is_before) {
                    stops.push(equations.stop_at(data, row, &mut own, event));
                }
                marks.push(stops.len());
                let stretch = equations.stretch_of(data, row, &own);
                stops.push(Stop { time, stretch, does: Does::Nothing });
            }
            let start = of.subjects.starts[subject];
            let moving = equations.moving(data, (row, start), &of.subjects.moving[subject]);
            let start = start - of.settle;
            courses.push((Course { start, arguments, stops, moving }, marks));
        }
        let readings = equations.readings(of, slots.items.len());
        let solved = equations.system(of, slots.items.len())?;
        let quantities = Quantities::new(&graph, recorded.parameters, &values.items);
        let reader = Reader::new(&solved, &of.solver, courses, &readings, asked)?;
        Ok(Self { reader, quantities, places })
    }

    /// The readings at each point of the parameters, for all subjects, reading after reading. NaN
    /// for non-finite trajectories.
    ///
    /// # Errors
    /// If the points have the wrong dimension.
    pub(crate) fn evaluate(&self, points: &Batch) -> Result<Batch> {
        let answers = self.reader.answers(&self.quantities.evaluate(points)?);
        let subjects = answers.len();
        let mut all = Batch::zeros(self.places.len() * answers.len(), points.len());
        for (reading, &place) in self.places.iter().enumerate() {
            for (subject, answers) in answers.iter().enumerate() {
                let row = all.row_mut(reading * subjects + subject);
                row.copy_from_slice(answers.row(place));
            }
        }
        Ok(all)
    }
}

fn no_system() -> Error {
    Error::Target("the model has no system of equations".into())
}

/// Adds a state for every integral, whose rate is the function between the two times and 0
/// elsewhere; returns their nodes.
fn add_integrals(recorded: &mut Recorded, readings: &[Reading]) -> Result<Vec<(Reading, Node)>> {
    let mut nodes: Vec<(Reading, Node)> = Vec::new();
    let system = recorded.system.as_mut().ok_or_else(no_system)?;
    for reading in readings {
        let What::Integral(from, to) = reading.what else { continue };
        if nodes.iter().any(|(known, _)| known == reading) {
            continue;
        }
        let mut input = |input: RowInput| {
            recorded.row_inputs.push(input);
            let number = recorded.parameters + recorded.row_inputs.len() - 1;
            recorded.graph.input(number as u32)
        };
        let number = system.subjects.stretches.first().map_or(0, Vec::len);
        let is_on = input(RowInput::Stretch(number));
        let state = input(RowInput::State(system.names.len()));
        system.names.push(format!("integral {}", nodes.len() + 1));
        system.rates.push(recorded.graph.mul(is_on, reading.of));
        system.initial.push(recorded.graph.constant(0.0));
        system.jumps.iter_mut().for_each(|jump| jump.push(state));
        let turn = |time: f64, on: f64| {
            let effect = Effect::Set(number, vec![on]);
            Event { time, before: 0, effect }
        };
        for events in &mut system.subjects.events {
            events.extend([turn(from, 1.0), turn(to, 0.0)]);
        }
        system.subjects.stretches.iter_mut().for_each(|stretch| stretch.push(0.0));
        nodes.push((*reading, state));
    }
    // Settings that change at a time take effect before the states jump.
    let jumps = |event: &Event| matches!(event.effect, Effect::Jump(..));
    for events in &mut system.subjects.events {
        events.sort_by(|a, b| a.time.total_cmp(&b.time).then(jumps(a).cmp(&jumps(b))));
    }
    Ok(nodes)
}

/// The functions, times and questions of the readings, and the position of each result.
fn questions(
    readings: &[Reading],
    integrals: &[(Reading, Node)],
) -> (Vec<Asked>, Vec<Node>, Vec<f64>, Vec<usize>) {
    let mut times: Vec<f64> = Vec::new();
    for reading in readings {
        match reading.what {
            What::At(time) => times.push(time),
            What::Integral(from, to)
            | What::Extreme(_, [from, to])
            | What::TimeOfExtreme(_, [from, to]) => times.extend([from, to]),
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mark = |time: f64| times.iter().position(|known| *known == time).unwrap_or(0);
    let (mut asked, mut functions, mut places) = (Vec::new(), Numbered::default(), Vec::new());
    for reading in readings {
        let integral = integrals.iter().find(|(known, _)| known == reading);
        let of = functions.number(integral.map_or(reading.of, |(_, state)| *state)) as usize;
        let (question, second) = match reading.what {
            What::At(time) | What::Integral(_, time) => (Asked::At { of, mark: mark(time) }, 0),
            What::Extreme(sense, [from, to]) => {
                (Asked::Extreme { of, sense, from: mark(from), to: mark(to) }, 0)
            }
            What::TimeOfExtreme(sense, [from, to]) => {
                (Asked::Extreme { of, sense, from: mark(from), to: mark(to) }, 1)
            }
        };
        let known = asked.iter().position(|known| *known == question);
        let number = known.unwrap_or_else(|| {
            asked.push(question);
            asked.len() - 1
        });
        let before: usize = asked[..number].iter().map(|asked| asked.width()).sum();
        places.push(before + second);
    }
    (asked, functions.items, times, places)
}
