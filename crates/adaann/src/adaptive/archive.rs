//! Every draw of every proposal so far, with weights that use all of them.
//!
//! A draw of any round is weighted by p/q̄ with q̄ = Σ_r n_r q_r/Σ_r n_r, the mixture of all rounds' proposals
//! (deterministic-mixture weights, or the balance heuristic). A draw that is unlikely under its own round's
//! proposal then gets no large weight if another proposal makes such draws often.
//!
//! E. Veach, L. Guibas, "Optimally combining sampling techniques for Monte Carlo rendering" (1995);
//! A. Owen, Y. Zhou, "Safe and effective importance sampling" (2000); J.-M. Cornuet and others,
//! "Adaptive multiple importance sampling" (2012).

use crate::{
    Batch, Result,
    flow::Flow,
    importance::{Gaps, Sample, log_sum_exp, resample},
    non_finite,
    target::Unconstrained,
    weight::{ess, log_weight},
};
use rayon::prelude::*;

/// Points per thread and task.
const PIECE: usize = 256;

/// All draws, and their proposals.
pub(super) struct Archive {
    pub(super) z: Batch,
    /// log p + log|J| at each draw.
    pub(super) log_p: Vec<f64>,
    /// log Σ_r n_r q_r at each draw.
    pub(super) log_q: Vec<f64>,
    proposals: Vec<Known>,
}

/// A proposal of some of the draws.
struct Known {
    flow: Flow,
    log_count: f64,
    /// log q at every draw.
    log_q: Vec<f64>,
}

impl Archive {
    pub(super) fn new(dim: usize) -> Self {
        let (log_p, log_q) = (Vec::new(), Vec::new());
        Self { z: Batch::zeros(dim, 0), log_p, log_q, proposals: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.log_p.len()
    }

    /// Adds the draws of a proposal.
    pub(super) fn add(
        &mut self,
        target: &Unconstrained,
        proposal: &Flow,
        sample: &Sample,
    ) -> Result<()> {
        let (before, count) = (self.len(), sample.len());
        let mut z = Batch::zeros(self.z.dim(), before + count);
        z.copy_points(0, &self.z, 0, before);
        z.copy_points(before, sample.z(), 0, count);
        let (_, log_jacobian) = target.constrain(sample.z());
        self.log_p.extend(sample.log_p().iter().zip(&log_jacobian).map(|(p, j)| p + j));
        self.z = z;
        let log_count = (count as f64).ln();
        let both = |a: f64, b: f64| log_sum_exp([a, b].into_iter());
        // Evaluates the new proposal at the old draws, and all proposals at the new ones.
        let mut old = Vec::new();
        if before > 0 {
            old = log_density(proposal, &self.z, 0..before)?;
            self.log_q.iter_mut().zip(&old).for_each(|(q, new)| *q = both(*q, log_count + new));
        }
        self.proposals.push(Known { flow: proposal.clone(), log_count, log_q: old });
        let mut log_q = vec![f64::NEG_INFINITY; count];
        for known in &mut self.proposals {
            let here = log_density(&known.flow, &self.z, before..before + count)?;
            log_q.iter_mut().zip(&here).for_each(|(q, new)| *q = both(*q, known.log_count + new));
            known.log_q.extend(here);
        }
        self.log_q.extend(log_q);
        Ok(())
    }

    /// The differences between the estimates of all draws and those of a sample. None if the effective sample
    /// size of all draws is far below that of the sample, or a draw is not finite.
    pub(super) fn gaps_of(&self, target: &Unconstrained, sample: &Sample) -> Option<Gaps> {
        let log_weights: Vec<f64> = (self.log_p.iter().zip(&self.log_q))
            .map(|(p, q)| non_finite::log_density(log_weight(*p, *q)))
            .collect();
        // The weights are p/Σ n_r q_r, whose sum over all draws is Z.
        let log_z = log_sum_exp(log_weights.iter().copied());
        let weights: Vec<f64> = log_weights.iter().map(|w| (w - log_z).exp()).collect();
        let sums = sample.weight_sums().ok()?;
        if ess(&weights).is_nan() || ess(&weights) < LEAST_OPINION * sums.ess() {
            return None;
        }
        let (x, _) = target.constrain(&self.z);
        let coordinates = sample.coordinates().ok()?;
        Gaps::between(sums.log_z(), &coordinates, log_z, (&x, &weights)).ok()
    }

    /// The number of proposals.
    pub(super) fn proposals(&self) -> usize {
        self.proposals.len()
    }

    /// The effective share of a proposal's draws, estimated from all draws: 1/E_p[p/(Z q)]. Mass that others
    /// have found where the proposal has almost no draws lowers the share, which its own weights cannot show.
    /// Ratios are capped at [`MOST_RATIO`], so that no single distant draw dominates.
    pub(super) fn ess_share(&self, proposal: usize) -> f64 {
        let log_weights = || {
            let pairs = self.log_p.iter().zip(&self.log_q);
            pairs.map(|(p, q)| non_finite::log_density(log_weight(*p, *q)))
        };
        let log_z = log_sum_exp(log_weights());
        let log_ratios = self.log_p.iter().zip(&self.proposals[proposal].log_q);
        let log_ratios = log_ratios.map(|(p, q)| non_finite::log_density(log_weight(*p, *q)));
        let most = log_z + MOST_RATIO.ln();
        let terms = log_weights().zip(log_ratios).map(|(w, r)| w + r.min(most));
        (2.0 * log_z - log_sum_exp(terms)).exp()
    }

    /// The power of the weights at which their effective sample size is large enough for a fit: 1 if it already
    /// is.
    fn power(&self, log_weights: &[f64], wanted: f64) -> f64 {
        // Non-finite weights do not count at any power.
        let alive = log_weights.iter().filter(|w| w.is_finite()).count();
        let wanted = wanted.min(0.1 * alive as f64);
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worth = |power: f64| {
            let scaled: Vec<f64> =
                log_weights.iter().map(|w| (power * (w - largest)).exp()).collect();
            ess(&scaled)
        };
        if !largest.is_finite() || worth(1.0) >= wanted {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            (low, high) = if worth(middle) >= wanted { (middle, high) } else { (low, middle) };
        }
        low.max(f64::MIN_POSITIVE)
    }

    /// Draws with weights towards p that sum to 1, to fit a mixture to; none if no draw has a density.
    ///
    /// If the effective sample size is below `wanted`, the weights are raised to a power below 1 at which it is
    /// reached: the fit then goes part of the way (E. Koblents, J. Míguez, "A population Monte Carlo scheme
    /// with transformed weights", 2015). Weights are truncated at 1/√n of their sum, so that a single draw
    /// cannot spoil a fit (E. Ionides, "Truncated importance sampling", 2008). If there are more draws than a
    /// fit needs, a subset is chosen.
    pub(super) fn weighted(&self, wanted: f64, seed: u64) -> Option<(Batch, Vec<f64>)> {
        let log_weights: Vec<f64> = (self.log_p.iter().zip(&self.log_q))
            .map(|(p, q)| non_finite::log_density(log_weight(*p, *q)))
            .collect();
        let power = self.power(&log_weights, wanted);
        let log_weights: Vec<f64> = log_weights.iter().map(|w| power * w).collect();
        let total = log_sum_exp(log_weights.iter().copied());
        if !total.is_finite() {
            return None;
        }
        let most = (self.len() as f64).sqrt().recip();
        let weights: Vec<f64> = log_weights.iter().map(|w| (w - total).exp().min(most)).collect();
        let sum: f64 = weights.iter().sum();
        let counted = weights.iter().filter(|w| **w * self.len() as f64 > NEGLIGIBLE * sum).count();
        // A draw that is chosen twice counts twice.
        let mut counts = vec![0.0; self.len()];
        match counted > MOST_FITTED {
            true => {
                let weights: Vec<f64> = weights.iter().map(|w| w / sum).collect();
                for i in resample::by_seed(&weights, MOST_FITTED, seed) {
                    counts[i] += 1.0 / MOST_FITTED as f64;
                }
            }
            false => counts.iter_mut().zip(&weights).for_each(|(count, w)| *count = w / sum),
        }
        let members: Vec<usize> =
            (0..self.len()).filter(|&i| counts[i] * self.len() as f64 > NEGLIGIBLE).collect();
        let mut z = Batch::zeros(self.z.dim(), members.len());
        for d in 0..self.z.dim() {
            let from = self.z.row(d);
            z.row_mut(d).iter_mut().zip(&members).for_each(|(to, &i)| *to = from[i]);
        }
        let kept: f64 = members.iter().map(|&i| counts[i]).sum();
        Some((z, members.iter().map(|&i| counts[i] / kept).collect()))
    }
}

/// The cap of p/(Z q) when the coverage of p by q is estimated. A hundredth of the mass with almost no draws of
/// q then halves the share.
const MOST_RATIO: f64 = 100.0;

/// The estimates of all draws count as a second opinion if their effective sample size is at least this share
/// of that of the sample.
const LEAST_OPINION: f64 = 0.5;

/// The most draws for a fit.
const MOST_FITTED: usize = 10_000;

/// A draw with less than this share of the mean weight does not affect a fit.
const NEGLIGIBLE: f64 = 1e-5;

/// log q at some of the points, on all threads.
fn log_density(flow: &Flow, z: &Batch, points: std::ops::Range<usize>) -> Result<Vec<f64>> {
    let starts: Vec<usize> = points.clone().step_by(PIECE).collect();
    let pieces: Vec<Vec<f64>> = starts
        .into_par_iter()
        .map(|at| {
            let len = PIECE.min(points.end - at);
            let mut piece = Batch::zeros(z.dim(), len);
            piece.copy_points(0, z, at, len);
            flow.log_density(&piece)
        })
        .collect::<Result<_>>()?;
    // If a map overflows, the density is 0: NaN would spoil the sum over all proposals.
    Ok(pieces.concat().into_iter().map(non_finite::log_density).collect())
}
