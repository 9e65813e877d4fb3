//! Rates, start values and jumps of a recorded system, as functions of the samples' values.

use super::recorded::{Recorded, RecordedSystem};
use super::subjects::{Effect, Event, MovingEvent};
use crate::ode::{self, Does, Jump, Moving, Stop, System};
use crate::program::{
    Data, Function, Graph, Inputs, Node, Numbered, RowInput, RowPart, Source, split_within,
};
use crate::{Error, Result};

/// The values that a system and its observations depend on: nodes of the recorded graph that change
/// with the sample, or with sample and subject. Their indices are those of the system's parameters.
pub(super) type Slots = Numbered<Node>;

/// A recorded system, split into its parts.
pub(super) struct Equations {
    /// Rates, then readings.
    rates: RowPart,
    /// The meaning of each of their inputs: a state, or a slot.
    arguments: Vec<Argument>,
    initial: Vec<Initial>,
    jumps: Vec<(RowPart, Vec<Argument>)>,
    /// The slots of moments.
    pub(super) moments: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Argument {
    State(usize),
    Slot(usize),
}

enum Initial {
    Number(f64),
    Slot(usize),
}

/// Which inputs of rows are equal in all rows of a subject.
pub(super) fn shared<'a>(
    recorded: &'a Recorded,
    of: &'a RecordedSystem,
) -> impl Fn(RowInput) -> bool + use<'a> {
    let subjects = &of.subjects;
    let is_shared = |input: &RowInput| {
        subjects.are_grouped
            && match *input {
                RowInput::Column(column) => {
                    subjects.share(|row| recorded.columns[column][row].to_bits())
                }
                RowInput::Gather(gather) => {
                    subjects.share(|row| recorded.gathers[gather].index[row])
                }
                _ => false,
            }
    };
    let inputs = &recorded.row_inputs;
    let are: Vec<bool> = inputs.iter().map(is_shared).collect();
    move |input| inputs.iter().position(|other| *other == input).is_some_and(|i| are[i])
}

impl Equations {
    pub(super) fn new(
        graph: &Graph,
        inputs: Inputs<'_>,
        of: &RecordedSystem,
        is_shared: &dyn Fn(RowInput) -> bool,
        slots: &mut Slots,
    ) -> Result<Self> {
        let rates = [&of.rates[..], &of.readings].concat();
        let rates = split_within(graph, inputs, is_shared, &rates);
        let knows = |input: &RowInput| match *input {
            RowInput::Time | RowInput::Stretch(_) => true,
            column => is_shared(column),
        };
        if !rates.uniforms.iter().all(knows) {
            return of_data();
        }
        let arguments = arguments(&rates, slots)?;
        let mut initial = Vec::new();
        let of_subjects = [&of.initial[..], &of.moments].concat();
        let start = split_within(graph, inputs, is_shared, &of_subjects);
        // A start value or moment is a crossing value as a whole, a constant, or a value of the
        // subject.
        let is_of_row = |source: &Source| matches!(source, Source::Row(_));
        if !start.uniforms.iter().all(|input| is_shared(*input))
            || start.inputs.iter().any(is_of_row)
        {
            return of_data();
        }
        for &node in &of.initial {
            initial.push(match graph.as_constant(node) {
                Some(value) => Initial::Number(value),
                None => Initial::Slot(slots.number(node) as usize),
            });
        }
        let mut jumps = Vec::new();
        for to in &of.jumps {
            let part = split_within(graph, inputs, is_shared, to);
            let knows = |input: &RowInput| match *input {
                RowInput::Time | RowInput::Event(_) => true,
                column => is_shared(column),
            };
            if !part.uniforms.iter().all(knows) {
                return of_data();
            }
            let arguments = self::arguments(&part, slots)?;
            jumps.push((part, arguments));
        }
        let moments = of.moments.iter().map(|&node| slots.number(node) as usize).collect();
        Ok(Self { rates, arguments, initial, jumps, moments })
    }

    /// The system, with this many slots as its parameters.
    pub(super) fn system(&self, of: &RecordedSystem, slots: usize) -> Result<System> {
        let states = of.names.len();
        let stretch = self.stretch().count();
        let derivative = self.along(&self.rates.outputs[..states], states, slots);
        let mut graph = Graph::new();
        let initial = |initial: &Initial| match *initial {
            Initial::Number(value) => graph.constant(value),
            Initial::Slot(number) => graph.input(number as u32),
        };
        let initial: Vec<Node> = self.initial.iter().map(initial).collect();
        let equations = ode::Equations {
            derivative,
            stretch,
            start: of.subjects.starts.first().copied().unwrap_or_default(),
            initial: Function::new(slots, (graph, initial)),
            jumps: self.jumps.iter().map(|jump| self.jump(jump, states, slots)).collect(),
            moves: of.subjects.moving.iter().any(|events| !events.is_empty()),
        };
        System::from_functions(&of.names, slots, equations)
    }

    /// The readings, as functions of the same arguments as the system's derivative.
    pub(super) fn readings(&self, of: &RecordedSystem, slots: usize) -> Vec<Function> {
        let states = of.names.len();
        let reading = |node: &Node| self.along(std::slice::from_ref(node), states, slots);
        self.rates.outputs[states..].iter().map(reading).collect()
    }

    /// Some of the rates and readings as functions of time, states, slots and numbers of the
    /// stretch.
    fn along(&self, outputs: &[Node], states: usize, slots: usize) -> Function {
        let mut graph = Graph::new();
        let z = inputs(&mut graph, 1 + states + slots + self.stretch().count());
        let arguments = at(&self.arguments, &z[1..], states);
        let mut numbers = z[1 + states + slots..].iter();
        let uniform = |input: &RowInput| match input {
            RowInput::Time => z[0],
            _ => *numbers.next().expect("one for each"),
        };
        let uniforms: Vec<Node> = self.rates.uniforms.iter().map(uniform).collect();
        let outputs = self.rates.at(&mut graph, outputs, &uniforms, &arguments);
        Function::new(z.len(), (graph, outputs))
    }

    fn jump(&self, (part, own): &(RowPart, Vec<Argument>), states: usize, slots: usize) -> Jump {
        let mut graph = Graph::new();
        let numbers = part.uniforms.len();
        let z = inputs(&mut graph, states + slots + numbers);
        let arguments = at(own, &z, states);
        let to = part.at(&mut graph, &part.outputs, &z[states + slots..], &arguments);
        Jump { to: Function::new(z.len(), (graph, to)), numbers }
    }

    /// The inputs of the rates for a stretch, apart from the time.
    fn stretch(&self) -> impl Iterator<Item = &RowInput> {
        self.rates.uniforms.iter().filter(|input| **input != RowInput::Time)
    }

    /// The numbers of a stretch for a subject with this row, given its own numbers.
    pub(super) fn stretch_of(&self, data: Data<'_>, row: u32, own: &[f64]) -> Vec<f64> {
        let number = |input: &RowInput| match *input {
            RowInput::Column(column) => data.columns[column][row as usize],
            RowInput::Stretch(number) => own[number],
            _ => unreachable!("rates have no other inputs"),
        };
        self.stretch().map(number).collect()
    }

    /// The stop at an event of a subject with this row; it may change the subject's own numbers of
    /// the stretch.
    pub(super) fn stop_at(&self, data: Data<'_>, row: u32, own: &mut [f64], event: &Event) -> Stop {
        let Event { time, effect, .. } = event;
        let stretch = self.stretch_of(data, row, own);
        let does = match effect {
            Effect::Jump(jump, numbers) => {
                Does::Jump(*jump, self.numbers_of(data, (*jump, *time), row, numbers))
            }
            Effect::Set(..) => Does::Nothing,
        };
        effect.turn(own);
        Stop { time: *time, stretch, does }
    }

    /// Events at sample-dependent times, for a subject with this start and row.
    pub(super) fn moving(
        &self,
        data: Data<'_>,
        (row, start): (u32, f64),
        events: &[MovingEvent],
    ) -> Vec<Moving> {
        let moving = |event: &MovingEvent| Moving {
            at: self.moments[event.moment],
            after: event.after,
            opens: start,
            jump: event.jump,
            numbers: self.numbers_of(data, (event.jump, f64::NAN), row, &event.numbers),
        };
        events.iter().map(moving).collect()
    }

    /// The numbers of a jump, for a subject with this row, given the event's own numbers.
    fn numbers_of(
        &self,
        data: Data<'_>,
        (jump, time): (usize, f64),
        row: u32,
        own: &[f64],
    ) -> Vec<f64> {
        let number = |input: &RowInput| match *input {
            RowInput::Column(column) => data.columns[column][row as usize],
            RowInput::Event(number) => own[number],
            RowInput::Time => time,
            _ => unreachable!("jumps have no other inputs"),
        };
        self.jumps[jump].0.uniforms.iter().map(number).collect()
    }
}

fn of_data<T>() -> Result<T> {
    Err(Error::Target(
        "the equations of a system may depend on time, states, parameters and values shared by all rows of a \
         subject, not on columns of the data that differ between them"
            .into(),
    ))
}

/// The meaning of a part's inputs.
fn arguments(part: &RowPart, slots: &mut Slots) -> Result<Vec<Argument>> {
    let argument = |source: &Source| match *source {
        Source::Crossing(node) => Ok(Argument::Slot(slots.number(node) as usize)),
        Source::Row(RowInput::State(state)) => Ok(Argument::State(state)),
        Source::Row(_) => of_data(),
    };
    part.inputs.iter().map(argument).collect()
}

fn inputs(graph: &mut Graph, count: usize) -> Vec<Node> {
    (0..count).map(|input| graph.input(input as u32)).collect()
}

/// The nodes of some arguments, among states and slots.
fn at(arguments: &[Argument], z: &[Node], states: usize) -> Vec<Node> {
    let argument = |argument: &Argument| match *argument {
        Argument::State(state) => z[state],
        Argument::Slot(number) => z[states + number],
    };
    arguments.iter().map(argument).collect()
}
