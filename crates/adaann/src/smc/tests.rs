//! A run is its state: copied, it goes on to the same bits.

use super::{
    Move, Population, Settings, Stage,
    sampler::Sampler,
    smc,
    state::{At, State},
};
use crate::{
    flow::Base,
    path::{PathKind, lopsided::Lopsided},
    schedule::{AdaAnn, Schedule},
};

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
    Sampler::new(target, settings, &Base::standard(2), 0).unwrap()
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
        // On the way from the base, and on the path.
        for count in [1, 2] {
            while stages.len() < count || count == 2 && matches!(state.at, At::Start(_)) {
                stages.push(sampler.advance(&mut state).unwrap().unwrap());
            }
            // Another run with the same settings needs nothing but the state.
            let other = sampler_of(&target, &settings);
            let resumed = go_on(&other, state.clone(), stages.clone());
            assert_same_bits(&resumed, &whole);
        }
        assert!(stages.len() < whole.stages.len(), "{}", stages.len());
        assert_same_bits(&go_on(&sampler, state, stages), &whole);
    }
}

/// Every evaluation is counted: those of the base, of every kernel with and without gradients, and
/// of the rounds of population Monte Carlo.
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

/// A funnel whose neck the mixture does not describe: steps are short, and paths may be long. A
/// transition on the way, so that particles go back. All of it is counted.
#[test]
fn evaluations_are_counted_on_long_paths_and_steps_back() {
    struct Counted(crate::Program, std::sync::atomic::AtomicUsize);
    impl crate::target::Target for Counted {
        fn dim(&self) -> usize {
            4
        }
        fn evaluate(
            &self,
            points: &crate::Batch,
            gradient: Option<crate::target::Weights>,
            out: &mut crate::target::Evaluation,
        ) -> crate::Result<()> {
            self.1.fetch_add(points.len(), std::sync::atomic::Ordering::Relaxed);
            self.0.evaluate(points, gradient, out)
        }
    }
    let program = crate::Program::record(4, |z| {
        let squares = (0..3).fold(z[0] * 0.0 + 1.0, |sum, d| sum + 100.0 * z[d].square());
        -100.0 * z[3] - 0.5 * squares * (-2.0 * z[3]).exp() - 0.5 * (z[3] / 1.5).square()
    });
    let target = Counted(program, Default::default());
    let settings =
        Settings { schedule: AdaAnn { t0: 0.0, tau: 0.6 }.into(), ..settings(Move::Hmc) };
    let sampler = Sampler::new(
        &target,
        &settings,
        &Base::diagonal(&[0.0; 4], &[10.0, 10.0, 10.0, 1.5]).unwrap(),
        0,
    )
    .unwrap();
    let mut state = sampler.start().unwrap();
    let (mut longest, mut returns) = (0, 0);
    while sampler.advance(&mut state).unwrap().is_some() {
        longest = longest.max(state.path_length.most_steps());
        returns = state.returns;
    }
    assert_eq!(state.evaluations, target.1.load(std::sync::atomic::Ordering::Relaxed));
    assert!(longest > 10, "{longest}");
    assert!(returns > 0);
}
