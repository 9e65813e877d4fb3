//! The flow's rung: a flow on top of a mixture covers what the mixture leaves over.

use super::{Event, Left, Method, candidate::Candidate, context::Context, forecast::Step};
use crate::{
    Failure, Result,
    approximation::Approximation,
    fit::{self, Fit, ForwardKl},
    flow::{Flow, FlowSpec, SplineSpec},
    mixture::Mixture,
    optim::RateRule,
    path::PathKind,
    schedule::{Guarded, Work},
    smc::Population,
};

/// The share of effective draws below which weights are poor.
const POOR: f64 = 0.05;

/// Draws of the flow, and the least number of them.
const DRAWS: usize = 20_000;
const FEWEST_DRAWS: usize = 500;

/// Anneals a spline flow from the particles' mixture to the target, and covers its mass.
pub(super) fn climb(context: &mut Context, population: &Population) -> Result<Candidate> {
    context.begin(Step::Flow, "annealing a flow");
    let work = Work { warmup: 200, anneal: 5, refine: 2_000 };
    let settings = fit::Settings {
        flow: FlowSpec::SplineAutoregressive(SplineSpec::default()),
        path: PathKind::Bridge,
        schedule: Guarded { t0: 0.0, tau: 0.1, ..Guarded::default() }.into(),
        refine_lr_rule: RateRule::Cosine { over: work.refine, floor: 1e-3 },
        work,
        samples: 128,
        refine_samples: 256,
        variance_samples: 512,
        lr: 0.002,
        initial_scale: 0.01,
        point_clip: Some(100.0),
        forward_kl: Some(ForwardKl::default()),
        seed: context.settings.seed,
        ..fit::Settings::default()
    };
    let base = Mixture::of(&population.mixture()).expect("it describes particles").to_base()?;
    let mut flow = Flow::new(&settings.flow, base)?;
    flow.initialise(settings.initial_scale, settings.seed);
    let target = context.target;
    let outcome = context.with_ledger(|context, ledger| {
        let mut watch = |event: &fit::Event| context.see(&Event::Fit(event));
        Fit::new(target, &settings).flow(flow).run_with(&mut watch, ledger)
    })?;
    let approximation = Approximation::new(target, outcome.flow.clone())?;
    let left = context.budget().after(outcome.target_evaluations).at_least(FEWEST_DRAWS);
    let count = context.settings.draws.unwrap_or(DRAWS).min(left);
    let sample = context.part("draws", |_, _| approximation.sample(count, settings.seed))?;
    let ess_share = sample.weight_sums()?.ess_share();
    let is_good = ess_share > POOR;
    let left = if is_good { Left::Answered } else { Left::PoorWeights };
    let evaluations = outcome.target_evaluations + count;
    let mut found = format!("{} steps, {} updates", outcome.steps.len(), outcome.trace.len());
    if let Some(Failure { t, reason, .. }) = &outcome.failure {
        found += &format!(", kept at t = {t:.4}, since {reason}");
    }
    context.leave(Method::Flow, evaluations, Some(ess_share), left, found);
    let flow = outcome.flow.clone();
    let mut candidate = Candidate::of_draws(Method::Flow, flow, sample, is_good)?;
    candidate.stream = Some(settings.seed);
    candidate.fit = Some(outcome);
    Ok(candidate)
}
