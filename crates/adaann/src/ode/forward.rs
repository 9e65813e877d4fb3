//! The way through time, a block of samples at once.

use super::grid::Grid;
use super::observations::Observations;
use super::step::{self, Layout};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Room, Routine, Tables};
use crate::simd::Buffer;
use fearless_simd::Simd;

/// Blocks of samples, aligned.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(Buffer);

impl Rows {
    pub(super) fn zeros(rows: usize) -> Self {
        Self(Buffer::zeros(rows * PAD))
    }

    /// Makes room for at least so many rows and keeps what is there.
    pub(super) fn grow(&mut self, rows: usize) {
        self.0.grow(rows * PAD);
    }
}

impl std::ops::Deref for Rows {
    type Target = [Block];
    #[inline]
    fn deref(&self) -> &[Block] {
        self.0.as_chunks().0
    }
}

impl std::ops::DerefMut for Rows {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.as_chunks_mut().0
    }
}

/// A routine with the tables for every setting that it runs in.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) routine: Routine,
    tables: Tables,
}

impl Prepared {
    pub(super) fn new(recorded: step::Recorded, inputs: usize, settings: &[Vec<f64>]) -> Self {
        Self::with(Routine::new(&recorded.0, inputs, &recorded.1), settings)
    }

    /// A routine whose results are its inputs from `first` on when it runs again.
    pub(super) fn feeding_back(
        recorded: step::Recorded,
        inputs: usize,
        first: usize,
        settings: &[Vec<f64>],
    ) -> Self {
        Self::with(Routine::feeding_back(&recorded.0, inputs, &recorded.1, first), settings)
    }

    fn with(routine: Routine, settings: &[Vec<f64>]) -> Self {
        let tables = routine.tables(settings.iter().map(Vec::as_slice));
        Self { routine, tables }
    }

    /// A routine without uniforms.
    pub(super) fn plain(recorded: step::Recorded, inputs: usize) -> Self {
        Self::new(recorded, inputs, &[Vec::new()])
    }

    /// Runs with the inputs that are in the room.
    #[inline(always)]
    pub(super) fn run<S: Simd>(&self, simd: S, room: &mut Room, setting: usize) {
        self.routine.run(simd, room, &self.tables, setting);
    }

    /// From inputs elsewhere to outputs elsewhere.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        room: &mut Room,
        setting: usize,
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        self.routine.load(room, inputs);
        self.run(simd, room, setting);
        for (row, output) in outputs.iter_mut().enumerate() {
            *output = *self.routine.output(room, row);
        }
    }
}

/// One routine for each pattern of quantities that were measured together.
#[derive(Debug)]
pub(super) struct Patterns {
    routines: Vec<Prepared>,
    /// Routine and setting of each time.
    of: Vec<(usize, usize)>,
}

impl Patterns {
    pub(super) fn new(
        observations: &Observations,
        inputs: usize,
        record: impl Fn(&[bool]) -> step::Recorded,
    ) -> Self {
        let mut patterns: Vec<(Vec<bool>, Vec<Vec<f64>>)> = Vec::new();
        let mut of = Vec::new();
        for k in 0..observations.times().len() {
            let present = observations.present(k);
            let known = patterns.iter().position(|(pattern, _)| *pattern == present);
            let pattern = known.unwrap_or_else(|| {
                patterns.push((present, Vec::new()));
                patterns.len() - 1
            });
            of.push((pattern, patterns[pattern].1.len()));
            patterns[pattern].1.push(observations.uniforms(k));
        }
        let prepare = |(present, settings): &(Vec<bool>, Vec<Vec<f64>>)| {
            Prepared::new(record(present), inputs, settings)
        };
        Self { routines: patterns.iter().map(prepare).collect(), of }
    }

    /// Something about each pattern, in the order of [`Patterns::pattern`].
    pub(super) fn each<T>(&self, of: &Observations, about: impl Fn(&[bool]) -> T) -> Vec<T> {
        let first = |pattern| self.of.iter().position(|(p, _)| *p == pattern);
        (0..self.routines.len())
            .map(|pattern| about(&of.present(first(pattern).expect("a pattern has times"))))
            .collect()
    }

    pub(super) fn rooms(&self) -> Vec<Room> {
        self.routines.iter().map(|prepared| prepared.routine.room()).collect()
    }

    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        rooms: &mut [Room],
        k: usize,
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        let (pattern, setting) = self.of[k];
        self.routines[pattern].apply(simd, &mut rooms[pattern], setting, inputs, outputs);
    }

    /// The pattern of time number `k`.
    #[inline(always)]
    pub(super) fn pattern(&self, k: usize) -> usize {
        self.of[k].0
    }
}

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
                &grid.settings(),
            ),
            layout,
        }
    }

    /// Passes over a block that a step makes.
    pub(super) fn instructions(&self) -> usize {
        self.step.routine.instructions()
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
