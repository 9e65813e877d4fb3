//! The largest value of a function on a stretch of a trajectory, and its time.
//!
//! Every step is divided into parts. Where the slope changes its sign between two knots, its root
//! is found with shorter steps from the same state, so that value and time are as accurate as the
//! solver. Events on the stretch, and its ends, are knots themselves.

use super::trace::{Piece, Step, Trace};
use super::within::{Within, WithinRoom};
use crate::batch::PAD;
use crate::program::{Block, Prepared, Room, Rows};
use fearless_simd::Simd;
use std::ops::RangeInclusive;

/// Parts of a step.
const PARTS: usize = 4;

/// The most tries for a root of the slope; false position with halving needs about ten, a kink
/// about forty.
const MOST_TRIES: usize = 60;

/// A root is found once it moves by less than this share of its step.
const FOUND: f64 = 1e-11;

/// The function, and the programs for steps between knots. Values are multiplied by `sense`: −1
/// turns the smallest into the largest.
pub(super) struct Sought<'a> {
    pub(super) look: &'a Prepared,
    pub(super) within: &'a Within,
    /// The index of the course's first stop among those of all courses.
    pub(super) first_stop: usize,
    pub(super) sense: f64,
}

/// The memory that a thread needs for the search.
pub(super) struct SoughtRoom<'a> {
    pub(super) look: &'a mut Room,
    pub(super) within: &'a mut WithinRoom,
    /// States, time, length, parameters.
    pub(super) inputs: &'a mut Rows,
    /// States, time, parameters.
    pub(super) place: &'a mut Rows,
}

/// A knot: its time, and the value and slope there.
#[derive(Clone, Copy)]
struct Knot {
    time: Block,
    value: Block,
    slope: Block,
}

/// The largest value of each sample so far.
struct Best {
    value: Block,
    time: Block,
    /// Whether any value was NaN.
    is_bad: [bool; PAD],
}

impl Best {
    #[inline(always)]
    fn offer(&mut self, sample: usize, value: f64, time: f64) {
        self.is_bad[sample] |= value.is_nan();
        if value > self.value[sample] {
            (self.value[sample], self.time[sample]) = (value, time);
        }
    }
}

impl Sought<'_> {
    /// Value and time of the largest value on the stretches to some stops; NaN if there is none.
    #[inline(always)]
    pub(super) fn find<S: Simd>(
        &self,
        simd: S,
        room: &mut SoughtRoom<'_>,
        trace: &Trace<'_>,
        stops: RangeInclusive<usize>,
    ) -> [Block; 2] {
        let mut best =
            Best { value: [f64::NEG_INFINITY; PAD], time: [f64::NAN; PAD], is_bad: [false; PAD] };
        let none = [f64::NAN; PAD];
        // The knot after the last part, and whether it may be the maximum: not next to a root.
        let (mut last, mut is_open) = (Knot { time: none, value: none, slope: none }, [false; PAD]);
        for (number, step) in trace.steps.iter().enumerate() {
            if !stops.contains(&step.towards) {
                continue;
            }
            let piece = trace.piece(number);
            let mut knot = self.look(simd, room, *step, piece.from, piece.begin);
            let mut open = [true; PAD];
            for i in (0..PAD).filter(|&i| piece.length[i] > 0.0) {
                if last.time[i] == knot.time[i] && last.value[i] == knot.value[i] {
                    open[i] = is_open[i];
                } else if is_open[i] {
                    best.offer(i, last.value[i], last.time[i]);
                }
            }
            let mut reach = [0.0; PAD];
            for part in 1..=PARTS {
                let until = piece.length.map(|length| length * part as f64 / PARTS as f64);
                let next = if part == PARTS {
                    self.look(simd, room, *step, piece.to, piece.end)
                } else {
                    self.inside(simd, room, *step, &piece, &until)
                };
                let mut has_root = [false; PAD];
                for i in (0..PAD).filter(|&i| piece.length[i] > 0.0) {
                    has_root[i] = knot.slope[i] > 0.0 && next.slope[i] <= 0.0;
                    if open[i] && !has_root[i] {
                        best.offer(i, knot.value[i], knot.time[i]);
                    }
                    open[i] = !has_root[i];
                }
                if has_root.contains(&true) {
                    let ends = [(reach, knot.slope), (until, next.slope)];
                    let top = self.root(simd, room, *step, &piece, ends, has_root);
                    for i in (0..PAD).filter(|&i| has_root[i]) {
                        best.offer(i, top.value[i], top.time[i]);
                    }
                }
                (reach, knot) = (until, next);
            }
            for i in (0..PAD).filter(|&i| piece.length[i] > 0.0) {
                (last.time[i], last.value[i]) = (knot.time[i], knot.value[i]);
                is_open[i] = open[i];
            }
        }
        for i in (0..PAD).filter(|&i| is_open[i]) {
            best.offer(i, last.value[i], last.time[i]);
        }
        let known = |i: usize| !best.is_bad[i] && best.value[i] > f64::NEG_INFINITY;
        let value =
            std::array::from_fn(|i| if known(i) { self.sense * best.value[i] } else { f64::NAN });
        [value, std::array::from_fn(|i| if known(i) { best.time[i] } else { f64::NAN })]
    }

    /// Finds where the slope becomes 0 between two points of a step, for the samples that have such
    /// a root.
    #[inline(always)]
    fn root<S: Simd>(
        &self,
        simd: S,
        room: &mut SoughtRoom<'_>,
        step: Step,
        piece: &Piece<'_>,
        [(mut a, mut at_a), (mut b, mut at_b)]: [(Block, Block); 2],
        mut is_open: [bool; PAD],
    ) -> Knot {
        let none = [f64::NAN; PAD];
        let mut top = Knot { time: none, value: none, slope: none };
        let (mut tried, mut side) = (a, [0_i8; PAD]);
        for _ in 0..MOST_TRIES {
            let before = tried;
            for i in (0..PAD).filter(|&i| is_open[i]) {
                let between = (a[i] * at_b[i] - b[i] * at_a[i]) / (at_b[i] - at_a[i]);
                let inside = between >= a[i] && between <= b[i];
                tried[i] = if inside { between } else { 0.5 * (a[i] + b[i]) };
            }
            let knot = self.inside(simd, room, step, piece, &tried);
            let due = is_open;
            for i in (0..PAD).filter(|&i| due[i]) {
                top.value[i] = knot.value[i];
                top.time[i] = knot.time[i];
                // False position; an end that stays gets half the weight the next time (Illinois).
                if knot.slope[i] > 0.0 {
                    (a[i], at_a[i]) = (tried[i], knot.slope[i]);
                    at_b[i] *= if side[i] == 1 { 0.5 } else { 1.0 };
                    side[i] = 1;
                } else {
                    (b[i], at_b[i]) = (tried[i], knot.slope[i]);
                    at_a[i] *= if side[i] == -1 { 0.5 } else { 1.0 };
                    side[i] = -1;
                }
                let close = FOUND * piece.length[i];
                let rests = (tried[i] - before[i]).abs() <= close || b[i] - a[i] <= close;
                is_open[i] = !(rests || knot.slope[i] == 0.0 || knot.slope[i].is_nan());
            }
            if !is_open.contains(&true) {
                break;
            }
        }
        top
    }

    /// The knot at this distance into a step.
    #[inline(always)]
    fn inside<S: Simd>(
        &self,
        simd: S,
        room: &mut SoughtRoom<'_>,
        step: Step,
        piece: &Piece<'_>,
        reach: &Block,
    ) -> Knot {
        let n = piece.from.len();
        room.inputs[..n].copy_from_slice(piece.from);
        room.inputs[n] = *piece.begin;
        room.inputs[n + 1] = *reach;
        let stop = self.first_stop + step.towards;
        let (within, to) = (&mut *room.within, &mut room.place[..n]);
        self.within.states(simd, within, (step.kind, stop), room.inputs, to);
        room.place[n] = std::array::from_fn(|i| piece.begin[i] + reach[i]);
        self.at_place(simd, room, step, n)
    }

    /// The knot at an end of a step.
    #[inline(always)]
    fn look<S: Simd>(
        &self,
        simd: S,
        room: &mut SoughtRoom<'_>,
        step: Step,
        states: &[Block],
        time: &Block,
    ) -> Knot {
        let n = states.len();
        room.place[..n].copy_from_slice(states);
        room.place[n] = *time;
        self.at_place(simd, room, step, n)
    }

    #[inline(always)]
    fn at_place<S: Simd>(
        &self,
        simd: S,
        room: &mut SoughtRoom<'_>,
        step: Step,
        states: usize,
    ) -> Knot {
        let mut found = [[0.0; PAD]; 2];
        let stop = self.first_stop + step.towards;
        self.look.apply(simd, room.look, stop, room.place, &mut found);
        let [value, slope] = found.map(|row| row.map(|x| self.sense * x));
        Knot { time: room.place[states], value, slope }
    }
}
