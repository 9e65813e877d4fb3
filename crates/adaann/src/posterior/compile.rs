//! Compiles a recorded posterior to programs and sums.

use super::carried::{Carried, carry};
use super::dynamics::{Observed, observe};
use super::finale::{Finale, Layout, Place};
use super::recorded::{Line, Recorded};
use crate::Result;
use crate::ode::Likelihood;
use crate::program::{
    Graph, Halves, Node, Prepared, RowSum, Summed, of_first_inputs, sum_over_rows,
};
use crate::series;
use std::sync::atomic::{AtomicU64, Ordering};

/// A compiled posterior.
#[derive(Debug)]
pub(crate) struct Posterior {
    /// A unique number, by which a thread finds the memory that it holds for this posterior.
    pub(super) id: u64,
    pub(super) parameters: usize,
    /// Maps parameters to crossing values and weights of sums.
    pub(super) prelude: Prepared,
    pub(super) parts: Vec<Part>,
    pub(super) layout: Layout,
    pub(super) values: Prepared,
    /// The gradient's program, with the prelude as its first half.
    pub(super) with_gradient: Halves,
}

/// Sums, and the positions of their numbers.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) sums: Sums,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) enum Sums {
    /// Over the rows of a table.
    Rows(Box<RowSum>),
    /// Over the observation times of a system: one sum.
    System(Box<ObservedSystem>),
    /// Over rows that carry values to the next row: one sum.
    Series(Box<series::Likelihood>),
}

/// The log likelihood of a system's trajectories.
#[derive(Debug)]
pub(super) struct ObservedSystem {
    pub(super) likelihood: Likelihood,
    /// The log likelihood of a non-finite trajectory, and the lower limit for any other.
    pub(super) floor: Option<f64>,
}

impl Sums {
    fn of_system(likelihood: Likelihood) -> Self {
        Self::System(Box::new(ObservedSystem { likelihood, floor: None }))
    }
}

impl Posterior {
    /// Compiles a recorded posterior.
    ///
    /// # Errors
    /// If a line refers to missing rows, or a row to missing elements; if times decrease or come
    /// before the start of the system; if its rates depend on the data; or if a line uses both a
    /// system and a series.
    pub(crate) fn new(mut recorded: Recorded) -> Result<Self> {
        recorded.check()?;
        let mut graph = std::mem::take(&mut recorded.graph);
        let mut finale = Finale::new(recorded.log_prior, recorded.direct);
        let (mut prelude, mut parts) = (Vec::new(), Vec::new());
        let sees_states = recorded.inputs().see_states(&graph);
        let sees_carried = recorded.inputs().see_carried(&graph);
        let (carried, others): (Vec<&Line>, Vec<&Line>) =
            recorded.lines.iter().partition(|line| sees_carried(line.log_density));
        let (observed, plain): (Vec<&Line>, Vec<&Line>) =
            others.into_iter().partition(|line| sees_states(line.log_density));
        for line in plain {
            let data = recorded.data(&line.rows);
            let Summed { outside, sum, factors, crossing } =
                sum_over_rows(&mut graph, recorded.inputs(), data, line.log_density);
            finale.add(outside);
            if let Some(sum) = sum {
                let place = finale.take(&mut graph, factors, crossing, &mut prelude);
                parts.push(Part { sums: Sums::Rows(Box::new(sum)), place });
            }
        }
        let has_rows = observed.iter().any(|line| !line.rows.is_empty());
        if let Some(system) = recorded.system.as_ref().filter(|_| has_rows) {
            let Observed { outside, likelihood, crossing } =
                observe(&mut graph, &recorded, system, &observed)?;
            finale.add(outside);
            let place = finale.take(&mut graph, vec![None], crossing, &mut prelude);
            parts.push(Part { sums: Sums::of_system(likelihood), place });
        }
        if let Some(series) = &recorded.series
            && let Some(Carried { outside, likelihood, crossing }) =
                carry(&mut graph, &recorded, series, &carried)?
        {
            finale.add(outside);
            let place = finale.take(&mut graph, vec![None], crossing, &mut prelude);
            parts.push(Part { sums: Sums::Series(Box::new(likelihood)), place });
        }
        Ok(Self::assemble(&graph, recorded.parameters, &finale, &prelude, parts))
    }

    /// A log prior, as a function of the parameters, with the likelihood of a system that has the
    /// same parameters.
    pub(super) fn of_system(
        mut graph: Graph,
        parameters: usize,
        log_prior: Node,
        likelihood: Likelihood,
    ) -> Self {
        let mut finale = Finale::new(log_prior, graph.constant(0.0));
        let place = finale.take_of_parameters(parameters);
        let parts = vec![Part { sums: Sums::of_system(likelihood), place }];
        Self::assemble(&graph, parameters, &finale, &[], parts)
    }

    fn assemble(
        graph: &Graph,
        parameters: usize,
        finale: &Finale,
        prelude: &[Node],
        parts: Vec<Part>,
    ) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let layout = finale.layout(parameters);
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            parameters,
            prelude: Prepared::plain(of_first_inputs(graph, parameters, prelude), parameters),
            parts,
            values: finale.values(graph, layout),
            with_gradient: finale.with_gradient(graph, layout, prelude),
            layout,
        }
    }

    /// The systems that were observed.
    pub(super) fn systems(&self) -> impl Iterator<Item = &ObservedSystem> {
        self.parts.iter().filter_map(|part| match &part.sums {
            Sums::Rows(_) | Sums::Series(_) => None,
            Sums::System(system) => Some(&**system),
        })
    }

    /// The systems that were observed, mutable.
    pub(super) fn systems_mut(&mut self) -> impl Iterator<Item = &mut ObservedSystem> {
        self.parts.iter_mut().filter_map(|part| match &mut part.sums {
            Sums::Rows(_) | Sums::Series(_) => None,
            Sums::System(system) => Some(&mut **system),
        })
    }
}
