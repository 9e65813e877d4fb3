//! The rows of a step: the states x, then their sensitivities S (forward mode only), then the
//! method's own rows.

use super::System;
use super::method::Method;
use crate::program::{Graph, Node};

/// Rows that an adaptive method carries after the states: the time, the next step to try, the step
/// just taken (0 if it was rejected), the number of tries left and, if samples have their own
/// events, the landing time.
pub(super) const TIME: usize = 0;
pub(super) const NEXT: usize = 1;
pub(super) const TAKEN: usize = 2;
pub(super) const LEFT: usize = 3;
pub(super) const END: usize = 4;

/// The rows of a system for one method.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) states: usize,
    /// Parameters with sensitivities among the rows.
    pub(super) active: Vec<usize>,
    /// Rows of an adaptive method.
    own: usize,
    pub(super) parameters: usize,
}

impl Layout {
    pub(super) fn new(system: &System, method: &Method, active: Vec<usize>) -> Self {
        Self {
            states: system.states().len(),
            active,
            own: match method {
                Method::Fixed => 0,
                Method::Adaptive(..) => END + usize::from(system.has_moving_events()),
            },
            parameters: system.parameters().len(),
        }
    }

    pub(super) fn controls(&self) -> usize {
        self.states * (1 + self.active.len())
    }

    /// Rows that a step reads and writes.
    pub(super) fn carry(&self) -> usize {
        self.controls() + self.own
    }

    /// Rows of a step's inputs: the carry, then the parameters.
    pub(super) fn rows(&self) -> usize {
        self.carry() + self.parameters
    }

    /// Rows of the carry that a reverse step reads: those of the state before the step, followed in
    /// its inputs by the time before it and the step taken.
    pub(super) fn tape(&self) -> usize {
        self.states + if self.own > 0 { 2 } else { 0 }
    }

    /// The rows of an adaptive carry.
    pub(super) fn time(&self) -> usize {
        self.controls() + TIME
    }
    pub(super) fn next(&self) -> usize {
        self.controls() + NEXT
    }
    pub(super) fn taken(&self) -> usize {
        self.controls() + TAKEN
    }
    pub(super) fn left(&self) -> usize {
        self.controls() + LEFT
    }
    /// The landing time of samples with their own events.
    pub(super) fn end(&self) -> Option<usize> {
        (self.own > END).then(|| self.controls() + END)
    }

    /// The parameters, which are the inputs from `first` on.
    pub(super) fn parameters(&self, graph: &mut Graph, first: usize) -> Vec<Node> {
        inputs(graph, first, self.parameters)
    }
}

/// Inputs `first..first + count`.
pub(super) fn inputs(graph: &mut Graph, first: usize, count: usize) -> Vec<Node> {
    (first..first + count).map(|row| graph.input(row as u32)).collect()
}
