//! Posteriors of models with data: log prior and log likelihood, a sum over the rows of a table, as
//! compiled programs with exact gradients.
//!
//! A block of samples goes through three programs. The first takes parameters to the values that the
//! sums over rows are functions of; then come the sums and their slopes in these values; the last puts
//! log prior, log likelihood and gradient together.

mod dynamics;
mod evaluate;
mod finale;
mod quantities;
mod recorded;
#[cfg(test)]
mod system_tests;
#[cfg(test)]
mod tests;

pub(crate) use dynamics::Dynamics;
pub(crate) use quantities::Quantities;
pub(crate) use recorded::{Line, Recorded, RecordedSystem};

use crate::Result;
use crate::ode::Likelihood;
use crate::program::{Graph, Node, Prepared, RowSum, Summed, sum_over_rows};
use dynamics::{Observed, observe};
use finale::{Finale, Layout, Place};
use std::sync::atomic::{AtomicU64, Ordering};

/// A posterior made ready: see the [module](self).
#[derive(Debug)]
pub(crate) struct Posterior {
    id: u64,
    parameters: usize,
    /// Parameters to crossing values and weights of sums.
    prelude: Prepared,
    parts: Vec<Part>,
    layout: Layout,
    values: Prepared,
    with_gradient: Prepared,
}

/// Sums, and where their numbers are.
#[derive(Debug)]
struct Part {
    sums: Sums,
    place: Place,
}

#[derive(Debug)]
enum Sums {
    /// Over the rows of a table.
    Rows(Box<RowSum>),
    /// Over the times at which a system was observed: one sum.
    System(Box<Likelihood>),
}

impl Posterior {
    /// Compiles.
    ///
    /// # Errors
    /// If a line asks for rows or a row for elements that are not there, times fall or come before the
    /// start of the system, or its rates depend on the data.
    pub(crate) fn new(mut recorded: Recorded) -> Result<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        recorded.check()?;
        let mut graph = std::mem::take(&mut recorded.graph);
        let mut finale = Finale::new(recorded.log_prior, recorded.direct);
        let (mut prelude, mut parts) = (Vec::new(), Vec::new());
        let sees_states = recorded.inputs().see_states(&graph);
        let (observed, plain): (Vec<&Line>, Vec<&Line>) =
            recorded.lines.iter().partition(|line| sees_states(line.log_density));
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
            parts.push(Part { sums: Sums::System(Box::new(likelihood)), place });
        }
        let parameters = recorded.parameters;
        let layout = finale.layout(parameters);
        Ok(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            parameters,
            prelude: Prepared::plain(function(&graph, parameters, &prelude), parameters),
            parts,
            values: finale.compile(&graph, layout, false),
            with_gradient: finale.compile(&graph, layout, true),
            layout,
        })
    }
}

/// Nodes that change with parameters only, as a graph of these.
fn function(graph: &Graph, parameters: usize, nodes: &[Node]) -> (Graph, Vec<Node>) {
    let mut own = Graph::new();
    let theta: Vec<Node> = (0..parameters as u32).map(|input| own.input(input)).collect();
    let outputs = own.embed(graph, nodes, &theta);
    (own, outputs)
}
