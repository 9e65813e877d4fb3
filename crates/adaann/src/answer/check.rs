//! The check of a candidate, and its repair with the check's results.

use super::{
    Answer, Event, Left, Method, Observer, Rung, Settings, candidate::Candidate, chains,
    context::Context, forecast::Step,
};
use crate::{
    Result, adaptive,
    approximation::Approximation,
    checkpoint::Ledger,
    diagnostics::{
        self, Check, Coverage, Examination, Trust, examine_chains, examine_exact, examine_from,
        reasons_of_defects,
    },
    mixture::{Component, Mixture},
    modes::Searched,
    smc,
    target::{Metered, Target, find_defects},
};
use std::ops::ControlFlow;

/// Particles of the check: the share of one of two equal modes then has an error of 3 percentage
/// points.
const PARTICLES: usize = 280;

/// τ of their temperature steps: a KL divergence of 0.66 each.
const TAU: f64 = 1.15;

/// The least number of particles of a check that uses particles.
const FEWEST_PARTICLES: usize = 32;

/// The least evaluations that particles may cost, even if the answer was cheap.
const LEAST_BUDGET: usize = 14_000;

/// Draws from which ascents locate the modes.
const CLIMBS: usize = 32;

/// The effective sample size of the check's chains: the error of their means is then a twentieth of a
/// standard deviation.
const CHAINS_ESS: f64 = 400.0;

/// Draws at which the target is checked for defects.
const DEFECT_POINTS: usize = 64;

/// The most evaluations with gradients that the search for defects takes.
const EVALUATIONS_OF_DEFECTS: usize = 80;

/// The most repairs of an answer.
const REPAIRS: u64 = 2;

const REPAIR_SEED: u64 = 0x6a09_e667_f3bc_c909;

/// Findings that a mixture with the check's own components may cure.
const CURABLE: [&str; 6] = [
    "mass-lacking",
    "mode-lost",
    "mode-thin",
    "mode-weight-off",
    "evidence-above",
    "peak-not-covered",
];

/// Examines a candidate. While the check finds missing mass, repairs the candidate and examines it
/// again.
pub(super) fn examined(
    context: &mut Context,
    mut candidate: Candidate,
) -> Result<(Candidate, Option<Examination>)> {
    let examined = examined_and_repaired(context, &mut candidate);
    let mut found = context.in_time(examined)?.flatten();
    // A run that has spent its budget skips the search for defects.
    let of_defects = context.unconstrained.values_with_gradients(EVALUATIONS_OF_DEFECTS);
    let is_affordable = !context.is_over() && context.budget().evaluations() >= of_defects;
    if let Some(found) = found.as_mut().filter(|_| is_affordable) {
        let points = candidate.sample.resampled(DEFECT_POINTS, context.settings.seed);
        let defects = find_defects(&context.unconstrained, points.z(), context.settings.seed);
        if let Some(defects) = context.in_time(defects)? {
            let reasons = reasons_of_defects(&defects, &context.target.names());
            found.evaluations += defects.evaluations;
            found.verdict = found.verdict.clone().and(reasons.into_iter());
        }
    }
    if let Some(found) = found.as_mut().filter(|_| context.spent) {
        found.verdict = found.verdict.clone().of_spent();
    }
    Ok((candidate, found))
}

fn examined_and_repaired(
    context: &mut Context,
    candidate: &mut Candidate,
) -> Result<Option<Examination>> {
    if context.settings.check == 0.0 || context.stopped {
        return Ok(None);
    }
    context.begin_check();
    if let Some(chains) = &candidate.chains {
        context.begin(Step::Check, "checking the answer with chains from other starts");
        let shape = chains.covariance.clone();
        let others = chains::run(context, Some(&shape), CHAINS_ESS, 1)?;
        let left = context.budget().after(others.evaluations);
        let target = &context.unconstrained;
        let Candidate { sample, log_z, .. } = &*candidate;
        let how = (CLIMBS, left);
        let mut found = examine_chains(target, (chains, &others), sample, *log_z, how)?;
        let searches: Vec<&Searched> = context.searches.iter().collect();
        let log_z = log_z.map_or(f64::NAN, |log_z| log_z.value);
        let coverage = Coverage::new(target, &searches, log_z, sample, context.settings.seed);
        found.verdict = coverage.judged(found.verdict);
        return Ok(Some(found));
    }
    if candidate.method == Method::Prior {
        let found = examine_exact(&context.unconstrained, &candidate.sample, CLIMBS)?;
        return Ok(Some(found));
    }
    let mut found = examine(context, candidate, 0)?;
    for repair in 1..=REPAIRS {
        if context.is_over() {
            break;
        }
        let Some(start) = start(candidate, &found) else { break };
        context.begin(Step::Mixture, "repairing the answer with the results of the check");
        let seed = context.settings.seed ^ REPAIR_SEED.wrapping_mul(repair);
        let adapted = context.with_ledger(|context, ledger| {
            adaptive::run(context.target, start, &context.rules(), seed, ledger)
        });
        let Some(adapted) = context.in_time(adapted)? else { break };
        let left = if adapted.is_good { Left::Answered } else { Left::PoorWeights };
        context.record(Rung {
            method: Method::Mixture,
            evaluations: adapted.evaluations,
            ess_share: Some(adapted.ess_share),
            left,
            found: format!("repaired ({}): {}", codes(&found), adapted.components()),
            is_repair: true,
        });
        let repaired = Candidate::of_mixture(Method::Mixture, adapted)?;
        let afresh = examine(context, &repaired, repair);
        let Some(afresh) = context.in_time(afresh)? else { break };
        let evaluations = found.evaluations + afresh.evaluations;
        // A repair that has seen less of p is rejected.
        if afresh.verdict.trust > found.verdict.trust || repaired.lacks_mass_of(candidate) {
            found.evaluations = evaluations;
            break;
        }
        (*candidate, found) = (repaired, Examination { evaluations, ..afresh });
    }
    Ok(Some(found))
}

/// Checks a given answer once, as the ladder checks its own answers, without repairs.
///
/// # Errors
/// If a setting is out of range, or the target fails.
pub fn check(
    target: &dyn Target,
    answer: &Answer,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Examination> {
    settings.check()?;
    let meter = Metered::new(target);
    rayon::scope(|_| {
        let mut ledger = Ledger::off();
        let mut context = Context::new(&meter, settings, observer, &mut ledger)?;
        // The cost of the answer determines what its check may cost.
        context.rungs.clone_from(&answer.rungs);
        let Answer { method, flow, sample, .. } = answer.clone();
        let candidate = Candidate::of_draws(method, flow, sample, true)?;
        examine(&mut context, &candidate, 0)
    })
}

/// The codes of the findings against an answer.
fn codes(found: &Examination) -> String {
    let codes: Vec<_> = found.verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
    codes.join(", ")
}

/// One examination, with random numbers of its own.
pub(super) fn examine(
    context: &mut Context,
    candidate: &Candidate,
    number: u64,
) -> Result<Examination> {
    context.begin(Step::Check, "checking the answer from another start");
    let target = context.target;
    let particles = if context.is_checked_by_particles() { PARTICLES } else { 0 };
    let seed = context.settings.seed.wrapping_add(number << 48);
    // This is only a check, so the particles move less.
    let how = smc::Settings {
        most_sweeps: 2,
        kept_sweeps: 1,
        freshness: 0.6,
        spares_local_moves: true,
        ..context.particles(PARTICLES, seed).with_tau(TAU)
    };
    let approximation = Approximation::new(target, candidate.flow.clone())?;
    let left = context.budget();
    let at_once = context.settings.at_once;
    // Fewer particles if little budget is left: each takes about fifty evaluations.
    let affordable = (left.evaluations() / 100).max(FEWEST_PARTICLES);
    // Without time for the least number of particles, run none.
    let is_hopeless = left.evaluations() < 10 * FEWEST_PARTICLES;
    let particles =
        if particles == 0 || is_hopeless { 0 } else { particles.min(affordable).max(at_once) };
    let share = context.settings.check;
    let ratio = share / (1.0 - share);
    let settings = diagnostics::Settings {
        particles,
        climbs: CLIMBS,
        search: true,
        effort: context.settings.search * ratio,
        at_once,
        budget: left,
    };
    let budget = (context.evaluations() as f64 * ratio) as usize;
    let budget = budget.max(context.unconstrained.values_with_gradients(LEAST_BUDGET));
    let (base, earlier) = (context.base.clone(), std::mem::take(&mut context.searches));
    let witnesses = std::mem::take(&mut context.witnesses);
    let found = context.with_ledger(|context, ledger| {
        let mut watch = |stage: &smc::Stage| match stage.evaluations > budget {
            true => ControlFlow::Break(()),
            false => context.see(&Event::Particles(stage)),
        };
        let check = Check {
            approximation: &approximation,
            sample: &candidate.sample,
            base: &base,
            how: &how,
            settings: &settings,
            most_evaluations: budget,
            earlier: &earlier,
            witnesses: &witnesses,
        };
        examine_from(&check, &mut watch, ledger)
    });
    (context.searches, context.witnesses) = (earlier, witnesses);
    let found = found?;
    context.checked += found.evaluations;
    context.witnesses.push(found.witness.clone());
    context.searches.extend(found.searched.clone());
    Ok(found)
}

/// The start of a repair: the components of the candidate and of the check, if they may help.
fn start(candidate: &Candidate, found: &Examination) -> Option<Mixture> {
    let is_curable = |code: &str| CURABLE.contains(&code);
    let reasons = &found.verdict.reasons;
    if found.verdict.trust == Trust::Reliable
        || !reasons.iter().any(|reason| is_curable(reason.finding.code()))
    {
        return None;
    }
    let (known, new) = (candidate.mixture.as_ref()?, found.mixture.as_ref()?);
    // Weights are masses: those of each mixture add up to its own evidence.
    let log_ratio = found.own_log_z?.value - found.log_z.value;
    let mut both = new.to_components();
    both.iter_mut().for_each(|component| component.weight *= log_ratio.exp());
    let is_there = |component: &Component| new.has_component_at(&component.mean);
    both.extend(known.to_components().into_iter().filter(|component| !is_there(component)));
    Mixture::of(&both)
}
