//! Evaluates requests about a target on a rank.

use super::evaluation::{Asked, answer, asked};
use crate::target::{Evaluation, Target};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

/// The most coordinates of a point named in an error.
const NAMED: usize = 12;

/// A target that answers requests. It lives as long as its process, because the more accurate twin
/// borrows from it.
pub struct Answering {
    target: &'static dyn Target,
    tightened: OnceLock<Option<Box<dyn Target>>>,
}

impl Answering {
    /// Answers requests for this target.
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self { target: &**Box::leak(Box::new(target)), tightened: OnceLock::new() }
    }

    /// The reply to a request.
    ///
    /// # Errors
    /// Errors of the target, or a message with the point if it panicked.
    pub fn answer(&self, question: &[u8]) -> Result<Vec<u8>, String> {
        let asked = asked(question).ok_or("unreadable request")?;
        let target = match asked.is_tightened {
            false => self.target,
            true => {
                let twin = self.tightened.get_or_init(|| self.target.tightened());
                twin.as_deref().ok_or("the target has no tightened version")?
            }
        };
        if asked.points.dim() != target.dim() {
            let (found, expected) = (asked.points.dim(), target.dim());
            return Err(format!("points with {found} coordinates for a target of {expected}"));
        }
        let mut found = Evaluation::zeros(target.dim(), asked.points.len());
        let evaluate = || target.evaluate(&asked.points, asked.gradient, &mut found);
        match catch_unwind(AssertUnwindSafe(evaluate)) {
            Ok(Ok(())) => Ok(answer(&asked, &found)),
            Ok(Err(error)) => Err(with_place(&error.to_string(), target, &asked)),
            Err(panic) => {
                let said = crate::tasks::message(&*panic);
                Err(with_place(&format!("the target panicked: {said}"), target, &asked))
            }
        }
    }
}

/// The error with the point, unless the message names the point already.
fn with_place(error: &str, target: &dyn Target, asked: &Asked) -> String {
    let first = target.names().first().map(|name| format!("{name} = {}", asked.points.row(0)[0]));
    match first.is_some_and(|first| error.contains(&first)) {
        true => error.to_owned(),
        false => format!("{}: {error}", place(target, asked)),
    }
}

/// The point of a request, in the target's own coordinates.
fn place(target: &dyn Target, asked: &Asked) -> String {
    let point = asked.points.point(0);
    let mut named: Vec<String> = target
        .names()
        .iter()
        .zip(&point)
        .take(NAMED)
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if point.len() > NAMED {
        named.push(format!("and {} more", point.len() - NAMED));
    }
    let first = named.join(", ");
    match asked.points.len() {
        1 => format!("at {first}"),
        count => format!("at one of {count} points, the first of which is {first}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{evaluation::question, subject_of};
    use super::*;
    use crate::{Batch, target::pointwise};

    #[test]
    fn what_is_no_question_is_refused() {
        let answering = Answering::new(Arc::new(pointwise(3, |_, _| 0.0)));
        let whole = question(5, false, None, &Batch::zeros(3, 2), &(0..2));
        assert!(answering.answer(&whole).is_ok());
        assert_eq!((subject_of(&whole), subject_of(&[])), (Some(5), None));
        for len in 0..whole.len() {
            assert!(answering.answer(&whole[..len]).is_err(), "{len}");
        }
        let other = question(5, false, None, &Batch::zeros(2, 2), &(0..2));
        assert!(answering.answer(&other).unwrap_err().contains("2 coordinates for a target of 3"));
    }
}
