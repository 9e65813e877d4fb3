//! A table, and the part of a recorded graph that depends on its rows.

use crate::program::affine::coefficients;
use crate::program::graph::Graph;
use crate::program::op::Node;
use crate::program::split::{RowInput, Source};
use crate::program::tabulate::tabulate;
use std::collections::BTreeMap;

/// A vector of row-independent values, of which each row takes one element.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    pub(crate) vector: Vec<Node>,
    /// The index for each row of the table, from 0.
    pub(crate) index: Vec<u32>,
}

/// A table, and the rows of it that a sum covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data<'a> {
    pub(crate) columns: &'a [Vec<f64>],
    pub(crate) times: &'a [f64],
    /// The numbers of the stretch of a system that each row ends, one list for each number.
    pub(crate) stretches: &'a [Vec<f64>],
    pub(crate) gathers: &'a [Gather],
    pub(crate) rows: &'a [u32],
}

impl Data<'_> {
    /// The values of some uniforms, row by row.
    pub(crate) fn uniforms(&self, uniforms: &[RowInput]) -> Vec<f64> {
        let number = |input: &RowInput, row: u32| match *input {
            RowInput::Column(column) => self.columns[column][row as usize],
            RowInput::Time => self.times[row as usize],
            RowInput::Gather(_) | RowInput::State(_) | RowInput::Carried(_) => {
                unreachable!("differs between samples")
            }
            RowInput::Stretch(number) => self.stretches[number][row as usize],
            RowInput::Event(_) | RowInput::Trajectory(_) => unreachable!("no row has it"),
        };
        let rows = self.rows.iter();
        rows.flat_map(|&row| uniforms.iter().map(move |input| number(input, row))).collect()
    }

    /// The node that each row takes from a gather.
    pub(super) fn gathered(&self, gather: usize) -> impl Iterator<Item = Node> {
        let Gather { vector, index } = &self.gathers[gather];
        self.rows.iter().map(|&row| vector[index[row as usize] as usize])
    }
}

/// The part of a graph that depends on the row, and the numbers of the rows.
pub(super) struct RowGraph<'a> {
    pub(super) graph: Graph,
    pub(super) sources: Vec<Source>,
    /// `width` numbers for each row.
    pub(super) uniforms: Vec<f64>,
    pub(super) width: usize,
    pub(super) data: Data<'a>,
}

impl RowGraph<'_> {
    /// Values of uniform nodes, row by row.
    pub(super) fn tabulate(&self, nodes: &[Node]) -> Vec<f64> {
        let width = self.width;
        let rows = (0..self.data.rows.len()).map(|row| &self.uniforms[row * width..][..width]);
        tabulate(&self.graph, nodes, rows)
    }

    /// The sum of an affine node over all rows, in the recorded graph.
    pub(super) fn total(&mut self, recorded: &mut Graph, node: Node) -> Node {
        let found = coefficients(&mut self.graph, node);
        let mut nodes: Vec<Node> = found.terms.iter().map(|(_, node)| *node).collect();
        nodes.push(found.offset);
        let table = self.tabulate(&nodes);
        let column = |k: usize| table.iter().skip(k).step_by(nodes.len());
        let mut totals: BTreeMap<Node, f64> = BTreeMap::new();
        for (k, &(input, _)) in found.terms.iter().enumerate() {
            match self.sources[input] {
                Source::Crossing(node) => {
                    *totals.entry(node).or_default() += column(k).sum::<f64>()
                }
                Source::Row(RowInput::Gather(gather)) => {
                    for (node, c) in self.data.gathered(gather).zip(column(k)) {
                        *totals.entry(node).or_default() += c;
                    }
                }
                Source::Row(_) => unreachable!("a sum over rows has no states"),
            }
        }
        let mut sum = recorded.constant(column(nodes.len() - 1).sum());
        for (node, total) in totals {
            let total = recorded.constant(total);
            let term = recorded.mul(total, node);
            sum = recorded.add(sum, term);
        }
        sum
    }
}
