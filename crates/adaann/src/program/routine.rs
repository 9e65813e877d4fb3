//! Compiled graphs that map rows of blocks to rows of blocks, as solvers use them.

use super::code::{Code, Place};
use super::compile::compile;
use super::graph::Graph;
use super::op::Node;
use super::run::{Block, InSlots, execute, splat};
use crate::simd::Buffer;
use fearless_simd::Simd;

/// A compiled graph: one block of samples for each input, one for each output.
#[derive(Debug, Clone)]
pub(crate) struct Routine {
    code: Code,
}

/// Numbers that are the same for all samples, computed once for each setting of the uniforms.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    width: usize,
    values: Vec<f64>,
    /// The table of each setting: equal neighbours share one.
    of: Vec<usize>,
}

/// The memory of a routine: its values, and the table that some of them come from.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    slots: Buffer,
    inputs: usize,
    table: Option<usize>,
}

impl Tables {
    /// The tables of a code for some settings of the uniforms.
    pub(super) fn new<'u>(code: &Code, settings: impl IntoIterator<Item = &'u [f64]>) -> Self {
        let width = code.scalars.steps.len();
        let (mut values, mut of) = (Vec::new(), Vec::new());
        for uniforms in settings {
            let start = values.len();
            code.scalars.run(uniforms, &mut values);
            let bits = |table: &[f64]| table.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            if start > 0 && bits(&values[start - width..start]) == bits(&values[start..]) {
                values.truncate(start);
            }
            of.push(values.len() / width - 1);
        }
        Self { width, values, of }
    }

    /// The scalars of a setting.
    #[inline(always)]
    pub(super) fn scalars(&self, setting: usize) -> &[f64] {
        &self.values[self.of[setting] * self.width..][..self.width]
    }
}

impl Routine {
    /// Compiles the outputs for this many inputs.
    pub(crate) fn new(graph: &Graph, inputs: usize, outputs: &[Node]) -> Self {
        Self { code: compile(graph, inputs, 0, outputs) }
    }

    /// The same for a routine that runs repeatedly: result i is fed back as input `first` + i. It
    /// is written there directly if nothing reads the old input any more.
    pub(crate) fn feeding_back(
        graph: &Graph,
        inputs: usize,
        outputs: &[Node],
        first: usize,
    ) -> Self {
        let mut routine = Self::new(graph, inputs, outputs);
        for row in 0..outputs.len() {
            write_over(&mut routine.code, row, (first + row) as Place);
        }
        routine
    }

    /// The number of operations on a block, including those fused into others.
    pub(crate) fn operations(&self) -> usize {
        self.code.instructions.len() + self.code.tails.len()
    }

    /// Elementary operations for a sample.
    pub(crate) fn cost(&self) -> f64 {
        self.code.cost()
    }

    /// The tables for some settings of the uniforms.
    pub(crate) fn tables<'u>(&self, settings: impl IntoIterator<Item = &'u [f64]>) -> Tables {
        Tables::new(&self.code, settings)
    }

    /// Memory for a thread to run in.
    pub(crate) fn room(&self) -> Room {
        let len = self.code.slots * size_of::<Block>() / size_of::<f64>();
        Room { slots: Buffer::zeros(len), inputs: self.code.inputs, table: None }
    }

    /// Runs over the block in the room, with the table of a setting.
    #[inline(never)]
    pub(crate) fn run<S: Simd>(&self, simd: S, room: &mut Room, tables: &Tables, setting: usize) {
        simd.vectorize(
            #[inline(always)]
            || {
                let table = tables.of[setting];
                let scalars = &tables.values[table * tables.width..][..tables.width];
                let slots = room.slots.as_chunks_mut().0;
                if room.table != Some(table) {
                    splat(&self.code, slots, scalars);
                    room.table = Some(table);
                }
                execute(simd, &self.code, slots, scalars, &mut InSlots);
            },
        );
    }

    /// Copies the inputs that are read into the room.
    #[inline(always)]
    pub(crate) fn load(&self, room: &mut Room, inputs: &[Block]) {
        let slots = room.slots.as_chunks_mut().0;
        for &row in &self.code.reads {
            slots[row as usize] = inputs[row as usize];
        }
    }

    /// Makes result `row` of the last run an input of the next one.
    #[inline(always)]
    pub(crate) fn feed_back(&self, room: &mut Room, row: usize, input: usize) {
        let place = self.code.outputs[row] as usize;
        if place != input {
            let slots: &mut [Block] = room.slots.as_chunks_mut().0;
            slots[input] = slots[place];
        }
    }

    /// The input that holds result `row`, because it is that input or was written there directly.
    pub(crate) fn is_input(&self, row: usize) -> Option<usize> {
        let place = self.code.outputs[row] as usize;
        (place < self.code.inputs).then_some(place)
    }

    /// Result number `row` of the last run.
    #[inline(always)]
    pub(crate) fn output<'r>(&self, room: &'r Room, row: usize) -> &'r Block {
        &room.slots.as_chunks().0[self.code.outputs[row] as usize]
    }

    /// The number of results.
    pub(crate) fn outputs(&self) -> usize {
        self.code.outputs.len()
    }
}

/// Stores a result in the slot of an input, if possible. The instruction that computes it may read
/// that input itself, since it reads each sample before writing it.
fn write_over(code: &mut Code, row: usize, input: Place) {
    let place = code.outputs[row];
    if !code.calls.is_empty() {
        // Results of calls need separate slots.
        return;
    }
    let is_shared = code.outputs.iter().filter(|&&other| other == place).count() > 1;
    let Some(last) = code.instructions.iter().rposition(|i| i.to == place) else { return };
    let (before, after) = code.instructions.split_at_mut(last + 1);
    let tails = before.iter().map(|i| i.tails as usize).sum();
    let tails = &mut code.tails[tails..];
    let mut is_read = code.outputs.contains(&input);
    after.iter().for_each(|i| i.work.each(|operand| is_read |= operand == input));
    tails.iter().for_each(|tail| tail.each(|operand| is_read |= operand == input));
    if is_shared || is_read {
        return;
    }
    let renamed = |operand| if operand == place { input } else { operand };
    before[last].to = input;
    after.iter_mut().for_each(|i| i.work = i.work.map(renamed));
    tails.iter_mut().for_each(|tail| *tail = tail.map(renamed));
    code.outputs[row] = input;
}

impl Room {
    /// The inputs; they persist from run to run.
    #[inline(always)]
    pub(crate) fn inputs(&self) -> &[Block] {
        &self.slots.as_chunks().0[..self.inputs]
    }

    /// The inputs, mutable.
    #[inline(always)]
    pub(crate) fn inputs_mut(&mut self) -> &mut [Block] {
        &mut self.slots.as_chunks_mut().0[..self.inputs]
    }
}
