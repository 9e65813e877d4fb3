//! A target that counts its evaluations and stops them when a run ends.

use super::{Evaluation, Support, Target, Unconstrained, Weights, Workspace, hand_on};
use crate::{Batch, Error, Result};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Wraps a target, counts the values evaluated and measures the time that one takes.
///
/// A point evaluated with its gradient counts as [`Target::values_per_gradient`] values.
///
/// ```
/// use adaann::{Batch, Program, target::{Evaluation, Metered, Target}};
///
/// let target = Program::record(1, |z| -0.5 * z[0].square());
/// let metered = Metered::new(&target);
/// metered.evaluate(&Batch::zeros(1, 5), None, &mut Evaluation::zeros(1, 5))?;
/// assert_eq!(metered.values().get(), 5);
/// let over = Metered::new(&target).until(|| true);
/// assert!(over.evaluate(&Batch::zeros(1, 5), None, &mut Evaluation::zeros(1, 5)).is_err());
/// # Ok::<(), adaann::Error>(())
/// ```
pub struct Metered<'a> {
    target: &'a dyn Target,
    values: Values,
    /// Whether evaluations must stop.
    is_over: fn() -> bool,
    /// When evaluations must stop.
    deadline: Mutex<Option<Instant>>,
    /// The time per value of the last piece, in nanoseconds; 0 if nothing was measured.
    nanoseconds_each: AtomicU64,
}

/// A counter that other threads can read while it grows.
#[derive(Debug, Clone, Default)]
pub struct Values(Arc<AtomicUsize>);

impl Values {
    /// The count.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// The longest time for a piece of a batch when there is a deadline.
const PIECE: Duration = Duration::from_millis(500);

/// Points of a piece while the time per value is unknown.
const FIRST: usize = 4;

impl<'a> Metered<'a> {
    /// Wraps a target with a counter at 0.
    pub fn new(target: &'a dyn Target) -> Self {
        Self {
            target,
            values: Values::default(),
            is_over: || false,
            deadline: Mutex::new(None),
            nanoseconds_each: AtomicU64::new(0),
        }
    }

    /// The same target, failing once `is_over` returns true, so that the work that calls it stops.
    #[must_use]
    pub fn until(self, is_over: fn() -> bool) -> Self {
        Self { is_over, ..self }
    }

    /// Fails with [`Error::OutOfTime`] from this moment on; `None` for never. With a deadline,
    /// batches are evaluated in short pieces, so that the deadline is missed by at most one piece.
    /// Returns the previous deadline.
    pub fn set_deadline(&self, deadline: Option<Instant>) -> Option<Instant> {
        let mut own = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut own, deadline)
    }

    /// The counter of values.
    pub fn values(&self) -> Values {
        self.values.clone()
    }

    /// The approximate time per value, with all threads at work; zero if unknown. It is measured
    /// only when there is a deadline.
    pub fn time_each(&self) -> Duration {
        let threads =
            if self.target.wants_whole_batch() { 1 } else { rayon::current_num_threads() };
        Duration::from_nanos(self.nanoseconds_each.load(Ordering::Relaxed)) / threads as u32
    }

    /// Evaluates some points without a deadline, to measure the time per value. The first call may
    /// take longer than later ones.
    ///
    /// # Errors
    /// Errors of the target.
    pub fn measure(&self, z: &Batch) -> Result<()> {
        let target = Unconstrained::new(self)?;
        for _ in 0..2 {
            target.evaluate(z, None, &mut Workspace::zeros(z.dim(), z.len()))?;
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, deadline: Option<Instant>) -> Result<()> {
        if (self.is_over)() {
            return Err(Error::Target(
                "no further evaluations, because the run is stopping".into(),
            ));
        }
        match deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            true => Err(Error::OutOfTime),
            false => Ok(()),
        }
    }

    /// Points of the next piece: a power of two, so that targets that prepare for each batch size
    /// prepare only a few.
    fn piece(&self, values_per_point: usize) -> usize {
        let each = self.nanoseconds_each.load(Ordering::Relaxed) as u128 * values_per_point as u128;
        if each == 0 {
            return FIRST;
        }
        let points = usize::try_from(PIECE.as_nanos() / each).unwrap_or(usize::MAX).max(1);
        1 << points.ilog2()
    }

    /// Evaluates a batch in pieces, until it is done or the deadline passes.
    fn evaluate_in_pieces(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
        deadline: Instant,
    ) -> Result<()> {
        let values_per_point = self.values_per_point(gradient);
        let (dim, len) = (points.dim(), points.len());
        let mut at = 0;
        while at < len {
            self.check(Some(deadline))?;
            let own = self.piece(values_per_point).min(len - at);
            let since = Instant::now();
            if own == len {
                self.target.evaluate(points, gradient, out)?;
            } else {
                let (mut some, mut found) = (Batch::zeros(dim, own), Evaluation::zeros(dim, own));
                some.copy_points(0, points, at, own);
                self.target.evaluate(&some, gradient, &mut found)?;
                out.log_prior[at..at + own].copy_from_slice(&found.log_prior[..own]);
                out.log_likelihood[at..at + own].copy_from_slice(&found.log_likelihood[..own]);
                if gradient.is_some() {
                    out.gradient.copy_points(at, &found.gradient, 0, own);
                }
            }
            let each = since.elapsed().as_nanos() / (own * values_per_point) as u128;
            let each = u64::try_from(each).unwrap_or(u64::MAX).max(1);
            self.nanoseconds_each.store(each, Ordering::Relaxed);
            self.values.0.fetch_add(own * values_per_point, Ordering::Relaxed);
            at += own;
        }
        Ok(())
    }

    fn values_per_point(&self, gradient: Option<Weights>) -> usize {
        gradient.map_or(1, |of| self.target.values_per_gradient(of))
    }
}

impl Target for Metered<'_> {
    hand_on!(self => self.target);

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        if let Some(deadline) = self.deadline() {
            return self.evaluate_in_pieces(points, gradient, out, deadline);
        }
        self.check(None)?;
        let values = points.len() * self.values_per_point(gradient);
        self.values.0.fetch_add(values, Ordering::Relaxed);
        self.target.evaluate(points, gradient, out)
    }

    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        self.target.tightened()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{pointwise, pointwise_by_differences};
    use std::{sync::atomic::AtomicUsize, thread::sleep};

    const WEIGHTS: Option<Weights> = Some(Weights::ALL);

    /// A batch of `len` points on the diagonal, and the storage for its evaluation.
    fn diagonal(len: usize) -> (Batch, Evaluation) {
        let points: Vec<[f64; 2]> = (0..len).map(|i| [i as f64, i as f64]).collect();
        (Batch::from_points(2, &points), Evaluation::zeros(2, len))
    }

    #[test]
    fn differences_count_by_the_calls_that_they_take() {
        let calls = AtomicUsize::new(0);
        let target = pointwise_by_differences(2, |x| {
            calls.fetch_add(1, Ordering::Relaxed);
            -x[0] * x[0] - x[1]
        });
        let metered = Metered::new(&target);
        let (points, mut out) = diagonal(7);
        metered.evaluate(&points, WEIGHTS, &mut out).unwrap();
        metered.evaluate(&points, None, &mut out).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 7 * 5 + 7);
        assert_eq!(metered.values().get(), 7 * 5 + 7);
    }

    #[test]
    fn pieces_are_put_together_again() {
        let target = pointwise(2, |x, slope| {
            slope.copy_from_slice(&[x[0] + 1.0, -x[1]]);
            x[0] - 3.0 * x[1]
        });
        let metered = Metered::new(&target);
        let (points, mut whole) = diagonal(37);
        let mut pieces = whole.clone();
        metered.evaluate(&points, WEIGHTS, &mut whole).unwrap();
        metered.set_deadline(Some(Instant::now() + Duration::from_secs(600)));
        // The first piece has four points, whatever their cost.
        metered.evaluate(&points, WEIGHTS, &mut pieces).unwrap();
        for i in 0..points.len() {
            assert_eq!(pieces.log_likelihood[i], whole.log_likelihood[i]);
            assert_eq!(pieces.gradient.point(i), whole.gradient.point(i));
        }
        assert_eq!(metered.values().get(), 2 * 37);
        assert!(metered.time_each() > Duration::ZERO);
    }

    #[test]
    fn what_is_asked_for_too_late_is_not_begun() {
        let calls = AtomicUsize::new(0);
        let target = pointwise(2, |x, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(5));
            x[0]
        });
        let metered = Metered::new(&target);
        metered.set_deadline(Some(Instant::now() + Duration::from_millis(300)));
        let (points, mut out) = diagonal(2_000);
        let said = metered.evaluate(&points, None, &mut out).unwrap_err();
        assert!(matches!(said, Error::OutOfTime), "{said}");
        let asked = calls.load(Ordering::Relaxed);
        assert!(asked < 200 && asked == metered.values().get(), "{asked}");
        metered.evaluate(&points, None, &mut out).unwrap_err();
        assert_eq!(calls.load(Ordering::Relaxed), asked);
        metered.set_deadline(None);
        let (one, mut out) = diagonal(1);
        metered.evaluate(&one, None, &mut out).unwrap();
    }
}
