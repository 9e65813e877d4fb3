//! A compiled graph that runs in two halves: the part that is computable before some inputs are
//! known, and the rest.
//!
//! Both run in the same slots. The second half finds the results of the first in place, so that
//! nothing is computed twice or copied to a tape and back.

use super::code::{Code, Place, Work};
use super::compile::compile_early_first;
use super::prepared::Recorded;
use super::quick_hash::QuickSet;
use super::routine::Tables;
use super::run::{Block, InSlots, execute_some, splat};
use fearless_simd::Simd;
use std::ops::Range;

/// A program in two halves, with the tables for every setting.
#[derive(Debug)]
pub(crate) struct Halves {
    code: Code,
    tables: Tables,
    /// The instructions of the first half, and their tails.
    instructions: usize,
    tails: usize,
}

impl Halves {
    /// Compiles a graph with this many inputs, some of which are known only to the second half. The
    /// first half computes the first `early` results, which do not depend on these.
    pub(crate) fn new<'u>(
        (graph, outputs): &Recorded,
        early: usize,
        inputs: usize,
        late: Range<usize>,
        settings: impl IntoIterator<Item = &'u [f64]>,
    ) -> Self {
        // Nothing else moves to the first half, though more could: a value that only the second
        // half reads would occupy a slot until then, and its operands are stored anyway.
        let mut code = compile_early_first(graph, inputs, 0, outputs, early);
        fill_first(&mut code);
        let (instructions, tails) = first_half(&code, &late);
        Self { tables: Tables::new(&code, settings), code, instructions, tails }
    }

    /// Slots of a run; the inputs are the first.
    pub(crate) fn slots(&self) -> usize {
        self.code.slots
    }

    /// Elementary operations for a sample, through both halves.
    pub(crate) fn cost(&self) -> f64 {
        self.code.cost()
    }

    /// Runs the first half.
    #[inline(never)]
    pub(crate) fn begin<S: Simd>(&self, simd: S, slots: &mut [Block], setting: usize) {
        simd.vectorize(
            #[inline(always)]
            || {
                let scalars = self.tables.scalars(setting);
                splat(&self.code, slots, scalars);
                let (instructions, _) = self.code.instructions.split_at(self.instructions);
                let (tails, _) = self.code.tails.split_at(self.tails);
                execute_some(simd, &self.code, (instructions, tails), slots, scalars, &mut InSlots);
            },
        );
    }

    /// Runs the second half, in the slots as the first left them.
    #[inline(never)]
    pub(crate) fn finish<S: Simd>(&self, simd: S, slots: &mut [Block], setting: usize) {
        simd.vectorize(
            #[inline(always)]
            || {
                let scalars = self.tables.scalars(setting);
                let (_, instructions) = self.code.instructions.split_at(self.instructions);
                let (_, tails) = self.code.tails.split_at(self.tails);
                execute_some(simd, &self.code, (instructions, tails), slots, scalars, &mut InSlots);
            },
        );
    }

    /// Result `row`, once its half has run.
    #[inline(always)]
    pub(crate) fn output<'s>(&self, slots: &'s [Block], row: usize) -> &'s Block {
        &slots[self.code.outputs[row] as usize]
    }
}

/// Results that are the same for all samples are filled in first, in slots of their own.
fn fill_first(code: &mut Code) {
    for instruction in &mut code.instructions {
        if let (Work::Fill { .. }, Some(row)) = (instruction.work, instruction.row) {
            instruction.to = code.slots as Place;
            code.outputs[row as usize] = instruction.to;
            code.slots += 1;
        }
    }
    code.instructions.sort_by_key(|instruction| !matches!(instruction.work, Work::Fill { .. }));
}

/// The number of instructions, and of their tails, before the first one that reads a late input.
fn first_half(code: &Code, late: &Range<usize>) -> (usize, usize) {
    let mut late: QuickSet<u32> = late.clone().map(|input| input as u32).collect();
    let mut all = &code.tails[..];
    let mut first = None;
    let mut tails_before = 0;
    for (index, instruction) in code.instructions.iter().enumerate() {
        let (own, others) = all.split_at(instruction.tails as usize);
        all = others;
        let mut reads_late = false;
        instruction.work.each(|operand| reads_late |= late.contains(&operand));
        let mut results = vec![instruction.to];
        if let Work::Call { call } = instruction.work {
            let call = &code.calls[call as usize];
            reads_late |= call.inputs.iter().any(|operand| late.contains(operand));
            results.clone_from(&call.outputs);
        }
        own.iter().for_each(|tail| tail.each(|operand| reads_late |= late.contains(&operand)));
        if reads_late {
            first = first.or(Some((index, tails_before)));
            late.extend(results);
        } else {
            results.iter().for_each(|result| {
                late.remove(result);
            });
        }
        tails_before += instruction.tails as usize;
    }
    first.unwrap_or((code.instructions.len(), code.tails.len()))
}
