//! From a graph to a program: dead parts dropped, instructions chosen and fused.

use super::allocate::{Step, allocate};
use super::code::{Code, Scalar, Scalars, Work};
use super::graph::Graph;
use super::op::{Binary, Comparison, Node, Op, Unary};
use std::collections::HashMap;

/// Every table of scalars begins with 0 and 1.
const ZERO: Scalar = 0;
const ONE: Scalar = 1;

/// Compiles what `outputs` need.
pub(super) fn compile(graph: &Graph, outputs: &[Node]) -> Code {
    let (graph, outputs) = lower(graph, outputs);
    let mut selection = Selection::new(&graph, &outputs);
    let steps = pair(selection.select());
    let steps = nest_squares(steps, &selection.uses);
    let Selection { scalars, scalar_of, .. } = selection;
    allocate(&graph, &outputs, &steps, scalars, &scalar_of)
}

/// Copies the live part of a graph, with `LogAddExp` and `Share` in terms of the exponential that
/// they have in common.
fn lower(graph: &Graph, outputs: &[Node]) -> (Graph, Vec<Node>) {
    let mut live = vec![false; graph.len()];
    outputs.iter().for_each(|n| live[n.index()] = true);
    for index in (0..graph.len()).rev() {
        if live[index] {
            graph.op(Node(index as u32)).operands().iter().for_each(|n| live[n.index()] = true);
        }
    }
    let mut lowered = Graph::new();
    let mut moved = vec![Node(0); graph.len()];
    for index in (0..graph.len()).filter(|&index| live[index]) {
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
            Op::Binary(function, ab) => lowered.push(Op::Binary(function, ab.map(to))),
            Op::Select(comparison, operands) => {
                lowered.push(Op::Select(comparison, operands.map(to)))
            }
            leaf => lowered.push(leaf),
        };
    }
    let outputs = outputs.iter().map(|n| moved[n.index()]).collect();
    (lowered, outputs)
}

fn exp_neg_distance(graph: &mut Graph, a: Node, b: Node) -> Node {
    graph.push(Op::Binary(Binary::ExpNegDistance, [a.min(b), a.max(b)]))
}

/// Instruction selection, from the outputs back: an operand that its user absorbs is never
/// computed by itself.
struct Selection<'a> {
    graph: &'a Graph,
    /// How many operands and outputs a node is.
    uses: Vec<u32>,
    needed: Vec<bool>,
    scalars: Scalars,
    scalar_of: HashMap<Node, Scalar>,
}

impl<'a> Selection<'a> {
    fn new(graph: &'a Graph, outputs: &[Node]) -> Self {
        let mut uses = vec![0; graph.len()];
        let mut needed = vec![false; graph.len()];
        for index in 0..graph.len() {
            let op = graph.op(Node(index as u32));
            op.operands().iter().for_each(|n| uses[n.index()] += 1);
        }
        for output in outputs {
            // Twice, so that an output is never taken for a value with one user.
            uses[output.index()] += 2;
            needed[output.index()] = true;
        }
        // Uniform nodes become the scalar part as they stand: their order is theirs here.
        let mut scalars =
            Scalars { steps: [0.0_f64, 1.0].map(|x| Op::Constant(x.to_bits())).to_vec() };
        let mut scalar_of = HashMap::new();
        for node in (0..graph.len()).map(|index| Node(index as u32)) {
            if graph.is_uniform(node) {
                scalar_of.insert(node, scalars.steps.len() as Scalar);
                scalars.steps.push(renumber(graph.op(node), &scalar_of));
            }
        }
        Self { graph, uses, needed, scalars, scalar_of }
    }

    /// The work of every node that must be computed by itself, in order.
    fn select(&mut self) -> Vec<(Node, Work<Node>)> {
        let mut works = Vec::new();
        for node in (0..self.graph.len()).rev().map(|index| Node(index as u32)) {
            let is_input = matches!(self.graph.op(node), Op::Input(_));
            if self.needed[node.index()] && !is_input && !self.graph.is_uniform(node) {
                let work = self.work(node);
                work.each(|operand| self.needed[operand.index()] = true);
                works.push((node, work));
            }
        }
        works.reverse();
        works
    }

    fn work(&self, node: Node) -> Work<Node> {
        match self.graph.op(node) {
            Op::Constant(_) | Op::Input(_) | Op::Uniform(_) => unreachable!("leaves have no work"),
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

    /// x + y for two blocks. The younger operand is absorbed first: it was computed last.
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

    /// a·b of two blocks that nothing else uses.
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

    /// s·a·b that nothing else uses.
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

/// Joins two works that often follow each other into one, whose first result is kept: u = a + t with
/// the square of u, and s·a² with the product of its derivative.
fn pair(works: Vec<(Node, Work<Node>)>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(works.len());
    for (node, work) in works {
        let joined = steps.last().filter(|before| before.kept.is_none()).and_then(|before| {
            let u = before.node;
            match (before.work, work) {
                (Work::Shift { a, t }, Work::Mul { a: x, b: y }) if x == u && y == u => {
                    Some(Work::ShiftSquare { a, t, s: ONE, u: ZERO })
                }
                (Work::Shift { a, t }, Work::MulScale { s, a: x, b: y }) if x == u && y == u => {
                    Some(Work::ShiftSquare { a, t, s, u: ZERO })
                }
                (Work::Shift { a, t }, Work::MulShift { a: x, b: y, t: u_ })
                    if x == u && y == u =>
                {
                    Some(Work::ShiftSquare { a, t, s: ONE, u: u_ })
                }
                (Work::Shift { a, t }, Work::MulAffine { s, a: x, b: y, t: u_ })
                    if x == u && y == u =>
                {
                    Some(Work::ShiftSquare { a, t, s, u: u_ })
                }
                (Work::MulScale { s, a, b }, Work::MulScale { s: t, a: x, b: y })
                    if a == b && (x == a || y == a) =>
                {
                    Some(Work::SquareMul { s, a, t, b: if x == a { y } else { x } })
                }
                _ => None,
            }
        });
        match (joined, steps.last_mut()) {
            (Some(work), Some(before)) => {
                *before = Step { node, kept: Some(before.node), work };
            }
            _ => steps.push(Step { node, kept: None, work }),
        }
    }
    steps
}

/// Joins a square of a shift with the square of that square, as wells and bananas have them, if
/// nothing else reads what lies between.
fn nest_squares(steps: Vec<Step>, uses: &[u32]) -> Vec<Step> {
    let mut nested: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps {
        let joined = nested.last().and_then(|before| match (before.work, step.work) {
            (Work::ShiftSquare { a, t, s, u }, Work::SquareMul { s: v, a: y, t: w, b: x })
                // y is read three times, by its square and by y·x; x three times, too: by its own.
                if before.node == y
                    && before.kept == Some(x)
                    && (uses[x.index()], uses[y.index()]) == (3, 3) =>
            {
                Some(Work::SquareOfSquare { a, t, s, u, v, w })
            }
            _ => None,
        });
        match (joined, nested.last_mut()) {
            (Some(work), Some(before)) => *before = Step { work, ..step },
            _ => nested.push(step),
        }
    }
    nested
}

/// A scalar operation on places of the table in place of nodes.
fn renumber(op: Op, scalar_of: &HashMap<Node, Scalar>) -> Op {
    let to = |n: Node| Node(scalar_of[&n]);
    match op {
        Op::Unary(function, x) => Op::Unary(function, to(x)),
        Op::Binary(function, operands) => Op::Binary(function, operands.map(to)),
        Op::Select(comparison, operands) => Op::Select(comparison, operands.map(to)),
        leaf => leaf,
    }
}
