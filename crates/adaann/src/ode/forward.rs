//! The forward solution of a block of samples.

use super::course::{Course, Does};
use super::grid::{Grid, Way};
use super::jump::jump;
use super::layout::Layout;
use super::moving::{self, Happened, MovingEvents};
use super::patterns::Patterns;
use super::step;
use super::takeover::{Kind, Lanes, Takeover, TakeoverRoom, have_arrived};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Prepared, Room, Rows};
use fearless_simd::Simd;

/// A compiled system and solver: maps parameters to the states at the stops of a course.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) layout: Layout,
    start: Prepared,
    step: Prepared,
    takeover: Option<Takeover>,
    jumps: Patterns,
    moving: MovingEvents,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(super) struct ForwardRoom {
    start: Room,
    /// Its inputs are the rows: the carry, then the parameters.
    step: Room,
    takeover: Option<TakeoverRoom>,
    jumps: Vec<Room>,
    moving: Vec<Room>,
    /// States and sensitivities after a jump, and the derivatives of the states by its time.
    behind: Rows,
    /// The next landing time of each sample, and the events that have occurred.
    ends: Block,
    happened: Happened,
}

impl ForwardRoom {
    /// The method of each sample, if there are two.
    #[inline(always)]
    pub(super) fn lanes(&self) -> Option<&Lanes> {
        self.takeover.as_ref().map(|takeover| &takeover.lanes)
    }
}

/// An event of some samples of a course, on the stretch to stop number `k`, after this many steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub(super) event: usize,
    pub(super) whom: [bool; PAD],
    pub(super) k: usize,
    pub(super) steps: usize,
}

/// Observes the rows (carry, then parameters) during a solution.
pub(super) trait Watch {
    /// Before the first step.
    #[inline(always)]
    fn begin(&mut self) {}
    /// Before a step, by its number.
    #[inline(always)]
    fn before_step(&mut self, _step: usize, _lanes: Option<&Lanes>, _rows: &[Block]) {}
    /// After a step, by its number.
    #[inline(always)]
    fn after_step(&mut self, _step: usize, _kind: Kind, _rows: &[Block]) {}
    /// At an event, before it.
    #[inline(always)]
    fn at_event(&mut self, _beat: Beat, _rows: &[Block]) {}
    /// At stop number `k` of a course, after this many steps and before a jump.
    #[inline(always)]
    fn at_stop(&mut self, _way: &Way, _k: usize, _steps: usize, _rows: &[Block]) {}
}

impl Forward {
    /// Compiles a system; `active` are the parameters whose sensitivities are propagated.
    pub(super) fn new(
        system: &System,
        solver: &Solver,
        (grid, courses): (&Grid, &[Course]),
        active: Vec<usize>,
    ) -> Self {
        let method = solver.method();
        let layout = Layout::new(system, &method, active);
        let takeover = |tolerances| Takeover::new(system, tolerances, &layout, grid);
        Self {
            start: Prepared::new(
                step::start(system, &method, &layout),
                layout.parameters,
                grid.starts(),
            ),
            step: Prepared::feeding_back(
                step::step(system, &method, &layout),
                layout.rows(),
                0,
                grid.settings(),
            ),
            jumps: Patterns::new(system.jumps(), courses, Does::jump, layout.rows(), |number| {
                jump(system, &layout, number)
            }),
            moving: MovingEvents::new(system, (grid, courses), layout.rows(), |number| {
                moving::jump(system, &layout, number)
            }),
            takeover: solver.takeover().map(takeover),
            layout,
        }
    }

    /// Operations of a step.
    pub(super) fn operations(&self) -> usize {
        self.step.routine.operations()
    }

    /// Elementary operations for a sample in a step, and for one course apart from the steps.
    pub(super) fn cost(&self) -> (f64, f64) {
        (self.step.routine.cost(), self.start.routine.cost())
    }

    pub(super) fn room(&self) -> ForwardRoom {
        ForwardRoom {
            start: self.start.routine.room(),
            step: self.step.routine.room(),
            takeover: self.takeover.as_ref().map(Takeover::room),
            jumps: self.jumps.rooms(),
            moving: self.moving.rooms(),
            behind: Rows::zeros(self.layout.controls() + self.layout.states),
            ends: [0.0; PAD],
            happened: Vec::new(),
        }
    }

    /// Solves for the parameters of a block; samples that are `idle` take no steps where possible.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        way: &Way,
        room: &mut ForwardRoom,
        parameters: impl Fn(usize) -> Block,
        idle: &[bool; PAD],
        watch: &mut impl Watch,
    ) {
        let (carried, own) = room.step.inputs_mut().split_at_mut(self.layout.carry());
        for (j, row) in own.iter_mut().enumerate() {
            *row = parameters(j);
        }
        self.start.apply(simd, &mut room.start, way.number, own, carried);
        if way.is_adaptive() {
            let next = carried[self.layout.next()].iter_mut();
            next.zip(idle).filter(|(_, idle)| **idle).for_each(|(next, _)| *next = 0.0);
        }
        if let (Some(takeover), Some(room)) = (&self.takeover, &mut room.takeover) {
            takeover.begin(room);
        }
        self.begin(room, way);
        watch.begin();
        let mut done = 0;
        for k in 0..way.stops() {
            loop {
                self.aim(way, room, k);
                while let Some(kind) = self.due(way, room, k, done) {
                    watch.before_step(done, room.lanes(), self.rows(room));
                    self.step(simd, room, kind, way.setting(k, done));
                    watch.after_step(done, kind, self.rows(room));
                    done += 1;
                }
                let Some((event, whom)) = self.moving_due(way, room, k) else { break };
                let beat = Beat { event, whom, k, steps: done };
                watch.at_event(beat, self.rows(room));
                self.happen(simd, way, room, beat);
            }
            watch.at_stop(way, k, done, self.rows(room));
            self.jump(simd, room, way.stop(k));
        }
    }

    /// Marks all events as pending.
    pub(super) fn begin(&self, room: &mut ForwardRoom, way: &Way) {
        room.happened.clear();
        room.happened.resize(self.moving.of(way).len(), [false; PAD]);
    }

    /// Marks these events as done.
    pub(super) fn have_happened(&self, room: &mut ForwardRoom, beats: &[Beat]) {
        for Beat { event, whom, .. } in beats {
            room.happened[*event].iter_mut().zip(whom).for_each(|(done, now)| *done |= now);
        }
    }

    /// Sets the landing time of each sample on the stretch to stop number `k`.
    #[inline(always)]
    pub(super) fn aim(&self, way: &Way, room: &mut ForwardRoom, k: usize) {
        room.ends = [way.time(k); PAD];
        let Some(end) = self.layout.end() else { return };
        let rows = self.rows(room);
        let (time, p) = (&rows[self.layout.time()], &rows[self.layout.carry()..]);
        room.ends = self.moving.ends(way, &room.happened, way.time(k), time, p);
        let ends = room.ends;
        self.rows_mut(room)[end] = ends;
    }

    /// A sample-specific event that is due before stop number `k`, and the samples it concerns.
    #[inline(always)]
    fn moving_due(&self, way: &Way, room: &ForwardRoom, k: usize) -> Option<(usize, [bool; PAD])> {
        self.layout.end()?;
        let rows = self.rows(room);
        let (time, p) = (&rows[self.layout.time()], &rows[self.layout.carry()..]);
        self.moving.due(way, &room.happened, way.time(k), time, p)
    }

    /// Applies an event to some samples.
    pub(super) fn happen<S: Simd>(&self, simd: S, way: &Way, room: &mut ForwardRoom, beat: Beat) {
        let Beat { event, whom, k, .. } = beat;
        let mut behind = std::mem::take(&mut room.behind);
        let mut rooms = std::mem::take(&mut room.moving);
        self.moving.apply(simd, &mut rooms, (way, event, k), self.rows(room), &mut behind);
        let (states, controls) = (self.layout.states, self.layout.controls());
        let (to, in_time) = behind.split_at_mut(controls);
        // The parameter that sets the time, if its sensitivities are propagated.
        let at = self.moving.of(way)[event].0.at;
        if let Some(place) = self.layout.active.iter().position(|&j| j == at) {
            let own = &mut to[states * (1 + place)..][..states];
            for (own, slope) in own.iter_mut().zip(&*in_time) {
                own.iter_mut().zip(slope).for_each(|(own, slope)| *own += slope);
            }
        }
        let rows = self.rows_mut(room);
        for (row, to) in rows.iter_mut().zip(&*to) {
            for i in (0..PAD).filter(|&i| whom[i]) {
                row[i] = to[i];
            }
        }
        room.happened[event].iter_mut().zip(whom).for_each(|(done, now)| *done |= now);
        (room.behind, room.moving) = (behind, rooms);
    }

    /// The current rows, mutable.
    fn rows_mut<'r>(&self, room: &'r mut ForwardRoom) -> &'r mut [Block] {
        match (&self.takeover, &mut room.takeover) {
            (Some(takeover), Some(own)) if own.lanes.kind == Kind::Stiff => takeover.rows_mut(own),
            _ => room.step.inputs_mut(),
        }
    }

    /// Applies the jump of a stop, if it has one.
    #[inline(always)]
    pub(super) fn jump<S: Simd>(&self, simd: S, room: &mut ForwardRoom, stop: usize) {
        if self.jumps.pattern(stop).is_none() {
            return;
        }
        let ForwardRoom { step, takeover, jumps, behind, .. } = room;
        let rows = match (&self.takeover, takeover) {
            (Some(takeover), Some(own)) if own.lanes.kind == Kind::Stiff => takeover.rows_mut(own),
            _ => step.inputs_mut(),
        };
        let behind = &mut behind[..self.layout.controls()];
        self.jumps.apply(simd, jumps, stop, rows, behind);
        rows[..behind.len()].copy_from_slice(behind);
    }

    /// The method whose step is due on the stretch to stop number `k`, after `done` steps; `None`
    /// if all samples have arrived.
    #[inline(always)]
    pub(super) fn due(&self, way: &Way, room: &ForwardRoom, k: usize, done: usize) -> Option<Kind> {
        if let Some(steps) = way.steps_until(k) {
            return (done != steps).then_some(Kind::First);
        }
        let rows = self.rows(room);
        let (time, next) = (&rows[self.layout.time()], &rows[self.layout.next()]);
        let end = &room.ends;
        match &room.takeover {
            Some(takeover) => takeover.lanes.due(time, next, end),
            None => (!have_arrived(time, next, end)).then_some(Kind::First),
        }
    }

    /// Runs a step with these uniforms.
    #[inline(always)]
    pub(super) fn step<S: Simd>(
        &self,
        simd: S,
        room: &mut ForwardRoom,
        kind: Kind,
        setting: usize,
    ) {
        let ForwardRoom { step, takeover, .. } = room;
        let takeover = self.takeover.as_ref().zip(takeover.as_mut());
        if let (Kind::Stiff, Some((takeover, room))) = (kind, takeover) {
            return takeover.step(simd, room, setting, step.inputs());
        }
        self.first_step(simd, room, setting);
    }

    #[inline(always)]
    fn first_step<S: Simd>(&self, simd: S, room: &mut ForwardRoom, setting: usize) {
        let ForwardRoom { step, takeover, .. } = room;
        let mut takeover = self.takeover.as_ref().zip(takeover.as_mut());
        if let Some((takeover, room)) = &mut takeover {
            takeover.give_back(room, step.inputs_mut());
        }
        self.step.run(simd, step, setting);
        for row in 0..self.layout.carry() {
            self.step.routine.feed_back(step, row, row);
        }
        if let Some((takeover, room)) = takeover {
            takeover.look(simd, room, setting, step.inputs_mut());
        }
    }

    /// Restores a carry and the methods of the samples at that time.
    pub(super) fn restore(&self, room: &mut ForwardRoom, carry: &[Block], lanes: Option<Lanes>) {
        room.step.inputs_mut()[..carry.len()].copy_from_slice(carry);
        let takeover = self.takeover.as_ref().zip(room.takeover.as_mut());
        if let (Some((takeover, room)), Some(lanes)) = (takeover, lanes) {
            takeover.restore(room, carry, lanes);
        }
    }

    /// The current rows.
    #[inline(always)]
    pub(super) fn rows<'r>(&self, room: &'r ForwardRoom) -> &'r [Block] {
        match (&self.takeover, &room.takeover) {
            (Some(takeover), Some(own)) if own.lanes.kind == Kind::Stiff => takeover.rows(own),
            _ => room.step.inputs(),
        }
    }

    /// Whether a sample failed to reach the end of its course with finite states.
    pub(super) fn is_non_finite(&self, way: &Way, rows: &[Block], sample: usize) -> bool {
        let finite = (0..self.layout.states).all(|i| rows[i][sample].is_finite());
        let last = way.time(way.stops() - 1);
        !finite || (way.is_adaptive() && rows[self.layout.time()][sample] != last)
    }
}
