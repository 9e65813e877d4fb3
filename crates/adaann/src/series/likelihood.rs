//! The log likelihood of a block of samples and its gradient, by a loop over the rows.

use super::recursion::Recursion;
use super::step::{Layout, there, there_and_back};
use super::stretch::{Stretch, Stretches};
use super::sweep::{Sweep, SweepRoom};
use super::tape::{Tape, window};
use crate::batch::PAD;
use crate::program::{Block, Halves, Rows};
use fearless_simd::Simd;
use std::ops::Range;

/// Computes the log likelihood from crossing values.
#[derive(Debug)]
pub(crate) struct Likelihood {
    layout: Layout,
    stretches: Vec<Stretch>,
    /// Rows in each kind of stretch.
    rows: Vec<usize>,
    /// For each row, the crossing values that are its elements.
    taken: Vec<u32>,
    /// The programs for the states and the sum of the terms.
    value: Sweep,
    /// For each kind, the forward pass and, as the second half, the backward pass.
    both: Vec<Halves>,
    /// Blocks that a stretch needs, and stretches in a window.
    width: usize,
    window: usize,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(crate) struct LikelihoodRoom {
    value: SweepRoom,
    tape: Tape,
    /// States of the forward pass.
    states: Rows,
    /// λ of the backward pass.
    lambda: Rows,
}

impl Likelihood {
    /// Compiles the recursion, which has at least one row.
    pub(crate) fn new(recursion: &Recursion) -> Self {
        let &Recursion { states, parameters, elements, .. } = recursion;
        let layout = Layout { states, parameters, elements };
        let operations = recursion.operations();
        let Stretches { kinds, of: stretches } = Stretches::new(recursion, operations);
        let inputs = |rows: usize| layout.inputs(rows);
        let both = kinds.iter().map(|kind| {
            let (rows, settings) = (kind.rows(), kind.settings.iter().map(Vec::as_slice));
            let (late, inputs) = (layout.lambda(rows), layout.there_and_back(rows));
            let recorded = there_and_back(recursion, &layout, kind);
            Halves::new(&recorded, layout.carry(), inputs, late..inputs, settings)
        });
        let both: Vec<Halves> = both.collect();
        let width = both.iter().map(Halves::slots).max().unwrap_or(0);
        Self {
            value: Sweep::new(&kinds, inputs, layout.carry(), |kind| {
                there(recursion, &layout, kind)
            }),
            both,
            rows: kinds.iter().map(|kind| kind.rows()).collect(),
            width,
            window: window(width, stretches.len()),
            stretches,
            taken: recursion.taken.clone(),
            layout,
        }
    }

    /// Elementary operations for a sample with its slopes.
    pub(crate) fn cost(&self) -> f64 {
        self.stretches.iter().map(|stretch| self.both[stretch.kind as usize].cost()).sum()
    }

    pub(crate) fn room(&self) -> LikelihoodRoom {
        LikelihoodRoom {
            value: self.value.room(),
            tape: Tape::new(self.layout.states, self.width, self.window),
            states: Rows::zeros(self.layout.states),
            lambda: Rows::zeros(self.layout.states),
        }
    }

    /// The log likelihood of a block of samples and, if requested, its slopes in the crossing
    /// values, written to the blocks of `sums`. Returns which samples are non-finite because a
    /// state became NaN or infinitely large. A state of −∞ is allowed, as the logarithm of 0.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut LikelihoodRoom,
        crossing: &[Block],
        with_slopes: bool,
        sums: &mut [Block],
    ) -> [bool; PAD] {
        let mut too_large = [0.0; PAD];
        let n = self.layout.states;
        let LikelihoodRoom { value, tape, states, lambda } = room;
        if !with_slopes {
            self.sum(simd, value, crossing, &mut sums[0], &mut too_large);
            return too_large.map(|found| found > 0.0);
        }
        let all = self.stretches.len();
        sums.as_flattened_mut().fill(0.0);
        let (sum, slopes) = sums.split_at_mut(1);
        let (states, lambda) = (&mut states[..n], &mut lambda[..n]);
        states.as_flattened_mut().fill(0.0);
        lambda.as_flattened_mut().fill(0.0);
        self.walk(simd, tape, states, crossing, 0..all, (&mut sum[0], &mut too_large));
        for number in (0..all.div_ceil(self.window)).rev() {
            let (begin, end) = (number * self.window, all.min((number + 1) * self.window));
            if end < all {
                states.copy_from_slice(tape.beginning(number));
                let known = (&mut [0.0; PAD], &mut [0.0; PAD]);
                self.walk(simd, tape, states, crossing, begin..end, known);
            }
            for stretch in (begin..end).rev() {
                self.back(simd, tape, lambda, stretch, slopes);
            }
        }
        too_large.map(|found| found > 0.0)
    }

    /// The log likelihood alone.
    #[inline(always)]
    fn sum<S: Simd>(
        &self,
        simd: S,
        room: &mut SweepRoom,
        crossing: &[Block],
        sum: &mut Block,
        too_large: &mut Block,
    ) {
        let (carry, parameters) = (self.layout.carry(), self.layout.parameters);
        for inputs in room.each() {
            inputs[..carry].as_flattened_mut().fill(0.0);
            inputs[carry..][..parameters].copy_from_slice(&crossing[..parameters]);
        }
        for stretch in 0..self.stretches.len() {
            let lay_down = |inputs: &mut [Block]| {
                self.take(stretch, crossing, &mut inputs[self.layout.taken()..]);
            };
            let carry = self.value.run(simd, room, self.stretches[stretch], lay_down);
            look(&carry[..self.layout.states], too_large);
        }
        *sum = room.last_mut()[self.layout.states];
    }

    /// The crossing values that are elements of a stretch.
    #[inline(always)]
    fn taken(&self, stretch: usize) -> &[u32] {
        let Stretch { kind, first, .. } = self.stretches[stretch];
        let (rows, elements) = (self.rows[kind as usize], self.layout.elements);
        &self.taken[first as usize * elements..][..rows * elements]
    }

    /// Copies the elements of a stretch to the inputs.
    #[inline(always)]
    fn take(&self, stretch: usize, crossing: &[Block], inputs: &mut [Block]) {
        for (input, &from) in inputs.iter_mut().zip(self.taken(stretch)) {
            *input = crossing[from as usize];
        }
    }

    /// Runs some stretches forward and leaves their memory on the tape.
    #[inline(always)]
    fn walk<S: Simd>(
        &self,
        simd: S,
        tape: &mut Tape,
        states: &mut [Block],
        crossing: &[Block],
        stretches: Range<usize>,
        (sum, too_large): (&mut Block, &mut Block),
    ) {
        let Layout { states: n, parameters, .. } = self.layout;
        for stretch in stretches {
            let Stretch { kind, setting, .. } = self.stretches[stretch];
            let both = &self.both[kind as usize];
            let slots = tape.begin(stretch, states);
            slots[..n].copy_from_slice(states);
            slots[n..][..parameters].copy_from_slice(&crossing[..parameters]);
            self.take(stretch, crossing, &mut slots[self.layout.elements()..]);
            both.begin(simd, slots, setting as usize);
            for (state, output) in states.iter_mut().zip(0..) {
                *state = *both.output(slots, output);
            }
            add(both.output(slots, n), sum);
            look(states, too_large);
        }
    }

    /// Runs a stretch backward, with its memory on the tape.
    #[inline(always)]
    fn back<S: Simd>(
        &self,
        simd: S,
        tape: &mut Tape,
        lambda: &mut [Block],
        stretch: usize,
        slopes: &mut [Block],
    ) {
        let Layout { states: n, parameters, .. } = self.layout;
        let Stretch { kind, setting, .. } = self.stretches[stretch];
        let both = &self.both[kind as usize];
        let slots = tape.of(stretch);
        let first = self.layout.lambda(self.rows[kind as usize]);
        slots[first..][..n].copy_from_slice(lambda);
        both.finish(simd, slots, setting as usize);
        for (lambda, output) in lambda.iter_mut().zip(n + 1..) {
            *lambda = *both.output(slots, output);
        }
        let (own, of_elements) = (2 * n + 1, 2 * n + 1 + parameters);
        for (slope, output) in slopes[..parameters].iter_mut().zip(own..) {
            add(both.output(slots, output), slope);
        }
        for (&to, output) in self.taken(stretch).iter().zip(of_elements..) {
            add(both.output(slots, output), &mut slopes[to as usize]);
        }
    }
}

#[inline(always)]
fn add(part: &Block, sum: &mut Block) {
    for i in 0..PAD {
        sum[i] += part[i];
    }
}

/// Counts states that are NaN or infinitely large.
#[inline(always)]
fn look(states: &[Block], too_large: &mut Block) {
    for state in states {
        for i in 0..PAD {
            too_large[i] += if state[i] < f64::INFINITY { 0.0 } else { 1.0 };
        }
    }
}
