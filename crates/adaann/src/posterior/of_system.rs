//! The posterior of a system's parameters, given observations.

use super::compile::{ObservedSystem, Posterior};
use crate::ode::{Differentiation, Likelihood, Observations, Solver, System};
use crate::prior::Prior;
use crate::program::{Expr, Function, Graph, Node};
use crate::target::{Evaluation, Support, Target, Weights};
use crate::{Batch, Error, Result};

/// Prior and likelihood of a system's parameters, given observations.
///
/// A trajectory that leaves the finite range, or needs more steps than the solver allows, gives its
/// sample the log likelihood −∞ and the gradient 0.
///
/// ```
/// use adaann::ode::{Noise, Observations, Scatter, Solver, System};
/// use adaann::{posterior::OdePosterior, prior::Prior, target::Target};
///
/// let system = System::record(&["x"], &["rate"], |_, x, p| vec![-p[0] * x[0]], 0.0,
///     |_| vec![1.0.into()])?;
/// let noise = Noise::Gaussian(Scatter::Variance(0.01));
/// let data = Observations::of_states(&system, &["x"], noise, &[0.5, 1.0, 2.0], &[0.6, 0.4, 0.1])?;
/// let prior = [Prior::LogNormal { log_mean: 0.0, log_sd: 1.0 }];
/// let posterior = OdePosterior::new(&system, Solver::Rk4 { step: 0.05 }, data, &prior)?;
/// assert_eq!(posterior.names(), ["rate"]);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug)]
pub struct OdePosterior {
    names: Vec<String>,
    priors: Vec<Prior>,
    density: Posterior,
    /// The parts it was built from, to rebuild it with another solver.
    system: System,
    solver: Solver,
    observations: Observations,
    /// Whether the solver's steps are part of the model.
    is_discrete: bool,
}

impl OdePosterior {
    /// Compiles the posterior, with one prior for each parameter of the system.
    ///
    /// # Errors
    /// If the number of priors differs from the number of parameters, or a prior or the solver is
    /// out of range.
    pub fn new(
        system: &System,
        solver: Solver,
        observations: Observations,
        priors: &[Prior],
    ) -> Result<Self> {
        let dim = system.parameters().len();
        if priors.len() != dim {
            return Err(Error::Shape {
                what: "the priors".into(),
                found: priors.len().to_string(),
                expected: format!("{dim}, one for each parameter of the system"),
            });
        }
        priors.iter().try_for_each(Prior::check)?;
        let likelihood = Likelihood::new(system, &solver, &observations.measured(system), None)?;
        let (graph, log_prior) = log_prior(priors);
        Ok(Self {
            names: system.parameters().to_vec(),
            priors: priors.to_vec(),
            density: Posterior::of_system(graph, dim, log_prior, likelihood),
            system: system.clone(),
            solver,
            observations,
            is_discrete: false,
        })
    }

    /// Operations of a step with its gradient on a block of samples: by sensitivities (`None` if
    /// there are too many to consider) and by the adjoint. The cheaper method is chosen. For
    /// `Solver::Auto` these are the explicit steps.
    pub fn operations_per_step(&self) -> (Option<usize>, usize) {
        self.observed().likelihood.operations_per_step()
    }

    /// How the gradient is computed.
    pub fn differentiation(&self) -> Differentiation {
        self.observed().likelihood.differentiation()
    }

    /// Sets how the gradient is computed, in place of the cheaper method.
    ///
    /// # Errors
    /// If forward sensitivities are requested and there would be too many.
    pub fn with_differentiation(mut self, differentiation: Differentiation) -> Result<Self> {
        self.observed_mut().likelihood.set_differentiation(differentiation)?;
        Ok(self)
    }

    /// Sets every log likelihood that is below `floor` or NaN to `floor`, with gradient 0.
    ///
    /// The paper's authors treat sums of squares that are too large in this way. Samples that blow
    /// up then stay in the batch: they enter the variance with this value.
    pub fn with_floor(mut self, floor: f64) -> Self {
        self.observed_mut().floor = Some(floor);
        self
    }

    /// Declares the solver's steps part of the model, as in the paper's examples, whose data is
    /// simulated with them. The solver's error is then not an error of the result, and no check
    /// requests a tighter solver.
    pub(crate) fn with_its_steps(self) -> Self {
        Self { is_discrete: true, ..self }
    }

    fn observed(&self) -> &ObservedSystem {
        self.density.systems().next().expect("made with a system")
    }

    fn observed_mut(&mut self) -> &mut ObservedSystem {
        self.density.systems_mut().next().expect("made with a system")
    }
}

/// The sum of the log priors, as a function of the parameters.
fn log_prior(priors: &[Prior]) -> (Graph, Node) {
    let function = Function::record(priors.len(), |z| {
        vec![priors.iter().zip(z).map(|(prior, &z)| prior.log_density(z)).sum::<Expr<'_>>()]
    });
    let mut graph = Graph::new();
    let parameters: Vec<Node> = (0..priors.len() as u32).map(|d| graph.input(d)).collect();
    let log_prior = function.at(&mut graph, &parameters)[0];
    (graph, log_prior)
}

impl Target for OdePosterior {
    fn dim(&self) -> usize {
        self.density.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.density.evaluate(points, gradient, out)
    }

    fn has_prior(&self) -> bool {
        self.density.has_prior()
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

    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        if self.is_discrete {
            return None;
        }
        let Self { system, solver, observations, priors, .. } = self;
        let tight = Self::new(system, solver.tightened(), observations.clone(), priors).ok()?;
        Some(Box::new(match self.observed().floor {
            Some(floor) => tight.with_floor(floor),
            None => tight,
        }))
    }

    fn operations(&self) -> Option<f64> {
        self.density.operations()
    }

    fn has_formulas(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        self.density.notes()
    }
}
