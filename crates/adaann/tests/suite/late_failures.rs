//! A run that fails late keeps its results so far and reports the reason.

use adaann::{
    Batch, Error, Failure, Program, Result, Settings,
    fit::{Event, Fit, Outcome, State, fit, resume},
    flow::{Flow, FlowSpec},
    schedule::{Draws, Linear, Position, Reason, Rule, Schedule, ScheduleError, Step, Work},
    smc,
    target::{Evaluation, Target, Weights},
};
use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
};

fn quick() -> Settings {
    Settings {
        flow: FlowSpec::planar(6),
        schedule: Schedule::Linear(Linear { t0: 0.2, epsilon: 0.2 }),
        work: Work { warmup: 50, anneal: 10, refine: 400 },
        refine_samples: 50,
        ..Settings::default()
    }
}

fn bits(flow: &Flow) -> Vec<u64> {
    flow.parameters().iter().map(|x| x.to_bits()).collect()
}

/// The failure of a density after a number of calls.
trait Accident: Fn(Option<Weights>) -> Result<Option<f64>> + Send + Sync {}
impl<F: Fn(Option<Weights>) -> Result<Option<f64>> + Send + Sync> Accident for F {}

/// N(1, 1), with failures in its log density and gradient.
struct Spoiled<F: Accident>(Program, F);

impl<F: Accident> Spoiled<F> {
    fn new(by: F) -> Self {
        Self(Program::record(1, |z| -0.5 * (z[0] - 1.0).square()), by)
    }
}

impl<F: Accident> Target for Spoiled<F> {
    fn dim(&self) -> usize {
        1
    }
    fn evaluate(
        &self,
        points: &Batch,
        weights: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, weights, out)?;
        if let Some(value) = (self.1)(weights)? {
            let all = out.log_likelihood.iter_mut().enumerate();
            all.for_each(|(i, log_p)| *log_p = value * (1 + i % 7) as f64);
        }
        Ok(())
    }
    fn wants_whole_batch(&self) -> bool {
        true
    }
}

/// Its gradient is NaN from t = 0.7 on.
fn steep() -> impl Target {
    Spoiled::new(|weights| Ok(weights.filter(|weights| weights.likelihood > 0.7).map(|_| f64::NAN)))
}

/// The flows at the end of each value of t.
fn flows(target: &dyn Target, settings: &Settings) -> (Outcome, Vec<(f64, Vec<u64>)>) {
    let mut seen = Vec::new();
    let outcome = fit(target, settings, &mut |event: &Event| {
        if let Event::Step { record, flow, .. } = event {
            seen.push((record.t, bits(flow)));
        }
        ControlFlow::Continue(())
    });
    (outcome.expect("it failed late"), seen)
}

#[test]
fn training_that_diverges_late_leaves_the_flow_before() {
    let (outcome, seen) = flows(&steep(), &quick());
    let failure = outcome.failure.clone().expect("it could not go on");
    assert!(
        (failure.t - 0.6).abs() < 1e-9 && (failure.failed_at - 0.8).abs() < 1e-9,
        "{failure:?}"
    );
    assert!(failure.reason.contains("100 per cent of the points"), "{failure:?}");
    assert_eq!(outcome.t(), failure.t);
    assert!(!outcome.stopped && outcome.flow_at_1.is_none());
    let (t, last) = seen.last().expect("some went well");
    assert_eq!((*t, last), (failure.t, &bits(&outcome.flow)));
    // The failed stage is in the list, with its fraction of non-finite points.
    let last = outcome.steps.last().unwrap();
    assert_eq!((last.updates, last.lost, last.reason), (10, 1.0, None));
    assert!(matches!(outcome.whole(), Err(Error::Diverged { .. })));
}

#[test]
fn one_that_goes_on_fails_in_the_same_way() {
    let (target, settings) = (steep(), quick());
    let whole = fit(&target, &settings, &mut ()).unwrap();
    for at in [3, 55, 65, 73] {
        let mut state: Option<State> = None;
        fit(&target, &settings, &mut |event: &Event| {
            if let Event::Update { record, snapshot, .. } = event
                && record.update == at
            {
                state = Some(snapshot.state());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        let state = serde_json::to_string(&state.expect("it came that far")).unwrap();
        let rest = resume(&target, &settings, serde_json::from_str(&state).unwrap(), &mut ());
        let rest = rest.unwrap();
        assert_eq!((bits(&rest.flow), rest.failure), (bits(&whole.flow), whole.failure.clone()));
    }
}

/// At t = 1 training works for a while; the returned flow has been trained there.
#[test]
fn a_refinement_that_diverges_leaves_what_it_had() {
    let at_1 = AtomicUsize::new(0);
    let target = Spoiled::new(|weights| {
        let is_at_1 = weights.is_some_and(|weights| weights.likelihood == 1.0);
        let count = if is_at_1 { at_1.fetch_add(1, Ordering::Relaxed) } else { 0 };
        Ok((count >= 250).then_some(f64::NAN))
    });
    let (outcome, seen) = flows(&target, &quick());
    let failure = outcome.failure.clone().expect("it could not go on");
    assert_eq!((failure.t, failure.failed_at), (1.0, 1.0));
    assert!(failure.reason.contains("not finite 100 times in a row"), "{failure:?}");
    assert_ne!(bits(&outcome.flow), seen.last().unwrap().1, "it has learned something there");
    assert!(outcome.flow.parameters().iter().all(|x| x.is_finite()));
    assert_eq!(outcome.skipped_updates, 100);
}

#[test]
fn what_fails_at_once_is_an_error() {
    let nothing = Spoiled::new(|_| Ok(Some(f64::NEG_INFINITY)));
    let error = fit(&nothing, &quick(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    // Other failures are not failures of training, however late they occur.
    let calls = AtomicUsize::new(0);
    let gone = Spoiled::new(|_| match calls.fetch_add(1, Ordering::Relaxed) {
        0..90 => Ok(None),
        _ => Err(Error::Target("the simulator is gone".into())),
    });
    let error = fit(&gone, &quick(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Target(_)), "{error}");
}

/// A rule that fails after three values of t.
struct Short;

impl Rule for Short {
    fn first(&self) -> f64 {
        0.25
    }
    fn needs_draws(&self) -> bool {
        false
    }
    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        if at.index == 2 {
            return Err(ScheduleError::NoSpread { t: at.t });
        }
        let (t, epsilon, reason) = (at.t + 0.25, 0.25, Reason::Planned);
        Ok(Step { t, epsilon, std_b: None, lost: 0, reason, warning: None })
    }
    fn check(&self, _: bool) -> adaann::Result<()> {
        Ok(())
    }
}

#[test]
fn a_schedule_that_finds_no_step_late_leaves_the_flow_before() {
    let target = Program::record(1, |z| -0.5 * z[0].square());
    let outcome = Fit::new(&target, &quick()).rule(&Short).run(&mut ()).unwrap();
    let Failure { t, failed_at, reason } = outcome.failure.expect("it could not go on");
    assert_eq!((t, failed_at), (0.5, 0.75));
    assert!(reason.contains("the same log density"), "{reason}");
    assert_eq!(outcome.steps.iter().map(|step| step.t).collect::<Vec<_>>(), [0.25, 0.5, 0.75]);
}

/// Log densities without a finite variance, once the particles have made good progress.
#[test]
fn particles_stay_where_their_schedule_ends() {
    let (stages, calls) = (AtomicUsize::new(0), AtomicUsize::new(1));
    let target = Spoiled::new(|_| {
        let is_far = stages.load(Ordering::Relaxed) > 0;
        Ok(is_far.then(|| 1e200 * calls.fetch_add(1, Ordering::Relaxed) as f64))
    });
    let settings = smc::Settings {
        particles: 200,
        schedule: Schedule::AdaAnn(adaann::schedule::AdaAnn { t0: 0.1, tau: 0.1 }),
        ..smc::Settings::default()
    };
    let mut watch = |stage: &smc::Stage| {
        stages.fetch_add(usize::from(stage.t > 0.6), Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let population = smc::smc(&target, &settings, &mut watch).unwrap();
    let failure = population.failure.clone().expect("it could not go on");
    assert!(failure.t > 0.3 && failure.t < 1.0, "{failure:?}");
    let last = population.stages.last().unwrap();
    assert_eq!((last.t, last.log_z), (failure.t, population.log_z));
    assert!(!population.stopped);
    assert_eq!(population.weights.len(), 200);
    assert!((population.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(population.whole().is_err());
}
