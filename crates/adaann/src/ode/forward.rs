//! The way through time, a block of samples at once.

use super::grid::Grid;
use super::layout::Layout;
use super::step;
use super::takeover::{Kind, Lanes, Takeover, TakeoverRoom, have_arrived};
use super::{Solver, System};
use crate::program::{Block, Prepared, Room};
use fearless_simd::Simd;

/// A system and a solver, compiled: from parameters to the states at the times of a grid.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) layout: Layout,
    start: Prepared,
    step: Prepared,
    takeover: Option<Takeover>,
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(super) struct ForwardRoom {
    start: Room,
    /// Its inputs are the rows: the carry, then the parameters.
    step: Room,
    takeover: Option<TakeoverRoom>,
}

impl ForwardRoom {
    /// Where the samples are between two methods, if there are two.
    #[inline(always)]
    pub(super) fn lanes(&self) -> Option<&Lanes> {
        self.takeover.as_ref().map(|takeover| &takeover.lanes)
    }
}

/// Sees the rows (carry, then parameters) on the way.
pub(super) trait Watch {
    /// Before the first step.
    #[inline(always)]
    fn begin(&mut self, _rows: &[Block]) {}
    /// Before a step, by its number.
    #[inline(always)]
    fn before_step(&mut self, _step: usize, _lanes: Option<&Lanes>, _rows: &[Block]) {}
    /// After a step, by its number.
    #[inline(always)]
    fn after_step(&mut self, _step: usize, _kind: Kind, _rows: &[Block]) {}
    /// At a time of the grid, after so many steps.
    #[inline(always)]
    fn at_time(&mut self, _k: usize, _steps: usize, _rows: &[Block]) {}
}

impl Forward {
    /// Compiles; `active` are the parameters whose sensitivities go along.
    pub(super) fn new(system: &System, solver: &Solver, grid: &Grid, active: Vec<usize>) -> Self {
        let method = solver.method();
        let layout = Layout::new(system, &method, active);
        let takeover = |tolerances| Takeover::new(system, tolerances, &layout, grid);
        Self {
            start: Prepared::plain(
                step::start(system, &method, &layout, grid.span()),
                layout.parameters,
            ),
            step: Prepared::feeding_back(
                step::step(system, &method, &layout),
                layout.rows(),
                0,
                grid.settings().iter().map(Vec::as_slice),
            ),
            takeover: solver.takeover().map(takeover),
            layout,
        }
    }

    /// Operations of a step.
    pub(super) fn operations(&self) -> usize {
        self.step.routine.operations()
    }

    pub(super) fn room(&self) -> ForwardRoom {
        ForwardRoom {
            start: self.start.routine.room(),
            step: self.step.routine.room(),
            takeover: self.takeover.as_ref().map(Takeover::room),
        }
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
        if let (Some(takeover), Some(room)) = (&self.takeover, &mut room.takeover) {
            takeover.begin(room);
        }
        watch.begin(self.rows(room));
        let mut done = 0;
        for k in 0..grid.times() {
            while let Some(kind) = self.due(grid, room, k, done) {
                watch.before_step(done, room.lanes(), self.rows(room));
                self.step(simd, grid, room, kind, k, done);
                watch.after_step(done, kind, self.rows(room));
                done += 1;
            }
            watch.at_time(k, done, self.rows(room));
        }
    }

    /// Whose step is due on the way to time number `k`, after so many steps; none if all have arrived.
    #[inline(always)]
    pub(super) fn due(
        &self,
        grid: &Grid,
        room: &ForwardRoom,
        k: usize,
        done: usize,
    ) -> Option<Kind> {
        if let Some(steps) = grid.steps_until(k) {
            return (done != steps).then_some(Kind::First);
        }
        let rows = self.rows(room);
        let (time, next) = (&rows[self.layout.time()], &rows[self.layout.next()]);
        let end = grid.time(k);
        match &room.takeover {
            Some(takeover) => takeover.lanes.due(time, next, end),
            None => (!have_arrived(time, next, end)).then_some(Kind::First),
        }
    }

    /// Step number `done`, towards time number `k`.
    #[inline(always)]
    pub(super) fn step<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        room: &mut ForwardRoom,
        kind: Kind,
        k: usize,
        done: usize,
    ) {
        let ForwardRoom { step, takeover, .. } = room;
        let takeover = self.takeover.as_ref().zip(takeover.as_mut());
        if let (Kind::Stiff, Some((takeover, room))) = (kind, takeover) {
            return takeover.step(simd, room, k, step.inputs());
        }
        self.first_step(simd, grid, room, k, done);
    }

    #[inline(always)]
    fn first_step<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        room: &mut ForwardRoom,
        k: usize,
        done: usize,
    ) {
        let ForwardRoom { step, takeover, .. } = room;
        let mut takeover = self.takeover.as_ref().zip(takeover.as_mut());
        if let Some((takeover, room)) = &mut takeover {
            takeover.give_back(room, step.inputs_mut());
        }
        let setting = if grid.is_adaptive() { k } else { done };
        self.step.run(simd, step, setting);
        for row in 0..self.layout.carry() {
            self.step.routine.feed_back(step, row, row);
        }
        if let Some((takeover, room)) = takeover {
            takeover.look(simd, room, step.inputs_mut());
        }
    }

    /// Goes back to a carry, of samples that were so between the methods.
    pub(super) fn restore(&self, room: &mut ForwardRoom, carry: &[Block], lanes: Option<Lanes>) {
        room.step.inputs_mut()[..carry.len()].copy_from_slice(carry);
        let takeover = self.takeover.as_ref().zip(room.takeover.as_mut());
        if let (Some((takeover, room)), Some(lanes)) = (takeover, lanes) {
            takeover.restore(room, carry, lanes);
        }
    }

    /// The rows as they are.
    #[inline(always)]
    pub(super) fn rows<'r>(&self, room: &'r ForwardRoom) -> &'r [Block] {
        match (&self.takeover, &room.takeover) {
            (Some(takeover), Some(own)) if own.lanes.kind == Kind::Stiff => takeover.rows(own),
            _ => room.step.inputs(),
        }
    }

    /// Did a sample come to the end of the grid, with finite states?
    pub(super) fn is_lost(&self, grid: &Grid, rows: &[Block], sample: usize) -> bool {
        let finite = (0..self.layout.states).all(|i| rows[i][sample].is_finite());
        let last = grid.time(grid.times() - 1);
        !finite || (grid.is_adaptive() && rows[self.layout.time()][sample] != last)
    }
}
