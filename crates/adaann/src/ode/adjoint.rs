//! The discrete adjoint: back through the steps that were taken.
//!
//! The states before each step are kept for a window of steps. Where a solution is longer than its
//! window, the carry at the start of each window is kept as well and the window is walked again, so
//! that memory stays bounded at the price of at most one more forward pass.

use super::forward::{Forward, ForwardRoom, Watch};
use super::grid::Grid;
use super::late::Late;
use super::layout::Layout;
use super::measured::Measured;
use super::method::{Method, Pair, Tolerances};
use super::patterns::Patterns;
use super::step;
use super::takeover::{Kind, Lanes};
use super::{Solver, System};
use crate::program::{Block, Prepared, Room, Rows};
use fearless_simd::Simd;

/// Rows that a window may take: 4 MiB of them.
const MOST_ROWS: usize = (4 << 20) / size_of::<Block>();

/// The reverse of a [`Forward`] without sensitivities.
#[derive(Debug)]
pub(super) struct Adjoint {
    layout: Layout,
    step: Prepared,
    takeover: Option<Takeover>,
    observe: Patterns,
    /// Which derivatives each pattern of observations has.
    observed: Vec<Vec<usize>>,
    start: Prepared,
    /// Steps of a window.
    window: usize,
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(super) struct AdjointRoom {
    pub(super) tape: Tape,
    /// Its inputs are the tape of a step, the parameters, λ and μ.
    step: Room,
    /// For steps of the second method.
    takeover: Option<Room>,
    observe: Vec<Room>,
    /// What an observation adds to λ and μ, or what a step of the second method makes of them.
    part: Rows,
    start: Room,
}

/// The reverse of the steps that take over, compiled when there is one.
#[derive(Debug)]
struct Takeover {
    system: System,
    tolerances: Tolerances,
    step: Late,
}

/// What the forward pass leaves for the reverse one.
#[derive(Debug)]
pub(super) struct Tape {
    layout: Layout,
    window: usize,
    adaptive: bool,
    /// x before each step of the window and after its last; behind x, of adaptive methods, the time
    /// before the step and the step taken.
    records: Rows,
    /// The carry at the start of each window, and where the samples were between the methods.
    checkpoints: Rows,
    lanes: Vec<Option<Lanes>>,
    /// Which method each step was of.
    kinds: Vec<Kind>,
    /// Steps taken until each time.
    steps_until: Vec<usize>,
    steps: usize,
}

impl Tape {
    #[inline(always)]
    fn record(&mut self, slot: usize) -> &mut [Block] {
        let width = self.layout.tape();
        self.records.grow((slot + 1) * width);
        &mut self.records[slot * width..][..width]
    }

    #[inline(always)]
    fn keep_states(&mut self, slot: usize, rows: &[Block]) {
        let n = self.layout.states;
        self.record(slot)[..n].copy_from_slice(&rows[..n]);
    }

    #[inline(always)]
    fn keep_before(&mut self, slot: usize, rows: &[Block]) {
        if self.adaptive {
            let (n, time) = (self.layout.states, self.layout.time());
            self.record(slot)[n] = rows[time];
        }
    }

    #[inline(always)]
    fn keep_after(&mut self, slot: usize, rows: &[Block]) {
        if self.adaptive {
            let (n, taken) = (self.layout.states, self.layout.taken());
            self.record(slot)[n + 1] = rows[taken];
        }
        self.keep_states(slot + 1, rows);
    }
}

impl Watch for Tape {
    #[inline(always)]
    fn begin(&mut self, rows: &[Block]) {
        self.steps_until.clear();
        self.lanes.clear();
        self.kinds.clear();
        self.steps = 0;
        self.keep_states(0, rows);
    }

    #[inline(always)]
    fn before_step(&mut self, step: usize, lanes: Option<&Lanes>, rows: &[Block]) {
        let slot = step % self.window;
        if slot == 0 {
            let (carry, window) = (self.layout.carry(), step / self.window);
            self.checkpoints.grow((window + 1) * carry);
            self.checkpoints[window * carry..][..carry].copy_from_slice(&rows[..carry]);
            self.lanes.push(lanes.copied());
            self.keep_states(0, rows);
        }
        self.keep_before(slot, rows);
    }

    #[inline(always)]
    fn after_step(&mut self, step: usize, kind: Kind, rows: &[Block]) {
        self.keep_after(step % self.window, rows);
        if self.adaptive {
            self.kinds.push(kind);
        }
        self.steps = step + 1;
    }

    #[inline(always)]
    fn at_time(&mut self, _k: usize, steps: usize, _rows: &[Block]) {
        self.steps_until.push(steps);
    }
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
        // An adaptive step's length is on the tape: its adjoint has no uniforms.
        let settings = if grid.is_adaptive() { vec![Vec::new()] } else { grid.settings() };
        let Layout { states, parameters, .. } = layout;
        let (rest, cotangents) = (layout.tape() + parameters, states + parameters);
        let step = step::back(system, &solver.method(), &layout);
        let takeover = |tolerances| {
            let (system, step) = (system.clone(), Late::default());
            Takeover { system, tolerances, step }
        };
        let start = step::back_to_start(system, &layout);
        let observe = Patterns::new(measured, rest, |pattern| measured.back(&layout, pattern).0);
        let observed =
            (0..measured.patterns.len()).map(|pattern| measured.back(&layout, pattern).1).collect();
        Self {
            step: Prepared::feeding_back(
                step,
                rest + cotangents,
                rest,
                settings.iter().map(Vec::as_slice),
            ),
            takeover: solver.takeover().map(takeover),
            observe,
            observed,
            start: Prepared::plain(start, parameters + cotangents),
            window: grid.steps().unwrap_or(longest).clamp(1, longest),
            layout,
        }
    }

    /// Operations of a reverse step.
    pub(super) fn operations(&self) -> usize {
        self.step.routine.operations()
    }

    pub(super) fn room(&self, grid: &Grid) -> AdjointRoom {
        let Layout { states, parameters, .. } = self.layout;
        AdjointRoom {
            tape: Tape {
                layout: self.layout.clone(),
                window: self.window,
                adaptive: grid.is_adaptive(),
                records: Rows::default(),
                checkpoints: Rows::default(),
                lanes: Vec::new(),
                kinds: Vec::new(),
                steps_until: Vec::with_capacity(grid.times()),
                steps: 0,
            },
            step: self.step.routine.room(),
            takeover: None,
            observe: self.observe.rooms(),
            part: Rows::zeros(states + parameters),
            start: self.start.routine.room(),
        }
    }

    /// d log p(data)/dp, one row a parameter, after a forward pass that the tape has watched.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
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
        let mut ahead = grid.times();
        for number in (0..steps.div_ceil(window)).rev() {
            let (begin, end) = (number * window, steps.min((number + 1) * window));
            if end < steps {
                self.walk_again(simd, grid, forward, forward_room, &mut room.tape, begin..end);
            }
            for step in (begin..end).rev() {
                while ahead > 0 && room.tape.steps_until[ahead - 1] == step + 1 {
                    ahead -= 1;
                    self.observe(simd, room, ahead, step + 1 - begin);
                }
                room.load(step - begin);
                if grid.is_adaptive() && room.tape.kinds[step] == Kind::Stiff {
                    self.back_over(simd, room);
                    continue;
                }
                let setting = if grid.is_adaptive() { 0 } else { step };
                self.step.run(simd, &mut room.step, setting);
                for row in 0..self.step.routine.outputs() {
                    self.step.routine.feed_back(&mut room.step, row, rest + row);
                }
            }
        }
        while ahead > 0 {
            ahead -= 1;
            self.observe(simd, room, ahead, 0);
        }
        let rows = &room.step.inputs()[first..];
        self.start.apply(simd, &mut room.start, 0, rows, gradient);
    }

    /// Back through a step of the second method.
    #[inline(always)]
    fn back_over<S: Simd>(&self, simd: S, room: &mut AdjointRoom) {
        let Some(takeover) = &self.takeover else { return };
        let rest = self.layout.tape() + self.layout.parameters;
        let (prepared, own) = takeover.step.get(&mut room.takeover, || {
            let method = Method::Adaptive(Pair::Rodas, takeover.tolerances);
            let recorded = step::back(&takeover.system, &method, &self.layout);
            let inputs = rest + self.layout.states + self.layout.parameters;
            Prepared::plain(recorded, inputs)
        });
        prepared.apply(simd, own, 0, room.step.inputs(), &mut room.part);
        room.step.inputs_mut()[rest..].copy_from_slice(&room.part);
    }

    /// Adds the derivatives of an observation at the states of a slot.
    #[inline(always)]
    fn observe<S: Simd>(&self, simd: S, room: &mut AdjointRoom, k: usize, slot: usize) {
        room.load(slot);
        let rest = self.layout.tape() + self.layout.parameters;
        let observed = &self.observed[self.observe.pattern(k)];
        let part = &mut room.part[..observed.len()];
        self.observe.apply(simd, &mut room.observe, k, &room.step.inputs()[..rest], part);
        let cotangents = &mut room.step.inputs_mut()[rest..];
        for (&row, part) in observed.iter().zip(&*part) {
            for (sum, part) in cotangents[row].iter_mut().zip(part) {
                *sum += part;
            }
        }
    }

    /// Fills the window with the steps that it held before later ones took its place.
    fn walk_again<S: Simd>(
        &self,
        simd: S,
        grid: &Grid,
        forward: &Forward,
        forward_room: &mut ForwardRoom,
        tape: &mut Tape,
        steps: std::ops::Range<usize>,
    ) {
        let carry = self.layout.carry();
        let window = steps.start / self.window;
        let checkpoint = &tape.checkpoints[window * carry..][..carry];
        forward.restore(forward_room, checkpoint, tape.lanes[window]);
        tape.keep_states(0, forward.rows(forward_room));
        let mut k = tape.steps_until.partition_point(|&until| until <= steps.start);
        for step in steps {
            while tape.steps_until[k] <= step {
                k += 1;
            }
            let slot = step % self.window;
            tape.keep_before(slot, forward.rows(forward_room));
            let kind = if tape.adaptive { tape.kinds[step] } else { Kind::First };
            forward.step(simd, grid, forward_room, kind, k, step);
            tape.keep_after(slot, forward.rows(forward_room));
        }
    }
}

impl AdjointRoom {
    /// Lays down the record of a slot.
    #[inline(always)]
    fn load(&mut self, slot: usize) {
        let width = self.tape.layout.tape();
        let rows = self.step.inputs_mut();
        rows[..width].copy_from_slice(&self.tape.records[slot * width..][..width]);
    }
}
