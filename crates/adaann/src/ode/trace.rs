//! The steps of a block of samples, stored to be evaluated again.

use super::forward::Watch;
use super::grid::{Grid, Way};
use super::layout::Layout;
use super::takeover::{Kind, Lanes};
use crate::batch::PAD;
use crate::program::{Block, Rows};

/// A step that some samples took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The index of the stop that it leads towards.
    pub(super) towards: usize,
    pub(super) kind: Kind,
}

/// The start and end of a step: states and time at both, and its length, which is 0 for samples
/// that did not move.
pub(super) struct Piece<'a> {
    pub(super) from: &'a [Block],
    pub(super) begin: &'a Block,
    pub(super) to: &'a [Block],
    pub(super) end: &'a Block,
    pub(super) length: &'a Block,
}

/// The steps towards some stops of a course, and the states at all of them.
pub(super) struct Trace<'a> {
    way: &'a Way,
    grid: &'a Grid,
    layout: &'a Layout,
    /// For each stop, whether the steps towards it are stored.
    keeps: &'a [bool],
    towards: usize,
    pub(super) steps: Vec<Step>,
    /// For each step, the states and the time before it, those after it, and its length.
    records: Rows,
    stops: Rows,
}

impl<'a> Trace<'a> {
    pub(super) fn new(way: &'a Way, grid: &'a Grid, layout: &'a Layout, keeps: &'a [bool]) -> Self {
        Self {
            way,
            grid,
            layout,
            keeps,
            towards: 0,
            steps: Vec::new(),
            records: Rows::default(),
            stops: Rows::zeros(way.stops() * layout.states),
        }
    }

    fn width(&self) -> usize {
        2 * self.layout.states + 3
    }

    /// The rows for the step after the stored ones.
    fn next(&mut self) -> &mut [Block] {
        let (first, width) = (self.steps.len() * self.width(), self.width());
        self.records.grow(first + width);
        &mut self.records[first..][..width]
    }

    pub(super) fn piece(&self, step: usize) -> Piece<'_> {
        let (n, width) = (self.layout.states, self.width());
        let record = &self.records[step * width..][..width];
        let (before, rest) = record.split_at(n + 1);
        let (after, length) = rest.split_at(n + 1);
        Piece {
            from: &before[..n],
            begin: &before[n],
            to: &after[..n],
            end: &after[n],
            length: &length[0],
        }
    }

    /// The states at a stop, before any jump.
    pub(super) fn stop(&self, k: usize) -> &[Block] {
        let n = self.layout.states;
        &self.stops[k * n..][..n]
    }
}

impl Watch for Trace<'_> {
    #[inline(always)]
    fn begin(&mut self) {
        self.steps.clear();
        self.towards = 0;
    }

    #[inline(always)]
    fn before_step(&mut self, step: usize, _lanes: Option<&Lanes>, rows: &[Block]) {
        if !self.keeps[self.towards] {
            return;
        }
        let (n, layout, way) = (self.layout.states, self.layout, self.way);
        let time = match way.is_adaptive() {
            true => rows[layout.time()],
            false => [self.grid.fixed(way.setting(self.towards, step))[0]; PAD],
        };
        let record = self.next();
        record[..n].copy_from_slice(&rows[..n]);
        record[n] = time;
    }

    #[inline(always)]
    fn after_step(&mut self, step: usize, kind: Kind, rows: &[Block]) {
        if !self.keeps[self.towards] {
            return;
        }
        let (n, layout, way, towards) = (self.layout.states, self.layout, self.way, self.towards);
        let (time, length) = match way.is_adaptive() {
            true => (rows[layout.time()], rows[layout.taken()]),
            false => {
                let [begin, length] = self.grid.fixed(way.setting(towards, step));
                ([begin + length; PAD], [length; PAD])
            }
        };
        let record = self.next();
        record[n + 1..][..n].copy_from_slice(&rows[..n]);
        record[2 * n + 1] = time;
        record[2 * n + 2] = length;
        if length.iter().any(|length| *length > 0.0) {
            self.steps.push(Step { towards, kind });
        }
    }

    #[inline(always)]
    fn at_stop(&mut self, _way: &Way, k: usize, _steps: usize, rows: &[Block]) {
        let n = self.layout.states;
        self.stops[k * n..][..n].copy_from_slice(&rows[..n]);
        self.towards = k + 1;
    }
}
