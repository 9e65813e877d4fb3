//! Population Monte Carlo: rounds that refine the mixture fitted to the particles.

use super::{
    kernel::{DRAWS, independence},
    particles::{PIECE, Particles},
    sampler::Sampler,
    state::State,
};
use crate::{Batch, Result, importance::log_sum_exp, mixture::Mixture, weight::log_weight};

impl Sampler<'_> {
    /// Draws from the mixture with Student tails, weights the draws by p, and refits the mixture to
    /// them: a step of population Monte Carlo (Cappé and others 2008), which reduces KL(p‖mixture).
    /// Weights are truncated at the mean times √S (Ionides 2008).
    pub(super) fn population_monte_carlo(&self, state: &mut State) -> Result<()> {
        let weights = self.settings.path.weights(1.0);
        let count = self.settings.pmc_draws;
        for _ in 0..self.settings.pmc_rounds {
            if self.is_spent(state.evaluations) {
                break;
            }
            let on = self.invariant(state, weights);
            let pieces = self.density.each_piece(count, PIECE, |range| {
                let z = independence::draw(&on, range);
                let log_q = on.mixture.log_student(&z);
                let drawn = Particles::evaluate(&self.density, z, None)?;
                let ratio =
                    |(i, log_q): (usize, f64)| log_weight(drawn.log_density(weights, i), log_q);
                let log_ratios: Vec<f64> = log_q.into_iter().enumerate().map(ratio).collect();
                Ok((drawn.z, log_ratios))
            })?;
            state.draws += DRAWS;
            state.evaluations += count;
            let mut z = Batch::zeros(self.density.target.dim(), count);
            let mut log_ratios = Vec::with_capacity(count);
            for (piece, ratios) in &pieces {
                z.copy_points(log_ratios.len(), piece, 0, piece.len());
                log_ratios.extend(ratios);
            }
            let Some(shares) = truncated(&log_ratios) else { break };
            state.mixture = Mixture::fit(&z, &shares, Some(&state.mixture));
        }
        Ok(())
    }
}

/// Normalised weights from their logarithms, truncated at the mean times √S; `None` if all are
/// non-finite.
fn truncated(log_ratios: &[f64]) -> Option<Vec<f64>> {
    let total = log_sum_exp(log_ratios.iter().copied());
    if !total.is_finite() {
        return None;
    }
    let most = 1.0 / (log_ratios.len() as f64).sqrt();
    let mut shares: Vec<f64> =
        log_ratios.iter().map(|ratio| (ratio - total).exp().min(most)).collect();
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    Some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights 16 and fifteen times 1, with sum 31: the first exceeds 1/√16 and is truncated to it.
    #[test]
    fn no_draw_has_more_than_its_cut_of_the_weight() {
        let mut log_ratios = vec![-900.0; 16];
        log_ratios[3] += 16_f64.ln();
        let shares = truncated(&log_ratios).unwrap();
        let (large, small) = (0.25, 1.0 / 31.0);
        let total = large + 15.0 * small;
        // The argument −900 + 900 of exp has an error of an ulp of 900.
        assert!((shares[3] - large / total).abs() < 1e-12);
        assert!((shares[0] - small / total).abs() < 1e-12);
        assert!(truncated(&[f64::NEG_INFINITY; 3]).is_none());
    }
}
