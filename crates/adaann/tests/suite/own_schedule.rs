//! A custom schedule, written with the public interface; `schedule/laws.rs` checks a similar one
//! against the common laws.

use adaann::schedule::{
    AdaAnn, Draws, Position, Reason, Rule, ScheduleError, Step, Work, spread, winsorised_spread,
};

/// AdaAnn that halves its tolerance for every tenth of non-finite draws.
struct Wary {
    tau: f64,
}

impl Rule for Wary {
    fn first(&self) -> f64 {
        0.02
    }

    fn needs_draws(&self) -> bool {
        true
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        let spread = winsorised_spread(at.t, draws)?;
        let lost = 10.0 * spread.lost as f64 / draws.b.len() as f64;
        let t = at.t + self.tau * 0.5_f64.powf(lost) / spread.std;
        Ok(Step::new(at, t, Reason::Tolerance)?.with_spread(spread))
    }
}

/// For a Gaussian Var(b) = d/(2 t²): t grows by the factor 1 + τ √(2/d).
#[test]
fn it_takes_the_steps_that_it_says() {
    let rule: &dyn Rule = &Wary { tau: 0.2 };
    rule.check(false).unwrap();
    assert_eq!(rule.count(), None);
    let run = |lost: usize| {
        let (mut at, mut reasons) = (Position::start(rule), Vec::new());
        while at.t < 1.0 {
            // Two draws whose standard deviation is that of d = 2.
            let b = 1.0 / (at.t * 2.0_f64.sqrt());
            let mut draws = vec![-b, b];
            draws.resize(2 + lost, f64::NEG_INFINITY);
            let step = rule.next(at, &Draws { b: &draws, weights: None }).unwrap();
            assert!(step.t > at.t && step.t <= 1.0 && step.lost == lost);
            reasons.push(step.reason);
            at = at.after(&step);
        }
        assert_eq!(reasons.pop(), Some(Reason::End));
        assert!(reasons.iter().all(|reason| *reason == Reason::Tolerance));
        at.index
    };
    let steps = |ratio: f64| (50_f64.ln() / ratio.ln()).ceil() as usize;
    assert_eq!(run(0), steps(1.2));
    // A third of the draws is non-finite: τ/2^(10/3).
    assert_eq!(run(1), steps(1.0 + 0.2 * 0.5_f64.powf(10.0 / 3.0)));
    let work = Work { warmup: 5, anneal: 1, refine: 10 };
    assert_eq!(work.total_updates(run(0) + 1), 15 + run(0) - 1);
}

#[test]
fn steps_that_are_none_are_refused() {
    let at = Position { index: 3, t: 0.5 };
    let step = |t| Step::new(at, t, Reason::Tolerance);
    assert!(matches!(step(0.5), Err(ScheduleError::Resolution { .. })));
    assert!(matches!(step(f64::NAN), Err(ScheduleError::Resolution { .. })));
    assert_eq!(step(7.0).map(|step| (step.t, step.reason)), Ok((1.0, Reason::End)));
    let ended = Position { index: 3, t: 1.0 };
    assert_eq!(Step::new(ended, 1.0, Reason::Planned), Err(ScheduleError::Ended));
    // The result of the library's own rule for the same draws.
    let draws = Draws { b: &[1.0, 2.0, 4.0, f64::NAN], weights: None };
    let own = AdaAnn { t0: 0.1, tau: 0.1 }.next(at, &draws).unwrap();
    let spread = spread(at.t, &draws).unwrap();
    assert_eq!(step(0.5 + 0.1 / spread.std).unwrap().with_spread(spread), own);
}
