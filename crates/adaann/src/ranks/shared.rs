//! A target whose batches are distributed among ranks.

use super::{
    evaluation::{fill, question},
    queue::{Dropped, LOOK_EVERY, Queue, Word},
};
use crate::{
    Batch, Error, Result,
    target::{Evaluation, Support, Target, Weights, hand_on},
};
use std::sync::Arc;

/// Points of a piece for a target that works on blocks of this size.
const BLOCK: usize = 32;

/// A target that is evaluated by whoever takes requests from a queue.
///
/// A batch is split by its length alone. A target that wants whole batches, such as a simulator,
/// distributes them itself and its points are costly, so each point is a piece. Any other target
/// works on blocks of points.
#[derive(Clone)]
pub struct Shared<'a> {
    target: Arc<dyn Target + 'a>,
    queue: Arc<Queue>,
    /// The number by which ranks identify the target.
    subject: u64,
    is_tightened: bool,
    is_over: fn() -> bool,
}

impl<'a> Shared<'a> {
    /// Shares a target that ranks identify by this number.
    pub fn new(target: Arc<dyn Target + 'a>, queue: Arc<Queue>, subject: u64) -> Self {
        Self { target, queue, subject, is_tightened: false, is_over: || false }
    }

    /// The same target, which stops waiting for replies once `is_over` returns true.
    #[must_use]
    pub fn until(self, is_over: fn() -> bool) -> Self {
        Self { is_over, ..self }
    }

    fn piece(&self) -> usize {
        if self.target.wants_whole_batch() { 1 } else { BLOCK }
    }
}

impl Target for Shared<'_> {
    hand_on!(self => self.target);

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let (len, piece) = (points.len(), self.piece());
        let pieces: Vec<_> = (0..len).step_by(piece).map(|at| at..len.min(at + piece)).collect();
        let asked = |range| question(self.subject, self.is_tightened, gradient, points, range);
        let answers = self.queue.ask_all(pieces.iter().map(asked).collect())?;
        let mut missing = pieces.len();
        while missing > 0 {
            match answers.wait(LOOK_EVERY) {
                Ok(Some((_, Word::Note(_)))) => {}
                Ok(Some((i, Word::Answer(answer)))) => {
                    fill(&answer?, &pieces[i], gradient.is_some(), out)?;
                    missing -= 1;
                }
                Ok(None) if (self.is_over)() => {
                    return Err(Error::Target(
                        "the run is stopping and no longer waits for ranks".into(),
                    ));
                }
                // Requests to a failed rank are never answered.
                Ok(None) if self.queue.failure().is_some() => return Err(self.queue.nobody()),
                Ok(None) => {}
                Err(Dropped) => return Err(self.queue.nobody()),
            }
        }
        Ok(())
    }

    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        let twin = self.target.tightened()?;
        // Ranks have a tightened version of the target, but no tightened version of that.
        if self.is_tightened {
            return Some(twin);
        }
        let queue = self.queue.clone();
        let shared = Shared::new(Arc::from(twin), queue, self.subject).until(self.is_over);
        Some(Box::new(Shared { is_tightened: true, ..shared }))
    }
}
