//! An interrupted and resumed run ends with the same bits as an uninterrupted one.

use adaann::{
    Error, Program, Settings,
    fit::{
        Divergence, Event, Fit, ForwardKl, Outcome, RoundRecord, Stage, State, StepRecord,
        UpdateRecord, fit, resume,
    },
    flow::{Activation, Base, BaseSpec, Flow, FlowSpec, Precision},
    optim::{Optimizer, RateRule},
    path::PathKind,
    schedule::{
        AdaAnn, Draws, List, Phase, Position, Reason, Rule, Schedule, ScheduleError, Step, Work,
    },
};
use std::ops::ControlFlow;

/// A banana with one long arm, and no density beyond a wall.
fn walled() -> Program {
    Program::record_parts(2, |z| {
        let bend = z[1] - 0.5 * z[0].square() + 1.0;
        let likelihood = -0.5 * bend.square() / 0.4 - 0.2 * (1.3 * z[0]).sin();
        let likelihood = z[0].lt(2.5).select(likelihood, f64::NEG_INFINITY);
        (-0.25 * (z[0].square() + z[1].square()), likelihood)
    })
}

/// Every kind of update and step, a few of each.
fn short() -> Settings {
    Settings {
        flow: FlowSpec::planar(3),
        schedule: Schedule::List(List(vec![0.3, 0.6, 1.0])),
        work: Work { warmup: 4, anneal: 2, refine: 5 },
        samples: 20,
        refine_samples: 30,
        variance_samples: 50,
        lr: 0.02,
        ..Settings::default()
    }
}

fn forward_kl(divergence: Divergence) -> Option<ForwardKl> {
    Some(ForwardKl { rounds: 2, draws: 80, updates: 3, batch: 20, divergence, lr: 0.01 })
}

/// The point where a run is interrupted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Update(usize),
    Step(usize),
    Round(usize),
}

/// The events that an observer has seen before the interruption.
#[derive(Default)]
struct Seen {
    trace: Vec<UpdateRecord>,
    steps: Vec<StepRecord>,
    state: Option<String>,
}

impl Seen {
    fn observe(&mut self, event: &Event, end: At) -> ControlFlow<()> {
        if self.state.is_some() {
            return ControlFlow::Break(());
        }
        let (here, snapshot) = match event {
            Event::Update { record, snapshot, .. } => {
                self.trace.push(**record);
                (At::Update(record.update), snapshot)
            }
            Event::Step { record, snapshot, .. } => {
                self.steps.push((*record).clone());
                (At::Step(record.step), snapshot)
            }
            Event::Round { record, snapshot } => (At::Round(record.round), snapshot),
            _ => return ControlFlow::Continue(()),
        };
        if here != end {
            return ControlFlow::Continue(());
        }
        self.state = Some(serde_json::to_string(&snapshot.state()).unwrap());
        ControlFlow::Break(())
    }
}

fn bits(flow: &Flow) -> Vec<u64> {
    flow.parameters().iter().map(|x| x.to_bits()).collect()
}

/// The bits of a record's numbers, since NaN does not equal itself.
fn update_bits(trace: &[UpdateRecord]) -> Vec<(usize, u64, u64)> {
    trace.iter().map(|r| (r.update, r.t.to_bits(), r.neg_elbo.to_bits())).collect()
}

fn round_bits(rounds: &[RoundRecord]) -> Vec<(u64, u64, Option<u64>)> {
    let of =
        |r: &RoundRecord| (r.ess.to_bits(), r.neg_elbo.to_bits(), r.ess_of_all.map(f64::to_bits));
    rounds.iter().map(of).collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Interrupts the run at `end` and resumes it from a serialised state with another number of threads:
/// the results are equal.
fn survives(target: &Program, settings: &Settings, whole: &Outcome, end: At) {
    let mut seen = Seen::default();
    let stopped =
        on_threads(1, || fit(target, settings, &mut |event: &Event| seen.observe(event, end)))
            .unwrap();
    let text = seen.state.unwrap_or_else(|| panic!("{end:?} was never reached"));
    let state: State = serde_json::from_str(&text).unwrap();
    assert_eq!(state.updates(), seen.trace.len());
    let rest = on_threads(2, || resume(target, settings, state, &mut ())).unwrap();
    assert!(!rest.stopped, "{end:?}");
    assert!(stopped.target_evaluations <= rest.target_evaluations, "{end:?}");
    assert_eq!(bits(&rest.flow), bits(&whole.flow), "{end:?}");
    let at_1 = |outcome: &Outcome| outcome.flow_at_1.as_ref().map(bits);
    assert_eq!(at_1(&rest), at_1(whole), "{end:?}");
    seen.trace.extend(rest.trace);
    assert_eq!(update_bits(&seen.trace), update_bits(&whole.trace), "{end:?}");
    seen.steps.extend(rest.steps);
    assert_eq!(seen.steps, whole.steps, "{end:?}");
    assert_eq!(round_bits(&rest.rounds), round_bits(&whole.rounds), "{end:?}");
    assert_eq!(rest.target_evaluations, whole.target_evaluations, "{end:?}");
    assert_eq!(rest.skipped_updates, whole.skipped_updates, "{end:?}");
}

/// At every update, step and round.
fn survives_everywhere(settings: &Settings) -> Outcome {
    let target = walled();
    let whole = fit(&target, settings, &mut ()).unwrap();
    let updates = (1..=whole.trace.len()).map(At::Update);
    let steps = (1..=whole.steps.len()).map(At::Step);
    // Stopping a run after its last step does not shorten it; the run still provides a state.
    for end in updates.chain(steps).chain((0..whole.rounds.len()).map(At::Round)) {
        survives(&target, settings, &whole, end);
    }
    whole
}

#[test]
fn annealing_and_refinement_go_on() {
    let whole = survives_everywhere(&short());
    assert_eq!((whole.trace.len(), whole.steps.len()), (4 + 2 + 5, 3));
    // Other state: two moments or one, decaying rates, limits, losses, the start of a bridge.
    let base = BaseSpec { trained: true, components: 2, sd: vec![1.7], ..BaseSpec::default() };
    let adaptive = || Settings {
        schedule: Schedule::for_step_ess(0.01, 0.8).unwrap(),
        auto_t0: true,
        work: Work { warmup: 3, anneal: 1, refine: 4 },
        ..short()
    };
    let whole = survives_everywhere(&Settings {
        path: PathKind::Bridge,
        base,
        point_clip: Some(1.5),
        clip: Some(0.5),
        lr_rule: RateRule::Step { every: 3, factor: 0.5 },
        refine_lr_rule: RateRule::Cosine { over: 5, floor: 0.1 },
        ..adaptive()
    });
    assert!(whole.steps.iter().any(|step| step.lost > 0.0), "{:?}", whole.steps);
    assert!(whole.steps.len() > 2);
    for optimizer in ["sgd", "rmsprop"] {
        let optimizer = Optimizer::named(optimizer).unwrap();
        survives_everywhere(&Settings { optimizer, lr: 0.005, ..adaptive() });
    }
}

/// The base is the prior, p_0, and nearly all of its draws are effective at t = 0.02: a block of two
/// updates suffices there. At t = 0.9 about half of the prior's draws are effective, and five updates
/// of 0.02 do not raise that to 0.85.
#[test]
fn stages_that_end_by_their_effective_sample_size_go_on() {
    let whole = survives_everywhere(&Settings {
        path: PathKind::Likelihood,
        base: BaseSpec { sd: vec![2.0_f64.sqrt()], ..BaseSpec::default() },
        schedule: Schedule::List(List(vec![0.0, 0.02, 0.9, 1.0])),
        stage: Some(Stage { ess: 0.85, most_updates: 5 }),
        ..short()
    });
    let updates: Vec<usize> = whole.steps.iter().map(|step| step.updates).collect();
    assert_eq!(updates, [2, 2, 5, 5], "{:?}", whole.steps);
}

#[test]
fn the_forward_kl_refinement_goes_on() {
    for divergence in [Divergence::ForwardKl, Divergence::Alpha2] {
        let activation = Activation::Tanh;
        // Single precision until the refinement begins.
        let flow = FlowSpec::Planar { layers: 3, activation, precision: Precision::Single };
        let forward_kl = forward_kl(divergence);
        let work = Work { warmup: 1, anneal: 1, refine: 1 };
        let whole = survives_everywhere(&Settings { flow, forward_kl, work, ..short() });
        assert_eq!((whole.trace.len(), whole.rounds.len()), (3 + 2 * 3, 3));
    }
}

/// No point has a density. Training gives up after a hundred updates, however they are interrupted,
/// and names the settings in force.
#[test]
fn skipped_updates_in_a_row_are_carried() {
    let target = Program::record(1, |z| z[0].lt(1e300).select(f64::NEG_INFINITY, 0.0 * z[0]));
    let work = Work { warmup: 300, anneal: 1, refine: 300 };
    let clip = Some(3.0);
    for (schedule, refine_lr, remedy) in [
        (Schedule::List(List(vec![0.5, 1.0])), Some(0.1), "lower lr (0.02), or set clip"),
        (Schedule::None, Some(0.1), "lower refine-lr (0.1), or lower refine-clip (3)"),
        (Schedule::None, None, "set refine-lr below lr (0.02), or lower refine-clip (3)"),
    ] {
        let settings = Settings { schedule, work, refine_lr, refine_clip: clip, ..short() };
        let mut seen = Seen::default();
        let stopped =
            fit(&target, &settings, &mut |event: &Event| seen.observe(event, At::Update(60)));
        assert_eq!(stopped.unwrap().skipped_updates, 60);
        let state: State = serde_json::from_str(&seen.state.unwrap()).unwrap();
        let mut last = 0;
        let watch = &mut |event: &Event| {
            if let Event::Update { record, .. } = event {
                last = record.update;
            }
            ControlFlow::Continue(())
        };
        let error = resume(&target, &settings, state, watch).unwrap_err();
        assert!(matches!(error, Error::Diverged { .. }), "{error}");
        assert!(error.to_string().ends_with(remedy), "{error}");
        assert_eq!(last, 99);
    }
}

#[test]
fn a_state_says_where_it_is_and_fits_only_its_own_flow() {
    let target = walled();
    let settings = Settings { forward_kl: forward_kl(Divergence::ForwardKl), ..short() };
    let mut found = Vec::new();
    fit(&target, &settings, &mut |event: &Event| {
        if let Event::Update { snapshot, .. } = event {
            found.push(snapshot.state());
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let say = |i: usize| (found[i - 1].updates(), found[i - 1].t(), found[i - 1].phase());
    assert_eq!(say(4), (4, 0.3, Phase::Warmup));
    assert_eq!(say(5), (5, 0.6, Phase::Anneal));
    assert_eq!(say(7), (7, 1.0, Phase::Refine));
    assert_eq!(say(12), (12, 1.0, Phase::ForwardKl));
    let other = Settings { flow: FlowSpec::planar(4), ..settings.clone() };
    let error = resume(&target, &other, found[6].clone(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    let line = Program::record(1, |z| -z[0].square());
    assert!(resume(&line, &settings, found[6].clone(), &mut ()).is_err());
    let text = serde_json::to_string(&found[6]).unwrap().replace("\"t\":1.0", "\"t\":7.0");
    let beyond: State = serde_json::from_str(&text).unwrap();
    assert!(resume(&target, &settings, beyond, &mut ()).is_err());
}

fn own_flow(settings: &Settings) -> Flow {
    let mut flow =
        Flow::new(&settings.flow, Base::diagonal(&[0.0; 2], &[2.0; 2]).unwrap()).unwrap();
    flow.initialise(settings.initial_scale, settings.seed);
    flow
}

/// The flow and the rule of the settings, passed as objects: the run is the same, and can be resumed.
#[test]
fn a_flow_and_a_rule_may_be_brought() {
    let target = walled();
    let rule = AdaAnn { t0: 0.2, tau: 0.9 };
    let named: Schedule = serde_json::from_str(r#"{"adaann": {"t0": 0.2, "tau": 0.9}}"#).unwrap();
    let settings = Settings { schedule: named, ..short() };
    let whole = fit(&target, &settings, &mut ()).unwrap();
    assert!(whole.steps.len() > 2);
    // The flow and schedule of the settings are then ignored.
    let other = Settings { flow: FlowSpec::planar(9), ..short() };
    let brought = || Fit::new(&target, &other).flow(own_flow(&settings)).rule(&rule);
    let outcome = brought().run(&mut ()).unwrap();
    assert_eq!(bits(&outcome.flow), bits(&whole.flow));
    assert_eq!(outcome.steps, whole.steps);
    let mut seen = Seen::default();
    brought().run(&mut |event: &Event| seen.observe(event, At::Update(5))).unwrap();
    let state: State = serde_json::from_str(&seen.state.unwrap()).unwrap();
    let rest = brought().resume(state, &mut ()).unwrap();
    assert_eq!(bits(&rest.flow), bits(&whole.flow));
}

/// A rule that makes no progress, or too much.
struct Lost(f64);

impl Rule for Lost {
    fn first(&self) -> f64 {
        0.5
    }
    fn needs_draws(&self) -> bool {
        false
    }
    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        let (t, reason) = (at.t + self.0, Reason::Planned);
        Ok(Step { t, epsilon: self.0, std_b: None, lost: 0, reason, warning: None })
    }
    fn check(&self, _: bool) -> adaann::Result<()> {
        Ok(())
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let target = walled();
    let (settings, auto) =
        (short(), Settings { auto_t0: true, schedule: Schedule::default(), ..short() });
    for bad in [0.0, -0.1, f64::NAN, 0.7] {
        let error = Fit::new(&target, &settings).rule(&Lost(bad)).run(&mut ()).unwrap_err();
        assert!(matches!(error, Error::Schedule(_)), "{bad}: {error}");
    }
    let refused = |fit: Fit, name: &str| match fit.run(&mut ()).unwrap_err() {
        Error::Setting { setting, .. } => assert_eq!(setting, name),
        other => panic!("{name}: {other}"),
    };
    refused(Fit::new(&target, &auto).rule(&Lost(0.1)), "t0");
    refused(Fit::new(&target, &settings).rule(&AdaAnn { t0: 0.0, tau: 0.1 }), "t0");
    let still =
        Settings { schedule: Schedule::None, work: Work { anneal: 0, ..settings.work }, ..short() };
    refused(Fit::new(&target, &still).rule(&Lost(0.1)), "updates");
    let many = Base::mixture(&[1.0; 25], &[0.5; 50], &[1.0; 50]).unwrap();
    let flow = Flow::new(&FlowSpec::planar(2), many).unwrap();
    refused(Fit::new(&target, &settings).flow(flow), "samples");
    let flat = Flow::new(&FlowSpec::planar(2), Base::standard(1)).unwrap();
    let error = Fit::new(&target, &settings).flow(flat).run(&mut ()).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}
