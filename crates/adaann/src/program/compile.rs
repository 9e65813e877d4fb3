//! Compiles a graph to a program: drops dead parts, selects and fuses instructions.

use super::allocate::allocate;
use super::code::{Code, Scalar, Scalars, Work};
use super::graph::{Call, Called, Graph};
use super::op::{Binary, Comparison, Node, Op, Unary};
use super::quick_hash::{QuickMap, QuickSet};
use super::tail::{chain, each_operand};

/// Every table of scalars begins with 0 and 1.
const ZERO: Scalar = 0;
const ONE: Scalar = 1;

/// Compiles the nodes needed for `outputs`, which are the rows from `first` on, for this many
/// inputs.
pub(super) fn compile(graph: &Graph, inputs: usize, first: usize, outputs: &[Node]) -> Code {
    compile_early_first(graph, inputs, first, outputs, 0)
}

/// Like [`compile()`], but computes everything that the first `early` outputs need before the rest.
pub(super) fn compile_early_first(
    graph: &Graph,
    inputs: usize,
    first: usize,
    outputs: &[Node],
    early: usize,
) -> Code {
    let (graph, outputs) = lower(graph, outputs, early);
    let mut selection = Selection::new(&graph, &outputs);
    let works = nest_squares(&graph, selection.select(), &outputs);
    let works = chain(&graph, &works, &outputs, ONE);
    let Selection { scalars, scalar_of, .. } = selection;
    Code { first_output: first, ..allocate(&graph, inputs, &outputs, &works, scalars, &scalar_of) }
}

/// Copies the live part of a graph, starting with what the first outputs need. `LogAddExp` and
/// `Share` are expressed by the exponential that they share.
fn lower(graph: &Graph, outputs: &[Node], early: usize) -> (Graph, Vec<Node>) {
    let (live, first) = (graph.needed_for(outputs), graph.needed_for(&outputs[..early]));
    let all = || 0..graph.len();
    let order = all().filter(|&index| first[index]);
    let order = order.chain(all().filter(|&index| live[index] && !first[index]));
    let mut lowered = Graph::new();
    let mut moved = vec![Node(0); graph.len()];
    let mut calls: QuickMap<Node, Called> = QuickMap::default();
    for index in order {
        let to = |n: Node| moved[n.index()];
        moved[index] = match graph.op(Node(index as u32)) {
            Op::Unary(Unary::Detach, x) => to(x),
            Op::Unary(function, x) => lowered.push(Op::Unary(function, to(x))),
            Op::Binary(Binary::LogAddExp, ab) if !graph.is_uniform(Node(index as u32)) => {
                let [a, b] = ab.map(to);
                let e = exp_neg_distance(&mut lowered, a, b);
                let larger = lowered.max(a, b);
                let log = lowered.unary(Unary::Ln1p, e);
                lowered.add(larger, log)
            }
            Op::Binary(Binary::Share, ab) if !graph.is_uniform(Node(index as u32)) => {
                let [a, b] = ab.map(to);
                let e = exp_neg_distance(&mut lowered, a, b);
                let one = lowered.constant(1.0);
                let sum = lowered.add(one, e);
                let reciprocal = lowered.div(one, sum);
                let numerator = lowered.select(Comparison::Less, [a, b, e, one]);
                lowered.mul(numerator, reciprocal)
            }
            Op::Binary(Binary::ExpNegDistance, [a, b]) => {
                exp_neg_distance(&mut lowered, to(a), to(b))
            }
            Op::Binary(function, ab) => lowered.push(Op::Binary(function, ab.map(to))),
            Op::Select(comparison, operands) => {
                lowered.push(Op::Select(comparison, operands.map(to)))
            }
            Op::Call(number) => {
                let Call { routine, operands } = graph.call(number);
                let operands = operands.iter().map(|&n| to(n)).collect();
                let called = lowered.call_dense(routine.clone(), operands);
                calls.insert(Node(index as u32), called);
                continue;
            }
            Op::Part { of, index } => lowered.part(&calls[&of], index as usize),
            leaf => lowered.push(leaf),
        };
    }
    let outputs = outputs.iter().map(|n| moved[n.index()]).collect();
    (lowered, outputs)
}

fn exp_neg_distance(graph: &mut Graph, a: Node, b: Node) -> Node {
    graph.push(Op::Binary(Binary::ExpNegDistance, [a.min(b), a.max(b)]))
}

/// Instruction selection, from the outputs backwards: an operand that its user absorbs is not
/// computed separately.
struct Selection<'a> {
    graph: &'a Graph,
    /// How often each node is an operand or an output.
    uses: Vec<u32>,
    needed: Vec<bool>,
    scalars: Scalars,
    scalar_of: QuickMap<Node, Scalar>,
}

impl<'a> Selection<'a> {
    fn new(graph: &'a Graph, outputs: &[Node]) -> Self {
        let mut uses = vec![0; graph.len()];
        let mut needed = vec![false; graph.len()];
        for index in 0..graph.len() {
            let operands = graph.operands(Node(index as u32));
            operands.iter().for_each(|n| uses[n.index()] += 1);
        }
        for output in outputs {
            // Counted twice, so that an output never looks like a value with a single use.
            uses[output.index()] += 2;
            needed[output.index()] = true;
        }
        // Uniform nodes become the scalar part unchanged and in the same order.
        let steps = [0.0_f64, 1.0].map(|x| Op::Constant(x.to_bits())).to_vec();
        let mut scalars = Scalars { steps };
        let mut scalar_of = QuickMap::default();
        for node in (0..graph.len()).map(|index| Node(index as u32)) {
            if graph.is_uniform(node) {
                scalar_of.insert(node, scalars.steps.len() as Scalar);
                // Operands become positions in the table instead of nodes.
                scalars.steps.push(graph.op(node).map(|n| Node(scalar_of[&n])));
            }
        }
        Self { graph, uses, needed, scalars, scalar_of }
    }

    /// The work of every node that must be computed separately, in order.
    fn select(&mut self) -> Vec<(Node, Work<Node>)> {
        let mut works = Vec::new();
        for node in (0..self.graph.len()).rev().map(|index| Node(index as u32)) {
            let is_input = matches!(self.graph.op(node), Op::Input(_));
            if let Op::Part { of, .. } = self.graph.op(node) {
                self.needed[of.index()] |= self.needed[node.index()];
            } else if self.needed[node.index()] && !is_input && !self.graph.is_uniform(node) {
                let work = self.work(node);
                each_operand(self.graph, work, |operand| self.needed[operand.index()] = true);
                works.push((node, work));
            }
        }
        works.reverse();
        works
    }

    fn work(&self, node: Node) -> Work<Node> {
        match self.graph.op(node) {
            Op::Constant(_) | Op::Input(_) | Op::Uniform(_) => unreachable!("leaves have no work"),
            Op::Part { .. } => unreachable!("its call has the work"),
            Op::Call(call) => Work::Call { call },
            Op::Unary(function, a) => Work::Unary { function, a },
            Op::Select(comparison, [a, b, yes, no]) => Work::Select { comparison, a, b, yes, no },
            Op::Binary(Binary::Add, [x, y]) if self.graph.is_uniform(x) => self.shift(x, y),
            Op::Binary(Binary::Add, [x, y]) => self.add(x, y),
            Op::Binary(Binary::Mul, [x, y]) if self.graph.is_uniform(x) => {
                let s = self.scalar_of[&x];
                match self.product(y) {
                    Some((a, b)) => Work::MulScale { s, a, b },
                    None => Work::Scale { s, a: y },
                }
            }
            Op::Binary(Binary::Mul, [x, y]) => match (self.reciprocal(x), self.reciprocal(y)) {
                (_, Some(b)) => Work::Div { a: x, b },
                (Some(b), None) => Work::Div { a: y, b },
                (None, None) => Work::Mul { a: x, b: y },
            },
            Op::Binary(Binary::Div, [x, y]) if self.graph.is_uniform(x) => {
                let s = self.scalar_of[&x];
                if self.uses[y.index()] == 1
                    && let Op::Binary(Binary::Add, [t, a]) = self.graph.op(y)
                    && self.graph.is_uniform(t)
                {
                    return Work::Over { s, a, t: self.scalar_of[&t] };
                }
                Work::Over { s, a: y, t: ZERO }
            }
            Op::Binary(Binary::Div, [a, b]) => Work::Div { a, b },
            Op::Binary(Binary::Min, [a, b]) => Work::Min { a, b },
            Op::Binary(Binary::Max, [a, b]) => Work::Max { a, b },
            Op::Binary(Binary::ExpNegDistance, [a, b]) => Work::ExpNegDistance { a, b },
            Op::Binary(Binary::LogAddExp | Binary::Share, _) => unreachable!("were lowered"),
        }
    }

    /// t + y for a scalar t.
    fn shift(&self, t: Node, y: Node) -> Work<Node> {
        let t = self.scalar_of[&t];
        match (self.scaled_product(y), self.product(y), self.graph.as_scaled(y)) {
            (Some((s, a, b)), _, _) => Work::MulAffine { s, a, b, t },
            (_, Some((a, b)), _) => Work::MulShift { a, b, t },
            (_, _, Some((s, a))) => Work::Affine { s: self.scalar_of[&s], a, t },
            _ => Work::Shift { a: y, t },
        }
    }

    /// x + y for two blocks. The later operand is absorbed first, because it was computed last.
    fn add(&self, x: Node, y: Node) -> Work<Node> {
        for (x, c) in [(y, x), (x, y)] {
            if let Some((s, a, b)) = self.scaled_product(x) {
                return Work::MulScaleAdd { s, a, b, c };
            }
            if let Some((a, b)) = self.product(x) {
                return Work::MulAdd { a, b, c };
            }
        }
        if let (Some((s, a)), Some((t, c))) = (self.graph.as_scaled(x), self.graph.as_scaled(y)) {
            return Work::Combine { s: self.scalar_of[&s], a, t: self.scalar_of[&t], c };
        }
        for (x, c) in [(y, x), (x, y)] {
            if let Some((s, a)) = self.graph.as_scaled(x) {
                return Work::ScaleAdd { s: self.scalar_of[&s], a, c };
            }
            if let Op::Unary(Unary::Ln1p, a) = self.graph.op(x)
                && self.uses[x.index()] == 1
            {
                return Work::Ln1pAdd { a, c };
            }
        }
        Work::Add { a: x, b: y }
    }

    /// a·b of two blocks, if nothing else uses it.
    fn product(&self, node: Node) -> Option<(Node, Node)> {
        match self.graph.op(node) {
            Op::Binary(Binary::Mul, [a, b])
                if self.uses[node.index()] == 1
                    && !self.graph.is_uniform(a)
                    && self.reciprocal(a).is_none()
                    && self.reciprocal(b).is_none() =>
            {
                Some((a, b))
            }
            _ => None,
        }
    }

    /// s·a·b, if nothing else uses it.
    fn scaled_product(&self, node: Node) -> Option<(Scalar, Node, Node)> {
        let (s, rest) = self.graph.as_scaled(node)?;
        let (a, b) = self.product(rest).filter(|_| self.uses[node.index()] == 1)?;
        Some((self.scalar_of[&s], a, b))
    }

    /// b of a 1/b that nothing else uses.
    fn reciprocal(&self, node: Node) -> Option<Node> {
        match self.graph.op(node) {
            Op::Binary(Binary::Div, [one, b])
                if self.uses[node.index()] == 1 && self.graph.as_constant(one) == Some(1.0) =>
            {
                Some(b)
            }
            _ => None,
        }
    }
}

/// Fuses y = x² + u, where x = a + t, with v·y² and w·x·y, as in wells and bananas. Both are
/// computed from `a`; x and y are computed only if something else reads them.
fn nest_squares(
    graph: &Graph,
    mut works: Vec<(Node, Work<Node>)>,
    outputs: &[Node],
) -> Vec<(Node, Work<Node>)> {
    let work_of: QuickMap<Node, Work<Node>> = works.iter().copied().collect();
    // (x, u) of y, and (a, t) of x
    let square = |y: Node| match *work_of.get(&y)? {
        Work::MulShift { a, b, t } if a == b => Some((a, t)),
        _ => None,
    };
    let shift = |x: Node| match work_of.get(&x) {
        Some(&Work::Shift { a, t }) => (a, t),
        _ => (x, ZERO),
    };
    for (_, work) in &mut works {
        if let Work::MulScale { s, a: x, b: y } = *work {
            for (x, y) in [(x, y), (y, x)] {
                if let Some((root, u)) = square(y) {
                    let (a, t) = shift(root);
                    if x == y {
                        *work = Work::SquareOfSquare { s, a, t, u };
                    } else if x == root {
                        *work = Work::SquareTimesRoot { s, a, t, u };
                    }
                }
            }
        }
    }
    // Reading a part of a call means reading the call.
    let read = |node: Node| match graph.op(node) {
        Op::Part { of, .. } => of,
        _ => node,
    };
    let mut is_read: QuickSet<Node> = outputs.iter().map(|&node| read(node)).collect();
    let mut live: Vec<_> = works
        .into_iter()
        .rev()
        .filter(|(node, work)| {
            let is_live = is_read.contains(node);
            if is_live {
                each_operand(graph, *work, |operand| {
                    is_read.insert(read(operand));
                });
            }
            is_live
        })
        .collect();
    live.reverse();
    live
}
