//! Posteriors of models with data: log prior and log likelihood, a sum over the rows of a table, as
//! compiled programs with exact gradients.
//!
//! A block of samples goes through three programs. The first takes parameters to the values that the
//! sums over rows are functions of; then come the sums and their slopes in these values; the last puts
//! log prior, log likelihood and gradient together.

#![allow(dead_code)]

mod evaluate;
mod finale;
mod quantities;
mod recorded;
#[cfg(test)]
mod tests;

pub(crate) use quantities::Quantities;
pub(crate) use recorded::{Line, Recorded, RecordedSystem};

use crate::Result;
use crate::program::{Graph, Node, Prepared, RowSum, sum_over_rows};
use finale::{Finale, Layout};
use std::ops::Range;
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

/// A sum over rows, and where its numbers are.
#[derive(Debug)]
struct Part {
    sum: RowSum,
    /// Among the results of the prelude. Slopes are in the order of the crossing values.
    crossing: Range<usize>,
    weights: Range<usize>,
    /// Among all sums, and all slopes.
    sums: Range<usize>,
    slopes: Range<usize>,
}

impl Posterior {
    /// Compiles.
    ///
    /// # Errors
    /// If a line asks for rows or a row for elements that are not there.
    pub(crate) fn new(mut recorded: Recorded) -> Result<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        recorded.check()?;
        let mut graph = std::mem::take(&mut recorded.graph);
        let mut finale = Finale::new(recorded.log_prior, recorded.direct);
        let (mut prelude, mut parts) = (Vec::new(), Vec::new());
        for line in &recorded.lines {
            let data = recorded.data(&line.rows);
            let summed = sum_over_rows(&mut graph, recorded.inputs(), data, line.log_density);
            parts.extend(finale.take(&mut graph, summed, &mut prelude));
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
