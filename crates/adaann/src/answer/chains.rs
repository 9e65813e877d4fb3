//! The chains' rung. In many dimensions no weights survive, so the draws of long chains are the
//! answer.

use super::{Event, Left, Method, candidate::Candidate, context::Context, forecast::Step};
use crate::{
    Batch, Error, Result, adaptive,
    chains::{self, Chains},
    flow::Noise,
    importance::Sample,
    mixture::{Component, Mixture},
    rng::{Purpose, Stream},
};

/// The size of the sample taken from the chains, unless the settings fix it.
const DRAWS: usize = 10_000;

/// The least number of evaluations for chains, whatever the budget.
const FEWEST: usize = 400;

/// The least number of chains, whatever the budget, and the number of evaluations of each chain
/// that justify another one.
const FEWEST_CHAINS: usize = 8;
const ITERATIONS: usize = 100;

const CHAINS_SEED: u64 = 0x3c6e_f372_fe94_f82b;

/// Runs chains from draws of the base.
pub(super) fn climb(context: &mut Context, shape: Option<&Mixture>) -> Result<Candidate> {
    context.begin(Step::Chains, "running chains");
    let shape = shape.map(|mixture| mixture.to_components()[0].covariance.clone());
    let found = run(context, shape.as_deref(), context.settings.target_ess, 0)?;
    let evidence = context.part("evidence", |context, _| {
        chains::evidence(&context.unconstrained, &found, context.settings.seed)
    });
    let unknown = chains::Evidence { log_z: None, evaluations: 0 };
    let evidence = context.in_time(evidence)?.unwrap_or(unknown);
    let (sample, components) = sample(context, &found, evidence.log_z.map(|log_z| log_z.value))?;
    let left = if found.has_converged { Left::Answered } else { Left::Failed };
    let words = format!(
        "{} chains of {} iterations, R-hat {:.3}, effective sample size {:.0}",
        found.chains,
        found.iterations,
        found.worst_r_hat(),
        found.worst_bulk_ess()
    );
    let share = found.worst_bulk_ess() / found.z.len() as f64;
    let evaluations = found.evaluations + evidence.evaluations;
    context.leave(Method::Chains, evaluations, Some(share), left, words);
    let mixture = Mixture::of(&components).ok_or_else(|| {
        Error::Target(
            "the covariance of the chains' draws is not positive definite: a parameter is constant or not \
             finite; give it a prior on its own scale"
                .into(),
        )
    })?;
    Ok(Candidate {
        method: Method::Chains,
        flow: adaptive::flow_of(&mixture)?,
        sample,
        stream: None,
        log_z: evidence.log_z,
        is_good: found.has_converged,
        fit: None,
        mixture: None,
        chains: Some(found),
    })
}

/// One run of chains; each `number` has its own starts.
pub(super) fn run(
    context: &mut Context,
    shape: Option<&[f64]>,
    target_ess: f64,
    number: u64,
) -> Result<Chains> {
    let seed = context.settings.seed ^ CHAINS_SEED.wrapping_add(number);
    let (usual, budget) = (chains::Settings::default(), context.budget());
    let each = context.unconstrained.values_with_gradients(1);
    let affordable = (budget.evaluations() / (ITERATIONS * each)).max(FEWEST_CHAINS);
    // The target evaluates chains in blocks.
    let chains = usual.chains.min(affordable);
    let chains = chains.max(context.settings.at_once.next_multiple_of(32));
    let most = usual.max_evaluations.saturating_mul(each).min(budget.at_least(FEWEST));
    let max_evaluations = most.max(chains);
    let settings = chains::Settings { chains, target_ess, seed, max_evaluations, ..usual };
    let (dim, count) = (context.base.dim(), settings.chains);
    let (mut noise, mut starts) = (Noise::zeros(dim, count), Batch::zeros(dim, count));
    let mut log_q = vec![0.0; starts.padded_len()];
    context.base.draw(&Stream::new(seed, Purpose::Modes), 0, 0, &mut noise);
    context.base.forward(&noise, &mut starts, &mut log_q);
    let unconstrained = context.unconstrained.clone();
    context.part("chains", |context, ledger| {
        let mut watch = |progress: &chains::Progress| context.see(&Event::Chains(progress));
        chains::run_with(&unconstrained, &starts, shape, &settings, &mut watch, ledger)
    })
}

/// Evenly spaced draws of chains, with equal weights, and the Gaussian that describes them.
fn sample(
    context: &Context,
    found: &Chains,
    log_z: Option<f64>,
) -> Result<(Sample, Vec<Component>)> {
    let (all, dim) = (found.z.len(), found.z.dim());
    let count = context.settings.draws.unwrap_or(DRAWS).min(all);
    let mut z = Batch::zeros(dim, count);
    let chosen = |i: usize| i * all / count;
    for d in 0..dim {
        let from = found.z.row(d);
        z.row_mut(d).iter_mut().enumerate().for_each(|(i, to)| *to = from[chosen(i)]);
    }
    let (x, log_jacobian) = context.unconstrained.constrain(&z);
    let log_p = (0..count).map(|i| found.log_density[chosen(i)] - log_jacobian[i]).collect();
    let component = Component::describing(&found.z)?;
    let log_weights = vec![log_z.unwrap_or(0.0); count];
    let sample = Sample::of_particles(z, x, log_p, log_weights)?;
    Ok((sample.of_chains(found.mixing(count)), vec![component]))
}
