//! All draws of a mass-covering stage, by which the flows of its rounds are judged.
//!
//! The effective sample size over a flow's own draws does not know of a mode that they miss: a flow
//! that has lost one looks excellent, and a flow that begins to find it looks ruined. So every flow is
//! judged by the draws of all rounds. With q̄ the mean of their densities, these are draws of q̄, and
//!
//! E_q[p/q]²/E_q[(p/q)²] = E_q̄[p/q̄]²/E_q̄[(p/q̄)(p/q)],
//!
//! which is small for any q that is small where some round has found p to be large.

use crate::{Batch, Result, flow::Flow, importance::log_sum_exp};
use rayon::prelude::*;

/// Points whose log density one thread computes at a time.
const PIECE: usize = 1_024;

/// The flows of the rounds and their draws, equally many of each.
#[derive(Debug, Default)]
pub(super) struct MultipleImportance {
    parameters: Vec<Vec<f64>>,
    points: Vec<Batch>,
    /// log p at each point, up to a constant; −∞ where it is none.
    log_p: Vec<f64>,
}

impl MultipleImportance {
    /// Takes the draws of a flow.
    pub(super) fn add(&mut self, flow: &Flow, points: &Batch, log_p: impl Iterator<Item = f64>) {
        self.parameters.push(flow.parameters().to_vec());
        for at in (0..points.len()).step_by(PIECE) {
            let len = PIECE.min(points.len() - at);
            let mut piece = Batch::zeros(points.dim(), len);
            piece.copy_points(0, points, at, len);
            self.points.push(piece);
        }
        let lost = f64::NEG_INFINITY;
        self.log_p.extend(log_p.map(|log_p| if log_p.is_finite() { log_p } else { lost }));
    }

    /// The effective sample size that the draws of each flow have as draws of p, as a share of them,
    /// judged by the draws of all; leaves `flow` with the parameters of the best, the earliest of
    /// equals.
    pub(super) fn judge(&self, flow: &mut Flow) -> Result<Vec<f64>> {
        let mut log_q = Vec::with_capacity(self.parameters.len());
        for parameters in &self.parameters {
            flow.set_parameters(parameters)?;
            log_q.push(self.log_density(flow)?);
        }
        let shares = shares(&self.log_p, &log_q);
        let best = (0..shares.len()).reduce(|a, b| if shares[b] > shares[a] { b } else { a });
        if let Some(best) = best {
            flow.set_parameters(&self.parameters[best])?;
        }
        Ok(shares)
    }

    fn log_density(&self, flow: &Flow) -> Result<Vec<f64>> {
        let pieces: Result<Vec<_>> =
            self.points.par_iter().map(|piece| flow.log_density(piece)).collect();
        Ok(pieces?.concat())
    }
}

/// The share for each flow, from log p and each flow's log q at the draws of all of them; 0 where
/// nothing finite comes out.
fn shares(log_p: &[f64], log_q: &[Vec<f64>]) -> Vec<f64> {
    let known = |log_q: f64| if log_q.is_nan() { f64::NEG_INFINITY } else { log_q };
    // log of p/q̄, with q̄ the sum of the densities: a constant factor cancels.
    let log_w: Vec<f64> = (log_p.iter().enumerate())
        .map(|(i, log_p)| log_p - log_sum_exp(log_q.iter().map(|log_q| known(log_q[i]))))
        .map(|log_w| if log_w.is_finite() { log_w } else { f64::NEG_INFINITY })
        .collect();
    let first = log_sum_exp(log_w.iter().copied());
    let share = |log_q: &Vec<f64>| {
        let terms = || (log_w.iter().zip(log_p).zip(log_q)).filter(|((w, _), _)| w.is_finite());
        let second = log_sum_exp(terms().map(|((w, log_p), log_q)| w + log_p - known(*log_q)));
        // The mean over q̄ of its own weights is that over the sum times the number of flows.
        let share = (2.0 * first - second).exp() / log_p.len() as f64;
        if share.is_finite() { share } else { 0.0 }
    };
    let count = log_q.len() as f64;
    log_q.iter().map(|log_q| share(log_q) * count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Base, FlowSpec};

    /// Two flows with densities (1, 1) and (1, 3) at the two draws, and p = (2, 3): q̄ = (1, 2),
    /// weights (2, 3/2), mean 7/4; E[(p/q̄)(p/q)] is (4 + 9/2)/2 and (4 + 3/2)/2.
    #[test]
    fn shares_are_those_of_the_definition() {
        let logs = |values: [f64; 2]| values.map(f64::ln).to_vec();
        let found = shares(&logs([2.0, 3.0]), &[logs([1.0, 1.0]), logs([1.0, 3.0])]);
        let square = 49.0 / 16.0;
        for (share, second) in found.iter().zip([4.25, 2.75]) {
            assert!((share - square / second).abs() < 1e-14, "{found:?}");
        }
        let lost = f64::NEG_INFINITY;
        let q = [vec![0.0, lost], vec![0.0, f64::NAN]];
        assert_eq!(shares(&[lost, lost], &q), [0.0, 0.0]);
        assert_eq!(shares(&[0.0, 0.0], &[vec![0.0, lost], vec![0.0, 0.0]])[0], 0.0);
    }

    /// p has modes at ±6, q₁ only the left one: over its own draws its share is 1, over those of both
    /// it is near 0, and the broad q₂ is kept. Exactly ½∫p²/q₂ = 3.4 for its normal of sd 6.
    #[test]
    fn a_lost_mode_is_held_against_a_flow() {
        let mut flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let log_p = |z: f64| {
            let (left, right) = (-0.5 * (z + 6.0).powi(2), -0.5 * (z - 6.0).powi(2));
            left.max(right)
        };
        let mut seen = MultipleImportance::default();
        let broad = [0.0, 6.0_f64.ln()];
        for parameters in [[-6.0, 0.0], broad] {
            flow.set_parameters(&parameters).unwrap();
            let points = flow.sample(3_000, 1).points;
            let at = points.row(0).to_vec();
            seen.add(&flow, &points, at.into_iter().map(log_p));
        }
        let shares = seen.judge(&mut flow).unwrap();
        assert!(shares[0] < 1e-6 && shares[1] > 0.1, "{shares:?}");
        assert_eq!(flow.parameters(), broad);
    }
}
