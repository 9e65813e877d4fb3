//! Slots for the values of a program: a slot is used again when its value is dead.

use super::code::{Code, Instruction, Place, Scalar, Scalars, Work};
use super::graph::Graph;
use super::op::{Node, Op};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives every value a slot, which is free again after the last use of the value; inputs, splats and
/// outputs keep theirs.
pub(super) fn allocate(
    graph: &Graph,
    inputs: usize,
    outputs: &[Node],
    works: &[(Node, Work<Node>)],
    scalars: Scalars,
    scalar_of: &HashMap<Node, Scalar>,
) -> Code {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    const NEVER: usize = usize::MAX;
    let mut last_use = vec![0; graph.len()];
    let mut slots = Slots { of: HashMap::new(), free: Vec::new(), len: inputs as Place };
    let mut splats = Vec::new();
    for (time, (_, work)) in works.iter().enumerate() {
        work.each(|operand| {
            last_use[operand.index()] = time;
            if graph.is_uniform(operand) && !slots.of.contains_key(&operand) {
                slots.take(operand);
                splats.push(scalar_of[&operand]);
            }
        });
    }
    for node in scalar_of.keys().chain(outputs) {
        last_use[node.index()] = NEVER;
    }
    let place = |slots: &Slots, node: Node| match graph.op(node) {
        Op::Input(input) => input,
        _ => slots.of[&node],
    };
    let mut instructions = Vec::with_capacity(works.len());
    for (time, &(node, work)) in works.iter().enumerate() {
        let to = slots.take(node);
        instructions.push(Instruction { to, work: work.map(|operand| place(&slots, operand)) });
        // Not earlier, so that the result has another slot than the operands.
        work.each(|operand| {
            if last_use[operand.index()] == time {
                slots.give_back(operand);
            }
        });
    }
    let mut places = Vec::with_capacity(outputs.len());
    for node in outputs {
        if let Some(&s) = scalar_of.get(node) {
            let to = slots.take_nameless();
            instructions.push(Instruction { to, work: Work::Fill { s } });
            places.push(to);
        } else {
            places.push(place(&slots, *node));
        }
    }
    let is_read = |&input: &Place| {
        let reads = |work: Work<Place>| {
            let mut reads = false;
            work.each(|operand| reads |= operand == input);
            reads
        };
        places.contains(&input) || instructions.iter().any(|i| reads(i.work))
    };
    let reads = (0..inputs as Place).filter(is_read).collect();
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let slots = slots.len as usize;
    let outputs = places;
    Code { id, scalars, inputs, reads, splats, instructions, outputs, first_output: 0, slots }
}

/// The slots of live values. The last one freed is the first one taken: it is in the cache.
struct Slots {
    of: HashMap<Node, Place>,
    free: Vec<Place>,
    len: Place,
}

impl Slots {
    fn take(&mut self, node: Node) -> Place {
        let slot = self.take_nameless();
        self.of.insert(node, slot);
        slot
    }

    fn take_nameless(&mut self) -> Place {
        self.free.pop().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        })
    }

    /// An operand may be given back twice: a·a reads it so.
    fn give_back(&mut self, node: Node) {
        self.free.extend(self.of.remove(&node));
    }
}
