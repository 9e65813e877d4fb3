//! The evidence from draws of chains, by bridge sampling (Meng and Wong 1996).
//!
//! The proposal q is the Gaussian with mean and covariance of half of the chains. The bridge is between the
//! draws of the other half and draws of q, so that q is never evaluated at draws it was fitted to. Then the
//! halves swap roles, and the answer is the mean of the two.

use super::{Chains, rank};
use crate::{
    Batch, Result,
    flow::{Base, Noise},
    importance::{Estimate, covariance, ess, log_sum_exp},
    path::{Tempered, Tile},
    rng::{Purpose, Stream},
    target::Unconstrained,
    weight::log_weight,
};

/// log Z, if it can be estimated.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Evidence {
    /// log ∫ p, with its standard error. None if the Gaussian and the density overlap too little for a bridge
    /// between their draws.
    pub log_z: Option<Estimate>,
    /// The evaluations of the target.
    pub evaluations: usize,
}

/// Bridge sampling from the draws of chains to Gaussians fitted to them; the seed determines the Gaussians'
/// draws.
///
/// # Errors
/// If the target fails.
#[doc(alias("bridge sampling", "marginal likelihood", "log Z"))]
pub fn evidence(target: &Unconstrained, chains: &Chains, seed: u64) -> Result<Evidence> {
    let density = Tempered::untempered(target.clone());
    let stream = Stream::new(seed, Purpose::Chains);
    // Further draws would improve the bridge less than their evaluations cost. The Gaussian uses all draws.
    let every = (chains.z.len() / 2).div_ceil(MOST_DRAWS).max(1);
    let (mut log_zs, mut evaluations) = (Vec::new(), 0);
    for parity in [0, 1] {
        // A Gaussian needs more draws than coordinates.
        let Ok(q) = Half::new(chains, parity, 1).gaussian() else { continue };
        let used = Half::new(chains, 1 - parity, every);
        let (count, draw) = (used.log_density.len(), FIRST_DRAW + parity as u64);
        let at_q = ratios_of_proposals(&density, &q, &stream, draw, count)?;
        evaluations += count;
        log_zs.extend(bridge(&used.ratios(&density, &q)?, used.chains, &at_q));
    }
    let log_z = if let [a, b] = log_zs[..] { Some(mean(a, b)) } else { None };
    Ok(Evidence { log_z, evaluations })
}

/// Numbers of draws that no chain uses, not even with the same seed.
const FIRST_DRAW: u64 = 1 << 62;

/// The approximate maximum of draws used from a half.
const MOST_DRAWS: usize = 10_000;

/// Points evaluated together.
const PIECE: usize = 64;

/// The least number of draws of one kind that must share the weight; with fewer, their variance is unknown.
const FEWEST: f64 = 50.0;

/// The least ∫ p q/(s₁ p + s₂ q), with p normalised; it is 1 if p and q are the same.
const LEAST_OVERLAP: f64 = 1e-3;

/// Every second chain, and evenly spaced iterations of it.
struct Half {
    chains: usize,
    z: Batch,
    log_density: Vec<f64>,
}

impl Half {
    fn new(all: &Chains, parity: usize, every: usize) -> Self {
        let is_chain = |m: usize| m % 2 == parity;
        let is_in = |i: &usize| is_chain(i % all.chains) && (i / all.chains).is_multiple_of(every);
        let of =
            |row: &[f64]| -> Vec<f64> { (0..row.len()).filter(is_in).map(|i| row[i]).collect() };
        let log_density = of(&all.log_density);
        let mut z = Batch::zeros(all.z.dim(), log_density.len());
        for d in 0..z.dim() {
            z.row_mut(d).copy_from_slice(&of(all.z.row(d)));
        }
        Self { chains: (0..all.chains).filter(|&m| is_chain(m)).count(), z, log_density }
    }

    /// The Gaussian fitted to these draws.
    fn gaussian(&self) -> Result<Base> {
        let count = self.z.len();
        let mean = |d: usize| self.z.row(d).iter().sum::<f64>() / count as f64;
        let mean: Vec<f64> = (0..self.z.dim()).map(mean).collect();
        Base::full(&mean, &covariance(&self.z, &vec![1.0; count])?)
    }

    /// log p − log q at each draw.
    fn ratios(&self, density: &Tempered, q: &Base) -> Result<Vec<f64>> {
        let dim = self.z.dim();
        let ratios = density.each_piece(self.z.len(), PIECE, |range| {
            let (mut z, mut work) =
                (Batch::zeros(dim, range.len()), Batch::zeros(dim, range.len()));
            z.copy_points(0, &self.z, range.start, range.len());
            let mut log_q = vec![0.0; z.padded_len()];
            q.log_density(&z, &mut work, &mut log_q);
            let log_p = &self.log_density[range];
            Ok(log_p.iter().zip(log_q).map(|(&p, q)| log_weight(p, q)).collect::<Vec<_>>())
        })?;
        Ok(ratios.concat())
    }
}

/// log p − log q at draws of q.
fn ratios_of_proposals(
    density: &Tempered,
    q: &Base,
    stream: &Stream,
    draw: u64,
    count: usize,
) -> Result<Vec<f64>> {
    let dim = q.dim();
    let weights = density.path.weights(1.0);
    let ratios = density.each_piece(count, PIECE, |range| {
        let (mut noise, mut z) = (Noise::zeros(dim, range.len()), Batch::zeros(dim, range.len()));
        q.draw(stream, draw, range.start as u64, &mut noise);
        let mut log_q = vec![0.0; z.padded_len()];
        q.forward(&noise, &mut z, &mut log_q);
        let mut tile = Tile::zeros(dim, range.len());
        density.evaluate_parts(&z, None, &mut tile)?;
        let one = |i: usize| log_weight(tile.log_density(weights, i), log_q[i]);
        Ok((0..range.len()).map(one).collect::<Vec<_>>())
    })?;
    Ok(ratios.concat())
}

/// log Z from log p − log q at draws of p, from this number of chains, and at draws of q.
///
/// The optimal bridge is h = 1/(s₁ p/Z + s₂ q), with s₁ and s₂ the shares of the two kinds of draws; those of
/// p count by their effective sample size. It depends on Z, so that Z = E_q[p h]/E_p[q h] is solved by
/// iteration (Meng and Wong's equation 4.1). Errors follow Frühwirth-Schnatter (2004): the relative variance
/// of either mean, that over p by its effective sample size.
fn bridge(at_p: &[f64], chains: usize, at_q: &[f64]) -> Option<Estimate> {
    if at_q.iter().any(|l| l.is_nan() || *l == f64::INFINITY) {
        return None;
    }
    let count_q = at_q.len() as f64;
    let worth = rank::mean_ess(at_p, chains);
    if worth.is_nan() {
        return None;
    }
    let worth = worth.min(at_p.len() as f64);
    let (s_p, s_q) = (worth / (worth + count_q), count_q / (worth + count_q));
    // log of the bridge's denominator over q, s₁ p/(Z q) + s₂
    let under = |l: f64, log_z: f64| log_sum_exp([s_p.ln() + l - log_z, s_q.ln()].into_iter());
    let log_mean = |terms: &[f64]| log_sum_exp(terms.iter().copied()) - (terms.len() as f64).ln();
    let over_q =
        |log_z: f64| -> Vec<f64> { at_q.iter().map(|&l| l - log_z - under(l, log_z)).collect() };
    let over_p = |log_z: f64| -> Vec<f64> { at_p.iter().map(|&l| -under(l, log_z)).collect() };
    let mut log_z = log_mean(at_q).max(median(at_p));
    let mut has_settled = false;
    for _ in 0..MOST_ROUNDS {
        let change = log_mean(&over_q(log_z)) - log_mean(&over_p(log_z));
        log_z += change;
        has_settled = change.abs() < 1e-9;
        if has_settled || !log_z.is_finite() {
            break;
        }
    }
    let exp = |terms: Vec<f64>| -> Vec<f64> { terms.into_iter().map(f64::exp).collect() };
    let (f_q, f_p) = (exp(over_q(log_z)), exp(over_p(log_z)));
    let is_carried_by_few = ess(&f_q) < FEWEST || ess(&f_p) < FEWEST;
    if !has_settled || is_carried_by_few || log_mean(&over_q(log_z)) < LEAST_OVERLAP.ln() {
        return None;
    }
    let squares = relative_variance(&f_q) / count_q
        + relative_variance(&f_p) / rank::mean_ess(&f_p, chains).min(f_p.len() as f64);
    Some(Estimate { value: log_z, error: squares.sqrt() })
}

const MOST_ROUNDS: usize = 1_000;

/// The mean of both estimates. Half of their difference is an error that neither may show alone.
fn mean(a: Estimate, b: Estimate) -> Estimate {
    let error = f64::max(0.5 * a.error.hypot(b.error), 0.5 * (a.value - b.value).abs());
    Estimate { value: 0.5 * (a.value + b.value), error }
}

/// The variance divided by the square of the mean.
fn relative_variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|x| (x / mean - 1.0).powi(2)).sum::<f64>() / (count - 1.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// p is e^7 N(m, 1) and q is N(0, 1), so that log p − log q = 7 + m x − m²/2.
    fn ratios(m: f64, seed: u64) -> [Vec<f64>; 2] {
        let stream = Stream::new(seed, Purpose::Chains);
        let mut x = Batch::zeros(2, 4_000);
        stream.fill_normals(0, 0, &mut x);
        let ratio = |x: f64| 7.0 + m * x - 0.5 * m * m;
        [
            x.row(0).iter().map(|x| ratio(x + m)).collect(),
            x.row(1).iter().map(|x| ratio(*x)).collect(),
        ]
    }

    /// Over 60 pairs of samples the scores are standard normal, so their mean square is 1 within 4 standard
    /// errors of √(2/60).
    #[test]
    fn errors_are_as_large_as_they_should_be() {
        let score = |seed: u64| {
            let [at_p, at_q] = ratios(1.5, seed);
            let found = bridge(&at_p, 4, &at_q).unwrap();
            ((found.value - 7.0) / found.error).powi(2)
        };
        let mean = (0..60).map(score).sum::<f64>() / 60.0;
        assert!((mean - 1.0).abs() < 4.0 * (2.0 / 60.0_f64).sqrt(), "{mean}");
    }

    #[test]
    fn densities_far_apart_have_no_bridge() {
        for m in [9.0, 40.0] {
            let [at_p, at_q] = ratios(m, 1);
            assert_eq!(bridge(&at_p, 4, &at_q), None, "{m}");
        }
        let [at_p, mut at_q] = ratios(1.0, 1);
        at_q[17] = f64::INFINITY;
        assert_eq!(bridge(&at_p, 4, &at_q), None, "a pole");
        assert_eq!(bridge(&[f64::NEG_INFINITY; 400], 4, &at_p), None, "draws without a density");
    }
}
