//! Forward mode: directional derivatives of a graph as new nodes of the same graph.
//!
//! Where no derivative exists, the conventions are those of reverse mode.

use super::gradient::{finite_log, finite_reciprocal, power, slope};
use super::graph::Graph;
use super::op::{Binary, Comparison, Node, Op, Unary};

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
    /// Computes the tangent of a node from those of its operands.
    fn step(&mut self, node: Node) {
        let of = |n: Node| self.tangents[n.index()];
        let result = match self.graph.op(node) {
            Op::Constant(_) | Op::Input(_) | Op::Uniform(_) => return,
            Op::Call(_) | Op::Part { .. } => {
                unreachable!("models of systems have no dense routines: matrices are unrolled")
            }
            Op::Unary(Unary::Exp, x) if let Some(factors) = power(self.graph, x) => {
                self.power(factors, node)
            }
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

    /// The tangent of y = e^(a·b), a power.
    fn power(&mut self, [a, b]: [Node; 2], y: Node) -> Node {
        let mut sum = self.zero;
        for (of, other) in [(a, b), (b, a)] {
            let moved = match self.graph.op(of) {
                Op::Unary(Unary::Ln, x) if self.tangents[x.index()] != self.zero => {
                    let slope = finite_reciprocal(self.graph, x);
                    self.times(slope, self.tangents[x.index()])
                }
                _ => self.tangents[of.index()],
            };
            if moved != self.zero {
                let other = finite_log(self.graph, other);
                let scaled = self.times(y, other);
                let part = self.times(scaled, moved);
                sum = self.graph.add(sum, part);
            }
        }
        sum
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

    /// a·b, or 0 if either is the constant 0.
    fn times(&mut self, a: Node, b: Node) -> Node {
        if a == self.zero || b == self.zero { self.zero } else { self.graph.mul(a, b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Block, Expr, Function, Routine, gradient, log_sum_exp};
    use crate::simd::{Kernel, dispatch};

    /// Every operation: a directional derivative must be the gradient times the direction.
    #[test]
    fn forward_and_reverse_agree() {
        let functions: [for<'g> fn(Expr<'g>, Expr<'g>) -> Expr<'g>; 15] = [
            |x, y| x.exp() * y.sin() - x / (1.0 + y * y),
            |x, y| x.cos().exp_m1() + (x * x + 1.0).ln() * y.tanh(),
            |x, y| (x * x + y * y + 0.1).sqrt() + (x * x).ln_1p(),
            |x, y| x.abs() * y + y.abs(),
            |x, y| x.min(y) * x + y.max(0.3 * x),
            |x, y| x.log_add_exp(2.0 * y) + y.softplus(),
            |x, y| x.logistic() * y,
            |x, y| x.lt(y).select(x * x, y * x),
            |x, y| log_sum_exp(&[x, y, x * y]),
            |x, y| (x * x + 0.5).powf(1.7) + y.powi(-2),
            |x, y| (x * x + 0.5).powf(2.5) / (2.0 + y.sin()),
            |_, y| 3.0 / (y + 5.0),
            |x, y| (x * x + 0.2).ln_gamma() * y.erf() + (y * y + 0.1).digamma(),
            |x, y| (x * y).ln_normal_cdf() + (x + y).erfc() * x.floor(),
            |x, y| (x * x + 0.1).ln_beta(y * y + 0.3) - (x - y).atan(),
        ];
        for (number, f) in functions.iter().enumerate() {
            let function = Function::record(2, |z| vec![f(z[0], z[1])]);
            let mut graph = Graph::new();
            let inputs: Vec<Node> = (0..4).map(|i| graph.input(i)).collect();
            let y = function.at(&mut graph, &inputs[..2]);
            let seeds = [(inputs[0], inputs[2]), (inputs[1], inputs[3])];
            let forward = tangent(&mut graph, &seeds, &y)[0];
            let one = graph.constant(1.0);
            let mut outputs = gradient(&mut graph, &[(y[0], one)], &inputs[..2]);
            outputs.push(forward);
            let results = run(&Routine::new(&graph, 4, &outputs));
            for i in 0..results.inputs[0].len() {
                let at = |row: usize| results.inputs[row][i];
                let [dx, dy, forward] = [0, 1, 2].map(|row: usize| results.outputs[row][i]);
                let reverse = dx * at(2) + dy * at(3);
                let size = (dx * at(2)).abs() + (dy * at(3)).abs();
                let error = (forward - reverse).abs();
                assert!(error <= 1e-13 * size, "function {number} at {} {}", at(0), at(1));
            }
        }
    }

    struct Results {
        inputs: [Block; 4],
        outputs: Vec<Block>,
    }

    /// Runs a routine at points and directions all over the plane.
    fn run(routine: &Routine) -> Results {
        struct Run<'a>(&'a Routine, &'a mut crate::program::Room);
        impl Kernel for Run<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: fearless_simd::Simd>(self, simd: S) {
                let tables = self.0.tables([&[][..]]);
                self.0.run(simd, self.1, &tables, 0);
            }
        }
        let wave = |row: usize| std::array::from_fn(|i| (2.3 * (i + 37 * row) as f64).sin() * 1.7);
        let inputs: [Block; 4] = std::array::from_fn(wave);
        let mut room = routine.room();
        routine.load(&mut room, &inputs);
        dispatch(Run(routine, &mut room));
        let outputs = (0..routine.outputs()).map(|row| *routine.output(&room, row)).collect();
        Results { inputs, outputs }
    }
}
