//! The posterior of a model file as a target.

use super::command::Outside;
use super::outline::Outline;
use super::parameter::Parameter;
use super::record::Recording;
use super::system::recorded;
use crate::posterior::{Dynamics, Posterior, Recorded};
use crate::program::Program;
use crate::target::{Edge, Evaluation, Support, Target, Term, Weights};
use crate::{Batch, Result};
use std::path::Path;
use std::sync::Arc;

/// The posterior of a model file.
pub(super) struct ModelTarget {
    density: Box<dyn Target>,
    /// The external program that computes the likelihood, if any.
    pub(super) outside: Option<Arc<Outside>>,
    names: Vec<String>,
    supports: Vec<Support>,
    has_proper_prior: bool,
    is_log_concave: bool,
    /// The prior, if it is the whole model and can be sampled.
    prior_alone: Option<PriorAlone>,
    /// The system of equations, if any.
    pub(super) dynamics: Option<Dynamics>,
    /// What the density was built from, to rebuild it with another solver.
    recorded: Option<Recorded>,
    /// Location and scale of the prior on the unconstrained scale.
    pub(super) units: Vec<(f64, f64)>,
}

/// A prior without data, with the bounds of each parameter's elements.
struct PriorAlone {
    outline: Arc<Outline>,
    bounds: Vec<[Edge; 2]>,
}

impl ModelTarget {
    pub(super) fn new(outline: &Arc<Outline>, recording: Recording, folder: &Path) -> Result<Self> {
        let names = outline.parameters.iter().flat_map(Parameter::coordinate_names);
        let (names, supports) = (names.collect::<Vec<_>>(), recording.supports.clone());
        let has_proper_prior = recording.has_proper_prior();
        // Only for a density that integrates to 1, so that the evidence is known with the draws.
        let is_drawn = outline.file.is_prior_alone && has_proper_prior && recording.is_normalised;
        let prior_alone = is_drawn
            .then(|| PriorAlone { outline: outline.clone(), bounds: recording.bounds.clone() });
        let mut outside = None;
        let mut is_log_concave = false;
        let (density, recorded): (Box<dyn Target>, _) = match &outline.file.command {
            None => {
                let made = density(outline, recording)?;
                is_log_concave = made.is_log_concave;
                (made.target, made.recorded)
            }
            Some(command) => {
                let parts = [recording.log_prior; 2];
                let prior = Program::from_graph(outline.dim, false, recording.graph, parts);
                let (names, supports) = (names.clone(), supports.clone());
                let program = Arc::new(Outside::new(prior, supports, names, command, folder));
                outside = Some(program.clone());
                (Box::new(program), None)
            }
        };
        let dynamics = recorded.as_ref().map(Dynamics::new).transpose()?;
        let units = vec![(0.0, 1.0); names.len()];
        Ok(Self {
            density,
            outside,
            names,
            supports,
            has_proper_prior,
            is_log_concave,
            prior_alone,
            dynamics,
            recorded,
            units,
        })
    }

    /// What a density with a system of equations was built from.
    pub(super) fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_ref()
    }
}

/// The density of a model without an external program.
struct Density {
    target: Box<dyn Target>,
    is_log_concave: bool,
    /// What it was built from, if there is a system of equations.
    recorded: Option<Recorded>,
}

fn density(outline: &Outline, recording: Recording) -> Result<Density> {
    let supports = recording.supports.clone();
    let dim = outline.dim;
    let is_proper = recording.has_proper_prior();
    let mut graph = recording.graph;
    let direct = recording.density.unwrap_or_else(|| graph.constant(0.0));
    let adds_last = recording.series.as_ref().is_some_and(|series| series.last.is_some());
    if recording.lines.is_empty() && !adds_last {
        let is_given = outline.file.parameters.iter().any(|parameter| parameter.prior.is_some());
        let has_prior = is_given || is_proper;
        let parts = [recording.log_prior, direct];
        let recorded = recorded(
            outline,
            Recording { graph: graph.clone(), density: Some(direct), ..recording },
        );
        let is_log_concave = recorded.is_log_concave(&supports);
        let target = Box::new(Program::from_graph(dim, has_prior, graph, parts));
        return Ok(Density { target, is_log_concave, recorded: None });
    }
    let recorded = recorded(outline, Recording { graph, density: Some(direct), ..recording });
    let is_log_concave = recorded.is_log_concave(&supports);
    let kept = recorded.system.is_some().then(|| recorded.clone());
    let target = Box::new(Posterior::new(recorded)?);
    Ok(Density { target, is_log_concave, recorded: kept })
}

impl Target for ModelTarget {
    fn dim(&self) -> usize {
        self.names.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.density.evaluate(points, gradient, out)
    }

    fn wants_whole_batch(&self) -> bool {
        self.density.wants_whole_batch()
    }

    fn has_prior(&self) -> bool {
        self.density.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.has_proper_prior
    }

    fn support(&self, d: usize) -> Support {
        self.supports[d].clone()
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.units[d]
    }

    fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
        let PriorAlone { outline, bounds } = self.prior_alone.as_ref()?;
        outline.draw_prior(bounds, count, seed)
    }

    fn tightened(&self) -> Option<Box<dyn Target + '_>> {
        let mut recorded = self.recorded.clone()?;
        let system = recorded.system.as_mut()?;
        system.solver = system.solver.tightened();
        Some(Box::new(Self {
            density: Box::new(Posterior::new(recorded).ok()?),
            outside: None,
            names: self.names.clone(),
            supports: self.supports.clone(),
            has_proper_prior: self.has_proper_prior,
            is_log_concave: self.is_log_concave,
            prior_alone: None,
            dynamics: None,
            recorded: None,
            units: self.units.clone(),
        }))
    }

    fn values_per_gradient(&self, of: Weights) -> usize {
        self.density.values_per_gradient(of)
    }

    fn operations(&self) -> Option<f64> {
        self.density.operations()
    }

    fn is_log_concave(&self) -> bool {
        self.is_log_concave
    }

    fn has_formulas(&self) -> bool {
        self.density.has_formulas()
    }

    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        Term::all_of(&*self.density, self)
    }

    fn notes(&self) -> Vec<String> {
        self.density.notes()
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}
