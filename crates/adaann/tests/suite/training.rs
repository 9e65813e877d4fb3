//! Settings beyond Algorithm 1: stages that end when the flow fits, the search for t_0, and the final
//! stage that covers the mass.

use adaann::{
    Batch, Error, Program, Settings,
    approximation::Approximation,
    fit::{Divergence, Event, ForwardKl, Gradient, Outcome, Stage, fit},
    flow::{BaseSpec, Flow, FlowSpec},
    path::PathKind,
    registry,
    schedule::{AdaAnn, Exponential, Linear, List, Phase, Schedule, Work},
    target::Target,
};
use std::ops::ControlFlow;

/// A banana with one long arm.
fn skewed() -> Program {
    Program::record(2, |z| {
        let bend = z[1] - 0.5 * z[0].square() + 1.0;
        -0.5 * z[0].square() / 2.0 - 0.5 * bend.square() / 0.2 - 0.2 * (1.3 * z[0]).sin()
    })
}

fn quick() -> Settings {
    Settings {
        flow: FlowSpec::planar(12),
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.1 }),
        work: Work { warmup: 100, anneal: 2, refine: 300 },
        refine_samples: 200,
        ..Settings::default()
    }
}

fn forward_kl() -> ForwardKl {
    ForwardKl {
        rounds: 6,
        draws: 2_000,
        updates: 150,
        batch: 200,
        lr: 0.003,
        ..ForwardKl::default()
    }
}

fn bits(flow: &Flow) -> Vec<u64> {
    flow.parameters().iter().map(|x| x.to_bits()).collect()
}

/// KL(p‖q) by sums over a grid, which cannot miss a mode.
fn exact_kl(target: &dyn Target, flow: &Flow, ranges: &[(f64, f64)]) -> f64 {
    let per_axis: usize = if ranges.len() == 1 { 4_000 } else { 300 };
    let total = per_axis.pow(ranges.len() as u32);
    let mut grid = Batch::zeros(ranges.len(), total);
    for (d, (low, high)) in ranges.iter().enumerate() {
        for i in 0..total {
            let place = i / per_axis.pow(d as u32) % per_axis;
            grid.row_mut(d)[i] = low + (high - low) * (place as f64 + 0.5) / per_axis as f64;
        }
    }
    let cell: f64 = ranges.iter().map(|(low, high)| (high - low) / per_axis as f64).product();
    let q = Approximation::new(target, flow.clone()).unwrap();
    let (log_p, log_q) = (q.log_p(&grid).unwrap(), q.log_q(&grid).unwrap());
    let z: f64 = log_p.iter().map(|p| p.exp() * cell).sum();
    let terms = log_p.iter().zip(&log_q).map(|(p, q)| p.exp() * (p - q));
    terms.sum::<f64>() * cell / z - z.ln()
}

/// Effective sample size of p/q over fresh draws, as a fraction of them.
fn ess_share(target: &dyn Target, flow: &Flow) -> f64 {
    let sample = Approximation::new(target, flow.clone()).unwrap().sample(20_000, 99).unwrap();
    sample.weight_sums().unwrap().ess_share()
}

const PLANE: [(f64, f64); 2] = [(-8.0, 8.0), (-4.0, 31.0)];

/// The stage reduces KL(p‖q) by at least a tenth, and the effective size of fresh draws increases.
/// The draws alone would prove nothing: they have the largest effective size for a flow that has lost
/// a mode.
#[test]
fn forward_kl_raises_the_effective_sample_size() {
    let mixture = registry::find("mixture1d-asymmetric").unwrap();
    let mixture = mixture.build(&[("mu".into(), 2.0)]).unwrap();
    let line = Settings { flow: FlowSpec::planar(30), ..mixture.settings.clone() };
    let banana = skewed();
    let maf = quick().with_flow(FlowSpec::named("maf").unwrap());
    let hardly = Work { refine: 20, ..quick().work };
    let maf = Settings { work: hardly, ..maf };
    type Case<'a> = (&'a dyn Target, Settings, &'a [(f64, f64)]);
    let cases: [Case; 3] = [
        (&*mixture.target, line, &[(-5.0, 3.0)]),
        (&banana, quick(), &PLANE),
        (&banana, maf, &PLANE),
    ];
    for (i, (target, settings, ranges)) in cases.into_iter().enumerate() {
        let before = fit(target, &settings, &mut ()).unwrap();
        for divergence in [Divergence::ForwardKl, Divergence::Alpha2] {
            // Networks are unstable at rates that suit planar layers.
            let lr = if settings.flow.has_networks() { 0.001 } else { 0.003 };
            let forward_kl = Some(ForwardKl { divergence, lr, ..forward_kl() });
            let after = fit(target, &Settings { forward_kl, ..settings.clone() }, &mut ()).unwrap();
            assert!(after.flow.parameters().iter().all(|x| x.is_finite()));
            let both = [&before.flow, &after.flow];
            let kl = both.map(|flow| exact_kl(target, flow, ranges));
            let shares = both.map(|flow| ess_share(target, flow));
            assert!(kl[1] > 0.0 && kl[1] < 0.9 * kl[0], "{i} {divergence:?}: KL {kl:?}");
            assert!(shares[1] > shares[0], "{i} {divergence:?}: {shares:?}");
            // The run before the stage is the same.
            assert_eq!(after.trace[..before.trace.len()], before.trace[..]);
            assert_eq!(after.steps, before.steps);
            assert_eq!(after.trace.len(), before.trace.len() + 6 * 150);
            assert_eq!(after.target_evaluations, before.target_evaluations + 7 * 2_000);
            assert_eq!(after.rounds.len(), 7);
        }
    }
}

/// If a learning rate destroys the flow, the flow from before the stage is kept.
#[test]
fn forward_kl_never_ends_worse_than_it_began() {
    let settings = quick().with_flow(FlowSpec::named("maf").unwrap());
    let before = fit(&skewed(), &settings, &mut ()).unwrap();
    let forward_kl = Some(ForwardKl { lr: 1.0, ..forward_kl() });
    let after = fit(&skewed(), &Settings { forward_kl, ..settings }, &mut ()).unwrap();
    let shares: Vec<f64> = after.rounds.iter().map(|round| round.ess_of_all.unwrap()).collect();
    assert!(shares[1..].iter().all(|share| *share < shares[0]), "{shares:?}");
    assert_eq!(bits(&before.flow), bits(&after.flow));
}

fn on_threads(threads: usize, target: &Program, settings: &Settings) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| fit(target, settings, &mut ()).unwrap())
}

/// All features together, with a trained mixture base.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let base = BaseSpec { components: 3, trained: true, ..BaseSpec::default() };
    let settings = Settings {
        base,
        gradient: Gradient::Path,
        auto_t0: true,
        stage: Some(Stage { ess: 0.6, most_updates: 20 }),
        forward_kl: Some(ForwardKl { rounds: 2, updates: 30, ..forward_kl() }),
        ..quick()
    };
    let schedule = Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 1.0 });
    for flow in [FlowSpec::planar(8), FlowSpec::named("spline").unwrap()] {
        let work = Work { refine: 50, ..quick().work };
        let schedule = schedule.clone();
        let settings = Settings { flow, work, schedule, ..settings.clone() };
        let one = on_threads(1, &skewed(), &settings);
        for threads in [2, 3] {
            let other = on_threads(threads, &skewed(), &settings);
            assert_eq!(bits(&one.flow), bits(&other.flow), "{threads} threads");
            assert_eq!((&one.steps, &one.trace), (&other.steps, &other.trace));
            assert_eq!(one.rounds, other.rounds);
        }
    }
}

#[test]
fn an_observer_stops_the_forward_kl_refinement() {
    let settings = Settings { forward_kl: Some(forward_kl()), ..quick() };
    let total = fit(&skewed(), &settings, &mut ()).unwrap().trace.len();
    let before = total - 6 * 150;
    let mut seen = Vec::new();
    let mut observer = |event: &Event| {
        if let Event::Update { record, phase, .. } = event {
            seen.push((record.update, *phase));
            if record.update == before + 200 {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    };
    let outcome = fit(&skewed(), &settings, &mut observer).unwrap();
    assert!(outcome.stopped && outcome.flow_at_1.is_some());
    assert_eq!((outcome.trace.len(), outcome.rounds.len()), (before + 200, 2));
    assert_eq!(seen[before - 1], (before, Phase::Refine));
    assert_eq!(seen[before], (before + 1, Phase::ForwardKl));
}

/// If p is zero everywhere there is nothing to cover, and no failure.
#[test]
fn forward_kl_survives_draws_that_are_all_lost() {
    // The support is too narrow for any of these draws; a run without updates has no loss.
    let needle = Program::record(1, |z| {
        (z[0] - 50.0).abs().lt(1e-9).select(-z[0].square(), f64::NEG_INFINITY)
    });
    let settings = Settings {
        schedule: Schedule::None,
        work: Work { warmup: 0, anneal: 1, refine: 0 },
        forward_kl: Some(forward_kl()),
        ..quick()
    };
    let outcome = fit(&needle, &settings, &mut ()).unwrap();
    assert_eq!(outcome.rounds.len(), 1);
    assert_eq!((outcome.rounds[0].ess, outcome.rounds[0].lost), (0.0, 1.0));
}

/// Stages end as soon as the draws reach the required effective size, within the allowed updates; the
/// same draws choose the step.
#[test]
fn stages_end_when_the_flow_fits() {
    let stage = Stage { ess: 0.7, most_updates: 31 };
    let settings = Settings { stage: Some(stage), variance_samples: 300, ..quick() };
    let outcome = fit(&skewed(), &settings, &mut ()).unwrap();
    let (last, before) = outcome.steps.split_last().unwrap();
    assert_eq!((last.t, last.ess, last.updates), (1.0, None, 300));
    let mut looks = 0;
    for (i, step) in before.iter().enumerate() {
        let most = if i == 0 { 100 } else { 31 };
        let ess = step.ess.unwrap();
        // Blocks of two updates, the last of which may be shortened to one.
        assert!(step.updates == most || (ess >= 0.7 && step.updates % 2 == 0), "{step:?}");
        assert!(step.std_b.is_some() && (0.0..=1.0).contains(&ess), "{step:?}");
        looks += step.updates.div_ceil(2);
    }
    let by_ess = before.iter().filter(|step| step.ess.unwrap() >= 0.7).count();
    assert!(by_ess > 0 && before.iter().any(|step| step.updates == 2), "{before:?}");
    let updates: usize = before.iter().map(|step| step.updates).sum();
    assert_eq!(outcome.target_evaluations, updates * 100 + looks * 300 + 300 * 200);
    // For a schedule without draws, draws are taken for the check.
    let planned =
        Settings { schedule: Schedule::Linear(Linear { t0: 0.5, epsilon: 0.1 }), ..settings };
    let outcome = fit(&skewed(), &planned, &mut ()).unwrap();
    assert!(outcome.steps[..5].iter().all(|step| step.ess.is_some() && step.std_b.is_none()));
}

/// Without stages the effective sample size is recorded, and draws are taken once per step.
#[test]
fn every_step_with_draws_has_its_share() {
    let outcome = fit(&skewed(), &quick(), &mut ()).unwrap();
    let (last, before) = outcome.steps.split_last().unwrap();
    assert!(
        before.iter().all(|step| (0.0..=1.0).contains(&step.ess.unwrap())) && last.ess.is_none()
    );
}

/// From N(0, 3²) to N(0, 1) with planar layers that start almost at the identity: t_0 = 1/9. The
/// weights are equal there, so noise does not move the maximum; the search stops within 1e-3.
#[test]
fn the_first_t_is_found() {
    let target = Program::record(1, |z| -0.5 * z[0].square());
    let base = BaseSpec { sd: vec![3.0], ..BaseSpec::default() };
    let still = Settings { base, initial_scale: 1e-300, auto_t0: true, ..quick() };
    let outcome = fit(&target, &still, &mut ()).unwrap();
    assert!((outcome.steps[0].t * 9.0 - 1.0).abs() < 1e-3, "{}", outcome.steps[0].t);
    let updates = 100 + 2 * (outcome.steps.len() - 2);
    let looks = 1_000 * outcome.steps.len();
    assert_eq!(outcome.target_evaluations, updates * 100 + looks + 300 * 200);

    let bridge = Settings { path: PathKind::Bridge, ..still };
    let outcome = fit(&target, &bridge, &mut ()).unwrap();
    assert_eq!(outcome.steps[0].t, 0.0);
}

/// Training with path gradients ends like training with total gradients: on a Gaussian, at the
/// target.
#[test]
fn path_gradients_train() {
    let target = Program::record(2, |z| {
        let x = z[0] - 1.0;
        -0.5 * (x.square() + (z[1] - 0.7 * x + 2.0).square() / 0.3)
    });
    let linear = Settings {
        flow: FlowSpec::Linear,
        gradient: Gradient::Path,
        lr: 0.02,
        work: Work { warmup: 200, anneal: 5, refine: 600 },
        ..quick()
    };
    let outcome = fit(&target, &linear, &mut ()).unwrap();
    // log Z = log 2π + ½ log 0.3, and the noise of the last updates vanishes with the distance.
    let log_z = std::f64::consts::TAU.ln() + 0.5 * 0.3_f64.ln();
    let last = outcome.trace.last().unwrap();
    assert!((last.neg_elbo + log_z).abs() < 1e-3, "{} and {log_z}", last.neg_elbo);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let with = |change: &dyn Fn(&mut Settings)| {
        let mut settings = quick();
        change(&mut settings);
        match fit(&skewed(), &settings, &mut ()) {
            Err(Error::Setting { setting, .. }) => setting,
            other => panic!("{other:?}"),
        }
    };
    let stage = |ess, most_updates| Some(Stage { ess, most_updates });
    for ess in [0.0, 1.0, f64::NAN] {
        assert_eq!(with(&|s| s.stage = stage(ess, 10)), "stage-ess");
    }
    assert_eq!(with(&|s| s.stage = stage(0.5, 0)), "stage-most");
    assert_eq!(
        with(&|s| s.forward_kl = Some(ForwardKl { rounds: 0, ..forward_kl() })),
        "forward-kl"
    );
    assert_eq!(
        with(&|s| s.forward_kl = Some(ForwardKl { draws: 1, ..forward_kl() })),
        "forward-kl-draws"
    );
    assert_eq!(
        with(&|s| s.forward_kl = Some(ForwardKl { updates: 0, ..forward_kl() })),
        "forward-kl-updates"
    );
    assert_eq!(
        with(&|s| s.forward_kl = Some(ForwardKl { batch: 0, ..forward_kl() })),
        "forward-kl-batch"
    );
    for lr in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            with(&|s| s.forward_kl = Some(ForwardKl { lr, ..forward_kl() })),
            "forward-kl-lr"
        );
    }
    for schedule in [Schedule::None, Schedule::List(List(vec![0.5, 1.0]))] {
        assert_eq!(with(&|s| (s.auto_t0, s.schedule) = (true, schedule.clone())), "t0");
    }
    let (t0, steps) = (0.1, 5);
    assert_eq!(
        with(&|s| {
            s.auto_t0 = true;
            s.path = PathKind::Bridge;
            s.schedule = Schedule::Exponential(Exponential { t0, steps });
        }),
        "t0"
    );
}

#[test]
fn settings_survive_a_file_and_need_not_stand_in_it() {
    let settings = Settings {
        gradient: Gradient::Path,
        auto_t0: true,
        stage: Some(Stage::default()),
        forward_kl: Some(ForwardKl { divergence: Divergence::Alpha2, ..ForwardKl::default() }),
        ..Settings::default()
    };
    let text = serde_json::to_string(&settings).unwrap();
    assert!(text.contains(r#""divergence":"alpha2""#) && text.contains(r#""most-updates":200"#));
    assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    let own: Settings =
        serde_json::from_str(r#"{"forward-kl": {"rounds": 3}, "stage": {}}"#).unwrap();
    assert_eq!(own.forward_kl, Some(ForwardKl { rounds: 3, ..ForwardKl::default() }));
    assert_eq!(own.stage, Some(Stage::default()));
}
