//! A recorded log density as a target: its parts and their gradient, over the blocks of a batch.

use super::code::Code;
use super::compile::compile;
use super::concavity::{Shape, shapes};
use super::expr::Expr;
use super::gradient::gradient;
use super::graph::Graph;
use super::op::Node;
use super::run::{self, LIKELIHOOD, PRIOR};
use super::summands::log_summands;
use crate::batch::PAD;
use crate::simd::{F64, Kernel, Lane, dispatch};
use crate::target::{Evaluation, Target, Weights};
use crate::{Batch, Error, Result, non_finite};
use fearless_simd::Simd;
use std::{cell::RefCell, sync::Arc};

/// A density recorded from a closure, with its exact gradient.
///
/// Values agree with the closure's own arithmetic up to rounding: products may be regrouped,
/// products and sums are fused, and division by a constant becomes multiplication by its
/// reciprocal.
///
/// A point with log density −∞ or NaN has gradient 0. NaN is preserved, so that failures can be
/// counted. But where one part is −∞ the point is outside the support; the other part becomes −∞
/// too if it is NaN or infinite there.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) dim: usize,
    has_prior: bool,
    is_log_concave: bool,
    /// The terms from which summands are compiled, if the density is a sum.
    sum: Option<Arc<Sum>>,
    pub(super) values: Code,
    pub(super) with_gradient: Code,
}

/// A density that is a sum: its graph, the log prior and the log likelihood of each term.
#[derive(Debug)]
struct Sum {
    graph: Graph,
    log_prior: Node,
    log_terms: Vec<Node>,
}

impl Sum {
    /// The terms of e^log_likelihood, if there are several.
    fn new(graph: &Graph, [log_prior, log_likelihood]: [Node; 2]) -> Option<Self> {
        let mut graph = graph.clone();
        let log_terms = log_summands(&mut graph, log_likelihood);
        (!log_terms.is_empty()).then_some(Self { graph, log_prior, log_terms })
    }
}

impl Program {
    /// Records a log density on R^dim without a separate prior.
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
        Self::from_graph(dim, false, graph.into_inner(), [prior, likelihood])
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
        Self::from_graph(dim, true, graph.into_inner(), parts)
    }

    /// Compiles a log prior and a log likelihood that are nodes of a graph with `dim` inputs;
    /// without a prior, the first is the constant 0.
    pub(crate) fn from_graph(
        dim: usize,
        has_prior: bool,
        mut graph: Graph,
        parts: [Node; 2],
    ) -> Self {
        let all = shapes(&graph, |_| Shape::line([f64::NEG_INFINITY, f64::INFINITY]));
        let is_log_concave = parts.iter().all(|part| all[part.index()].is_concave());
        // The kernel writes the constant prior 0.
        let first = if has_prior { PRIOR } else { LIKELIHOOD };
        let values = compile(&graph, dim, first, &parts[first..]);
        let sum = Sum::new(&graph, parts).map(Arc::new);
        let weights = [graph.uniform(0), graph.uniform(1)];
        let seeded = [(parts[PRIOR], weights[PRIOR]), (parts[LIKELIHOOD], weights[LIKELIHOOD])];
        let mut outputs = parts.to_vec();
        let wrt: Vec<_> = (0..dim as u32).map(|d| graph.input(d)).collect();
        outputs.extend(gradient(&mut graph, &seeded, &wrt));
        Self {
            dim,
            has_prior,
            is_log_concave,
            sum,
            values,
            with_gradient: compile(&graph, dim, first, &outputs[first..]),
        }
    }

    /// The number of instructions for a block of samples, with the gradient and without.
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
        let room = out.gradient.padded_len();
        let room = room.min(out.log_prior.len()).min(out.log_likelihood.len());
        let fits = points.dim() == self.dim
            && (gradient.is_none() || out.gradient.dim() == self.dim)
            && room >= points.padded_len();
        if !fits {
            return Err(self.misfit(points, gradient.is_some(), out, room));
        }
        let (code, weights) = match gradient {
            Some(weights) => (&self.with_gradient, [weights.prior, weights.likelihood]),
            None => (&self.values, [0.0; 2]),
        };
        let mut scratch = run::take_scratch(code, weights);
        let has_prior = self.has_prior;
        let all_finite = dispatch(Evaluate { code, scratch: &mut scratch, points, out, has_prior });
        run::keep_scratch(scratch);
        if !all_finite {
            leave_out(out, points.len(), gradient.is_some());
        }
        Ok(())
    }

    fn has_prior(&self) -> bool {
        self.has_prior
    }

    fn operations(&self) -> Option<f64> {
        Some(self.with_gradient.cost())
    }

    /// On all of R^d: supports that a wrapper sets are not known here.
    fn is_log_concave(&self) -> bool {
        self.is_log_concave
    }

    fn has_formulas(&self) -> bool {
        true
    }

    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        let Some(sum) = &self.sum else { return Vec::new() };
        let of_term = |&log_term: &Node| -> Box<dyn Target + '_> {
            let parts = [sum.log_prior, log_term];
            Box::new(Self::from_graph(self.dim, self.has_prior, sum.graph.clone(), parts))
        };
        sum.log_terms.iter().map(of_term).collect()
    }
}

impl Program {
    /// The error for arguments of [`Program::evaluate`] that do not match.
    #[cold]
    #[inline(never)]
    fn misfit(&self, points: &Batch, has_gradient: bool, out: &Evaluation, room: usize) -> Error {
        let (what, found, expected) = if points.dim() != self.dim {
            ("the batch of points", format!("{} coordinates", points.dim()), self.dim)
        } else if has_gradient && out.gradient.dim() != self.dim {
            let found = format!("{} coordinates", out.gradient.dim());
            ("the room for gradients", found, self.dim)
        } else {
            ("the evaluation", format!("room for {room} points"), points.padded_len())
        };
        Error::Shape { what: what.into(), found, expected: expected.to_string() }
    }
}

/// Runs a program over a batch; returns whether all values are finite.
pub(super) struct Evaluate<'a> {
    pub(super) code: &'a Code,
    pub(super) scratch: &'a mut run::Scratch,
    pub(super) points: &'a Batch,
    pub(super) out: &'a mut Evaluation,
    pub(super) has_prior: bool,
}

impl Kernel for Evaluate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { code, scratch, points, out, has_prior } = self;
        let len = points.padded_len() / PAD;
        let (blocks, stride) = points.blocks();
        let inputs = run::Inputs { blocks, stride };
        let log_prior = &mut out.log_prior.as_chunks_mut().0[..len];
        let log_likelihood = &mut out.log_likelihood.as_chunks_mut().0[..len];
        let (gradient, stride) = out.gradient.blocks_mut();
        let mut outputs = run::Outputs { log_prior, log_likelihood, gradient, stride };
        run::run(simd, scratch, code, inputs, &mut outputs, len);
        // 0·x is 0 for a finite x and NaN otherwise, so one sum shows whether any point is not
        // finite.
        let zero = F64::<S>::splat(simd, 0.0);
        let mut sums = [zero; 4];
        for (prior, likelihood) in outputs.log_prior.iter_mut().zip(&*outputs.log_likelihood) {
            for k in 0..PAD / F64::<S>::LEN {
                let at = k * F64::<S>::LEN;
                let x = F64::load(simd, &likelihood[at..]);
                sums[k % 4] = x.mul_add(zero, sums[k % 4]);
                if has_prior {
                    let x = F64::load(simd, &prior[at..]);
                    sums[k % 4] = x.mul_add(zero, sums[k % 4]);
                } else {
                    zero.store(&mut prior[at..]);
                }
            }
        }
        !F64::<S>::any(!((sums[0] + sums[1]) + (sums[2] + sums[3])).eq(zero))
    }
}

/// Sets the gradient of points whose log density is not finite to 0.
#[cold]
#[inline(never)]
fn leave_out(out: &mut Evaluation, len: usize, has_gradient: bool) {
    for i in 0..len {
        let (prior, likelihood) = (&mut out.log_prior[i], &mut out.log_likelihood[i]);
        if (*prior + *likelihood).is_finite() {
            continue;
        }
        non_finite::together(prior, likelihood);
        for d in 0..if has_gradient { out.gradient.dim() } else { 0 } {
            out.gradient.row_mut(d)[i] = 0.0;
        }
    }
}
