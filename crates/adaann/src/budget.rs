//! What a run may spend: evaluations of the target, and time.

use std::time::{Duration, Instant};

/// What may be spent from now on; no more than it takes where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    evaluations: Option<usize>,
    until: Option<Instant>,
}

impl Budget {
    /// So many evaluations, and so much time from now.
    pub fn new(evaluations: Option<usize>, time: Option<Duration>) -> Self {
        // A time that no clock can hold is no limit.
        let until = time.and_then(|time| Instant::now().checked_add(time));
        Self { evaluations, until }
    }

    /// What is left of it after so many evaluations.
    #[must_use]
    pub fn after(self, used: usize) -> Self {
        let evaluations = self.evaluations.map(|most| most.saturating_sub(used));
        Self { evaluations, ..self }
    }

    /// A share of the evaluations that are left; the time stays the same.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        let evaluations = self.evaluations.map(|most| (share * most as f64) as usize);
        Self { evaluations, ..self }
    }

    /// Is there nothing left after so many evaluations?
    pub fn is_spent(&self, used: usize) -> bool {
        self.evaluations.is_some_and(|most| used >= most)
            || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Evaluations that are left.
    pub fn evaluations(&self) -> usize {
        self.evaluations.unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        assert!(!Budget::default().is_spent(usize::MAX));
        let some = Budget::new(Some(10), None);
        assert!(some.is_spent(10) && !some.is_spent(9));
        assert!(some.after(7).is_spent(3) && some.after(99).is_spent(0));
        assert_eq!(some.after(7).evaluations(), 3);
        assert_eq!(some.share(0.7).evaluations(), 7);
        assert_eq!(Budget::default().share(0.1), Budget::default());
        assert!(Budget::new(None, Some(Duration::ZERO)).is_spent(0));
        assert!(!Budget::new(None, Some(Duration::MAX)).is_spent(0));
    }
}
