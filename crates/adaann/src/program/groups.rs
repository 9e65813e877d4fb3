//! Values that are the same for all rows of a group, worked out for each group.

use super::graph::Graph;
use super::op::Node;
use super::row_sum::Data;
use super::split::{Inputs, RowInput};

/// A group of rows, by one of them: what its rows share is read there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group(pub(crate) u32);

/// For each group, some nodes as they are in its rows: nodes of the same graph that change with parameters
/// only. Of what a row brings, the nodes read columns and gathered elements that its group shares.
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
