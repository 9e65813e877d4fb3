//! From a mixture to weighted draws: rounds, a trial, and more rounds if the trial disappoints.

use super::{
    Rules,
    archive::Archive,
    frozen,
    rounds::{Pace, rounds},
    rules::{HARMLESS, POOR},
    shape::Shape,
};
use crate::{
    Batch, Error, Result,
    approximation::Approximation,
    budget::Budget,
    checkpoint::Ledger,
    flow::Flow,
    importance::{Sample, pareto},
    mixture::Mixture,
    target::{Target, Unconstrained},
};

/// The result of adaptation.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Adapted {
    pub(crate) shape: Shape,
    pub(crate) flow: Flow,
    /// Fresh draws of it, and the seed of the stream that numbers them.
    pub(crate) sample: Sample,
    pub(crate) stream: u64,
    /// The effective share of these draws.
    pub(crate) ess_share: f64,
    /// Is that share large enough, and is the tail of the weights harmless?
    pub(crate) is_good: bool,
    /// The evaluations of the target.
    pub(crate) evaluations: usize,
}

impl Adapted {
    /// A mixture that describes the result in the target's coordinates; for a bent shape, a mixture fitted to its
    /// draws.
    pub(crate) fn mixture(&self) -> Mixture {
        match &self.shape.warp {
            None => self.shape.mixture.clone(),
            Some(_) => {
                let (z, weights) = self.weighted();
                Mixture::fit(&z, &weights, None)
            }
        }
    }

    /// As many weighted draws as a fit can use. A map can produce draws that are not finite; these have no weight.
    fn weighted(&self) -> (Batch, Vec<f64>) {
        let (all, weights) = (self.sample.z(), self.sample.weights());
        let every = self.sample.len().div_ceil(MOST_FITTED).max(1);
        let is_finite = |i: usize| (0..all.dim()).all(|d| all.row(d)[i].is_finite());
        let chosen: Vec<usize> = (0..self.sample.len())
            .step_by(every)
            .filter(|&i| weights[i] > 0.0 && is_finite(i))
            .collect();
        let mut z = Batch::zeros(all.dim(), chosen.len());
        chosen.iter().enumerate().for_each(|(to, &from)| z.copy_points(to, all, from, 1));
        let total: f64 = chosen.iter().map(|&i| weights[i]).sum();
        (z, chosen.iter().map(|&i| weights[i] / total).collect())
    }

    /// The number of components, as text.
    pub(crate) fn components(&self) -> String {
        let components = match self.shape.mixture.components.len() {
            1 => "one component".into(),
            many => format!("{many} components"),
        };
        if self.shape.warp.is_some() { format!("{components}, bent") } else { components }
    }
}

/// Separates the reported draws from those that shape the mixture.
const FROZEN: u64 = 0x2545_f491_4f6c_dd1d;

/// Poor weights are abandoned if their effective share grows by less than this factor from trial to trial.
const WORTH_IT: f64 = 1.3;

/// Tails with a shape below this have a finite variance, so the stated errors are valid. It is required as long as
/// attempts are left.
const FINITE_VARIANCE: f64 = 0.5;

/// The least number of draws per round, whatever the budget.
const FEWEST: usize = 100;

/// Rounds after the first trial, each with more draws than before.
const LATER_ROUNDS: usize = 5;

/// The most draws to which a mixture is fitted.
const MOST_FITTED: usize = 10_000;

/// Adapts a mixture to a target.
pub(crate) fn run(
    target: &dyn Target,
    start: impl Into<Shape>,
    rules: &Rules,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Adapted> {
    let start = start.into();
    ledger.part("mixture", |ledger| {
        let adapted = adapt(target, start, rules, seed, ledger)?;
        Ok(ledger.done(adapted))
    })
}

fn adapt(
    target: &dyn Target,
    start: Shape,
    rules: &Rules,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Adapted> {
    let asked = rules.exactly.unwrap_or(0);
    let mut archive = Archive::new(target.dim());
    let mut best: Option<Attempt> = None;
    let (mut from, mut evaluations) = (start, 0);
    for attempt in 0..rules.attempts.max(1) {
        let pace = Pace {
            // Several rounds fit into the remaining budget.
            draws: (rules.draws << attempt).min(rules.budget.after(evaluations).part(4, FEWEST)),
            enough: rules.enough,
            most: if attempt == 0 { rules.most_rounds } else { LATER_ROUNDS },
            seed: seed.wrapping_add((attempt as u64) << 32),
            budget: rules.budget.after(evaluations),
        };
        let before = archive.len();
        let proposal = rounds(target, from, pace, &mut archive, ledger)?;
        let approximation = Approximation::new(target, proposal.flow.clone())?;
        let foreseen = proposal.ess_share;
        let spent = evaluations + archive.len() - before;
        // From 2,000 draws on, the requested number must not affect which proposal makes them.
        let exactly = rules.exactly.map(|count| count.min(frozen::FIRST));
        let rules = &Rules { budget: rules.budget.after(spent), exactly, ..*rules };
        let stream = pace.seed ^ FROZEN;
        let mut sample = frozen::draw(&approximation, foreseen, rules, stream, ledger)?;
        evaluations += archive.len() - before + sample.len();
        let mut ess_share = sample.weight_sums()?.ess_share();
        archive.add(approximation.target(), &proposal.flow, &sample)?;
        let number = archive.proposals() - 1;
        // The results of the last attempt also change the judgement of earlier ones.
        if let Some(best) = &mut best {
            best.share = archive.ess_share(best.number).min(best.adapted.ess_share);
        }
        // Has any proposal found mass that this one hardly draws?
        let seen = archive.ess_share(number);
        let mut is_fair = ess_share >= frozen::DISAPPOINTING * foreseen
            && seen >= frozen::DISAPPOINTING * ess_share
            && ess_share >= POOR
            && has_tail_below(&sample, pareto::k_hat_threshold(sample.len()));
        let mut is_good = is_fair && has_tail_below(&sample, FINITE_VARIANCE);
        // A proposal that passes its trial makes all draws, and is judged by them once more.
        if is_good && sample.len() < asked {
            let before = sample.len();
            sample = filled(sample, asked, &approximation, stream, rules.budget, ledger)?;
            evaluations += sample.len() - before;
            ess_share = sample.weight_sums()?.ess_share();
            is_fair = has_tail_below(&sample, pareto::k_hat_threshold(sample.len()));
            is_good = is_fair && has_tail_below(&sample, FINITE_VARIANCE);
        }
        let share = seen.min(ess_share);
        let (shape, flow) = (proposal.shape, proposal.flow);
        let adapted =
            Adapted { shape, flow, sample, stream, ess_share, is_good: is_fair, evaluations };
        let gain = best.as_ref().map_or(f64::INFINITY, |best| share / best.share);
        let next = match is_good || ess_share < POOR && gain < WORTH_IT {
            true => None,
            false => Some(match archive.weighted(adapted.shape.wanted(), pace.seed) {
                Some((z, weights)) => adapted.shape.adapt(&z, &weights),
                None => adapted.shape.clone(),
            }),
        };
        if is_good || gain > 1.0 || gain.is_nan() {
            best = Some(Attempt { adapted, number, share });
        }
        // Poor weights that do not improve are left to other methods.
        match next {
            Some(next) if !rules.budget.is_spent(0) && !ledger.is_asked_to_end() => from = next,
            _ => break,
        }
    }
    let mut best = best.expect("at least one attempt").adapted;
    if best.sample.len() < asked {
        let before = best.sample.len();
        let approximation = Approximation::new(target, best.flow.clone())?;
        let budget = rules.budget.after(evaluations);
        best.sample = filled(best.sample, asked, &approximation, best.stream, budget, ledger)?;
        evaluations += best.sample.len() - before;
        best.ess_share = best.sample.weight_sums()?.ess_share();
    }
    // A second opinion on the fresh draws: the draws of all proposals, including those around their edges.
    let gaps = archive.gaps_of(&Unconstrained::new(target)?, &best.sample);
    let sample = best.sample.with_gaps(gaps);
    Ok(Adapted { evaluations, sample, ..best })
}

/// A sample with more draws of the same stream, up to the requested number or the budget.
fn filled(
    sample: Sample,
    asked: usize,
    approximation: &Approximation,
    stream: u64,
    budget: Budget,
    ledger: &mut Ledger,
) -> Result<Sample> {
    let from = sample.len();
    let more = (asked - from).min(budget.evaluations());
    if more == 0 {
        return Ok(sample);
    }
    match frozen::more(approximation, from, more, stream, ledger) {
        Err(Error::OutOfTime) => Ok(sample),
        found => sample.join(&found?),
    }
}

/// The result of an attempt.
struct Attempt {
    adapted: Adapted,
    /// Its index among the archive's proposals.
    number: usize,
    /// The effective share of its draws, by its own and by all draws.
    share: f64,
}

/// Is the tail of the weights lighter than this shape, or harmless?
fn has_tail_below(sample: &Sample, threshold: f64) -> bool {
    let largest = sample.log_weights().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_harmless = sample.weight_sums().is_ok_and(|sums| largest < sums.log_z() + HARMLESS.ln());
    is_harmless || sample.smoothed().is_ok_and(|smoothed| smoothed.k_hat < threshold)
}
