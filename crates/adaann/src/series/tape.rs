//! Data that the forward pass stores for the backward pass: the memory of each stretch of a window,
//! as its program left it, and the states at the start of each window.

use crate::program::{Block, Rows};

/// The most blocks of a window: 4 MiB.
const MOST_BLOCKS: usize = (4 << 20) / size_of::<Block>();

/// The memory of some stretches.
#[derive(Debug)]
pub(super) struct Tape {
    /// Blocks per stretch, and stretches per window.
    width: usize,
    window: usize,
    memory: Rows,
    states: usize,
    /// The states before the first stretch of each window.
    beginnings: Rows,
}

/// Stretches per window, given the blocks per stretch.
pub(super) fn window(width: usize, stretches: usize) -> usize {
    stretches.clamp(1, (MOST_BLOCKS / width.max(1)).max(1))
}

impl Tape {
    pub(super) fn new(states: usize, width: usize, window: usize) -> Self {
        let (memory, beginnings) = (Rows::default(), Rows::default());
        Self { width, window, memory, states, beginnings }
    }

    /// The memory of a stretch that starts from these states.
    #[inline(always)]
    pub(super) fn begin(&mut self, stretch: usize, states: &[Block]) -> &mut [Block] {
        let (number, slot, n) = (stretch / self.window, stretch % self.window, self.states);
        if slot == 0 {
            self.beginnings.grow((number + 1) * n);
            self.beginnings[number * n..][..n].copy_from_slice(states);
        }
        self.memory.grow((slot + 1) * self.width);
        self.of(stretch)
    }

    /// The memory of a stretch in the current window.
    #[inline(always)]
    pub(super) fn of(&mut self, stretch: usize) -> &mut [Block] {
        &mut self.memory[stretch % self.window * self.width..][..self.width]
    }

    /// The states at the start of a window.
    pub(super) fn beginning(&self, window: usize) -> &[Block] {
        &self.beginnings[window * self.states..][..self.states]
    }
}
