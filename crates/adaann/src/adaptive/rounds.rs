//! Rounds of draws and fits.

use super::{archive::Archive, shape::Shape};
use crate::{
    Batch, Result,
    approximation::Approximation,
    budget::Budget,
    checkpoint::{Done, Ledger},
    flow::Flow,
    target::Target,
    weight::ess,
};

/// What proposes, and how well it does.
#[derive(Clone)]
pub(super) struct Proposal {
    pub(super) shape: Shape,
    pub(super) flow: Flow,
    /// Share of its draws that count as draws of the target: the smaller of what its own and all draws say.
    pub(super) ess_share: f64,
    /// By its own alone.
    own_share: f64,
}

/// Gains of less than this factor are none, and so many rounds in a row may bring none.
const GAIN: f64 = 1.05;
const PATIENCE: usize = 2;

/// How rounds go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) draws: usize,
    pub(super) enough: f64,
    pub(super) most: usize,
    pub(super) seed: u64,
    pub(super) budget: Budget,
}

/// Rounds from a shape on. The draws go to the archive; what comes back is the best that was there, by
/// its own draws and by all others.
pub(super) fn rounds(
    target: &dyn Target,
    start: Shape,
    pace: Pace,
    archive: &mut Archive,
    ledger: &mut Ledger,
) -> Result<Proposal> {
    let mut tried: Vec<Proposal> = Vec::new();
    let (mut current, mut in_vain, mut reached) = (start, 0, 0.0);
    let (first, before) = (archive.proposals(), archive.len());
    // What the points were worth when a map was looked for.
    let mut looked = 0.0;
    for round in 0..pace.most {
        // A later shape that is no density is none to go on with.
        let flow = match current.flow() {
            Err(_) if round > 0 => break,
            flow => flow?,
        };
        let approximation = Approximation::new(target, flow.clone())?;
        let seed = pace.seed.wrapping_add(round as u64);
        let sample =
            ledger.part("draws", |_| approximation.sample(pace.draws, seed).map(Done::Whole))?;
        let own_share = sample.weight_sums()?.ess_share();
        archive.add(approximation.target(), &flow, &sample)?;
        tried.push(Proposal { shape: current, flow, ess_share: own_share, own_share });
        // What this round has found counts for those before as well.
        for (i, proposal) in tried.iter_mut().enumerate() {
            proposal.ess_share = archive.ess_share(first + i).min(proposal.own_share);
        }
        let from = best(&tried);
        in_vain = if from.ess_share > GAIN * reached { 0 } else { in_vain + 1 };
        reached = f64::max(reached, from.ess_share);
        let is_last = round + 1 == pace.most
            || pace.budget.is_spent(archive.len() - before)
            || ledger.is_asked_to_end();
        if from.ess_share >= pace.enough || in_vain > PATIENCE || is_last {
            break;
        }
        let Some((z, weights)) = archive.weighted(from.shape.wanted(), pace.seed) else { break };
        current = follow(from, round, &mut looked, &z, &weights);
    }
    Ok(best(&tried).clone())
}

/// The one whose draws count for most.
fn best(tried: &[Proposal]) -> &Proposal {
    let by_share = |a: &&Proposal, b: &&Proposal| a.ess_share.total_cmp(&b.ess_share);
    // Of those without a number, the first.
    let known = tried.iter().filter(|proposal| !proposal.ess_share.is_nan());
    known.max_by(by_share).unwrap_or(&tried[0])
}

/// Shares below which a map is looked for that bends the mixture.
const BENT_BELOW: f64 = 0.5;

/// Rounds before the first look, and how many times the points must be worth more than at the last one.
const FIRST_LOOK: usize = 2;
const MORE_POINTS: f64 = 2.0;

/// The shape that follows all draws so far: as it is, or bent if that describes them better. A map that is
/// there is fitted again in every round; the search for one, which costs more than a round, waits.
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
    // A shape without a score is worse than any.
    let score = |shape: &Shape| Some(shape.score(z, weights)).filter(|score| !score.is_nan());
    let scores: Vec<f64> =
        tried.iter().map(|shape| score(shape).unwrap_or(f64::NEG_INFINITY)).collect();
    let best = (0..tried.len()).rev().max_by(|&i, &j| scores[i].total_cmp(&scores[j]));
    tried.swap_remove(best.unwrap_or(0))
}
