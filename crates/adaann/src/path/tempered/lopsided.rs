//! A test density in the plane without any symmetry, with all parts, exact draws and known moments,
//! which counts its evaluations.

use crate::{
    Batch, Result,
    rng::{Purpose, Stream},
    target::{Evaluation, Support, Target, Weights},
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// θ is Gamma(3) and y given x = ln θ is N(x²/2, 1/4).
///
/// Prior e^−θ and likelihood θ² exp(−2 (y − x²/2)²). With log|J| = x the unconstrained density is
/// exp(3 x − eˣ − 2 (y − x²/2)²).
#[derive(Default)]
pub(crate) struct Lopsided {
    points: AtomicUsize,
}

/// A function of the unconstrained coordinates and its expectation.
pub(crate) type Moment = (&'static str, fn(f64, f64) -> f64, f64);

/// E x = digamma(3).
const MEAN: f64 = 0.922_784_335_098_467_1;
/// Var x = trigamma(3).
const VARIANCE: f64 = 0.394_934_066_848_226_4;

/// Moments of x and y; P(x < 0) is that of Gamma(3) below 1, and ψ″(3) = 9/4 − 2 ζ(3).
pub(crate) const MOMENTS: [Moment; 7] = [
    ("x", |x, _| x, MEAN),
    ("x²", |x, _| x * x, VARIANCE + MEAN * MEAN),
    ("(x − E x)³", |x, _| (x - MEAN).powi(3), 2.25 - 2.0 * 1.202_056_903_159_594_3),
    ("x < 0", |x, _| f64::from(u8::from(x < 0.0)), 1.0 - 2.5 / std::f64::consts::E),
    ("y", |_, y| y, 0.5 * (VARIANCE + MEAN * MEAN)),
    ("(y − x²/2)²", |x, y| (y - 0.5 * x * x).powi(2), 0.25),
    ("x (y − x²/2)", |x, y| x * (y - 0.5 * x * x), 0.0),
];

impl Lopsided {
    /// Independent draws, in unconstrained coordinates.
    pub(crate) fn draws(seed: u64, count: usize) -> Batch {
        let stream = Stream::new(seed, Purpose::MonteCarlo);
        let mut z = Batch::zeros(2, count);
        stream.fill_normals(0, 0, &mut z);
        for i in 0..count {
            let uniform = |which: u64| stream.point_uniform_at(which, i as u64).ln();
            let x = (-(uniform(1) + uniform(2) + uniform(3))).ln();
            let y = 0.5 * x * x + 0.5 * z.row(1)[i];
            z.set_point(i, &[x, y]);
        }
        z
    }

    /// Number of points evaluated since the last call.
    pub(crate) fn count(&self) -> usize {
        self.points.swap(0, Ordering::Relaxed)
    }
}

impl Target for Lopsided {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.points.fetch_add(points.len(), Ordering::Relaxed);
        for i in 0..points.len() {
            let (theta, y) = (points.row(0)[i], points.row(1)[i]);
            let x = theta.ln();
            let rest = y - 0.5 * x * x;
            out.log_prior[i] = -theta;
            out.log_likelihood[i] = 2.0 * x - 2.0 * rest * rest;
            if let Some(Weights { prior, likelihood }) = gradient {
                let of_theta = (2.0 + 4.0 * rest * x) / theta;
                out.gradient.row_mut(0)[i] = likelihood * of_theta - prior;
                out.gradient.row_mut(1)[i] = likelihood * -4.0 * rest;
            }
        }
        Ok(())
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn support(&self, d: usize) -> Support {
        if d == 0 { Support::Above(0.0) } else { Support::Real }
    }
}
