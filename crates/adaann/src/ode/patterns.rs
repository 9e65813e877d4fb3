//! One routine for each kind of action at stops.

use super::course::{Course, Does};
use crate::program::{Block, Prepared, Recorded, Room};
use fearless_simd::Simd;

/// The routines, and the one that each stop runs.
#[derive(Debug)]
pub(crate) struct Patterns {
    routines: Vec<Prepared>,
    /// Routine and setting of each stop, course after course; `None` if the stop does something
    /// else.
    of: Vec<Option<(usize, usize)>>,
}

impl Patterns {
    /// Compiles `count` routines; `which` returns a stop's routine and its numbers.
    pub(super) fn new(
        count: usize,
        courses: &[Course],
        which: impl Fn(&Does) -> Option<(usize, &[f64])>,
        inputs: usize,
        record: impl Fn(usize) -> Recorded,
    ) -> Self {
        let mut settings: Vec<Vec<&[f64]>> = vec![Vec::new(); count];
        let mut of = Vec::new();
        for stop in courses.iter().flat_map(|course| &course.stops) {
            of.push(which(&stop.does).map(|(pattern, numbers)| {
                settings[pattern].push(numbers);
                (pattern, settings[pattern].len() - 1)
            }));
        }
        let prepare = |(pattern, settings)| Prepared::new(record(pattern), inputs, settings);
        Self { routines: settings.into_iter().enumerate().map(prepare).collect(), of }
    }

    /// Elementary operations for a sample at all stops.
    pub(super) fn cost(&self) -> f64 {
        self.of.iter().flatten().map(|(pattern, _)| self.routines[*pattern].routine.cost()).sum()
    }

    pub(super) fn rooms(&self) -> Vec<Room> {
        self.routines.iter().map(|prepared| prepared.routine.room()).collect()
    }

    /// Runs the routine of a stop, if it has one.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        rooms: &mut [Room],
        stop: usize,
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        if let Some((pattern, setting)) = self.of[stop] {
            self.routines[pattern].apply(simd, &mut rooms[pattern], setting, inputs, outputs);
        }
    }

    /// The pattern of a stop.
    #[inline(always)]
    pub(super) fn pattern(&self, stop: usize) -> Option<usize> {
        self.of[stop].map(|(pattern, _)| pattern)
    }
}
