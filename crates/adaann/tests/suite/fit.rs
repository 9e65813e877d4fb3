//! The loop around Algorithm 1: reproducible, interruptible, and reporting of non-finite points.

use adaann::{
    Batch, Error, Expr, Program, Settings,
    fit::{Event, fit, restarts},
    flow::{Activation, BaseSpec, Covariance, Flow, FlowSpec, Precision, Start},
    optim::RateRule,
    path::PathKind,
    schedule::{AdaAnn, EssBisection, Exponential, Linear, List, Logarithmic, Schedule, Work},
    target::{Evaluation, Support, Target, Weights},
};
use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
};

fn bimodal() -> Program {
    Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square())
}

/// Settings for runs of a tenth of a second.
fn quick() -> Settings {
    Settings {
        flow: FlowSpec::planar(10),
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.1 }),
        work: Work { warmup: 50, anneal: 2, refine: 100 },
        refine_samples: 200,
        ..Settings::default()
    }
}

fn bits(flow: &Flow) -> Vec<u64> {
    flow.parameters().iter().map(|x| x.to_bits()).collect()
}

/// Runs twice with one thread and once each with two and three: the bits are equal; another seed gives
/// others.
fn bits_are_fixed(target: &Program, settings: &Settings) {
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(target, &Settings { seed, ..settings.clone() }, &mut ()).unwrap())
    };
    let one = run(1, 7);
    for threads in [1, 2, 3] {
        let other = run(threads, 7);
        assert_eq!(bits(&one.flow), bits(&other.flow), "{threads} threads");
        assert_eq!(one.steps, other.steps);
        assert_eq!(one.trace, other.trace);
    }
    assert_ne!(bits(&one.flow), bits(&run(1, 8).flow), "another seed is another run");
}

#[test]
fn a_seed_fixes_the_bits_for_any_number_of_threads() {
    for flow in [FlowSpec::planar(10), FlowSpec::Radial { layers: 10 }] {
        bits_are_fixed(&bimodal(), &Settings { flow, refine_samples: 1000, ..quick() });
    }
}

/// The same with every feature: four dimensions, single precision, and a trained base with a full factor,
/// which is also the start of the path.
#[test]
fn a_seed_fixes_the_bits_of_every_part() {
    let modes = Program::record(4, |z| {
        let mode = |u: f64| {
            let squares = z.iter().enumerate().map(|(d, z)| (*z - u * (d as f64 - 1.0)).square());
            let squares: Expr<'_> = squares.sum();
            -0.5 * squares - 0.2 * z[0] * z[1]
        };
        mode(1.0).log_add_exp(mode(-1.0))
    });
    let settings = Settings {
        flow: FlowSpec::Planar {
            layers: 10,
            activation: Activation::Tanh,
            precision: Precision::Single,
        },
        base: BaseSpec { covariance: Covariance::Full, trained: true, ..BaseSpec::default() },
        path: PathKind::Bridge,
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.3 }),
        samples: 700,
        refine_samples: 1000,
        ..quick()
    };
    bits_are_fixed(&modes, &settings);
    let outcome = fit(&modes, &settings, &mut ()).unwrap();
    assert!(outcome.steps.len() > 3 && outcome.skipped_updates == 0);
    let below: Vec<f64> = outcome.flow.parameters()[8..14].to_vec();
    assert!(below.iter().any(|x| *x != 0.0), "the factor below the diagonal is trained");
}

#[test]
fn counts_follow_the_paper() {
    for schedule in [
        Schedule::Linear(Linear { t0: 0.1, epsilon: 0.07 }),
        Schedule::Exponential(Exponential { t0: 0.1, steps: 9 }),
        Schedule::Logarithmic(Logarithmic { t0: 0.1, steps: 9 }),
        Schedule::List(List(vec![0.1, 0.4, 1.0])),
        Schedule::AdaAnn(AdaAnn { t0: 0.1, tau: 0.2 }),
        Schedule::EssBisection(EssBisection { t0: 0.1, ess: 0.9 }),
    ] {
        let settings = Settings { schedule: schedule.clone(), ..quick() };
        let outcome = fit(&bimodal(), &settings, &mut ()).unwrap();
        let steps = outcome.steps.len();
        assert_eq!(outcome.trace.len(), 50 + (steps - 2) * 2 + 100, "{schedule:?}");
        assert_eq!(
            outcome.steps.iter().map(|step| step.updates).sum::<usize>(),
            outcome.trace.len()
        );
        let adaptive = matches!(schedule, Schedule::AdaAnn(_) | Schedule::EssBisection(_));
        let draws = if adaptive { (steps - 1) * 1000 } else { 0 };
        assert_eq!(outcome.target_evaluations, (50 + (steps - 2) * 2) * 100 + 100 * 200 + draws);
        let last = outcome.steps.last().unwrap();
        assert_eq!((last.t, last.epsilon, outcome.steps[0].t), (1.0, 0.0, 0.1));
        for pair in outcome.steps.windows(2) {
            assert!((pair[0].t + pair[0].epsilon - pair[1].t).abs() < 1e-15);
        }
        assert!(outcome.flow_at_1.is_some() && !outcome.stopped);
        assert_ne!(bits(&outcome.flow), bits(outcome.flow_at_1.as_ref().unwrap()));
    }
}

/// On a Gaussian in d dimensions Var[log p] under p^t is d/(2t²): ε = τ t √(2/d). The layers start at raw
/// parameters 0, where their gradient is 0, so the flow equals its base: a normal with a mean m and scales
/// σ_i that the test reads at every step. Under it b = −|z|²/2 has variance Σ (σ_i⁴/2 + m_i² σ_i²), and the
/// only difference between ε and τ over its root is sampling error.
#[test]
fn adaann_on_a_gaussian_takes_geometric_steps() {
    for dim in [1, 4] {
        let (t0, tau, draws) = (0.1, 0.1, 4000);
        let target = Program::record(dim, |z| z.iter().map(|z| -0.5 * z.square()).sum());
        let settings = Settings {
            flow: FlowSpec::planar(1),
            base: BaseSpec { sd: vec![1.0 / f64::sqrt(t0)], trained: true, ..BaseSpec::default() },
            initial_scale: 0.0,
            schedule: Schedule::AdaAnn(AdaAnn { t0, tau }),
            work: Work { warmup: 50, anneal: 20, refine: 10 },
            samples: 1000,
            variance_samples: draws,
            lr: 0.01,
            ..Settings::default()
        };
        let steps = fit(&target, &settings, &mut ()).unwrap().steps;
        let below = steps.iter().filter(|step| step.t + step.epsilon < 1.0);
        // Half of the relative error of a variance, for draws with kurtosis 3 + 12/d.
        let standard_error = 0.5 * ((12.0 / dim as f64 + 2.0) / draws as f64).sqrt();
        // A step changes the exact log scale by half of ln(1 + τ √(2/d)), at most 0.07. Twenty updates of
        // size 0.01 can follow it, so the scale lags by less than that one step plus the uncertainty of a log
        // scale from a batch of N points, 1/√(2N).
        let lag = 0.5 * (tau * (2.0 / dim as f64).sqrt()).ln_1p() + 1.0 / f64::sqrt(2.0 * 1000.0);
        let (mut count, mut sum) = (0, 0.0);
        for step in below {
            // The same run, stopped here, has the flow that the draws of b came from.
            let mut stop = |event: &Event| match event {
                Event::Step { record, .. } if record.step == step.step => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            let here = fit(&target, &settings, &mut stop).unwrap();
            assert_eq!(here.steps.last().map(|last| last.t), Some(step.t));
            let (mean, rest) = here.flow.parameters().split_at(dim);
            let (log_scale, layers) = rest.split_at(dim);
            assert!(layers.iter().all(|x| *x == 0.0), "the layers have moved");
            let variance: f64 = (mean.iter().zip(log_scale))
                .map(|(m, l)| 0.5 * (4.0 * l).exp() + m * m * (2.0 * l).exp())
                .sum();
            let off = (step.epsilon * variance.sqrt() / tau - 1.0) / standard_error;
            assert!(off.abs() < 4.0, "d = {dim}, t = {}: {off} standard errors off", step.t);
            let std_b = step.std_b.unwrap();
            assert!((step.epsilon * std_b / tau - 1.0).abs() < 1e-12, "ε is τ/S");
            for l in log_scale {
                let behind = l + 0.5 * step.t.ln();
                assert!(behind.abs() < lag, "d = {dim}, t = {}: {behind} behind", step.t);
            }
            count += 1;
            sum += off;
        }
        // Each step has its own draws, so their errors average out.
        let off = sum / f64::from(count).sqrt();
        assert!(count > 10 && off.abs() < 4.0, "d = {dim}: {off} standard errors off in all");
    }
}

/// A distant normal prior and likelihood: the posterior is known, and is not symmetric about the starting
/// point of any path.
#[test]
fn every_path_reaches_the_posterior() {
    // Prior N(−1, 1), one observation 3 with sd 0.5: mean (−1 + 4·3)/5 = 2.2, variance 1/5.
    let target =
        Program::record_parts(1, |z| (-0.5 * (z[0] + 1.0).square(), -2.0 * (z[0] - 3.0).square()));
    for path in [PathKind::Power, PathKind::Likelihood, PathKind::Bridge] {
        for t0 in [0.05, 0.0] {
            let settings = Settings {
                path,
                flow: FlowSpec::planar(20),
                schedule: Schedule::Linear(Linear { t0, epsilon: 0.01 }),
                work: Work { warmup: 200, anneal: 10, refine: 2000 },
                lr_rule: RateRule::Constant,
                ..Settings::default()
            };
            let outcome = match fit(&target, &settings, &mut ()) {
                Err(Error::Setting { setting: "t0", .. })
                    if path == PathKind::Power && t0 == 0.0 =>
                {
                    continue;
                }
                outcome => outcome.unwrap(),
            };
            let sample = outcome.approximation(&target).unwrap().sample(40_000, 3).unwrap();
            let z = sample.x().row(0);
            let mean = z.iter().sum::<f64>() / z.len() as f64;
            let sd = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / z.len() as f64).sqrt();
            // The Monte Carlo errors are 0.002 and 0.0016; the rest is the error of a flow with twenty layers
            // after two thousand updates.
            assert!((mean - 2.2).abs() < 0.03, "{path:?} t0 = {t0}: mean {mean}");
            assert!((sd - 0.2_f64.sqrt()).abs() < 0.03, "{path:?} t0 = {t0}: sd {sd}");
        }
    }
}

/// An exponential density in its own coordinate: the Jacobian is not tempered, and draws and both log
/// densities are returned in the user's coordinates.
#[test]
fn bounded_coordinates_come_back_in_their_own_units() {
    struct Exponential(Program);
    impl Target for Exponential {
        fn dim(&self) -> usize {
            1
        }
        fn evaluate(
            &self,
            points: &Batch,
            weights: Option<Weights>,
            out: &mut Evaluation,
        ) -> adaann::Result<()> {
            self.0.evaluate(points, weights, out)
        }
        fn support(&self, _: usize) -> Support {
            Support::Above(2.0)
        }
    }
    let target = Exponential(Program::record(1, |x| -1.5 * (x[0] - 2.0)));
    let settings = Settings {
        flow: FlowSpec::planar(20),
        schedule: Schedule::Linear(Linear { t0: 0.2, epsilon: 0.01 }),
        work: Work { warmup: 500, anneal: 5, refine: 4000 },
        ..Settings::default()
    };
    let approximation = fit(&target, &settings, &mut ()).unwrap().approximation(&target).unwrap();
    let sample = approximation.sample(40_000, 5).unwrap();
    let x = sample.x().row(0);
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    assert!(x.iter().all(|x| *x > 2.0));
    assert!((mean - (2.0 + 1.0 / 1.5)).abs() < 0.02, "{mean}");
    // E_q[log q − log p] is KL − log Z with Z = 1/1.5.
    let kl = sample.neg_elbo() + (1.0_f64 / 1.5).ln();
    assert!((-0.005..0.02).contains(&kl), "{kl}");
    let again = approximation.log_q(sample.x()).unwrap();
    for (a, b) in again.iter().zip(sample.log_q().unwrap()) {
        assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
    }
    assert!(approximation.log_q(&Batch::from_points(1, &[[1.9]])).is_err());
}

#[test]
fn a_trained_base_alone_fits_a_gaussian() {
    // Covariance [[1, 0.8], [0.8, 4]], mean (1, −2).
    let target = Program::record(2, |z| {
        let (x, y) = (z[0] - 1.0, z[1] + 2.0);
        -0.5 * (4.0 * x.square() - 1.6 * x * y + y.square()) / 3.36
    });
    let settings = Settings {
        flow: FlowSpec::planar(1),
        base: BaseSpec { covariance: Covariance::Full, trained: true, ..BaseSpec::default() },
        initial_scale: 0.0,
        schedule: Schedule::None,
        work: Work { warmup: 1, anneal: 1, refine: 6000 },
        lr: 0.02,
        ..Settings::default()
    };
    let outcome = fit(&target, &settings, &mut ()).unwrap();
    let sample = outcome.approximation(&target).unwrap().sample(50_000, 1).unwrap();
    // log Z = log 2π + ½ log det, det = 3.36.
    let kl = sample.neg_elbo() + std::f64::consts::TAU.ln() + 0.5 * 3.36_f64.ln();
    assert!(kl.abs() < 2e-3, "{kl}");
}

#[test]
fn laplace_is_a_base() {
    // Mode 3 with curvature 1/0.25, and a cubic term that skews the density.
    let target = Program::record(1, |z| {
        let x = z[0] - 3.0;
        -2.0 * x.square() + 0.1 * x * x * x - 0.05 * x.square().square()
    });
    let base = BaseSpec { start: Start::Laplace, mean: vec![1.0], ..BaseSpec::default() };
    let settings = Settings { base, ..quick() };
    let outcome = fit(&target, &settings, &mut ()).unwrap();
    assert!((outcome.flow.base().mean()[0] - 3.0).abs() < 1e-6);
}

#[test]
fn an_observer_stops_a_run_and_what_was_done_is_kept() {
    // Ten values of t: 66 updates before t = 1, and 100 there.
    for (stop_at, arrived) in [(1, false), (60, false), (100, true)] {
        let mut seen = 0;
        let mut observer = |event: &Event| {
            if let Event::Update { record, .. } = event {
                seen = record.update;
            }
            if seen >= stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let settings =
            Settings { schedule: Schedule::Linear(Linear { t0: 0.1, epsilon: 0.1 }), ..quick() };
        let outcome = fit(&bimodal(), &settings, &mut observer).unwrap();
        assert!(outcome.stopped);
        assert_eq!((outcome.trace.len(), outcome.flow_at_1.is_some()), (stop_at, arrived));
    }
}

/// A box without a transform: points outside are non-finite and are counted, without further effect.
#[test]
fn lost_points_are_counted_and_harmless() {
    let inside =
        Program::record(1, |z| z[0].abs().lt(4.0).select(-0.5 * z[0].square(), f64::NEG_INFINITY));
    let outcome = fit(&inside, &quick(), &mut ()).unwrap();
    assert!(outcome.flow.parameters().iter().all(|x| x.is_finite()));
    assert!(outcome.trace.iter().all(|record| record.neg_elbo.is_finite()));

    // Layers with raw parameters of 1e-300 have gradient 0 and do not move: every stage draws from the base
    // N(0, 4), and has a non-finite point beyond ±4 with probability 2Φ(−2).
    let still = Settings {
        initial_scale: 1e-300,
        schedule: Schedule::Linear(Linear { t0: 0.25, epsilon: 0.25 }),
        work: Work { warmup: 5, anneal: 3, refine: 4 },
        samples: 10_000,
        refine_samples: 20_000,
        ..quick()
    };
    let outcome = fit(&inside, &still, &mut ()).unwrap();
    assert_eq!(outcome.steps.len(), 4);
    let p = 0.045_500_263_896_358_4;
    for step in &outcome.steps {
        let points = step.updates * if step.t < 1.0 { 10_000 } else { 20_000 };
        let standard_error = (p * (1.0 - p) / points as f64).sqrt();
        let off = (step.lost - p) / standard_error;
        assert!(off.abs() < 4.0, "t = {}: lost {}, {off} standard errors off", step.t, step.lost);
    }

    let far = Program::record(1, |z| z[0].gt(30.0).select(-0.5 * z[0].square(), f64::NEG_INFINITY));
    let error = fit(&far, &quick(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    let nan = Program::record(1, |z| (z[0] - 1e9).sqrt());
    assert!(matches!(fit(&nan, &quick(), &mut ()).unwrap_err(), Error::Diverged { .. }));
}

/// A target that requests whole batches receives them; a failing target ends the run.
#[test]
fn whole_batches_and_failures() {
    struct Whole<'a>(Program, &'a AtomicUsize);
    impl Target for Whole<'_> {
        fn dim(&self) -> usize {
            1
        }
        fn evaluate(
            &self,
            points: &Batch,
            weights: Option<Weights>,
            out: &mut Evaluation,
        ) -> adaann::Result<()> {
            assert_eq!(points.len(), 200);
            if self.1.fetch_add(1, Ordering::Relaxed) == 30 {
                return Err(Error::Target("the simulator is gone".into()));
            }
            self.0.evaluate(points, weights, out)
        }
        fn wants_whole_batch(&self) -> bool {
            true
        }
    }
    let calls = AtomicUsize::new(0);
    let settings = Settings {
        schedule: Schedule::None,
        work: Work { warmup: 1, anneal: 1, refine: 50 },
        ..quick()
    };
    let error = fit(&Whole(bimodal(), &calls), &settings, &mut ()).unwrap_err();
    assert!(error.to_string().contains("the simulator is gone"), "{error}");
    assert_eq!(calls.into_inner(), 31);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let with = |change: fn(&mut Settings)| {
        let mut settings = quick();
        change(&mut settings);
        match fit(&bimodal(), &settings, &mut ()) {
            Err(Error::Setting { setting, .. }) => setting,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(|s| s.samples = 1), "samples");
    assert_eq!(with(|s| s.refine_samples = 0), "refine-samples");
    assert_eq!(with(|s| s.variance_samples = 1), "variance-samples");
    assert_eq!(with(|s| s.flow = FlowSpec::planar(0)), "layers");
    assert_eq!(with(|s| s.flow = FlowSpec::Radial { layers: 0 }), "layers");
    assert_eq!(with(|s| s.schedule = Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.0 })), "tau");
    assert_eq!(with(|s| s.schedule = Schedule::AdaAnn(AdaAnn { t0: 0.0, tau: 0.1 })), "t0");
    assert_eq!(with(|s| s.lr = f64::NAN), "lr");
    assert_eq!(with(|s| s.lr = -1.0), "lr");
    assert_eq!(with(|s| s.initial_scale = -1.0), "initial-scale");
    assert_eq!(with(|s| s.work.anneal = 0), "updates");
    assert_eq!(with(|s| s.base.sd = vec![1.0, 2.0]), "base-sd");
    assert_eq!(with(|s| s.base.sd = vec![0.0]), "base-sd");
    assert_eq!(with(|s| s.base.mean = vec![f64::INFINITY]), "base-mean");
    assert_eq!(with(|s| s.base.matrix = vec![-1.0]), "base-matrix");
    assert_eq!(with(|s| s.base.matrix = vec![1.0, 2.0]), "base-matrix");
    assert_eq!(with(|s| s.initial_scale = 0.0), "initial-scale");
    assert_eq!(with(|s| s.path = PathKind::Likelihood), "path");
    assert_eq!(with(|s| s.flow = FlowSpec::planar(1_000_000)), "layers");
}

/// A fixed base with correlated coordinates: its log density at its own draws is the Gaussian's.
#[test]
fn a_base_may_have_any_covariance() {
    let target = Program::record(2, |z| -0.5 * (z[0].square() + z[1].square()));
    let base =
        BaseSpec { matrix: vec![4.0, 1.0, 1.0, 2.0], mean: vec![1.0, -1.0], ..BaseSpec::default() };
    let work = Work { warmup: 1, anneal: 1, refine: 0 };
    let settings =
        Settings { base, schedule: Schedule::None, work, initial_scale: 1e-300, ..quick() };
    let flow = fit(&target, &settings, &mut ()).unwrap().flow;
    let draws = flow.sample(1000, 5);
    for i in 0..1000 {
        let (x, y) = (draws.points.row(0)[i] - 1.0, draws.points.row(1)[i] + 1.0);
        // The inverse of [[4, 1], [1, 2]] is [[2, -1], [-1, 4]]/7.
        let quadratic = (2.0 * x * x - 2.0 * x * y + 4.0 * y * y) / 7.0;
        let expected = -0.5 * quadratic - std::f64::consts::TAU.ln() - 0.5 * 7.0_f64.ln();
        assert!((draws.log_q[i] - expected).abs() < 1e-12, "{} {expected}", draws.log_q[i]);
    }
}

/// A box prior without its transform: on the likelihood path the prior is in a, but a point outside is still
/// ignored in the variance like any other non-finite point.
#[test]
fn points_outside_the_prior_are_no_part_of_the_variance() {
    // Outside ±3 the likelihood alone would spread b by hundreds.
    let target = Program::record_parts(1, |z| {
        let inside = z[0].abs().lt(3.0);
        (inside.select(0.0, f64::NEG_INFINITY), inside.select(-0.5 * z[0].square(), 1e3 * z[0]))
    });
    let settings = Settings {
        path: PathKind::Likelihood,
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.1 }),
        ..quick()
    };
    let outcome = fit(&target, &settings, &mut ()).unwrap();
    let first = &outcome.steps[0];
    assert!(first.lost > 0.01, "some points are outside");
    // Inside, b lies between −4.5 and 0.
    assert!(first.std_b.unwrap() < 2.3, "{first:?}");
}

/// The best run stays in the support, a failing seed affects only its own run, and a run without finite draws
/// ranks last.
#[test]
fn restarts_are_ranked_honestly() {
    let runs = restarts(&bimodal(), &quick(), 3, |_| ()).unwrap();
    assert_eq!((runs.runs.len(), runs.failed.len()), (3, 0));
    assert!(runs.runs.windows(2).all(|pair| pair[0].neg_elbo <= pair[1].neg_elbo));

    // The target fails in the first run that makes fifty calls.
    struct Fails(Program, AtomicUsize);
    impl Target for Fails {
        fn dim(&self) -> usize {
            1
        }
        fn evaluate(
            &self,
            points: &Batch,
            weights: Option<Weights>,
            out: &mut Evaluation,
        ) -> adaann::Result<()> {
            if self.1.fetch_add(1, Ordering::Relaxed) == 50 {
                return Err(Error::Target("once".into()));
            }
            self.0.evaluate(points, weights, out)
        }
    }
    let once = Fails(bimodal(), AtomicUsize::new(0));
    let runs = restarts(&once, &quick(), 3, |_| ()).unwrap();
    assert_eq!((runs.runs.len(), runs.failed.len()), (2, 1));
    // An observer that panics fails its run, too.
    let panics = |seed: u64| {
        move |_: &Event| -> ControlFlow<()> {
            assert!(seed != quick().seed + 1, "seed {seed} is watched badly");
            ControlFlow::Continue(())
        }
    };
    let runs = restarts(&bimodal(), &quick(), 3, panics).unwrap();
    let [(seed, error)] = &runs.failed[..] else { panic!("{:?}", runs.failed) };
    assert!(*seed == quick().seed + 1 && error.to_string().contains("watched badly"), "{error}");
    assert_eq!(runs.runs.len(), 2);
    let never = Program::record(1, |z| (z[0] - 1e9).sqrt());
    assert!(restarts(&never, &quick(), 2, |_| ()).is_err());
}

/// Training in single precision returns a flow that draws and evaluates in double precision.
#[test]
fn single_precision_ends_with_the_training() {
    let flow =
        FlowSpec::Planar { layers: 10, activation: Activation::Tanh, precision: Precision::Single };
    let outcome = fit(&bimodal(), &Settings { flow, ..quick() }, &mut ()).unwrap();
    let draws = outcome.flow.sample(500, 1);
    let again = outcome.flow.log_density(&draws.points).unwrap();
    for (a, b) in again.iter().zip(&draws.log_q) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn a_flow_survives_its_file() {
    let base = BaseSpec { mean: vec![0.1 + 0.2], trained: true, ..BaseSpec::default() };
    let outcome = fit(&bimodal(), &Settings { base, ..quick() }, &mut ()).unwrap();
    let folder = std::env::temp_dir().join(format!("adaann-fit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("flow.safetensors");
    outcome.flow.save(&path).unwrap();
    let loaded = Flow::load(&path).unwrap();
    assert_eq!(bits(&loaded), bits(&outcome.flow));
    let (a, b) = (loaded.sample(100, 3), outcome.flow.sample(100, 3));
    assert_eq!((a.points.row(0), a.log_q), (b.points.row(0), b.log_q));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");

    // Invalid metadata: the base's factor emptied, or made negative.
    let bytes = std::fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let at = text.find("factor").unwrap();
    let (open, close) = (at + text[at..].find('[').unwrap(), at + text[at..].find(']').unwrap());
    for factor in [" ".repeat(close - open - 1), format!("-1{}", " ".repeat(close - open - 3))] {
        let mut changed = bytes.clone();
        changed[open + 1..close].copy_from_slice(factor.as_bytes());
        std::fs::write(&path, &changed).unwrap();
        let error = Flow::load(&path).unwrap_err();
        assert!(error.to_string().contains("base's factor"), "{error}");
    }
    // A parameter that is not a number.
    let mut changed = bytes.clone();
    let end = changed.len();
    changed[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(&path, &changed).unwrap();
    assert!(matches!(Flow::load(&path), Err(Error::Load(_))));

    let mut bytes = bytes;
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(Flow::load(&path), Err(Error::Load(_))));
    std::fs::write(&path, b"hello").unwrap();
    assert!(matches!(Flow::load(&path), Err(Error::Load(_))));
    assert!(matches!(Flow::load(&folder.join("absent")), Err(Error::Io { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}
