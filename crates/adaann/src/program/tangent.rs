//! Forward mode: directional derivatives of a graph as new nodes of the same graph.
//!
//! The conventions where there is no derivative are those of the reverse mode.

use super::gradient::slope;
use super::graph::Graph;
use super::op::{Binary, Comparison, Node, Op};

/// The derivatives of `outputs` in the direction that moves each `(input, by)`.
pub(crate) fn tangent(graph: &mut Graph, seeds: &[(Node, Node)], outputs: &[Node]) -> Vec<Node> {
    let zero = graph.constant(0.0);
    let moving: Vec<Node> = seeds.iter().map(|(input, _)| *input).collect();
    let depends = graph.depending_on(&moving);
    let needed = graph.needed_for(outputs);
    let mut forward = Forward { tangents: vec![zero; depends.len()], graph, zero };
    for &(input, by) in seeds {
        forward.tangents[input.index()] = by;
    }
    for index in (0..depends.len()).filter(|&index| depends[index] && needed[index]) {
        forward.step(Node(index as u32));
    }
    outputs.iter().map(|n| forward.tangents[n.index()]).collect()
}

struct Forward<'a> {
    graph: &'a mut Graph,
    tangents: Vec<Node>,
    zero: Node,
}

impl Forward<'_> {
    /// Finds the tangent of a node whose operands have theirs.
    fn step(&mut self, node: Node) {
        let of = |n: Node| self.tangents[n.index()];
        let result = match self.graph.op(node) {
            Op::Constant(_) | Op::Input(_) | Op::Uniform(_) => return,
            Op::Unary(function, x) => {
                let dx = of(x);
                let slope = slope(self.graph, function, x, node);
                self.times(slope, dx)
            }
            Op::Binary(function, [a, b]) => {
                let d = [of(a), of(b)];
                self.binary(function, [a, b], d, node)
            }
            Op::Select(comparison, [a, b, yes, no]) => {
                let branches = [a, b, of(yes), of(no)];
                self.graph.select(comparison, branches)
            }
        };
        self.tangents[node.index()] = result;
    }

    fn binary(&mut self, function: Binary, [a, b]: [Node; 2], d: [Node; 2], y: Node) -> Node {
        let [da, db] = d;
        match function {
            Binary::Add => self.graph.add(da, db),
            Binary::Mul => self.mixed([b, da], [a, db]),
            Binary::Div => {
                let one = self.graph.constant(1.0);
                let reciprocal = self.graph.div(one, b);
                let moved = self.times(y, db);
                let change = if moved == self.zero { da } else { self.graph.sub(da, moved) };
                self.times(change, reciprocal)
            }
            Binary::Min => self.graph.select(Comparison::Less, [b, a, db, da]),
            Binary::Max => self.graph.select(Comparison::Less, [a, b, db, da]),
            Binary::LogAddExp => {
                let (first, second) = (self.graph.share(a, b), self.graph.share(b, a));
                self.mixed([first, da], [second, db])
            }
            Binary::Share => {
                let other = self.graph.share(b, a);
                let slope = self.graph.mul(y, other);
                let change = if db == self.zero { da } else { self.graph.sub(da, db) };
                self.times(slope, change)
            }
            Binary::ExpNegDistance => {
                unreachable!("made when a program is compiled, after it was differentiated")
            }
        }
    }

    /// a·b + c·d
    fn mixed(&mut self, [a, b]: [Node; 2], [c, d]: [Node; 2]) -> Node {
        let (first, second) = (self.times(a, b), self.times(c, d));
        self.graph.add(first, second)
    }

    /// a·b, and 0 if either is the constant 0.
    fn times(&mut self, a: Node, b: Node) -> Node {
        if a == self.zero || b == self.zero { self.zero } else { self.graph.mul(a, b) }
    }
}
