//! Allocates slots for the values of a program; a slot is reused once its value is dead.

use super::code::{Chain, Code, DenseCall, Instruction, Place, Scalar, Scalars, Work};
use super::dense::UNREAD;
use super::graph::Graph;
use super::op::{Node, Op};
use super::quick_hash::QuickMap;
use super::tail::each_operand;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives every value a slot, which becomes free after the last use of the value. Inputs, splats and
/// outputs hold theirs permanently.
pub(super) fn allocate(
    graph: &Graph,
    inputs: usize,
    outputs: &[Node],
    chains: &[(Node, Chain<Node>)],
    scalars: Scalars,
    scalar_of: &QuickMap<Node, Scalar>,
) -> Code {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    const NEVER: usize = usize::MAX;
    let (mut last_use, mut is_read) = (vec![0; graph.len()], vec![false; graph.len()]);
    let mut slots = Slots { of: QuickMap::default(), free: Vec::new(), len: inputs as Place };
    let mut splats = Vec::new();
    for (time, (_, chain)) in chains.iter().enumerate() {
        each_of(graph, chain, |operand| {
            (last_use[operand.index()], is_read[operand.index()]) = (time, true);
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
    let mut rows: QuickMap<Node, Option<u32>> = QuickMap::default();
    for (&node, row) in outputs.iter().zip(0..) {
        // A result that is two outputs is copied from its slot.
        rows.entry(node).and_modify(|row| *row = None).or_insert(Some(row));
    }
    let (mut instructions, mut tails) = (Vec::with_capacity(chains.len()), Vec::new());
    let mut calls = Vec::new();
    for (time, (node, chain)) in chains.iter().enumerate() {
        let (to, work) = if let Work::Call { call } = chain.work {
            let call = graph.call(call);
            let inputs = call.operands.iter().map(|&operand| place(&slots, operand)).collect();
            let outputs = (0..call.routine.outputs()).map(|index| {
                let part = graph.known_part(*node, index)?;
                let is_wanted = is_read[part.index()] || last_use[part.index()] == NEVER;
                is_wanted.then(|| slots.take(part))
            });
            let outputs = outputs.map(|place| place.unwrap_or(UNREAD)).collect();
            calls.push(DenseCall { routine: call.routine.clone(), inputs, outputs });
            (UNREAD, Work::Call { call: calls.len() as u32 - 1 })
        } else {
            (slots.take(*node), chain.work.map(|operand| place(&slots, operand)))
        };
        // Functions with constants run separately, from slot to slot.
        let row =
            rows.get(node).copied().flatten().filter(|_| !is_read[node.index()] && !work.is_dear());
        instructions.push(Instruction { to, work, tails: chain.tails.len() as u32, row });
        tails.extend(chain.tails.iter().map(|tail| tail.map(|operand| place(&slots, operand))));
        // Not earlier, so that the result and the operands have different slots.
        each_of(graph, chain, |operand| {
            if last_use[operand.index()] == time {
                slots.give_back(operand);
            }
        });
    }
    let mut places = Vec::with_capacity(outputs.len());
    for (node, row) in outputs.iter().zip(0..) {
        if let Some(&s) = scalar_of.get(node) {
            let to = slots.take_nameless();
            instructions.push(Instruction { to, work: Work::Fill { s }, tails: 0, row: Some(row) });
            places.push(to);
        } else {
            places.push(place(&slots, *node));
        }
    }
    let copied = (0..outputs.len() as u32)
        .filter(|&row| instructions.iter().all(|instruction| instruction.row != Some(row)))
        .collect();
    outputs.iter().for_each(|node| is_read[node.index()] = true);
    let nodes = (0..graph.len()).filter(|&index| is_read[index]);
    let mut reads: Vec<Place> = nodes
        .filter_map(|index| match graph.op(Node(index as u32)) {
            Op::Input(input) => Some(input),
            _ => None,
        })
        .collect();
    reads.sort_unstable();
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let scratch = slots.len as usize;
    let slots = scratch + calls.iter().map(|call| call.routine.scratch()).max().unwrap_or(0);
    let outputs = places;
    Code {
        id,
        scalars,
        inputs,
        reads,
        splats,
        instructions,
        tails,
        outputs,
        copied,
        first_output: 0,
        calls,
        scratch,
        slots,
    }
}

/// Calls `see` with every operand of a chain.
fn each_of(graph: &Graph, chain: &Chain<Node>, mut see: impl FnMut(Node)) {
    each_operand(graph, chain.work, &mut see);
    for tail in &chain.tails {
        tail.each(&mut see);
    }
}

/// The slots of live values. The last one freed is reused first, since it is in the cache.
struct Slots {
    of: QuickMap<Node, Place>,
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

    /// An operand may be freed twice: a·a reads it twice.
    fn give_back(&mut self, node: Node) {
        self.free.extend(self.of.remove(&node));
    }
}
