//! Progress and remaining time of a run: an estimate that improves as t grows.

use adaann::{
    Settings,
    fit::StepRecord,
    schedule::{AdaAnn, EssBisection, Guarded, Phase, Rule, Schedule},
};
use std::time::Duration;

/// Cost of a draw for the schedule, which needs no gradient, relative to a point of an update.
const COST_OF_A_DRAW: f64 = 0.4;

/// Below this share of the way, the steps so far do not predict the later ones.
const TRUSTED_SHARE: f64 = 0.1;

/// Work done and to come, in points of an update.
#[derive(Debug)]
pub(crate) struct Pace {
    settings: Settings,
    dim: usize,
    /// t_0, which a run may choose itself.
    first: f64,
    t: f64,
    steps: usize,
    done: f64,
    /// The part of it done before t = 1.
    before: f64,
    refined: usize,
    refining_since: Option<Duration>,
}

impl Pace {
    pub(crate) fn new(settings: &Settings, dim: usize) -> Self {
        Self {
            first: settings.schedule.first(),
            t: settings.schedule.first(),
            settings: settings.clone(),
            dim,
            steps: 0,
            done: 0.0,
            before: 0.0,
            refined: 0,
            refining_since: None,
        }
    }

    /// Counts updates.
    pub(crate) fn update(&mut self, phase: Phase, updates: usize, elapsed: Duration) {
        let points = match phase {
            Phase::Refine => {
                self.refining_since.get_or_insert(elapsed);
                self.refined += updates;
                self.settings.refine_samples
            }
            Phase::ForwardKl => self.settings.forward_kl.map_or(0, |stage| stage.batch),
            Phase::Warmup | Phase::Anneal => self.settings.samples,
        };
        let work = updates as f64 * points as f64;
        self.done += work;
        if matches!(phase, Phase::Warmup | Phase::Anneal) {
            self.before += work;
        }
    }

    /// Counts a step.
    pub(crate) fn step(&mut self, record: &StepRecord) {
        if self.steps == 0 {
            self.first = record.t;
        }
        self.steps += 1;
        self.t = record.t + record.epsilon;
        // A stage that ends when the flow fits evaluates draws after every block of updates.
        let blocks = record.updates.div_ceil(self.settings.work.anneal.max(1));
        let looks = if self.settings.stage.is_some() && record.t < 1.0 { blocks } else { 1 };
        let work = looks as f64 * self.draws();
        self.done += work;
        self.before += work;
    }

    /// Work of one set of draws, for the schedule or a stage.
    fn draws(&self) -> f64 {
        if self.settings.schedule.needs_draws() || self.settings.stage.is_some() {
            COST_OF_A_DRAW * self.settings.variance_samples as f64
        } else {
            0.0
        }
    }

    /// Work of the forward-KL refinement.
    fn forward_kl(&self) -> f64 {
        self.settings.forward_kl.map_or(0.0, |stage| {
            let draws = (stage.rounds as f64 + 1.0) * stage.draws as f64;
            stage.rounds as f64 * stage.updates as f64 * stage.batch as f64 + COST_OF_A_DRAW * draws
        })
    }

    /// Share of the work done.
    pub(crate) fn share(&self) -> f64 {
        (self.done / self.total()).clamp(0.0, 1.0)
    }

    /// Remaining points of updates and draws.
    pub(crate) fn points_left(&self) -> usize {
        (self.total() - self.done).max(0.0) as usize
    }

    /// Remaining time.
    pub(crate) fn left(&self, elapsed: Duration) -> Option<Duration> {
        let rest = match self.refining_since {
            // Only refinement is left, so its own rate is the best estimate.
            Some(since) if self.refined >= 50 && self.settings.forward_kl.is_none() => {
                let to_come = self.settings.work.refine.saturating_sub(self.refined);
                (elapsed - since).as_secs_f64() * to_come as f64 / self.refined as f64
            }
            _ => {
                let share = self.share();
                elapsed.as_secs_f64() * (1.0 - share) / share
            }
        };
        Duration::try_from_secs_f64(rest).ok()
    }

    /// Work of the whole run.
    fn total(&self) -> f64 {
        let Settings { work, samples, refine_samples, .. } = &self.settings;
        let count = self.count();
        let before = if count <= 1.0 {
            0.0
        } else if self.settings.stage.is_some() && self.steps > 0 {
            // Later stages take as long as earlier ones.
            self.before / self.steps as f64 * (count - 1.0).max(self.steps as f64)
        } else {
            let updates = work.warmup as f64 + (count - 2.0).max(0.0) * work.anneal as f64;
            updates * *samples as f64 + (count - 1.0) * self.draws()
        };
        before + work.refine as f64 * *refine_samples as f64 + self.forward_kl()
    }

    /// Number of values of t in the whole run: known, extrapolated in log t, or as for a Gaussian.
    fn count(&self) -> f64 {
        if let Some(count) = self.settings.schedule.count() {
            return count as f64;
        }
        if self.t >= 1.0 {
            return self.steps.max(1) as f64 + 1.0;
        }
        let first = self.first.max(1e-3);
        let share = 1.0 - self.t.max(first).ln() / first.ln();
        if share > TRUSTED_SHARE { self.steps as f64 / share } else { self.gaussian_count(first) }
    }

    /// On a Gaussian a step of KL τ²/2 multiplies t by 1 + τ √(2/d).
    fn gaussian_count(&self, first: f64) -> f64 {
        let tau = match self.settings.schedule {
            Schedule::AdaAnn(AdaAnn { tau, .. }) | Schedule::Guarded(Guarded { tau, .. }) => tau,
            // Weights of variance τ² leave 1/(1 + τ²) of the sample.
            Schedule::EssBisection(EssBisection { ess, .. }) => (1.0 / ess - 1.0).max(1e-6).sqrt(),
            _ => return 2.0,
        };
        -first.ln() / (tau * (2.0 / self.dim as f64).sqrt()).ln_1p() + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::schedule::{List, Work};

    fn settings(schedule: Schedule) -> Settings {
        let work = Work { warmup: 10, anneal: 2, refine: 100 };
        Settings { schedule, work, samples: 10, refine_samples: 20, ..Settings::default() }
    }

    #[test]
    fn a_planned_run_counts_exactly() {
        let mut pace = Pace::new(&settings(Schedule::List(List(vec![0.1, 0.5, 1.0]))), 1);
        assert_eq!(pace.total(), (10 + 2) as f64 * 10.0 + 100.0 * 20.0);
        pace.update(Phase::Warmup, 10, Duration::ZERO);
        pace.update(Phase::Anneal, 2, Duration::ZERO);
        pace.update(Phase::Refine, 100, Duration::from_secs(1));
        assert_eq!(pace.share(), 1.0);
        assert_eq!(pace.left(Duration::from_secs(9)), Some(Duration::ZERO));
    }

    /// Counts beyond any real run must not overflow, even on 32-bit machines.
    #[test]
    fn work_has_no_largest_number() {
        let most = usize::MAX;
        let work = Work { warmup: most, anneal: most, refine: most };
        let schedule = Schedule::List(List(vec![0.5, 1.0]));
        let (samples, refine_samples) = (most, most);
        let settings = Settings { schedule, work, samples, refine_samples, ..Settings::default() };
        let mut pace = Pace::new(&settings, 1);
        let square = most as f64 * most as f64;
        assert_eq!(pace.total(), 2.0 * square);
        pace.update(Phase::Warmup, most, Duration::ZERO);
        assert_eq!(pace.share(), 0.5);
        pace.update(Phase::Refine, most, Duration::ZERO);
        assert_eq!(pace.share(), 1.0);
    }

    /// On a Gaussian, the estimate before the first step is right.
    #[test]
    fn an_adaptive_run_is_guessed_from_the_gaussian() {
        let (t0, tau) = (0.01, 0.1);
        let mut pace = Pace::new(&settings(Schedule::AdaAnn(AdaAnn { t0, tau })), 2);
        let guess = pace.count();
        let (mut t, mut steps) = (t0, 0);
        while t < 1.0 {
            let epsilon = (tau * t).min(1.0 - t);
            let record = StepRecord {
                step: steps + 1,
                t,
                epsilon,
                std_b: None,
                updates: 2,
                lost: 0.0,
                ess: None,
                reason: None,
            };
            pace.step(&record);
            t += epsilon;
            steps += 1;
            assert!((pace.count() - guess).abs() < 3.0, "{} against {guess}", pace.count());
        }
        assert!((guess - steps as f64).abs() < 3.0);
    }
}
