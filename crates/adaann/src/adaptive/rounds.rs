//! Rounds of draws and fits.

use super::{
    archive::Archive,
    shape::{Shape, flow_of},
};
use crate::{
    Batch, Error, Result,
    approximation::Approximation,
    budget::Budget,
    checkpoint::{Done, Ledger},
    flow::Flow,
    mixture::Component,
    target::Target,
    weight::ess,
};

/// A proposal, and its quality.
#[derive(Clone)]
pub(super) struct Proposal {
    pub(super) shape: Shape,
    pub(super) flow: Flow,
    /// Effective share of its draws: the smaller of the estimates from its own draws and from all draws.
    pub(super) ess_share: f64,
    /// The estimate from its own draws.
    own_share: f64,
    /// Its index among the archive's proposals.
    number: usize,
}

/// Stop after `PATIENCE` rounds that improve the effective share by less than this factor.
const GAIN: f64 = 1.05;
const PATIENCE: usize = 2;

/// The size and number of rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) draws: usize,
    pub(super) enough: f64,
    pub(super) most: usize,
    pub(super) seed: u64,
    pub(super) budget: Budget,
}

/// Runs rounds that start from a shape. The draws go to the archive; the result is the best proposal,
/// judged by its own draws and all others.
pub(super) fn rounds(
    target: &dyn Target,
    start: Shape,
    pace: Pace,
    archive: &mut Archive,
    ledger: &mut Ledger,
) -> Result<Proposal> {
    let mut tried: Vec<Proposal> = Vec::new();
    let (mut current, mut in_vain, mut reached) = (start, 0, 0.0);
    let before = archive.len();
    // Proposals from before the edges were reached do not cover them.
    let (mut reaches, mut since) = (0, 0);
    // The effective sample size of the points when a map was last tried.
    let mut looked = 0.0;
    for round in 0..pace.most {
        // Stop at a later shape whose covariance is not positive definite.
        let flow = match current.flow() {
            Err(_) if round > 0 => break,
            flow => flow?,
        };
        let approximation = Approximation::new(target, flow.clone())?;
        let seed = pace.seed.wrapping_add(round as u64);
        let drawn =
            ledger.part("draws", |_| approximation.sample(pace.draws, seed).map(Done::Whole));
        let sample = match drawn {
            Err(Error::OutOfTime) if round > 0 => break,
            drawn => drawn?,
        };
        let own_share = sample.weight_sums()?.ess_share();
        archive.add(approximation.target(), &flow, &sample)?;
        let number = archive.proposals() - 1;
        tried.push(Proposal { shape: current, flow, ess_share: own_share, own_share, number });
        // The results of this round also change the judgement of earlier proposals.
        judge(&mut tried, archive);
        let from = best(&tried[since..]);
        in_vain = if from.ess_share > GAIN * reached { 0 } else { in_vain + 1 };
        reached = f64::max(reached, from.ess_share);
        let is_last = round + 1 == pace.most
            || pace.budget.is_spent(archive.len() - before)
            || ledger.is_asked_to_end();
        if is_last {
            break;
        }
        let mut from = from.clone();
        if from.ess_share >= pace.enough || in_vain > PATIENCE {
            let seed = pace.seed.wrapping_add(REACHES + (reaches * REACH) as u64);
            if reaches == MOST_REACHES {
                break;
            }
            let reached_for = reach(target, &from.shape, pace.draws / 2, seed, archive, ledger)?;
            let Some(edges) = reached_for else { break };
            reaches += 1;
            (in_vain, reached) = (0, 0.0);
            since = tried.len();
            from.shape = from.shape.joined(&edges);
        }
        let Some((z, weights)) = archive.weighted(from.shape.wanted(), pace.seed) else { break };
        current = follow(&from, round, &mut looked, &z, &weights);
    }
    let known = if since < tried.len() { &tried[since..] } else { &tried[..] };
    Ok(best(known).clone())
}

/// Steps beyond the edges per extension, the most extensions, and the offset of their random numbers from
/// those of rounds.
const REACH: usize = 3;
const MOST_REACHES: usize = 3;
const REACHES: u64 = 1 << 20;

/// Takes draws around the edges of all draws so far, in a few steps. Returns components to join to the
/// shape; none if there are no edges that matter.
fn reach(
    target: &dyn Target,
    shape: &Shape,
    draws: usize,
    seed: u64,
    archive: &mut Archive,
    ledger: &mut Ledger,
) -> Result<Option<Vec<Component>>> {
    let mut taken = Vec::new();
    for step in 0..REACH {
        let Some(edges) = archive.edges(shape) else { break };
        let Ok(flow) = flow_of(&edges.drawn) else { break };
        taken.push(edges.joining);
        let approximation = Approximation::new(target, flow.clone())?;
        let seed = seed.wrapping_add(step as u64);
        let sample =
            ledger.part("draws", |_| approximation.sample(draws, seed).map(Done::Whole))?;
        archive.add(approximation.target(), &flow, &sample)?;
    }
    Ok((!taken.is_empty()).then(|| taken.concat()))
}

/// Judges each proposal again by all draws, including later ones.
fn judge(tried: &mut [Proposal], archive: &Archive) {
    for proposal in tried {
        proposal.ess_share = archive.ess_share(proposal.number).min(proposal.own_share);
    }
}

/// The proposal with the largest effective share.
fn best(tried: &[Proposal]) -> &Proposal {
    let by_share = |a: &&Proposal, b: &&Proposal| a.ess_share.total_cmp(&b.ess_share);
    // If no proposal has a finite share, the first one.
    let known = tried.iter().filter(|proposal| !proposal.ess_share.is_nan());
    known.max_by(by_share).unwrap_or(&tried[0])
}

/// The effective share below which a map that bends the mixture is tried.
const BENT_BELOW: f64 = 0.5;

/// Rounds before the first map is tried, and the factor by which the effective sample size must grow before
/// the next one.
const FIRST_LOOK: usize = 2;
const MORE_POINTS: f64 = 2.0;

/// The shape that follows all draws so far: unbent, or bent if that describes them better. An existing map
/// is fitted again in every round. The search for a new one costs more than a round, so it waits.
fn follow(from: &Proposal, round: usize, looked: &mut f64, z: &Batch, weights: &[f64]) -> Shape {
    let adapted = from.shape.adapt(z, weights);
    let worth = ess(weights);
    let is_time =
        from.ess_share < BENT_BELOW && round >= FIRST_LOOK && worth >= MORE_POINTS * *looked;
    let mut tried = vec![adapted];
    if from.shape.warp.is_some() {
        tried.extend(from.shape.refitted(z, weights));
    }
    if is_time {
        *looked = worth;
        tried.extend(Shape::bent(z, weights));
    }
    if let [_] = tried[..] {
        return tried.remove(0);
    }
    // A shape without a score is worse than any other.
    let score = |shape: &Shape| Some(shape.score(z, weights)).filter(|score| !score.is_nan());
    let scores: Vec<f64> =
        tried.iter().map(|shape| score(shape).unwrap_or(f64::NEG_INFINITY)).collect();
    let best = (0..tried.len()).rev().max_by(|&i, &j| scores[i].total_cmp(&scores[j]));
    tried.swap_remove(best.unwrap_or(0))
}
