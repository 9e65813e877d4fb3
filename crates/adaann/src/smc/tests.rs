//! A run is determined by its state: a copy continues to identical bits.

use super::{
    Move, Population, Settings, Stage,
    sampler::Sampler,
    smc,
    state::{At, State},
    sweep::Swept,
};
use crate::{
    Batch, Program, Result,
    flow::Base,
    path::{PathKind, lopsided::Lopsided},
    schedule::{AdaAnn, Schedule},
    target::{Evaluation, Target, Unconstrained, Weights},
};
use std::sync::atomic::{AtomicUsize, Ordering};

fn settings(moves: Move) -> Settings {
    Settings {
        path: PathKind::Bridge,
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.4 }),
        moves,
        particles: 300,
        pmc_rounds: 1,
        pmc_draws: 500,
        seed: 6,
        ..Settings::default()
    }
}

fn sampler_of<'a>(target: &'a Lopsided, settings: &'a Settings) -> Sampler<'a> {
    let base = settings.base.resolve(&Unconstrained::new(target).unwrap(), settings.seed).unwrap();
    Sampler::new(target, settings, &base, 0).unwrap()
}

fn go_on(sampler: &Sampler, mut state: State, mut stages: Vec<Stage>) -> Population {
    while let Some(stage) = sampler.advance(&mut state).unwrap() {
        stages.push(stage);
    }
    sampler.keep_moving(&mut state).unwrap();
    sampler.finish(state, stages).unwrap()
}

fn assert_same_bits(one: &Population, other: &Population) {
    assert_eq!(one.stages, other.stages);
    assert_eq!(one.log_z.to_bits(), other.log_z.to_bits());
    assert_eq!(one.log_z_error.to_bits(), other.log_z_error.to_bits());
    assert_eq!((one.evaluations, &one.weights), (other.evaluations, &other.weights));
    assert_eq!(one.mixture(), other.mixture());
    for d in 0..2 {
        assert_eq!(one.z.row(d), other.z.row(d));
    }
}

#[test]
fn a_copy_of_the_state_goes_on_to_the_same_bits() {
    let target = Lopsided::default();
    for moves in [Move::Rwm, Move::Hmc] {
        let settings = settings(moves);
        let whole = smc(&target, &settings, &mut ()).unwrap();
        let sampler = sampler_of(&target, &settings);
        let mut state = sampler.start().unwrap();
        let mut stages = Vec::new();
        // Between the base and the first t, and on the path.
        for count in [1, 2] {
            while stages.len() < count || count == 2 && matches!(state.at, At::Start(_)) {
                stages.push(sampler.advance(&mut state).unwrap().unwrap());
            }
            // Another run with the same settings needs only the state.
            let other = sampler_of(&target, &settings);
            let resumed = go_on(&other, state.clone(), stages.clone());
            assert_same_bits(&resumed, &whole);
        }
        assert!(stages.len() < whole.stages.len(), "{}", stages.len());
        assert_same_bits(&go_on(&sampler, state, stages), &whole);
    }
}

/// Every evaluation is counted: of the base, of every kernel with and without gradients, and of the
/// rounds of population Monte Carlo.
#[test]
fn evaluations_are_those_that_the_target_counts() {
    for moves in [Move::Rwm, Move::Mala, Move::Hmc, Move::Auto] {
        for jumps in [false, true] {
            let target = Lopsided::default();
            let islands = if jumps { 2 } else { 1 };
            let settings = Settings { jumps, islands, ..settings(moves) };
            let mut seen = 0;
            let mut watch = |stage: &Stage| {
                seen += target.count();
                assert_eq!(stage.evaluations, seen, "{moves:?}, jumps {jumps}");
                std::ops::ControlFlow::Continue(())
            };
            let population = smc(&target, &settings, &mut watch).unwrap();
            assert_eq!(population.evaluations, seen + target.count(), "{moves:?}, jumps {jumps}");
        }
    }
}

/// A target that counts its evaluations.
struct Counted(Program, AtomicUsize);

impl Target for Counted {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.1.fetch_add(points.len(), Ordering::Relaxed);
        self.0.evaluate(points, gradient, out)
    }
}

/// A regression with unknown scale: particles lag where the density becomes narrow, and go back.
#[test]
fn steps_that_are_taken_back_are_counted() {
    let program = Program::record(4, |z| {
        let squares = [1.0, -0.4, 2.4]
            .iter()
            .zip(z)
            .fold(z[0] * 0.0 + 10.0, |sum, (b, beta)| sum + 200.0 * (*beta - *b).square());
        let prior = -0.5 * ((z[3] - 1.0) / 1.5).square();
        let prior = z[..3].iter().fold(prior, |sum, beta| sum - 0.5 * (*beta / 10.0).square());
        prior - 200.0 * z[3] - 0.5 * squares * (-2.0 * z[3]).exp()
    });
    let target = Counted(program, AtomicUsize::new(0));
    let settings = Settings { path: PathKind::Bridge, ..Settings::starting_at(0.0) };
    let base = Base::diagonal(&[0.0, 0.0, 0.0, 1.0], &[10.0, 10.0, 10.0, 1.5]).unwrap();
    let sampler = Sampler::new(&target, &settings, &base, 0).unwrap();
    let mut state = sampler.start().unwrap();
    while sampler.advance(&mut state).unwrap().is_some() {}
    assert_eq!(state.evaluations, target.1.load(Ordering::Relaxed));
    assert!(state.returns > 0);
}

/// With steps far too short, paths get longer, and all of their steps are counted.
#[test]
fn steps_of_long_paths_are_counted() {
    let target = Lopsided::default();
    let settings = Settings { jumps: false, ..settings(Move::Hmc) };
    let sampler = sampler_of(&target, &settings);
    let mut state = sampler.start().unwrap();
    (0..5).for_each(|_| state.step_sizes.adapt(Move::Hmc as usize, 0.0));
    state.path_length.need(true);
    let mut longest = 0;
    for _ in 0..4 {
        longest = longest.max(state.path_length.most_steps());
        sampler.sweep(&mut state, settings.path.weights(1.0), &mut Swept::default()).unwrap();
        state.particles.gradient = None;
    }
    assert_eq!(state.evaluations, target.count());
    assert!(longest > 10, "{longest}");
}
