//! The Rosenbrock density in ten dimensions, with exact answers by quadrature along the chain.
//!
//! log p = −Σ 100 (x_(i+1) − x_i²)² + (1 − x_i)², with a uniform prior on [−10, 10]¹⁰. Only neighbours interact, so the
//! integral is a product of operators on functions of one coordinate. Their results are smooth on the scale of the
//! kernel, 0.07, or, through x², a sixth of that. A trapezoid rule with a spacing below a tenth of it is exact up to
//! rounding.

use super::frame::Frame;
use adaann::{
    Batch, Expr, Program, Result,
    registry::Known,
    target::{Evaluation, Support, Target, Weights},
};

pub(super) const DIM: usize = 10;
const SIDE: f64 = 10.0;
const STEEPNESS: f64 = 100.0;

/// The number of points on either side of the origin, which gives a spacing of 0.001.
const STEPS: usize = 10_000;

/// The density within its bounds, in a frame.
pub(super) struct Chain(Program, Frame);

pub(super) fn target(frame: &Frame) -> Chain {
    let program = Program::record_parts(DIM, |framed| {
        let x = frame.inverse(framed);
        let largest = x.iter().map(|x| x.abs()).reduce(|a, b| a.max(b)).expect("ten of them");
        let log_prior = -(DIM as f64) * (2.0 * SIDE).ln() - frame.log_volume();
        let prior = largest.le(SIDE).select(log_prior, f64::NEG_INFINITY);
        let sum: Expr<'_> = x.windows(2).map(|pair| link(pair[0], pair[1])).sum();
        (prior, -sum)
    });
    Chain(program, frame.clone())
}

fn link<'g>(x: Expr<'g>, next: Expr<'g>) -> Expr<'g> {
    STEEPNESS * (next - x.square()).square() + (1.0 - x).square()
}

impl Target for Chain {
    fn dim(&self) -> usize {
        DIM
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, gradient, out)
    }

    fn operations(&self) -> Option<f64> {
        self.0.operations()
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn support(&self, d: usize) -> Support {
        let (middle, half) = (self.1.shift[d], SIDE * self.1.scale[d].abs());
        Support::Between(middle - half, middle + half)
    }
}

pub(super) fn known() -> Known {
    quadrature(STEPS)
}

/// log Z and moments with this many points on either side of the origin.
fn quadrature(steps: usize) -> Known {
    let spacing = SIDE / steps as f64;
    let x: Vec<f64> = (0..=2 * steps).map(|i| spacing * i as f64 - SIDE).collect();
    let cell = |i: usize| if i == 0 || i == 2 * steps { 0.5 * spacing } else { spacing };
    let kernel = |from: usize, to: usize| {
        let off = x[to] - x[from] * x[from];
        (-STEEPNESS * off * off - (1.0 - x[from]).powi(2)).exp()
    };
    // The kernel exceeds e^−100 only within 1 of x².
    let near = |from: usize| {
        let index = |at: f64| ((at + SIDE) / spacing).clamp(0.0, 2.0 * steps as f64) as usize;
        let square = x[from] * x[from];
        index(square - 1.0)..=index(square + 1.0)
    };
    // Integrals over the coordinates after and before each coordinate.
    let mut after = vec![vec![1.0; x.len()]; DIM];
    for at in (0..DIM - 1).rev() {
        let (head, tail) = after.split_at_mut(at + 1);
        for (from, sum) in head[at].iter_mut().enumerate() {
            *sum = near(from).map(|to| kernel(from, to) * tail[0][to] * cell(to)).sum();
        }
    }
    let mut before = vec![vec![1.0; x.len()]; DIM];
    for at in 1..DIM {
        let (head, tail) = before.split_at_mut(at);
        tail[0].fill(0.0);
        for from in 0..x.len() {
            for to in near(from) {
                tail[0][to] += kernel(from, to) * head[at - 1][from] * cell(from);
            }
        }
    }
    let moment = |at: usize, f: &dyn Fn(f64) -> f64| -> f64 {
        (0..x.len()).map(|i| before[at][i] * after[at][i] * cell(i) * f(x[i])).sum()
    };
    let mass = moment(0, &|_| 1.0);
    let mean: Vec<f64> = (0..DIM).map(|at| moment(at, &|x| x) / mass).collect();
    let variance = |at: usize| moment(at, &|x| (x - mean[at]).powi(2)) / mass;
    Known {
        log_z: Some(mass.ln() - DIM as f64 * (2.0 * SIDE).ln()),
        sd: Some((0..DIM).map(|at| variance(at).sqrt()).collect()),
        mean: Some(mean),
        ..Known::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_half_as_fine_gives_the_same() {
        let (fine, coarse) = (known(), quadrature(STEPS / 2));
        assert!((fine.log_z.unwrap() - coarse.log_z.unwrap()).abs() < 1e-9);
        let pairs = [(fine.mean, coarse.mean), (fine.sd, coarse.sd)];
        for (fine, coarse) in
            pairs.into_iter().flat_map(|(a, b)| a.unwrap().into_iter().zip(b.unwrap()))
        {
            assert!((fine - coarse).abs() < 1e-8, "{fine} is not {coarse}");
        }
    }

    #[test]
    fn the_peak_is_at_one_and_outside_there_is_nothing() {
        let mut out = Evaluation::zeros(DIM, 2);
        let frame = Frame::new("test", DIM, 1);
        let at = |y: f64| -> Vec<f64> {
            frame.shift.iter().zip(&frame.scale).map(|(shift, scale)| shift + scale * y).collect()
        };
        let points = Batch::from_points(DIM, &[at(1.0), at(10.5)]);
        target(&frame).evaluate(&points, None, &mut out).unwrap();
        assert!(out.log_likelihood[0].abs() < 1e-20 && out.log_prior[1] == f64::NEG_INFINITY);
        let log_prior = -10.0 * 20.0_f64.ln() - frame.log_volume();
        assert!((out.log_prior[0] - log_prior).abs() < 1e-12);
    }
}
