//! Judges the rounds of the forward-KL refinement by multiple importance sampling, from the draws of all
//! rounds.
//!
//! The effective sample size over a flow's own draws does not show a mode that they miss: a flow that
//! has lost a mode looks excellent, and a flow that begins to find it looks poor. So every flow is
//! judged by the draws of all rounds. With q̄ the mean of their densities, these are draws of q̄, and
//!
//! E_q[p/q]²/E_q[(p/q)²] = E_q̄[p/q̄]²/E_q̄[(p/q̄)(p/q)],
//!
//! which is small for any q that is small where some round has found p to be large.

use super::round::Round;
use crate::{
    Batch, Result, flow::Flow, importance::log_sum_exp, non_finite::log_density as known,
    weight::log_weight,
};
use rayon::prelude::*;

/// Points whose log density one thread computes at a time.
const PIECE: usize = 1_024;

/// The effective share of draws of p that each round's flow reaches, judged by the draws of all rounds,
/// equally many of each. Sets `flow` to the parameters of the best round, the earliest in a tie.
pub(super) fn judge(rounds: &[Round], flow: &mut Flow) -> Result<Vec<f64>> {
    let pieces: Vec<Batch> = rounds.iter().flat_map(|round| cut(&round.points)).collect();
    let mut log_q = Vec::with_capacity(rounds.len());
    for round in rounds {
        flow.set_parameters(&round.parameters)?;
        let found: Result<Vec<_>> =
            pieces.par_iter().map(|piece| flow.log_density(piece)).collect();
        log_q.push(found?.concat());
    }
    let log_p: Vec<f64> = rounds.iter().flat_map(|round| round.log_p.iter().copied()).collect();
    let shares = shares(&log_p, &log_q);
    let best = (0..shares.len()).reduce(|a, b| if shares[b] > shares[a] { b } else { a });
    if let Some(best) = best {
        flow.set_parameters(&rounds[best].parameters)?;
    }
    Ok(shares)
}

fn cut(points: &Batch) -> impl Iterator<Item = Batch> {
    (0..points.len()).step_by(PIECE).map(|at| {
        let len = PIECE.min(points.len() - at);
        let mut piece = Batch::zeros(points.dim(), len);
        piece.copy_points(0, points, at, len);
        piece
    })
}

/// The share for each flow, from log p and each flow's log q at the draws of all flows; 0 if it is not
/// finite.
fn shares(log_p: &[f64], log_q: &[Vec<f64>]) -> Vec<f64> {
    // log of p/q̄, with q̄ the sum of the densities: a constant factor cancels.
    let log_w: Vec<f64> = (log_p.iter().enumerate())
        .map(|(i, log_p)| {
            log_weight(*log_p, log_sum_exp(log_q.iter().map(|log_q| known(log_q[i]))))
        })
        .map(|log_w| if log_w.is_finite() { log_w } else { f64::NEG_INFINITY })
        .collect();
    let first = log_sum_exp(log_w.iter().copied());
    let share = |log_q: &Vec<f64>| {
        // A point with negligible weight is ignored, even if a flow has no density there: a diverged
        // round draws such points.
        let counts = |((w, _), _): &((&f64, &f64), &f64)| (*w - first).exp() > 0.0;
        let terms = || log_w.iter().zip(log_p).zip(log_q).filter(counts);
        let second =
            log_sum_exp(terms().map(|((w, log_p), log_q)| w + log_weight(*log_p, known(*log_q))));
        // The mean over q̄ of its own weights is the mean over the sum, times the number of flows.
        let share = (2.0 * first - second).exp() / log_p.len() as f64;
        if share.is_finite() { share } else { 0.0 }
    };
    let count = log_q.len() as f64;
    log_q.iter().map(|log_q| share(log_q) * count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        flow::{Base, FlowSpec},
        train::Drawn,
    };

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
        // The second draw has no mass under p, and the first flow's density there is NaN.
        let found = shares(&[0.0, -1e300], &[vec![0.0, f64::NAN], vec![-5.0, 0.0]]);
        assert!((found[0] - 1.0 / (1.0 + (-5_f64).exp())).abs() < 1e-14, "{found:?}");
    }

    /// p has modes at ±6, and q₁ has only the left one: over its own draws its share is 1, over those of
    /// both flows it is near 0, and the broad q₂ is kept. Exactly, ½∫p²/q₂ = 3.4 for its normal of sd 6.
    #[test]
    fn a_lost_mode_is_held_against_a_flow() {
        let mut flow = Flow::new(&FlowSpec::Affine, Base::standard(1)).unwrap();
        let log_p = |z: f64| {
            let (left, right) = (-0.5 * (z + 6.0).powi(2), -0.5 * (z - 6.0).powi(2));
            left.max(right)
        };
        let broad = [0.0, 6.0_f64.ln()];
        let rounds = [[-6.0, 0.0], broad].map(|parameters| {
            flow.set_parameters(&parameters).unwrap();
            let draws = flow.sample(3_000, 1);
            let b = draws.points.row(0).iter().map(|z| log_p(*z)).collect();
            let drawn = Drawn { a: vec![0.0; 3_000], b, log_q: draws.log_q, points: None };
            Round::new(&flow, draws.points, &drawn)
        });
        let shares = judge(&rounds, &mut flow).unwrap();
        assert!(shares[0] < 1e-6 && shares[1] > 0.1, "{shares:?}");
        assert_eq!(flow.parameters(), broad);
    }
}
