//! Numbers that are the same for all samples, computed for every row of the data.

use super::graph::Graph;
use super::op::{Node, Op};

/// Values of uniform nodes, row by row, for the uniforms of each row.
pub(super) fn tabulate<'u>(
    graph: &Graph,
    nodes: &[Node],
    rows: impl Iterator<Item = &'u [f64]>,
) -> Vec<f64> {
    let needed = graph.needed_for(nodes);
    let steps: Vec<usize> = (0..graph.len()).filter(|&index| needed[index]).collect();
    let mut values = vec![f64::NAN; graph.len()];
    let mut table = Vec::with_capacity(nodes.len() * rows.size_hint().0);
    for uniforms in rows {
        for &index in &steps {
            let value = match graph.op(Node(index as u32)) {
                Op::Uniform(number) => Some(uniforms[number as usize]),
                op => op.of(|node| values[node.index()]),
            };
            values[index] = value.expect("an input is not uniform");
        }
        table.extend(nodes.iter().map(|node| values[node.index()]));
    }
    table
}
