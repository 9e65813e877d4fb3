//! Sequential Monte Carlo against exact answers: evidence, weights of modes, moments, bits.

use adaann::{
    Program,
    importance::Estimate,
    registry::{self, Problem, mode_weights},
    schedule::{AdaAnn, EssBisection, Exponential, Linear, Schedule},
    smc::{Move, Population, Settings, Stage, smc},
};
use std::ops::ControlFlow;

fn problem(name: &str, parameters: &[(&str, f64)]) -> Problem {
    let given: Vec<_> = parameters.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect();
    registry::find(name).unwrap().build(&given).unwrap()
}

fn run(problem: &Problem, change: impl FnOnce(&mut Settings)) -> Population {
    let mut settings = problem.settings.particles();
    change(&mut settings);
    smc(&*problem.target, &settings, &mut ()).unwrap()
}

/// eˣ is Gamma(3): log p = 3 x − eˣ, and y given x is N(x²/2, 1/4). Nothing of it is
/// symmetric; log Z = ln Γ(3) + ln √(2π/4).
fn lopsided() -> Program {
    Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        3.0 * x - x.exp() - 2.0 * (y - 0.5 * x.square()).square()
    })
}

const LOPSIDED_LOG_Z: f64 = std::f64::consts::LN_2 + 0.225_791_352_644_727_4;

/// Mean of log of a Gamma(3): digamma(3).
const LOPSIDED_MEAN: f64 = 0.922_784_335_098_467_1;

/// Over 12 seeds the squared standardised errors of log Z sum to χ²₁₂, of which 35 has the
/// probability 5e-4 if the errors are honest; were they half as large as they should be, the mean
/// of the sum would be 48.
#[test]
fn evidence_is_right_within_its_own_error() {
    let cases = [("bimodal", vec![]), ("eight-gaussians", vec![]), ("shells", vec![("dim", 5.0)])];
    for (name, parameters) in cases {
        let problem = problem(name, &parameters);
        let exact = problem.known.log_z.unwrap();
        let sum: f64 = (1..=12)
            .map(|seed| {
                let population = run(&problem, |s| {
                    s.seed = seed;
                    s.particles = 1_000;
                });
                ((population.log_z - exact) / population.log_z_error).powi(2)
            })
            .sum();
        assert!(sum < 35.0, "{name}: {sum}");
        // Errors ten times too large would make it 0.12.
        assert!(sum > 2.0, "{name}: {sum}");
    }
}

/// Every kind of move alone leaves the density as it is: with enough particles the mean of x is
/// digamma(3) within five of its own errors, and log Z as well.
#[test]
fn every_move_leaves_the_density_as_it_is() {
    for moves in [Move::Rwm, Move::Mala, Move::Hmc, Move::Auto] {
        for jumps in [false, true] {
            // At smaller t its left tail is a thread hundreds long, which particles do not fill.
            let schedule = Schedule::AdaAnn(AdaAnn { t0: 0.3, tau: 0.5 });
            let settings =
                Settings { moves, jumps, schedule, particles: 4_000, ..Settings::default() };
            let population = smc(&lopsided(), &settings, &mut ()).unwrap();
            let Estimate { value: mean, error } = population.mean(population.points.row(0));
            let at = format!("{moves:?}, jumps {jumps}");
            assert!((mean - LOPSIDED_MEAN).abs() < 5.0 * error, "{at}: {mean} ± {error}");
            // sd of x is 0.63; an error of a tenth of it would say nothing.
            assert!(error < 0.06, "{at}: {error}");
            let gap = population.log_z - LOPSIDED_LOG_Z;
            assert!(gap.abs() < 5.0 * population.log_z_error, "{at}: {gap}");
        }
    }
}

/// 2,000 particles with jumps: the share of a mode of one half has a standard error of at least
/// 0.011; four of them, and a bit for what resampling adds.
#[test]
fn modes_keep_their_weights() {
    for (name, parameters) in
        [("bimodal", vec![]), ("mixture1d-asymmetric", vec![("mu", 8.0)]), ("two-moons", vec![])]
    {
        let problem = problem(name, &parameters);
        for seed in 1..=3 {
            let population = run(&problem, |s| s.seed = seed);
            let shares = mode_weights(&problem.known, &population.points);
            for (share, mode) in shares.iter().zip(&problem.known.modes) {
                assert!((share - mode.weight).abs() < 0.06, "{name}, seed {seed}: {shares:?}");
            }
        }
    }
}

#[test]
fn bits_are_the_same_for_any_number_of_threads() {
    let problem = problem("shells", &[]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            run(&problem, |s| {
                s.particles = 500;
                s.moves = Move::Hmc;
            })
        })
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.log_z.to_bits(), three.log_z.to_bits());
    assert_eq!(one.points.row(1), three.points.row(1));
    assert_eq!(one.stages, three.stages);
}

#[test]
fn planned_schedules_work_and_temperatures_rise() {
    let problem = problem("bimodal", &[]);
    for schedule in [
        Schedule::Exponential(Exponential { t0: 0.01, steps: 10 }),
        Schedule::Linear(Linear { t0: 0.01, epsilon: 0.1 }),
        Schedule::EssBisection(EssBisection { t0: 0.01, ess: 0.6 }),
        Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.5 }),
    ] {
        let population = run(&problem, |s| s.schedule = schedule.clone());
        let on_path: Vec<&Stage> =
            population.stages.iter().filter(|stage| stage.start.is_none()).collect();
        assert!(on_path.windows(2).all(|pair| pair[0].t < pair[1].t));
        assert_eq!(on_path.last().unwrap().t, 1.0);
        let gap = population.log_z - problem.known.log_z.unwrap();
        assert!(gap.abs() < 5.0 * population.log_z_error, "{}: {gap}", schedule.name());
    }
}

#[test]
fn an_observer_stops_it_and_what_was_done_is_kept() {
    let problem = problem("bimodal", &[]);
    let mut stop = |stage: &Stage| match stage.t > 0.05 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let settings = problem.settings.particles();
    let population = smc(&*problem.target, &settings, &mut stop).unwrap();
    assert!(population.stopped);
    let last = population.stages.last().unwrap().t;
    assert!((0.05..1.0).contains(&last), "{last}");
    assert_eq!(population.points.len(), settings.particles);
}

#[test]
fn evaluations_are_counted_and_weights_sum_to_1() {
    let target = lopsided();
    let population = smc(&target, &Settings::default(), &mut ()).unwrap();
    let last = population.stages.last().unwrap();
    assert!(population.evaluations >= last.evaluations);
    assert!((population.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(population.points.len(), 5 * 2_000);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let target = lopsided();
    let good = Settings::default();
    for (settings, name) in [
        (Settings { particles: 3, ..good.clone() }, "particles"),
        (Settings { freshness: 1.5, ..good.clone() }, "freshness"),
        (Settings { freshness: f64::NAN, ..good.clone() }, "freshness"),
        (Settings { most_sweeps: 0, ..good.clone() }, "most-sweeps"),
        (Settings { kept_sweeps: 0, ..good.clone() }, "kept-sweeps"),
        (Settings { resample_below: 0.0, ..good.clone() }, "resample-below"),
        (Settings { path: adaann::path::PathKind::Likelihood, ..good.clone() }, "path"),
    ] {
        let error = smc(&target, &settings, &mut ()).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

/// A density that is nowhere, or no number, is an error that says what to do; one that is nowhere
/// but in a part of the base is not.
#[test]
fn densities_that_are_nowhere_are_said_so() {
    for hole in [f64::NEG_INFINITY, f64::NAN] {
        let nowhere = Program::record(1, |z| z[0] * 0.0 + hole);
        let error = smc(&nowhere, &Settings::default(), &mut ()).unwrap_err().to_string();
        assert!(error.contains("t = 0") || error.contains("finite"), "{error}");
        // Half of a normal: log Z = ln √(2π)/2.
        let half = Program::record(1, |z| z[0].gt(0.0).select(-0.5 * z[0].square(), hole));
        let population = smc(&half, &Settings::default(), &mut ()).unwrap();
        let exact = 0.5 * std::f64::consts::TAU.ln() - std::f64::consts::LN_2;
        let gap = population.log_z - exact;
        assert!(gap.abs() < 5.0 * population.log_z_error, "{gap} ± {}", population.log_z_error);
    }
}
