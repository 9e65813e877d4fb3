//! No annealing: t = 1 from the start.

use super::{Draws, Position, Rule, ScheduleError, Step};

/// The single value t = 1: the density is approximated directly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Single;

impl Rule for Single {
    fn first(&self) -> f64 {
        1.0
    }

    fn needs_draws(&self) -> bool {
        false
    }

    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        super::planned(at, 1.0)
    }

    fn count(&self) -> Option<usize> {
        Some(1)
    }

    fn check(&self, _: bool) -> crate::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_one_value() {
        let at = Position::start(&Single);
        assert_eq!(at.t, 1.0);
        assert_eq!(Single.next(at, &Draws::default()), Err(ScheduleError::Ended));
    }
}
