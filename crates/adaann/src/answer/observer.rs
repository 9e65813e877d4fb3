//! What the ladder tells those who watch it, and how they stop it.

use super::Rung;
use crate::{chains, fit, smc};
use std::ops::ControlFlow;

/// Something happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A part of the work begins.
    Begins {
        /// What is done, in a few words.
        what: &'a str,
        /// Points at which the target was evaluated so far.
        evaluations: usize,
        /// Evaluations that the part is likely to take, and those of all that follows if it comes to an
        /// answer: to a factor of about two.
        to_come: (usize, usize),
    },
    /// Particles have settled at a temperature.
    Particles(&'a smc::Stage),
    /// Chains have made an iteration.
    Chains(&'a chains::Progress),
    /// The flow's training.
    Fit(&'a fit::Event<'a>),
    /// A rung was left.
    Left(&'a Rung),
}

/// Watches the ladder. It may go on in another thread than the one that started it.
pub trait Observer: Send {
    /// Sees an event; `Break` ends the work after it, with the best that is there.
    fn observe(&mut self, event: &Event) -> ControlFlow<()>;
}

/// Watches nothing.
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
