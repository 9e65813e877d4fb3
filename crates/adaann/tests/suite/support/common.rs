//! What the tests share: a stream of numbers, densities at single points, and differences.
#![allow(dead_code)] // each test uses its part

use adaann::{
    Batch,
    target::{Evaluation, Target, Weights},
};

/// SplitMix64: numbers for the tests that depend on nothing they test.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Uniform on (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((x ^ (x >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

pub(crate) const WHOLE: Weights = Weights { prior: 1.0, likelihood: 1.0 };

/// Log prior, log likelihood and weighted gradient at points.
pub(crate) fn evaluate(target: &dyn Target, points: &[Vec<f64>], weights: Weights) -> Evaluation {
    let batch = Batch::from_points(target.dim(), points);
    let mut out = Evaluation::zeros(target.dim(), points.len());
    target.evaluate(&batch, Some(weights), &mut out).unwrap();
    out
}

/// log p at points.
pub(crate) fn log_p(target: &dyn Target, points: &[Vec<f64>]) -> Vec<f64> {
    let batch = Batch::from_points(target.dim(), points);
    let mut out = Evaluation::zeros(target.dim(), points.len());
    target.evaluate(&batch, None, &mut out).unwrap();
    (0..points.len()).map(|i| out.log_prior[i] + out.log_likelihood[i]).collect()
}

/// log p at one point.
pub(crate) fn log_p_at(target: &dyn Target, point: &[f64]) -> f64 {
    log_p(target, &[point.to_vec()])[0]
}

/// Refuses two numbers that differ by more than `tolerance`, relative to the larger or to 1.
#[track_caller]
pub(crate) fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
    let scale = a.abs().max(b.abs()).max(1.0);
    // Against an infinite scale everything is close.
    let close = scale.is_finite() && (a - b).abs() <= tolerance * scale;
    assert!(a == b || close, "{what}: {a} is not {b}");
}

/// A derivative from central differences, with an estimate of its error that knows nothing of the
/// derivative it is to be compared with (Ridders 1982).
pub(crate) struct Difference {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Difference {
    /// Steps are halved ten times from 2e-3 and extrapolated up to h⁶. Of all entries of the table
    /// the one that differs least from its neighbours counts: a layer with a radius of 1e-4 finds
    /// it among short steps, a flat one among long steps.
    pub(crate) fn of(x: f64, f: impl Fn(f64) -> f64) -> Self {
        Self::each(x.abs().max(1.0), |h| vec![f(x + h)]).remove(0)
    }

    /// The derivative of a sum.
    pub(crate) fn sum(parts: &[Self]) -> Self {
        Self {
            value: parts.iter().map(|part| part.value).sum(),
            error: parts.iter().map(|part| part.error).sum(),
        }
    }

    /// The derivatives at 0 of numbers that are functions of one, for which steps of `size` are
    /// large. Each has its own table: a kink of one of them, which entries on either side of it
    /// disagree about, leaves the others alone. A kink nearer than all steps looks like a slope
    /// between those on either side; half of what these differ by is part of the error.
    pub(crate) fn each(size: f64, mut f: impl FnMut(f64) -> Vec<f64>) -> Vec<Self> {
        let here = f(0.0);
        let nothing = || Self { value: f64::NAN, error: f64::INFINITY };
        let mut best: Vec<Self> = here.iter().map(|_| nothing()).collect();
        let mut tables: Vec<Vec<f64>> = vec![Vec::new(); here.len()];
        // Right slope less left, at a step; extrapolated to no step from the last two; and the least
        // that two extrapolations in a row agree on.
        let (mut turns, mut kinks) = (vec![f64::NAN; here.len()], vec![f64::NAN; here.len()]);
        let mut jumps = vec![f64::INFINITY; here.len()];
        let mut h = 2e-3 * size;
        for _ in 0..11 {
            let (up, down) = (f(h), f(-h));
            for (i, (best, above)) in best.iter_mut().zip(&mut tables).enumerate() {
                // Values of this size cannot be told apart more finely, however well entries agree.
                let rounding = f64::EPSILON * up[i].abs().max(down[i].abs()) / h;
                let turn = (up[i] - here[i] - (here[i] - down[i])) / h;
                let kink = (2.0 * turn - turns[i]).abs();
                if !kinks[i].is_nan() {
                    jumps[i] = jumps[i].min(kink.max(kinks[i]));
                }
                (turns[i], kinks[i]) = (turn, kink);
                let mut row = vec![(up[i] - down[i]) / (2.0 * h)];
                for column in 0..above.len().min(3) {
                    let four = 4.0_f64.powi(column as i32 + 1);
                    let better = (four * row[column] - above[column]) / (four - 1.0);
                    let error = (better - row[column]).abs().max((better - above[column]).abs());
                    if error.max(rounding) < best.error {
                        *best = Self { value: better, error: error.max(rounding) };
                    }
                    row.push(better);
                }
                *above = row;
            }
            h /= 2.0;
        }
        for (best, jump) in best.iter_mut().zip(jumps) {
            best.error = best.error.max(jump / 2.0);
        }
        best
    }
}
