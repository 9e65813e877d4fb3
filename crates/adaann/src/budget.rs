//! The budget of a run: evaluations of the target, and time.

use std::time::{Duration, Instant};

/// The evaluations and time that may be spent from now on; unlimited by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    evaluations: Option<usize>,
    until: Option<Instant>,
    /// How long after its time a run may still evaluate its target, to finish a batch.
    grace: Duration,
    /// The time per evaluation; zero if unknown.
    each: Duration,
}

/// Evaluations that any part of a run may make, however little time is left.
const FEWEST_IN_TIME: usize = 16;

/// The grace is this part of the time, or a second if that is more.
const GRACE_PARTS: u32 = 20;
const LEAST_GRACE: Duration = Duration::from_secs(1);

impl Budget {
    /// A budget of evaluations, and of time from now.
    pub fn new(evaluations: Option<usize>, time: Option<Duration>) -> Self {
        // A time that the clock cannot represent is no limit.
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let grace = time.map_or(Duration::ZERO, |time| (time / GRACE_PARTS).max(LEAST_GRACE));
        Self { evaluations, until, grace, each: Duration::ZERO }
    }

    /// The budget that remains after `used` evaluations.
    #[must_use]
    pub fn after(self, used: usize) -> Self {
        let evaluations = self.evaluations.map(|most| most.saturating_sub(used));
        Self { evaluations, ..self }
    }

    /// A share of the evaluations and of the time that are left.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        self.share_of_evaluations(share).share_of_time(share)
    }

    /// A share of the evaluations that are left, in the same time.
    #[must_use]
    pub fn share_of_evaluations(self, share: f64) -> Self {
        let evaluations = self.evaluations.map(|most| (share * most as f64) as usize);
        Self { evaluations, ..self }
    }

    /// The same evaluations, in a share of the time that is left.
    #[must_use]
    pub fn share_of_time(self, share: f64) -> Self {
        let now = Instant::now();
        let until = self.until.map(|until| {
            let left = until.saturating_duration_since(now);
            now + Duration::try_from_secs_f64(share * left.as_secs_f64()).unwrap_or(left)
        });
        Self { until, ..self }
    }

    /// The same budget with `each` as the time per evaluation.
    #[must_use]
    pub fn at_pace(self, each: Duration) -> Self {
        Self { each, ..self }
    }

    /// Whether nothing is left after `used` evaluations.
    pub fn is_spent(&self, used: usize) -> bool {
        self.evaluations.is_some_and(|most| used >= most)
            || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Evaluations that are left, or fewer if the remaining time allows fewer.
    pub fn evaluations(&self) -> usize {
        self.evaluations.unwrap_or(usize::MAX).min(self.in_time())
    }

    /// The evaluations that are left, but at least `fewest` unless the remaining time allows fewer.
    pub fn at_least(&self, fewest: usize) -> usize {
        self.part(1, fewest)
    }

    /// One of `parts` equal parts of the evaluations that are left, but at least `fewest` unless
    /// the remaining time allows fewer.
    pub fn part(&self, parts: usize, fewest: usize) -> usize {
        let in_time = (self.in_time() / parts).max(FEWEST_IN_TIME);
        (self.evaluations() / parts).max(fewest.min(in_time))
    }

    /// When the time runs out.
    pub fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// When the target may be asked no more: the deadline, and some time to finish what was begun.
    pub fn last_moment(&self) -> Option<Instant> {
        self.until.and_then(|until| until.checked_add(self.grace))
    }

    /// Evaluations that the time allows for.
    fn in_time(&self) -> usize {
        match self.until {
            Some(until) if !self.each.is_zero() => {
                let left = until.saturating_duration_since(Instant::now());
                usize::try_from(left.as_nanos() / self.each.as_nanos()).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        }
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

    #[test]
    fn time_is_as_many_evaluations_as_it_allows_for() {
        let hour = Duration::from_secs(3_600);
        let hours = Budget::new(None, Some(2 * hour));
        assert_eq!(hours.evaluations(), usize::MAX);
        let known = hours.at_pace(Duration::from_secs(1));
        // Allow up to a minute for the test itself.
        assert!((7_140..=7_200).contains(&known.evaluations()));
        assert!((1_740..=1_800).contains(&known.share(0.25).evaluations()));
        assert_eq!(Budget { evaluations: Some(5), ..known }.evaluations(), 5);
        assert_eq!(hours.at_pace(hour).evaluations(), 1);
        let sooner = Budget { evaluations: Some(8), ..known }.share_of_time(0.25);
        assert_eq!((sooner.evaluations(), sooner.deadline() < known.deadline()), (8, true));
    }

    #[test]
    fn some_are_made_whatever_is_left() {
        assert_eq!(Budget::new(Some(3), None).at_least(200), 200);
        assert_eq!(Budget::new(Some(300), None).at_least(200), 300);
        assert_eq!(Budget::new(Some(300), None).part(3, 20), 100);
        let late = Budget::new(None, Some(Duration::ZERO)).at_pace(Duration::from_secs(1));
        assert_eq!((late.at_least(200), late.at_least(3)), (FEWEST_IN_TIME, 3));
        assert_eq!(Budget::default().at_least(200), usize::MAX);
    }
}
