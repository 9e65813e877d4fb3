//! The posterior of a system's parameters as a target.

use super::likelihood::{Differentiation, Likelihood, LikelihoodRoom};
use super::step::inputs;
use super::{Observations, Solver, System};
use crate::batch::PAD;
use crate::prior::Prior;
use crate::program::{Block, Expr, Function, Graph, Prepared, Room, Rows, gradient};
use crate::simd::{Kernel, dispatch};
use crate::target::{Evaluation, Support, Target, Weights};
use crate::{Batch, Error, Result};
use fearless_simd::Simd;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Prior and likelihood of a system's parameters, given observations.
///
/// A trajectory that leaves the finite range, or needs more steps than the solver allows, gives its
/// sample the log likelihood −∞ and the gradient 0.
#[derive(Debug)]
pub struct Posterior {
    id: u64,
    names: Vec<String>,
    priors: Vec<Prior>,
    /// Parameters to log prior and its derivatives.
    prior: Prepared,
    likelihood: Likelihood,
    floor: Option<f64>,
}

impl Posterior {
    /// Compiles the posterior, with one prior for each parameter of the system.
    ///
    /// # Errors
    /// If the number of priors is another one, or a prior or the solver is out of range.
    pub fn new(
        system: &System,
        solver: Solver,
        observations: Observations,
        priors: &[Prior],
    ) -> Result<Self> {
        Self::with_window(system, solver, &observations, priors, None)
    }

    /// As [`Posterior::new`], with a window of the adjoint's tape that is at most so long.
    pub(super) fn with_window(
        system: &System,
        solver: Solver,
        observations: &Observations,
        priors: &[Prior],
        longest_window: Option<usize>,
    ) -> Result<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let dim = system.parameters().len();
        if priors.len() != dim {
            return Err(Error::Shape {
                what: "the priors".into(),
                found: priors.len().to_string(),
                expected: format!("{dim}, one for each parameter of the system"),
            });
        }
        priors.iter().try_for_each(Prior::check)?;
        let measured = observations.measured(system);
        Ok(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            names: system.parameters().to_vec(),
            priors: priors.to_vec(),
            prior: log_prior(priors),
            likelihood: Likelihood::new(system, &solver, &measured, longest_window)?,
            floor: None,
        })
    }

    /// Operations on a block of samples that a step takes with its gradient: by sensitivities (none
    /// if they are too many to be considered) and by the adjoint. The cheaper way is chosen. A
    /// stiff solver goes forward, sample by sample, and has none on blocks.
    pub fn operations_per_step(&self) -> (Option<usize>, usize) {
        self.likelihood.operations_per_step()
    }

    /// How the gradient is computed.
    pub fn differentiation(&self) -> Differentiation {
        self.likelihood.differentiation()
    }

    /// Chooses how the gradient is computed, in place of the cheaper way.
    ///
    /// # Errors
    /// If forward sensitivities are asked for and there would be too many, or the adjoint of a
    /// stiff solver.
    pub fn with_differentiation(mut self, differentiation: Differentiation) -> Result<Self> {
        self.likelihood.set_differentiation(differentiation)?;
        Ok(self)
    }

    /// Gives every log likelihood that is below `floor`, or no number, that value and gradient 0.
    ///
    /// So the paper's authors treat sums of squares that are too large. Samples that blow up are
    /// then kept: they enter the variance, with this value.
    pub fn with_floor(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self
    }

    fn work(&self) -> Work {
        let outputs = Rows::zeros(1 + self.names.len());
        Work {
            of: self.id,
            likelihood: self.likelihood.room(),
            prior: self.prior.routine.room(),
            prior_out: outputs.clone(),
            sums: outputs,
        }
    }
}

/// log prior and its derivatives, from the parameters.
fn log_prior(priors: &[Prior]) -> Prepared {
    let function = Function::record(priors.len(), |z| {
        vec![priors.iter().zip(z).map(|(prior, &z)| prior.log_density(z)).sum::<Expr<'_>>()]
    });
    let mut graph = Graph::new();
    let p = inputs(&mut graph, 0, priors.len());
    let mut outputs = function.at(&mut graph, &p);
    let one = graph.constant(1.0);
    outputs.extend(gradient(&mut graph, &[(outputs[0], one)], &p));
    Prepared::plain((graph, outputs), priors.len())
}

/// What a thread keeps between calls, so that a call allocates nothing.
struct Work {
    of: u64,
    likelihood: LikelihoodRoom,
    prior: Room,
    prior_out: Rows,
    /// log likelihood and, behind it, its derivatives.
    sums: Rows,
}

thread_local! {
    static WORK: Cell<Option<Box<Work>>> = const { Cell::new(None) };
}

impl Target for Posterior {
    fn dim(&self) -> usize {
        self.names.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        if points.dim() != self.dim() || (gradient.is_some() && out.gradient.dim() != self.dim()) {
            return Err(Error::Shape {
                what: "the batch of points".into(),
                found: format!("{} coordinates", points.dim()),
                expected: self.dim().to_string(),
            });
        }
        let mut work = WORK.take().filter(|work| work.of == self.id);
        let work_mut = work.get_or_insert_with(|| Box::new(self.work()));
        dispatch(Evaluate { posterior: self, work: work_mut, points, weights: gradient, out });
        WORK.set(work);
        Ok(())
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn has_proper_prior(&self) -> bool {
        self.priors.iter().all(Prior::is_proper)
    }

    fn support(&self, d: usize) -> Support {
        self.priors[d].support()
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn notes(&self) -> Vec<String> {
        vec![self.likelihood.note()]
    }
}

struct Evaluate<'a> {
    posterior: &'a Posterior,
    work: &'a mut Work,
    points: &'a Batch,
    weights: Option<Weights>,
    out: &'a mut Evaluation,
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { posterior, work, points, weights, out } = self;
        let (rows, stride) = points.blocks();
        for block in 0..points.padded_len() / PAD {
            let samples = PAD.min(points.len() - block * PAD);
            let p = |j: usize| rows[j * stride + block];
            let Work { likelihood: room, sums, .. } = &mut *work;
            let lost = posterior.likelihood.run(simd, room, p, samples, weights.is_some(), sums);
            work.prior(simd, posterior, p);
            work.finish(posterior.floor, lost, weights, out, block);
        }
    }
}

impl Work {
    #[inline(always)]
    fn prior<S: Simd>(&mut self, simd: S, posterior: &Posterior, p: impl Fn(usize) -> Block) {
        for (j, row) in self.prior.inputs_mut().iter_mut().enumerate() {
            *row = p(j);
        }
        posterior.prior.run(simd, &mut self.prior, 0);
        for (row, output) in self.prior_out.iter_mut().enumerate() {
            *output = *posterior.prior.routine.output(&self.prior, row);
        }
    }

    /// Writes a block of the evaluation.
    #[inline(always)]
    fn finish(
        &mut self,
        floor: Option<f64>,
        lost: [bool; PAD],
        weights: Option<Weights>,
        out: &mut Evaluation,
        block: usize,
    ) {
        let (value, slopes) = self.sums.split_first_mut().expect("a row of values");
        let (prior, prior_slopes) = self.prior_out.split_first_mut().expect("a row of values");
        for i in 0..PAD {
            let finite = value[i].is_finite() && slopes.iter().all(|row| row[i].is_finite());
            let below = floor.is_some_and(|floor| value[i] < floor);
            if lost[i] || !finite || below {
                value[i] = floor.unwrap_or(f64::NEG_INFINITY);
                slopes.iter_mut().for_each(|row| row[i] = 0.0);
            }
            // At weight 0 the prior alone counts, and a lost trajectory costs nothing.
            let counts = weights.is_some_and(|weights| weights.likelihood != 0.0);
            if !prior[i].is_finite() || (counts && value[i] == f64::NEG_INFINITY) {
                slopes.iter_mut().for_each(|row| row[i] = 0.0);
                prior_slopes.iter_mut().for_each(|row| row[i] = 0.0);
            }
        }
        out.log_prior.as_chunks_mut().0[block] = *prior;
        out.log_likelihood.as_chunks_mut().0[block] = *value;
        if let Some(Weights { prior, likelihood }) = weights {
            let (rows, stride) = out.gradient.blocks_mut();
            for (j, (slopes, prior_slopes)) in slopes.iter().zip(&*prior_slopes).enumerate() {
                let row = &mut rows[j * stride + block];
                for i in 0..PAD {
                    row[i] = likelihood * slopes[i] + prior * prior_slopes[i];
                }
            }
        }
    }
}
