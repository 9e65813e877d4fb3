//! The discrete adjoint: a backward pass through the steps of the forward pass.
//!
//! The states before each step are stored for a window of steps. If a solution is longer than its
//! window, the carry at the start of each window is stored as well and the window is computed
//! again. Memory stays bounded at the cost of at most one more forward pass.

use super::course::Does;
use super::forward::{Beat, Forward, ForwardRoom};
use super::grid::{Grid, Way};
use super::jump;
use super::layout::Layout;
use super::lazy::Lazy;
use super::measured::Measured;
use super::method::{Method, Pair, Tolerances};
use super::moving::{self, MovingEvents};
use super::patterns::Patterns;
use super::step;
use super::takeover::Kind;
use super::tape::Tape;
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Prepared, Room, Rows};
use fearless_simd::Simd;

/// The most rows of a window: 4 MiB.
const MOST_ROWS: usize = (4 << 20) / size_of::<Block>();

/// The reverse of a [`Forward`] without sensitivities.
#[derive(Debug)]
pub(super) struct Adjoint {
    layout: Layout,
    step: Prepared,
    takeover: Option<Takeover>,
    jumps: Patterns,
    moving: MovingEvents,
    observe: Patterns,
    /// The derivatives of each pattern of observations.
    observed: Vec<Vec<usize>>,
    start: Prepared,
    /// Steps per window.
    window: usize,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(super) struct AdjointRoom {
    pub(super) tape: Tape,
    /// Its inputs are the tape of a step, the parameters, λ and μ.
    step: Room,
    /// For steps of the second method.
    takeover: Option<Room>,
    jumps: Vec<Room>,
    moving: Vec<Room>,
    observe: Vec<Room>,
    /// The contribution of an observation to λ and μ, or their values before a jump or a step of
    /// the second method.
    part: Rows,
    start: Room,
}

/// The reverse of the second method's steps, compiled on first use.
#[derive(Debug)]
struct Takeover {
    system: System,
    settings: Vec<Vec<f64>>,
    tolerances: Tolerances,
    step: Lazy,
}

impl Adjoint {
    pub(super) fn new(
        system: &System,
        solver: &Solver,
        grid: &Grid,
        measured: &Measured,
        longest_window: Option<usize>,
    ) -> Self {
        let layout = Layout::new(system, &solver.method(), Vec::new());
        let longest = longest_window.unwrap_or((MOST_ROWS / layout.tape()).max(16));
        let Layout { states, parameters, .. } = layout;
        let (rest, cotangents) = (layout.tape() + parameters, states + parameters);
        let step = step::back(system, &solver.method(), &layout);
        let takeover = |tolerances| {
            let (system, step) = (system.clone(), Lazy::default());
            let settings = grid.settings().map(<[f64]>::to_vec).collect();
            Takeover { system, settings, tolerances, step }
        };
        let start = step::back_to_start(system, &layout);
        let (courses, count) = (&measured.courses[..], measured.patterns.len());
        let observe = Patterns::new(count, courses, Does::observation, rest, |pattern| {
            measured.back(&layout, pattern).0
        });
        let observed = (0..count).map(|pattern| measured.back(&layout, pattern).1).collect();
        let jumps =
            Patterns::new(system.jumps(), courses, Does::jump, rest + cotangents, |number| {
                jump::back(system, &layout, number)
            });
        Self {
            step: Prepared::feeding_back(step, rest + cotangents, rest, grid.settings()),
            takeover: solver.takeover().map(takeover),
            moving: MovingEvents::new(system, (grid, courses), rest + cotangents, |number| {
                moving::back(system, &layout, number)
            }),
            jumps,
            observe,
            observed,
            start: Prepared::plain(start, parameters + cotangents),
            window: grid.most_steps().unwrap_or(longest).clamp(1, longest),
            layout,
        }
    }

    /// Operations of a reverse step.
    pub(super) fn operations(&self) -> usize {
        self.step.routine.operations()
    }

    /// Elementary operations for a sample in a reverse step, and at all observations.
    pub(super) fn cost(&self) -> (f64, f64) {
        (self.step.routine.cost(), self.observe.cost())
    }

    pub(super) fn room(&self, grid: &Grid) -> AdjointRoom {
        let Layout { states, parameters, .. } = self.layout;
        AdjointRoom {
            tape: Tape::new(&self.layout, self.window, grid),
            step: self.step.routine.room(),
            takeover: None,
            jumps: self.jumps.rooms(),
            moving: self.moving.rooms(),
            observe: self.observe.rooms(),
            part: Rows::zeros(states + parameters + 1),
            start: self.start.routine.room(),
        }
    }

    /// d log p(data)/dp, one row per parameter, after a forward pass recorded on the tape.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        way: &Way,
        forward: &Forward,
        forward_room: &mut ForwardRoom,
        room: &mut AdjointRoom,
        gradient: &mut [Block],
    ) {
        let (first, rest) = (self.layout.tape(), self.layout.tape() + self.layout.parameters);
        let rows = room.step.inputs_mut();
        rows[first..rest].copy_from_slice(&forward.rows(forward_room)[self.layout.carry()..]);
        rows[rest..].as_flattened_mut().fill(0.0);
        let (steps, window) = (room.tape.steps, self.window);
        let (mut ahead, mut beats) = (way.stops(), room.tape.beats.len());
        for number in (0..steps.div_ceil(window)).rev() {
            let (begin, end) = (number * window, steps.min((number + 1) * window));
            if end < steps {
                self.walk_again(simd, way, forward, forward_room, &mut room.tape, begin..end);
            }
            for step in (begin..end).rev() {
                self.back_between(simd, room, way, step + 1, (&mut ahead, &mut beats));
                room.load(step - begin);
                let setting = way.setting(ahead, step);
                if way.is_adaptive() && room.tape.kinds[step] == Kind::Stiff {
                    self.back_over(simd, room, setting);
                    continue;
                }
                self.step.run(simd, &mut room.step, setting);
                for row in 0..self.step.routine.outputs() {
                    self.step.routine.feed_back(&mut room.step, row, rest + row);
                }
            }
        }
        self.back_between(simd, room, way, 0, (&mut ahead, &mut beats));
        let rows = &room.step.inputs()[first..];
        self.start.apply(simd, &mut room.start, 0, rows, gradient);
    }

    /// Goes back over all stops and events after this many steps; `ahead` stops and `beats` events
    /// remain.
    #[inline(always)]
    fn back_between<S: Simd>(
        &self,
        simd: S,
        room: &mut AdjointRoom,
        way: &Way,
        steps: usize,
        (ahead, beats): (&mut usize, &mut usize),
    ) {
        loop {
            // An event comes before the stop at the end of its stretch.
            let beat = beats.checked_sub(1).map(|last| room.tape.beats[last]);
            if let Some(beat) = beat.filter(|beat| beat.steps == steps && beat.k == *ahead) {
                *beats -= 1;
                self.back_at_event(simd, room, way, (beat, *beats));
            } else if *ahead > 0 && room.tape.steps_until[*ahead - 1] == steps {
                *ahead -= 1;
                self.back_at_stop(simd, room, way, *ahead);
            } else {
                return;
            }
        }
    }

    /// Goes back over an event of some samples.
    fn back_at_event<S: Simd>(
        &self,
        simd: S,
        room: &mut AdjointRoom,
        way: &Way,
        (beat, number): (Beat, usize),
    ) {
        let (n, parameters) = (self.layout.states, self.layout.parameters);
        let rest = self.layout.tape() + parameters;
        let AdjointRoom { tape, step, moving, part, .. } = room;
        let kept = &tape.at_beats[number * (n + 1)..][..n + 1];
        step.inputs_mut()[..n + 1].copy_from_slice(kept);
        self.moving.apply(simd, moving, (way, beat.event, beat.k), step.inputs(), part);
        let at = self.moving.of(way)[beat.event].0.at;
        let (to, in_time) = part.split_at_mut(n + parameters);
        for (sum, slope) in to[n + at].iter_mut().zip(&in_time[0]) {
            *sum += slope;
        }
        for (row, to) in step.inputs_mut()[rest..].iter_mut().zip(&*to) {
            for i in (0..PAD).filter(|&i| beat.whom[i]) {
                row[i] = to[i];
            }
        }
    }

    /// Back through a step of the second method.
    #[inline(always)]
    fn back_over<S: Simd>(&self, simd: S, room: &mut AdjointRoom, setting: usize) {
        let Some(takeover) = &self.takeover else { return };
        let rest = self.layout.tape() + self.layout.parameters;
        let (prepared, own) = takeover.step.get(&mut room.takeover, || {
            let method = Method::Adaptive(Pair::Rodas, takeover.tolerances);
            let recorded = step::back(&takeover.system, &method, &self.layout);
            let inputs = rest + self.layout.states + self.layout.parameters;
            let settings = takeover.settings.iter().map(Vec::as_slice);
            Prepared::new(recorded, inputs, settings)
        });
        let part = &mut room.part[..self.layout.states + self.layout.parameters];
        prepared.apply(simd, own, setting, room.step.inputs(), part);
        room.step.inputs_mut()[rest..].copy_from_slice(part);
    }

    /// Adds the derivatives of an observation, or goes back over a jump.
    #[inline(always)]
    fn back_at_stop<S: Simd>(&self, simd: S, room: &mut AdjointRoom, way: &Way, k: usize) {
        let (n, stop) = (self.layout.states, way.stop(k));
        let rest = self.layout.tape() + self.layout.parameters;
        room.step.inputs_mut()[..n].copy_from_slice(&room.tape.stops[k * n..][..n]);
        if self.jumps.pattern(stop).is_some() {
            let AdjointRoom { step, jumps, part, .. } = room;
            let part = &mut part[..n + self.layout.parameters];
            self.jumps.apply(simd, jumps, stop, step.inputs(), part);
            step.inputs_mut()[rest..].copy_from_slice(part);
        }
        let Some(pattern) = self.observe.pattern(stop) else { return };
        let observed = &self.observed[pattern];
        let part = &mut room.part[..observed.len()];
        self.observe.apply(simd, &mut room.observe, stop, &room.step.inputs()[..rest], part);
        let cotangents = &mut room.step.inputs_mut()[rest..];
        for (&row, part) in observed.iter().zip(&*part) {
            for (sum, part) in cotangents[row].iter_mut().zip(part) {
                *sum += part;
            }
        }
    }

    /// Recomputes the window's steps, which later ones have overwritten.
    fn walk_again<S: Simd>(
        &self,
        simd: S,
        way: &Way,
        forward: &Forward,
        forward_room: &mut ForwardRoom,
        tape: &mut Tape,
        steps: std::ops::Range<usize>,
    ) {
        let carry = self.layout.carry();
        let window = steps.start / self.window;
        let checkpoint = &tape.checkpoints[window * carry..][..carry];
        forward.restore(forward_room, checkpoint, tape.lanes[window]);
        let mut k = tape.steps_until.partition_point(|&until| until <= steps.start);
        let mut beat = tape.beats.partition_point(|beat| beat.steps <= steps.start);
        forward.begin(forward_room, way);
        forward.have_happened(forward_room, &tape.beats[..beat]);
        forward.aim(way, forward_room, k);
        for step in steps {
            // The events between the last step and this one, in their order.
            loop {
                let next = tape.beats.get(beat).filter(|beat| beat.steps <= step && beat.k == k);
                if let Some(next) = next {
                    forward.happen(simd, way, forward_room, *next);
                    beat += 1;
                } else if tape.steps_until[k] <= step {
                    forward.jump(simd, forward_room, way.stop(k));
                    k += 1;
                } else {
                    break;
                }
                forward.aim(way, forward_room, k);
            }
            let slot = step % self.window;
            tape.keep_before(slot, forward.rows(forward_room));
            let kind = if tape.adaptive { tape.kinds[step] } else { Kind::First };
            forward.step(simd, forward_room, kind, way.setting(k, step));
            tape.keep_after(slot, forward.rows(forward_room));
        }
    }
}

impl AdjointRoom {
    /// Loads the record of a slot.
    #[inline(always)]
    fn load(&mut self, slot: usize) {
        let width = self.tape.layout.tape();
        let rows = self.step.inputs_mut();
        rows[..width].copy_from_slice(&self.tape.records[slot * width..][..width]);
    }
}
