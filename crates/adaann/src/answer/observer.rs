//! What the ladder reports to its observer, and how the observer stops it.

use super::Rung;
use crate::{chains, fit, smc};
use std::ops::ControlFlow;

/// An event of the ladder.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A part of the work begins.
    Begins {
        /// A short description of the part.
        what: &'a str,
        /// The evaluations of the target so far.
        evaluations: usize,
        /// The expected evaluations of this part, and of all following parts if this one leads to an
        /// answer: accurate to a factor of about two.
        to_come: (usize, usize),
    },
    /// Particles have moved at a new temperature.
    Particles(&'a smc::Stage),
    /// Chains have made an iteration.
    Chains(&'a chains::Progress),
    /// An event of the flow's training.
    Fit(&'a fit::Event<'a>),
    /// A rung is done.
    Left(&'a Rung),
}

/// Watches the ladder. It may be called from another thread than the one that started the ladder.
pub trait Observer: Send {
    /// Receives an event; `Break` ends the work after it, with the best result so far.
    fn observe(&mut self, event: &Event) -> ControlFlow<()>;
}

/// Ignores all events.
impl Observer for () {
    fn observe(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Event) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        self(event)
    }
}
