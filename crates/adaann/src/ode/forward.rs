//! The way through time, a block of samples at once.

use super::grid::Grid;
use super::step::{self, Layout};
use super::{Solver, System};
use crate::program::{Block, Prepared, Room};
use fearless_simd::Simd;

/// A system and a solver, compiled: from parameters to the states at the times of a grid.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) layout: Layout,
    start: Prepared,
    step: Prepared,
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(super) struct ForwardRoom {
    start: Room,
    /// Its inputs are the rows: the carry, then the parameters.
    step: Room,
}

/// Sees the rows (carry, then parameters) on the way.
pub(super) trait Watch {
    /// Before the first step.
    #[inline(always)]
    fn begin(&mut self, _rows: &[Block]) {}
    /// Before a step, by its number.
    #[inline(always)]
    fn before_step(&mut self, _step: usize, _rows: &[Block]) {}
    /// After a step, by its number.
    #[inline(always)]
    fn after_step(&mut self, _step: usize, _rows: &[Block]) {}
    /// At a time of the grid, after so many steps.
    #[inline(always)]
    fn at_time(&mut self, _k: usize, _steps: usize, _rows: &[Block]) {}
}

impl Forward {
    /// Compiles; `active` are the parameters whose sensitivities go along.
    pub(super) fn new(system: &System, solver: &Solver, grid: &Grid, active: Vec<usize>) -> Self {
        let layout = Layout::new(system, solver, active);
        Self {
            start: Prepared::plain(
                step::start(system, solver, &layout, grid.span()),
                layout.parameters,
            ),
            step: Prepared::feeding_back(
                step::step(system, solver, &layout),
                layout.rows(),
                0,
                grid.settings().iter().map(Vec::as_slice),
            ),
            layout,
        }
    }

    /// Operations of a step.
    pub(super) fn operations(&self) -> usize {
        self.step.routine.operations()
    }

    pub(super) fn room(&self) -> ForwardRoom {
        ForwardRoom { start: self.start.routine.room(), step: self.step.routine.room() }
    }

    /// Solves for the parameters that a block has; `samples` of its places are taken.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        room: &mut ForwardRoom,
        parameters: impl Fn(usize) -> Block,
        samples: usize,
        watch: &mut impl Watch,
    ) {
        let (carried, own) = room.step.inputs_mut().split_at_mut(self.layout.carry());
        for (j, row) in own.iter_mut().enumerate() {
            *row = parameters(j);
        }
        self.start.apply(simd, &mut room.start, 0, own, carried);
        if grid.is_adaptive() {
            // Places that no sample takes stand still.
            carried[self.layout.next()][samples..].fill(0.0);
        }
        watch.begin(self.rows(room));
        let mut done = 0;
        for k in 0..grid.times() {
            while !self.arrived(grid, k, done, self.rows(room)) {
                watch.before_step(done, self.rows(room));
                self.step(simd, grid, room, k, done);
                watch.after_step(done, self.rows(room));
                done += 1;
            }
            watch.at_time(k, done, self.rows(room));
        }
    }

    /// Step number `done`, towards time number `k`.
    #[inline(always)]
    pub(super) fn step<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        room: &mut ForwardRoom,
        k: usize,
        done: usize,
    ) {
        let setting = if grid.is_adaptive() { k } else { done };
        self.step.run(simd, &mut room.step, setting);
        for row in 0..self.layout.carry() {
            self.step.routine.feed_back(&mut room.step, row, row);
        }
    }

    /// Goes back to a carry.
    pub(super) fn restore(&self, room: &mut ForwardRoom, carry: &[Block]) {
        room.step.inputs_mut()[..carry.len()].copy_from_slice(carry);
    }

    /// The rows as they are.
    #[inline(always)]
    pub(super) fn rows<'r>(&self, room: &'r ForwardRoom) -> &'r [Block] {
        room.step.inputs()
    }

    #[inline(always)]
    fn arrived(&self, grid: &Grid, k: usize, done: usize, rows: &[Block]) -> bool {
        match grid.steps_until(k) {
            Some(steps) => done == steps,
            None => {
                let (time, next) = (&rows[self.layout.time()], &rows[self.layout.next()]);
                let end = grid.time(k);
                time.iter().zip(next).all(|(t, h)| *t == end || *h == 0.0)
            }
        }
    }

    /// Did a sample come to the end of the grid, with finite states?
    pub(super) fn is_lost(&self, grid: &Grid, rows: &[Block], sample: usize) -> bool {
        let finite = (0..self.layout.states).all(|i| rows[i][sample].is_finite());
        let last = grid.time(grid.times() - 1);
        !finite || (grid.is_adaptive() && rows[self.layout.time()][sample] != last)
    }
}
