//! Recorded expressions: a log density written as a closure becomes a program over blocks of samples.
//!
//! The closure runs once, on symbolic numbers, and leaves a graph. The graph is differentiated in
//! reverse mode and compiled, with its gradient, into instructions that each make one pass over a
//! block of samples; user code never runs in the inner loop.

mod allocate;
mod code;
mod compile;
mod expr;
mod gradient;
mod graph;
mod op;
pub(crate) mod run;

#[cfg(test)]
mod tests;

pub use expr::{Condition, Expr, log_sum_exp};

use crate::batch::PAD;
use crate::simd::{F64, Kernel, Lane, dispatch};
use crate::target::{Evaluation, Target, Weights};
use crate::{Batch, Error, Result};
use code::Code;
use fearless_simd::Simd;
use graph::Graph;
use std::cell::RefCell;

/// A density recorded from a closure, with its exact gradient.
///
/// Values agree with the closure's own arithmetic to rounding: products may be regrouped, products
/// and sums are fused, and division by a constant is multiplication by its reciprocal.
///
/// A point with log density −∞ or NaN has gradient 0. NaN is kept, as a failure to be counted; but
/// where one part is −∞ the point is outside the support, and if the other part is NaN or infinite
/// there, it is −∞ too.
#[derive(Debug, Clone)]
pub struct Program {
    dim: usize,
    has_prior: bool,
    values: Code,
    with_gradient: Code,
}

/// Rows of the outputs: the two values, then the gradient.
const PRIOR: usize = 0;
const LIKELIHOOD: usize = 1;
const GRADIENT: usize = 2;

impl Program {
    /// Records a log density on R^dim that has no prior apart.
    ///
    /// ```
    /// use adaann::{Batch, Program};
    /// use adaann::target::{Evaluation, Target, Weights};
    ///
    /// // Rosenbrock's banana
    /// let banana = Program::record(2, |z| {
    ///     let (x, y) = (z[0], z[1]);
    ///     -(1.0 - x).square() - 100.0 * (y - x * x).square()
    /// });
    /// let points = Batch::from_points(2, &[[1.0, 1.0], [0.0, 1.0]]);
    /// let mut out = Evaluation::zeros(2, 2);
    /// let weights = Weights { prior: 1.0, likelihood: 1.0 };
    /// banana.evaluate(&points, Some(weights), &mut out)?;
    /// assert_eq!(out.log_likelihood[..2], [0.0, -101.0]);
    /// assert_eq!(out.gradient.point(1), [2.0, -200.0]);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    pub fn record<F>(dim: usize, log_density: F) -> Self
    where
        F: for<'g> FnOnce(&[Expr<'g>]) -> Expr<'g>,
    {
        let graph = RefCell::new(Graph::new());
        let z: Vec<Expr<'_>> = (0..dim as u32).map(|d| Expr::input(&graph, d)).collect();
        let likelihood = log_density(&z).node(&graph);
        let prior = graph.borrow_mut().constant(0.0);
        Self::new(dim, false, graph.into_inner(), [prior, likelihood])
    }

    /// Records a log prior and a log likelihood on R^dim.
    ///
    /// ```
    /// use adaann::{Program, target::Target};
    ///
    /// let data = [1.2, 0.7, 1.1];
    /// let posterior = Program::record_parts(1, |z| {
    ///     let log_prior = -0.5 * z[0] * z[0];
    ///     let log_likelihood = data.iter().map(|y| -0.5 * (*y - z[0]).square()).sum();
    ///     (log_prior, log_likelihood)
    /// });
    /// assert!(posterior.has_prior());
    /// ```
    pub fn record_parts<F>(dim: usize, log_parts: F) -> Self
    where
        F: for<'g> FnOnce(&[Expr<'g>]) -> (Expr<'g>, Expr<'g>),
    {
        let graph = RefCell::new(Graph::new());
        let z: Vec<Expr<'_>> = (0..dim as u32).map(|d| Expr::input(&graph, d)).collect();
        let (prior, likelihood) = log_parts(&z);
        let parts = [prior.node(&graph), likelihood.node(&graph)];
        Self::new(dim, true, graph.into_inner(), parts)
    }

    fn new(dim: usize, has_prior: bool, mut graph: Graph, parts: [op::Node; 2]) -> Self {
        let values = compile::compile(&graph, &parts);
        let weights = [graph.uniform(0), graph.uniform(1)];
        let seeded = [(parts[PRIOR], weights[PRIOR]), (parts[LIKELIHOOD], weights[LIKELIHOOD])];
        let mut outputs = parts.to_vec();
        outputs.extend(gradient::gradient(&mut graph, &seeded, dim as u32));
        Self { dim, has_prior, values, with_gradient: compile::compile(&graph, &outputs) }
    }

    /// How many instructions a block of samples takes, with the gradient and without.
    pub fn instructions(&self) -> (usize, usize) {
        (self.with_gradient.instructions.len(), self.values.instructions.len())
    }
}

impl Target for Program {
    fn dim(&self) -> usize {
        self.dim
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let shape = |what: &str, found, expected| Error::Shape {
            what: what.into(),
            found: format!("{found} coordinates"),
            expected: format!("{expected} were"),
        };
        if points.dim() != self.dim {
            return Err(shape("the batch of points", points.dim(), self.dim));
        }
        if gradient.is_some() && out.gradient.dim() != self.dim {
            return Err(shape("the room for gradients", out.gradient.dim(), self.dim));
        }
        let room = out.gradient.padded_len();
        let room = room.min(out.log_prior.len()).min(out.log_likelihood.len());
        if room < points.padded_len() {
            return Err(Error::Shape {
                what: "the evaluation".into(),
                found: format!("room for {room} points"),
                expected: format!("{} were", points.padded_len()),
            });
        }
        let has_gradient = gradient.is_some();
        let (code, weights) = match gradient {
            Some(weights) => (&self.with_gradient, [weights.prior, weights.likelihood]),
            None => (&self.values, [0.0; 2]),
        };
        let has_prior = self.has_prior;
        run::with_scratch(code, weights, |scratch| {
            dispatch(Evaluate { code, scratch, points, out, has_prior, has_gradient });
        });
        Ok(())
    }

    fn has_prior(&self) -> bool {
        self.has_prior
    }
}

/// One call of [`Program::evaluate`].
struct Evaluate<'a> {
    code: &'a Code,
    scratch: &'a mut run::Scratch,
    points: &'a Batch,
    out: &'a mut Evaluation,
    has_prior: bool,
    has_gradient: bool,
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { code, scratch, points, out, has_prior, has_gradient } = self;
        let len = points.padded_len();
        run::run(simd, scratch, code, &mut Rows { points, out }, len);
        // x·0 is NaN unless x is finite: one sum over a stretch tells whether any point is not.
        let zero = F64::<S>::splat(simd, 0.0);
        let mut sums = [zero; 4];
        for values in [&out.log_prior, &out.log_likelihood] {
            if has_prior || std::ptr::eq(values, &out.log_likelihood) {
                for stretch in values[..len].chunks_exact(PAD) {
                    for k in 0..PAD / F64::<S>::LEN {
                        let value = F64::load(simd, &stretch[k * F64::<S>::LEN..]);
                        sums[k % 4] = value.mul_add(zero, sums[k % 4]);
                    }
                }
            }
        }
        if F64::<S>::any(!((sums[0] + sums[1]) + (sums[2] + sums[3])).eq(zero)) {
            leave_out(out, points.len(), has_gradient);
        }
    }
}

/// Gives points whose log density is not finite the gradient 0.
#[cold]
#[inline(never)]
fn leave_out(out: &mut Evaluation, len: usize, has_gradient: bool) {
    for i in 0..len {
        let (prior, likelihood) = (&mut out.log_prior[i], &mut out.log_likelihood[i]);
        if (*prior + *likelihood).is_finite() {
            continue;
        }
        if *prior == f64::NEG_INFINITY && !likelihood.is_finite() {
            *likelihood = f64::NEG_INFINITY;
        } else if *likelihood == f64::NEG_INFINITY && !prior.is_finite() {
            *prior = f64::NEG_INFINITY;
        }
        for d in 0..if has_gradient { out.gradient.dim() } else { 0 } {
            out.gradient.row_mut(d)[i] = 0.0;
        }
    }
}

/// The rows of a call: points in, values and gradient out.
struct Rows<'a> {
    points: &'a Batch,
    out: &'a mut Evaluation,
}

impl run::Rows for Rows<'_> {
    #[inline(always)]
    fn input(&self, row: usize) -> &[f64] {
        self.points.padded_row(row)
    }

    #[inline(always)]
    fn output(&mut self, row: usize) -> &mut [f64] {
        match row {
            PRIOR => &mut self.out.log_prior,
            LIKELIHOOD => &mut self.out.log_likelihood,
            _ => self.out.gradient.padded_row_mut(row - GRADIENT),
        }
    }
}
