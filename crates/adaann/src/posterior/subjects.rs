//! The subjects of a recorded system: their rows, and their events.

use crate::program::Node;

/// Groups of rows with one trajectory each.
#[derive(Debug, Clone)]
pub(crate) struct Subjects {
    /// The subject of each row, from 0.
    pub(crate) of: Vec<u32>,
    /// The time of each subject's start values.
    pub(crate) starts: Vec<f64>,
    /// Whether equations may depend on values shared by the rows of a subject.
    pub(crate) are_grouped: bool,
    /// The events of each subject; times do not decrease.
    pub(crate) events: Vec<Vec<Event>>,
    /// The events of each subject at sample-dependent times.
    pub(crate) moving: Vec<Vec<MovingEvent>>,
    /// The numbers of the stretch at each subject's start.
    pub(crate) stretches: Vec<Vec<f64>>,
}

/// An event at a time.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) time: f64,
    /// Its position among rows of the same time: after the rows before this one.
    pub(crate) before: u32,
    pub(crate) effect: Effect,
}

#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// A jump of the states: its kind, and its numbers.
    Jump(usize, Vec<f64>),
    /// New numbers of the stretch from then on, starting at this index.
    Set(usize, Vec<f64>),
}

/// A jump this long after the moment with this index.
#[derive(Debug, Clone)]
pub(crate) struct MovingEvent {
    pub(crate) moment: usize,
    pub(crate) after: f64,
    pub(crate) jump: usize,
    pub(crate) numbers: Vec<f64>,
}

/// The states after an event, as nodes.
pub(crate) type RecordedJump = Vec<Node>;

impl Event {
    /// Whether it comes before a row.
    pub(super) fn is_before(&self, time: f64, row: u32) -> bool {
        (self.time, self.before) <= (time, row)
    }
}

impl Effect {
    /// Changes the numbers of the stretch, if the event sets any.
    pub(super) fn turn(&self, stretch: &mut [f64]) {
        if let Self::Set(first, numbers) = self {
            stretch[*first..][..numbers.len()].copy_from_slice(numbers);
        }
    }
}

impl Subjects {
    /// A single subject with all rows.
    pub(crate) fn one(rows: usize, start: f64) -> Self {
        Self {
            of: vec![0; rows],
            starts: vec![start],
            are_grouped: false,
            events: vec![Vec::new()],
            moving: vec![Vec::new()],
            stretches: vec![Vec::new()],
        }
    }

    /// The rows of each subject among the given ones, in their order.
    pub(super) fn rows(&self, rows: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
        let mut own = vec![Vec::new(); self.starts.len()];
        rows.for_each(|row| own[self.of[row as usize] as usize].push(row));
        own
    }

    /// The numbers of the stretch that each row ends, one list for each number.
    pub(crate) fn in_rows(&self, times: &[f64], numbers: usize) -> Vec<Vec<f64>> {
        let mut table = vec![vec![f64::NAN; times.len()]; numbers];
        for (subject, rows) in self.rows(0..times.len() as u32).into_iter().enumerate() {
            let (mut own, mut events) =
                (self.stretches[subject].clone(), self.events[subject].iter().peekable());
            for row in rows {
                let time = times[row as usize];
                while let Some(event) = events.next_if(|event| event.is_before(time, row)) {
                    event.effect.turn(&mut own);
                }
                for (column, number) in table.iter_mut().zip(&own) {
                    column[row as usize] = *number;
                }
            }
        }
        table
    }

    /// The first row of each subject.
    pub(super) fn first_rows(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.starts.len()];
        for (row, &subject) in self.of.iter().enumerate().rev() {
            first[subject as usize] = row as u32;
        }
        first
    }

    /// Whether the rows of every subject agree in the given values, one for each row.
    pub(super) fn share<T: PartialEq + Copy>(&self, values: impl Fn(usize) -> T) -> bool {
        let first = self.first_rows();
        let agrees = |(row, &subject): (usize, &u32)| {
            values(row) == values(first[subject as usize] as usize)
        };
        self.of.iter().enumerate().all(agrees)
    }
}
