//! The particles' rung: sequential Monte Carlo, and an adapted mixture fitted to its particles.

use super::{Event, Left, Method, candidate::Candidate, context::Context, forecast::Step};
use crate::{
    Result, adaptive,
    mixture::{Component, Mixture},
    path::PathKind,
    smc::{self, Population, Smc},
};

/// The number of particles.
const PARTICLES: usize = 2_000;

/// The particles' share of the remaining budget; the rest is for draws from the mixture fitted to them.
const OF_PARTICLES: f64 = 2.0 / 3.0;

/// Degrees of freedom of the components fitted to particles, whose tails are thin where particles are few.
const DEGREES: f64 = 8.0;

const SMC_SEED: u64 = 0xd1b5_4a32_d192_ed03;

/// Runs particles, and adapts the mixture fitted to them.
pub(super) fn climb(context: &mut Context) -> Result<(Candidate, Population)> {
    context.begin(Step::Particles, "sending particles");
    let seed = context.settings.seed ^ SMC_SEED;
    let target = context.target;
    let population = send(context, seed)?;
    let tailed = |component: Component| Component { degrees: Some(DEGREES), ..component };
    let shape: Vec<Component> = population.mixture().into_iter().map(tailed).collect();
    let start = Mixture::of(&shape).expect("the mixture of particles has covariances");
    let adapted = context.with_ledger(|context, ledger| {
        adaptive::run(target, start, &context.rules(), seed, ledger)
    })?;
    let left = if adapted.is_good { Left::Answered } else { Left::PoorWeights };
    let found = format!("{} temperatures, {}", population.stages.len(), adapted.components());
    let evaluations = population.evaluations + adapted.evaluations;
    context.leave(Method::Smc, evaluations, Some(adapted.ess_share), left, found);
    Ok((Candidate::of_mixture(Method::Smc, adapted)?, population))
}

/// Particles on the target's own path. If they fail, particles on the bridge from the base: powers of a
/// density with heavy tails have no integral.
fn send(context: &mut Context, seed: u64) -> Result<Population> {
    let target = context.target;
    let settings = context.particles(PARTICLES, seed);
    let mut send = |settings: &smc::Settings| {
        context.attempt("particles", |context, ledger| {
            let budget = context.budget().share(OF_PARTICLES);
            context.within_time(budget, |context| {
                let mut watch = |stage: &smc::Stage| context.see(&Event::Particles(stage));
                Smc::new(target, settings).within(budget).run_with(&mut watch, ledger)?.whole()
            })
        })
    };
    match (send(&settings)?, settings.path) {
        (Err(_), PathKind::Power) => {
            let schedule = smc::Settings::starting_at(0.0).schedule;
            send(&smc::Settings { path: PathKind::Bridge, schedule, ..settings })?
        }
        (sent, _) => sent,
    }
}
