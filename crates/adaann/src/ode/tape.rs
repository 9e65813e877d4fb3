//! Data that the forward pass stores for the backward pass.

use super::forward::{Beat, Watch};
use super::grid::{Grid, Way};
use super::layout::Layout;
use super::takeover::{Kind, Lanes};
use crate::program::{Block, Rows};

/// The states before the steps of a window, at all stops and at events.
#[derive(Debug)]
pub(super) struct Tape {
    pub(super) layout: Layout,
    pub(super) window: usize,
    pub(super) adaptive: bool,
    /// x before each step of the window, followed for adaptive methods by the time before the step
    /// and the step taken.
    pub(super) records: Rows,
    /// The carry at the start of each window, and the methods of the samples there.
    pub(super) checkpoints: Rows,
    pub(super) lanes: Vec<Option<Lanes>>,
    /// The method of each step.
    pub(super) kinds: Vec<Kind>,
    /// Steps taken before each stop, and x there.
    pub(super) steps_until: Vec<usize>,
    pub(super) stops: Rows,
    /// Events at sample-dependent times, and x and the time there.
    pub(super) beats: Vec<Beat>,
    pub(super) at_beats: Rows,
    pub(super) steps: usize,
}

impl Tape {
    /// For windows of this many steps on the courses of a grid.
    pub(super) fn new(layout: &Layout, window: usize, grid: &Grid) -> Self {
        Self {
            layout: layout.clone(),
            window,
            adaptive: grid.most_steps().is_none(),
            records: Rows::default(),
            checkpoints: Rows::default(),
            lanes: Vec::new(),
            kinds: Vec::new(),
            steps_until: Vec::with_capacity(grid.most_stops()),
            stops: Rows::zeros(grid.most_stops() * layout.states),
            beats: Vec::new(),
            at_beats: Rows::default(),
            steps: 0,
        }
    }

    #[inline(always)]
    pub(super) fn record(&mut self, slot: usize) -> &mut [Block] {
        let width = self.layout.tape();
        self.records.grow((slot + 1) * width);
        &mut self.records[slot * width..][..width]
    }

    #[inline(always)]
    pub(super) fn keep_before(&mut self, slot: usize, rows: &[Block]) {
        let (n, time) = (self.layout.states, self.layout.time());
        let adaptive = self.adaptive;
        let record = self.record(slot);
        record[..n].copy_from_slice(&rows[..n]);
        if adaptive {
            record[n] = rows[time];
        }
    }

    #[inline(always)]
    pub(super) fn keep_after(&mut self, slot: usize, rows: &[Block]) {
        if self.adaptive {
            let (n, taken) = (self.layout.states, self.layout.taken());
            self.record(slot)[n + 1] = rows[taken];
        }
    }
}

impl Watch for Tape {
    #[inline(always)]
    fn begin(&mut self) {
        self.steps_until.clear();
        self.lanes.clear();
        self.kinds.clear();
        self.beats.clear();
        self.steps = 0;
    }

    #[inline(always)]
    fn before_step(&mut self, step: usize, lanes: Option<&Lanes>, rows: &[Block]) {
        let slot = step % self.window;
        if slot == 0 {
            let (carry, window) = (self.layout.carry(), step / self.window);
            self.checkpoints.grow((window + 1) * carry);
            self.checkpoints[window * carry..][..carry].copy_from_slice(&rows[..carry]);
            self.lanes.push(lanes.copied());
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
    fn at_event(&mut self, beat: Beat, rows: &[Block]) {
        let (n, time, first) = (self.layout.states, self.layout.time(), self.beats.len());
        self.at_beats.grow((first + 1) * (n + 1));
        let kept = &mut self.at_beats[first * (n + 1)..][..n + 1];
        kept[..n].copy_from_slice(&rows[..n]);
        kept[n] = rows[time];
        self.beats.push(beat);
    }

    #[inline(always)]
    fn at_stop(&mut self, _way: &Way, k: usize, steps: usize, rows: &[Block]) {
        self.steps_until.push(steps);
        let n = self.layout.states;
        self.stops[k * n..][..n].copy_from_slice(&rows[..n]);
    }
}
