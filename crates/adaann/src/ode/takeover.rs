//! Samples that go over to another method on their way, each by itself.
//!
//! Every sample begins with explicit steps. These are looked at from time to time, and a sample that is
//! found stiff again and again has steps for stiff systems for the rest of its way. Both kinds of
//! steps run over all samples of a block; those that the other kind belongs to have 0 as their next step and stand
//! still. When a sample goes over depends on that sample alone, and not on its companions.

use super::System;
use super::grid::Grid;
use super::late::Late;
use super::layout::Layout;
use super::method::{Method, Pair, Tolerances};
use super::step;
use super::stiffness::{ENOUGH, LOOK_EVERY, evidence, look};
use crate::batch::PAD;
use crate::program::{Block, Prepared, Room};
use fearless_simd::Simd;

/// Which of the two methods a step is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// The one that every sample begins with.
    #[default]
    First,
    /// The one for samples that have gone over.
    Stiff,
}

/// Where the samples of a block are, between the two methods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    /// Whose room has the rows.
    pub(super) kind: Kind,
    /// Samples that have gone over, and whether there are any.
    stiff: [bool; PAD],
    any_stiff: bool,
    /// The next steps of those that the other kind belongs to.
    next: Block,
    /// Steps that a sample has left when it is next looked at.
    look_at: Block,
    /// Steps until the look after that.
    pause: Block,
    /// Steps for which none is looked at.
    quiet: f64,
    /// What the looks in a row that found it stiff add up to.
    found: [u8; PAD],
}

impl Lanes {
    pub(super) fn new(tolerances: &Tolerances) -> Self {
        Self {
            kind: Kind::First,
            stiff: [false; PAD],
            any_stiff: false,
            next: [0.0; PAD],
            look_at: [tolerances.most_steps as f64 - LOOK_EVERY; PAD],
            pause: [LOOK_EVERY; PAD],
            quiet: LOOK_EVERY,
            found: [0; PAD],
        }
    }

    fn belongs(&self, sample: usize, kind: Kind) -> bool {
        self.stiff[sample] == (kind == Kind::Stiff)
    }

    /// Whose step is due, for samples at `time` that are to arrive at `end`; `next` is in the room's rows.
    #[inline(always)]
    pub(super) fn due(&self, time: &Block, next: &Block, end: &Block) -> Option<Kind> {
        if !self.any_stiff {
            return (!have_arrived(time, next, end)).then_some(Kind::First);
        }
        let waits = |kind: Kind| {
            let next = if kind == self.kind { next } else { &self.next };
            (0..PAD).any(|i| self.belongs(i, kind) && time[i] != end[i] && next[i] != 0.0)
        };
        [Kind::First, Kind::Stiff].into_iter().find(|kind| waits(*kind))
    }

    /// Steps until a sample that goes on is to be looked at.
    fn until_look(&self, left: &Block, next: &Block) -> f64 {
        let until =
            |i: usize| if next[i] == 0.0 { f64::INFINITY } else { left[i] - self.look_at[i] };
        (0..PAD).map(until).fold(f64::INFINITY, f64::min)
    }

    /// Gives the next steps to the samples of another kind, and keeps those of the others.
    fn turn_to(&mut self, kind: Kind, next: &mut Block) {
        for i in 0..PAD {
            if self.belongs(i, self.kind) {
                self.next[i] = next[i];
            }
            next[i] = if self.belongs(i, kind) { self.next[i] } else { 0.0 };
        }
        self.kind = kind;
    }
}

/// Are all samples at `end`, or lost?
#[inline(always)]
pub(super) fn have_arrived(time: &Block, next: &Block, end: &Block) -> bool {
    (0..PAD).all(|i| time[i] == end[i] || next[i] == 0.0)
}

/// What takes over.
#[derive(Debug)]
pub(super) struct Takeover {
    system: System,
    tolerances: Tolerances,
    layout: Layout,
    settings: Vec<Vec<f64>>,
    look: Late,
    step: Late,
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(super) struct TakeoverRoom {
    look: Option<Room>,
    /// Its inputs are the rows: the carry, then the parameters.
    step: Option<Room>,
    pub(super) lanes: Lanes,
}

impl Takeover {
    pub(super) fn new(
        system: &System,
        tolerances: Tolerances,
        layout: &Layout,
        grid: &Grid,
    ) -> Self {
        Self {
            system: system.clone(),
            layout: layout.clone(),
            settings: grid.settings().map(<[f64]>::to_vec).collect(),
            look: Late::default(),
            step: Late::default(),
            tolerances,
        }
    }

    pub(super) fn room(&self) -> TakeoverRoom {
        TakeoverRoom { look: None, step: None, lanes: Lanes::new(&self.tolerances) }
    }

    /// Everybody back to the first method.
    pub(super) fn begin(&self, room: &mut TakeoverRoom) {
        room.lanes = Lanes::new(&self.tolerances);
    }

    /// The rows in the room of the second method.
    pub(super) fn rows<'r>(&self, room: &'r TakeoverRoom) -> &'r [Block] {
        room.step.as_ref().map_or(&[], Room::inputs)
    }

    /// The same, to write.
    pub(super) fn rows_mut<'r>(&self, room: &'r mut TakeoverRoom) -> &'r mut [Block] {
        room.step.as_mut().map_or(&mut [], Room::inputs_mut)
    }

    /// A step of the second method with these uniforms, from rows that are there or, after a step of the
    /// first, in `first`.
    #[inline(always)]
    pub(super) fn step<S: Simd>(
        &self,
        simd: S,
        room: &mut TakeoverRoom,
        setting: usize,
        first: &[Block],
    ) {
        let (prepared, own) = self.step.get(&mut room.step, || {
            let method = Method::Adaptive(Pair::Rodas, self.tolerances);
            let recorded = step::step(&self.system, &method, &self.layout);
            let settings = self.settings.iter().map(Vec::as_slice);
            Prepared::feeding_back(recorded, self.layout.rows(), 0, settings)
        });
        if room.lanes.kind == Kind::First {
            let rows = own.inputs_mut();
            rows.copy_from_slice(first);
            room.lanes.turn_to(Kind::Stiff, &mut rows[self.layout.next()]);
        }
        prepared.run(simd, own, setting);
        for row in 0..self.layout.carry() {
            prepared.routine.feed_back(own, row, row);
        }
    }

    /// Brings the rows back to the first method's, if they are not there.
    #[inline(always)]
    pub(super) fn give_back(&self, room: &mut TakeoverRoom, first: &mut [Block]) {
        if room.lanes.kind == Kind::Stiff {
            let carry = self.layout.carry();
            first[..carry].copy_from_slice(&self.rows(room)[..carry]);
            room.lanes.turn_to(Kind::First, &mut first[self.layout.next()]);
        }
    }

    /// Puts down a carry and lanes of another moment.
    pub(super) fn restore(&self, room: &mut TakeoverRoom, carry: &[Block], lanes: Lanes) {
        room.lanes = lanes;
        if let (Kind::Stiff, Some(own)) = (lanes.kind, &mut room.step) {
            own.inputs_mut()[..carry.len()].copy_from_slice(carry);
        }
    }

    /// Looks at the samples that are due for it, after a step of the first method. Those that go over
    /// stand still in its rows from now on.
    #[inline(always)]
    pub(super) fn look<S: Simd>(
        &self,
        simd: S,
        room: &mut TakeoverRoom,
        setting: usize,
        rows: &mut [Block],
    ) {
        room.lanes.quiet -= 1.0;
        if room.lanes.quiet <= 0.0 {
            let (left, next) = (self.layout.left(), self.layout.next());
            if room.lanes.until_look(&rows[left], &rows[next]) <= 0.0 {
                self.look_closely(simd, room, setting, rows);
            }
            room.lanes.quiet = room.lanes.until_look(&rows[left], &rows[next]);
        }
    }

    #[inline(never)]
    fn look_closely<S: Simd>(
        &self,
        simd: S,
        room: &mut TakeoverRoom,
        setting: usize,
        rows: &mut [Block],
    ) {
        let mut found = [[0.0; PAD]; 2];
        let (prepared, own) = self.look.get(&mut room.look, || {
            let recorded = look(&self.system, &self.tolerances, &self.layout);
            let settings = self.settings.iter().map(Vec::as_slice);
            Prepared::new(recorded, self.layout.rows(), settings)
        });
        prepared.apply(simd, own, setting, rows, &mut found);
        let (lanes, [fastest, moved]) = (&mut room.lanes, found);
        for i in 0..PAD {
            if rows[self.layout.left()][i] > lanes.look_at[i] {
                continue;
            }
            // One that was found as it should be is looked at again after twice as many steps.
            let more = evidence(fastest[i], moved[i]);
            (lanes.found[i], lanes.pause[i]) = match more {
                0 => (0, 2.0 * lanes.pause[i]),
                _ => (lanes.found[i] + more, LOOK_EVERY),
            };
            lanes.look_at[i] -= lanes.pause[i];
            if lanes.found[i] >= ENOUGH {
                (lanes.stiff[i], lanes.any_stiff) = (true, true);
                lanes.look_at[i] = f64::NEG_INFINITY;
                let next = &mut rows[self.layout.next()][i];
                lanes.next[i] = std::mem::replace(next, 0.0);
            }
        }
    }
}
