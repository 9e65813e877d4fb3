//! Values that are equal for all rows of a group, computed once per group.

use super::graph::Graph;
use super::op::Node;
use super::row_sum::Data;
use super::split::{Inputs, RowInput};

/// A group of rows, represented by one of them, from which shared values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group(pub(crate) u32);

/// For each group, some nodes with the values of its rows substituted: nodes of the same graph that
/// depend on parameters only. The nodes may read columns and gathered elements that the group
/// shares.
pub(crate) fn at_groups(
    graph: &mut Graph,
    inputs: Inputs<'_>,
    data: Data<'_>,
    nodes: &[Node],
    groups: &[Group],
) -> Vec<Vec<Node>> {
    let with_row = inputs.change_with_row(graph);
    let recorded = graph.clone();
    let mut at = |&Group(row): &Group| {
        let row = row as usize;
        graph.embed_given(&recorded, nodes, |graph, node, op| {
            if !with_row[node.index()] {
                return Some(node);
            }
            match inputs.of_row(op)? {
                RowInput::Column(column) => Some(graph.constant(data.columns[column][row])),
                RowInput::Gather(gather) => {
                    let gather = &data.gathers[gather];
                    Some(gather.vector[gather.index[row] as usize])
                }
                _ => unreachable!("differs between the rows of a group"),
            }
        })
    };
    groups.iter().map(&mut at).collect()
}
