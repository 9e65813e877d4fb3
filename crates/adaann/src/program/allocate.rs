//! Slots for the values of a program: a slot is used again when its value is dead.

use super::code::{Code, Instruction, LAST, NOWHERE, OUTPUT, Scalar, Scalars, Slot, Work};
use super::graph::Graph;
use super::op::{Node, Op};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Work whose result is `node`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) node: Node,
    /// The first of two results.
    pub(super) kept: Option<Node>,
    pub(super) work: Work<Node>,
}

/// Gives every value a slot, which is free again after the last use of the value.
pub(super) fn allocate(
    graph: &Graph,
    outputs: &[Node],
    steps: &[Step],
    scalars: Scalars,
    scalar_of: &HashMap<Node, Scalar>,
) -> Code {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    const NEVER: usize = usize::MAX;
    let mut last_use = vec![0; graph.len()];
    let mut slots = Slots { of: HashMap::new(), free: Vec::new(), len: 0 };
    let mut splats = Vec::new();
    for (time, step) in steps.iter().enumerate() {
        step.work.each(|operand| {
            last_use[operand.index()] = time;
            if graph.is_uniform(operand) && !slots.of.contains_key(&operand) {
                slots.take(operand);
                splats.push(scalar_of[&operand]);
            }
        });
    }
    // Outputs are written when all is computed; splats stay from block to block.
    outputs.iter().for_each(|n| last_use[n.index()] = NEVER);
    let mut is_read = vec![false; graph.len()];
    steps.iter().for_each(|step| step.work.each(|n| is_read[n.index()] = true));
    outputs.iter().for_each(|n| is_read[n.index()] = true);
    // The input that the first step begins with comes last: it is then in registers.
    let is_input = |n: &Node| matches!(graph.op(*n), Op::Input(_)) && is_read[n.index()];
    let mut input_nodes: Vec<Node> =
        (0..graph.len()).map(|index| Node(index as u32)).filter(is_input).collect();
    input_nodes.sort_by_key(|&n| steps.first().is_some_and(|step| step.work.after(n).1));
    let mut inputs = Vec::new();
    for &node in &input_nodes {
        if let Op::Input(row) = graph.op(node) {
            inputs.push((row as usize, slots.take(node)));
        }
    }
    // The row of a node that is one output only.
    let mut rows: HashMap<Node, Option<usize>> = HashMap::new();
    for (row, &node) in outputs.iter().enumerate() {
        rows.entry(node).and_modify(|row| *row = None).or_insert(Some(row));
    }
    let mut reads = vec![0; graph.len()];
    steps.iter().for_each(|step| step.work.each(|n| reads[n.index()] += 1));
    let mut instructions: Vec<Instruction> = Vec::with_capacity(steps.len());
    for (time, &Step { node, kept, work }) in steps.iter().enumerate() {
        let last = match time.checked_sub(1).map(|before| steps[before]) {
            Some(before) => before.work.is_cheap().then_some(before.node),
            None => input_nodes.last().copied(),
        };
        let (work, in_front) = last.map_or((work, false), |last| work.after(last));
        // The first two operands can be taken from the registers of the instruction before.
        let (mut position, mut in_registers) = (0, 0);
        let places = work.map(|operand| {
            position += 1;
            if in_front && Some(operand) == last && position <= 2 {
                in_registers += 1;
                LAST
            } else {
                slots.of[&operand]
            }
        });
        if let Some(last) = last
            && last_use[last.index()] != NEVER
            && reads[last.index()] == in_registers
        {
            match time.checked_sub(1) {
                Some(before) => instructions[before].to = NOWHERE,
                None => inputs.last_mut().expect("it was read").1 = NOWHERE,
            }
        }
        work.each(|operand| {
            if last_use[operand.index()] == time && !graph.is_uniform(operand) {
                slots.give_back(operand);
            }
        });
        let mut place = |node: Node| {
            let row = rows.get(&node).copied().flatten();
            match row.filter(|_| work.is_cheap() && reads[node.index()] == 0) {
                Some(row) => OUTPUT | row as Slot,
                None => slots.take(node),
            }
        };
        let kept = kept.map_or(NOWHERE, |kept| match reads[kept.index()] {
            0 if last_use[kept.index()] != NEVER => NOWHERE,
            _ => place(kept),
        });
        let to = place(node);
        instructions.push(Instruction { to, kept, is_cheap: work.is_cheap(), work: places });
    }
    let (fills, others): (Vec<_>, Vec<_>) =
        outputs.iter().enumerate().partition(|(_, n)| graph.is_uniform(**n));
    let copied = others.into_iter().filter_map(|(row, n)| Some((row, *slots.of.get(n)?)));
    Code {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        scalars,
        splats,
        inputs,
        instructions,
        outputs: copied.collect(),
        fills: fills.into_iter().map(|(row, node)| (row, scalar_of[node])).collect(),
        slots: slots.len as usize,
    }
}

/// The slots of live values. The last one freed is the first one taken: it is in the cache.
struct Slots {
    of: HashMap<Node, Slot>,
    free: Vec<Slot>,
    len: Slot,
}

impl Slots {
    fn take(&mut self, node: Node) -> Slot {
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
