//! Compiled graphs from rows of blocks to rows of blocks: what solvers are made of.

use super::code::Code;
use super::compile::compile;
use super::graph::Graph;
use super::op::Node;
use super::run::{Block, Inputs, execute, splat};
use crate::simd::Buffer;
use fearless_simd::Simd;

/// A compiled graph that reads one block of samples from each input row and writes one to each
/// output row.
#[derive(Debug, Clone)]
pub(crate) struct Routine {
    code: Code,
}

/// Numbers that are the same for all samples, worked out for each setting of the uniforms once.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    width: usize,
    values: Vec<f64>,
    /// Which table belongs to a setting: neighbours that are equal share one.
    of: Vec<usize>,
}

/// Memory of a routine: the values on the way, and the table that some of them belong to.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    slots: Buffer,
    table: Option<usize>,
}

impl Routine {
    /// Compiles what the outputs need; input i of the graph is row i.
    pub(crate) fn new(graph: &Graph, outputs: &[Node]) -> Self {
        Self { code: compile(graph, 0, outputs) }
    }

    /// How many passes over a block it makes.
    pub(crate) fn instructions(&self) -> usize {
        self.code.instructions.len()
    }

    /// The tables for some settings of the uniforms.
    pub(crate) fn tables<'u>(&self, settings: impl IntoIterator<Item = &'u [f64]>) -> Tables {
        let width = self.code.scalars.steps.len();
        let (mut values, mut of) = (Vec::new(), Vec::new());
        for uniforms in settings {
            let start = values.len();
            self.code.scalars.run(uniforms, &mut values);
            let bits = |table: &[f64]| table.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            if start > 0 && bits(&values[start - width..start]) == bits(&values[start..]) {
                values.truncate(start);
            }
            of.push(values.len() / width - 1);
        }
        Tables { width, values, of }
    }

    /// Memory for a thread to run in.
    pub(crate) fn room(&self) -> Room {
        Room {
            slots: Buffer::zeros(self.code.slots * size_of::<Block>() / size_of::<f64>()),
            table: None,
        }
    }

    /// Runs over one block with the table of a setting.
    #[inline(never)]
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut Room,
        (tables, setting): (&Tables, usize),
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
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
                let inputs = Inputs { blocks: inputs, stride: 1 };
                execute(simd, &self.code, slots, scalars, inputs, outputs, 1);
            },
        );
    }
}
