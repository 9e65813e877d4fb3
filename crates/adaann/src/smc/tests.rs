//! A run is its state: copied, it goes on to the same bits.

use super::{
    Move, Population, Settings, Stage,
    run::{Sampler, smc},
    state::{At, State},
};
use crate::{
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

fn go_on(sampler: &Sampler, mut state: State, mut stages: Vec<Stage>) -> Population {
    while let Some(stage) = sampler.advance(&mut state).unwrap() {
        stages.push(stage);
    }
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
        let sampler = Sampler::new(&target, &settings).unwrap();
        let mut state = sampler.start().unwrap();
        let mut stages = Vec::new();
        // On the way from the base, and on the path.
        for count in [1, 2] {
            while stages.len() < count || count == 2 && matches!(state.at, At::Start(_)) {
                stages.push(sampler.advance(&mut state).unwrap().unwrap());
            }
            // Another run with the same settings needs nothing but the state.
            let other = Sampler::new(&target, &settings).unwrap();
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
            let settings = Settings { jumps, ..settings(moves) };
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
