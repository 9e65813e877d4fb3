//! A program for each kind of stretch; each continues from the results of the previous stretch.

use super::stretch::{Kind, Stretch};
use crate::program::{Block, Prepared, Recorded, Room, Rows};
use fearless_simd::Simd;

/// Programs whose results are the first inputs of the next stretch.
#[derive(Debug)]
pub(super) struct Sweep {
    programs: Vec<Prepared>,
    /// The number of results.
    carry: usize,
    /// For each program, the results that are copies of inputs, such as a state that moves to the
    /// next position of a vector. They are read before anything overwrites them.
    moved: Vec<Vec<usize>>,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(super) struct SweepRoom {
    rooms: Vec<Room>,
    /// The program that ran last.
    last: usize,
    between: Rows,
}

impl Sweep {
    /// One program for each kind, with this many inputs.
    pub(super) fn new(
        kinds: &[Kind],
        inputs: impl Fn(usize) -> usize,
        carry: usize,
        record: impl Fn(&Kind) -> Recorded,
    ) -> Self {
        let prepare = |kind: &Kind| {
            let settings = kind.settings.iter().map(Vec::as_slice);
            Prepared::feeding_back(record(kind), inputs(kind.rows()), 0, settings)
        };
        let programs: Vec<Prepared> = kinds.iter().map(prepare).collect();
        let moved = |program: &Prepared| {
            let is_moved =
                |row: &usize| program.routine.is_input(*row).is_some_and(|of| of != *row);
            (0..carry).filter(is_moved).collect()
        };
        Self { moved: programs.iter().map(moved).collect(), programs, carry }
    }

    pub(super) fn room(&self) -> SweepRoom {
        SweepRoom {
            rooms: self.programs.iter().map(|program| program.routine.room()).collect(),
            last: 0,
            between: Rows::zeros(self.carry),
        }
    }

    /// Runs one stretch on the values carried from the last one and the inputs that `lay_down`
    /// adds; returns the carried values.
    #[inline(always)]
    pub(super) fn run<'r, S: Simd>(
        &self,
        simd: S,
        room: &'r mut SweepRoom,
        stretch: Stretch,
        lay_down: impl FnOnce(&mut [Block]),
    ) -> &'r mut [Block] {
        let program = stretch.kind as usize;
        let SweepRoom { rooms, last, between } = room;
        if program != *last {
            let between = &mut between[..self.carry];
            between.copy_from_slice(&rooms[*last].inputs()[..self.carry]);
            rooms[program].inputs_mut()[..self.carry].copy_from_slice(between);
            *last = program;
        }
        let (prepared, own) = (&self.programs[program], &mut rooms[program]);
        lay_down(own.inputs_mut());
        prepared.run(simd, own, stretch.setting as usize);
        let moved = &self.moved[program];
        for &output in moved {
            between[output] = *prepared.routine.output(own, output);
        }
        for output in 0..self.carry {
            if prepared.routine.is_input(output).is_none() {
                prepared.routine.feed_back(own, output, output);
            }
        }
        let inputs = own.inputs_mut();
        for &output in moved {
            inputs[output] = between[output];
        }
        inputs
    }
}

impl SweepRoom {
    /// The inputs of every program.
    pub(super) fn each(&mut self) -> impl Iterator<Item = &mut [Block]> {
        self.rooms.iter_mut().map(Room::inputs_mut)
    }

    /// The inputs of the program that ran last.
    pub(super) fn last_mut(&mut self) -> &mut [Block] {
        self.rooms[self.last].inputs_mut()
    }
}
