//! Slots for the values of a program: a slot is used again when its value is dead.

use super::code::{Code, Instruction, Place, ROW, Scalar, Scalars, Work};
use super::graph::Graph;
use super::op::{Node, Op};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives every value a slot, which is free again after the last use of the value. An input is read
/// where it is, and an output that nothing reads is written where it belongs.
pub(super) fn allocate(
    graph: &Graph,
    outputs: &[(Place, Node)],
    works: &[(Node, Work<Node>)],
    scalars: Scalars,
    scalar_of: &HashMap<Node, Scalar>,
) -> Code {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    const NEVER: usize = usize::MAX;
    let mut uses = vec![0; graph.len()];
    let mut last_use = vec![0; graph.len()];
    let mut slots = Slots { of: HashMap::new(), free: Vec::new(), len: 0 };
    let mut splats = Vec::new();
    for (time, (_, work)) in works.iter().enumerate() {
        work.each(|operand| {
            uses[operand.index()] += 1;
            last_use[operand.index()] = time;
            if graph.is_uniform(operand) && !slots.of.contains_key(&operand) {
                slots.take(operand);
                splats.push(scalar_of[&operand]);
            }
        });
    }
    // Splats stay from block to block; outputs that are read stay until they are copied.
    for node in scalar_of.keys().chain(outputs.iter().map(|(_, node)| node)) {
        uses[node.index()] += 1;
        last_use[node.index()] = NEVER;
    }
    let is_computed =
        |node: Node| !graph.is_uniform(node) && !matches!(graph.op(node), Op::Input(_));
    let is_direct = |node: Node| uses[node.index()] == 1 && is_computed(node);
    let direct: HashMap<Node, Place> = outputs
        .iter()
        .filter(|(_, node)| is_direct(*node))
        .map(|&(row, node)| (node, row))
        .collect();
    let place = |slots: &Slots, node: Node| match graph.op(node) {
        Op::Input(row) => ROW | row,
        _ => slots.of[&node],
    };
    let mut instructions = Vec::with_capacity(works.len() + outputs.len());
    for (time, &(node, work)) in works.iter().enumerate() {
        let to = direct.get(&node).copied().unwrap_or_else(|| slots.take(node));
        instructions.push(Instruction { to, work: work.map(|operand| place(&slots, operand)) });
        // Not earlier, so that the result has another slot than the operands.
        work.each(|operand| {
            if last_use[operand.index()] == time {
                slots.give_back(operand);
            }
        });
    }
    for (row, node) in outputs {
        let work = match scalar_of.get(node) {
            Some(&s) => Work::Fill { s },
            None if direct.contains_key(node) => continue,
            None => Work::Copy { a: place(&slots, *node) },
        };
        instructions.push(Instruction { to: *row, work });
    }
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    Code { id, scalars, splats, instructions, slots: slots.len as usize }
}

/// The slots of live values. The last one freed is the first one taken: it is in the cache.
struct Slots {
    of: HashMap<Node, Place>,
    free: Vec<Place>,
    len: Place,
}

impl Slots {
    fn take(&mut self, node: Node) -> Place {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        });
        self.of.insert(node, slot);
        slot
    }

    /// An operand may be given back twice: a·a reads it so.
    fn give_back(&mut self, node: Node) {
        self.free.extend(self.of.remove(&node));
    }
}
