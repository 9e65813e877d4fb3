//! Switches individual samples to another method during the solution.
//!
//! Every sample begins with explicit steps. They are checked from time to time, and a sample that
//! is repeatedly found stiff takes steps for stiff systems from then on. Both kinds of steps run
//! over all samples of a block; samples of the other kind have 0 as their next step and do not
//! move. The time of a sample's switch depends on that sample alone, not on the others.

use super::System;
use super::grid::Grid;
use super::layout::Layout;
use super::lazy::Lazy;
use super::method::{Method, Pair, Tolerances};
use super::step;
use super::stiffness::{ENOUGH, LOOK_EVERY, evidence, look};
use crate::batch::PAD;
use crate::program::{Block, Prepared, Room};
use fearless_simd::Simd;

/// The method of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// The method with which every sample begins.
    #[default]
    First,
    /// The method for samples that have switched.
    Stiff,
}

/// The method of each sample in a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    /// The method whose room holds the rows.
    pub(super) kind: Kind,
    /// Samples that have switched, and whether there are any.
    stiff: [bool; PAD],
    any_stiff: bool,
    /// The next steps of samples of the other kind.
    next: Block,
    /// The number of tries left at which a sample is next checked.
    look_at: Block,
    /// Steps from then until the following check.
    pause: Block,
    /// Steps during which no sample needs a check.
    quiet: f64,
    /// The evidence from successive checks that found the sample stiff.
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

    /// The method whose step is due, for samples at `time` on their way to `end`; `next` is in the
    /// room's rows.
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

    /// Steps until the next check of any active sample.
    fn until_look(&self, left: &Block, next: &Block) -> f64 {
        let until =
            |i: usize| if next[i] == 0.0 { f64::INFINITY } else { left[i] - self.look_at[i] };
        (0..PAD).map(until).fold(f64::INFINITY, f64::min)
    }

    /// Restores the next steps of samples of this kind, and saves those of the others.
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

/// Whether every sample has reached `end` or failed.
#[inline(always)]
pub(super) fn have_arrived(time: &Block, next: &Block, end: &Block) -> bool {
    (0..PAD).all(|i| time[i] == end[i] || next[i] == 0.0)
}

/// The method for stiff samples, and its checks.
#[derive(Debug)]
pub(super) struct Takeover {
    system: System,
    tolerances: Tolerances,
    layout: Layout,
    settings: Vec<Vec<f64>>,
    look: Lazy,
    step: Lazy,
}

/// The memory that a thread needs to run it.
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
            look: Lazy::default(),
            step: Lazy::default(),
            tolerances,
        }
    }

    pub(super) fn room(&self) -> TakeoverRoom {
        TakeoverRoom { look: None, step: None, lanes: Lanes::new(&self.tolerances) }
    }

    /// Resets all samples to the first method.
    pub(super) fn begin(&self, room: &mut TakeoverRoom) {
        room.lanes = Lanes::new(&self.tolerances);
    }

    /// The rows in the room of the second method.
    pub(super) fn rows<'r>(&self, room: &'r TakeoverRoom) -> &'r [Block] {
        room.step.as_ref().map_or(&[], Room::inputs)
    }

    /// The rows in the room of the second method, mutable.
    pub(super) fn rows_mut<'r>(&self, room: &'r mut TakeoverRoom) -> &'r mut [Block] {
        room.step.as_mut().map_or(&mut [], Room::inputs_mut)
    }

    /// Runs a step of the second method with these uniforms, from the rows in its room or, after a
    /// step of the first method, from those in `first`.
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

    /// Copies the rows back to the first method's room, unless they are there already.
    #[inline(always)]
    pub(super) fn give_back(&self, room: &mut TakeoverRoom, first: &mut [Block]) {
        if room.lanes.kind == Kind::Stiff {
            let carry = self.layout.carry();
            first[..carry].copy_from_slice(&self.rows(room)[..carry]);
            room.lanes.turn_to(Kind::First, &mut first[self.layout.next()]);
        }
    }

    /// Restores a carry and lanes from another time.
    pub(super) fn restore(&self, room: &mut TakeoverRoom, carry: &[Block], lanes: Lanes) {
        room.lanes = lanes;
        if let (Kind::Stiff, Some(own)) = (lanes.kind, &mut room.step) {
            own.inputs_mut()[..carry.len()].copy_from_slice(carry);
        }
    }

    /// Checks the samples that are due, after a step of the first method. Those that switch no
    /// longer move in its rows.
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
            // If the step length was appropriate, the next check comes after twice as many steps.
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
