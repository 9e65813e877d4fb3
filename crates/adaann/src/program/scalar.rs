//! Graphs run on plain numbers, one sample at a time: for solvers that call back.

use super::graph::Graph;
use super::op::{Node, Op};
use std::cell::Cell;
use std::ops::Range;

/// What the outputs of a graph need, in order. The first inputs are settled once for many runs, and
/// what depends on them alone is computed then.
#[derive(Debug, Clone)]
pub(crate) struct ScalarRoutine {
    inputs: usize,
    settled: usize,
    /// Operations on places of the table, which has the inputs first and then a place for each.
    steps: Vec<Op>,
    /// How many of them need no more than the settled inputs.
    once: usize,
    outputs: Vec<Node>,
}

/// The values of a routine; in cells, because a callback may not change what it holds.
pub(crate) type Table = Box<[Cell<f64>]>;

impl ScalarRoutine {
    /// Input i of the graph, of `inputs`, is number i; the first `settled` change rarely.
    pub(crate) fn new(graph: &Graph, outputs: &[Node], inputs: usize, settled: usize) -> Self {
        let live = graph.needed_for(outputs);
        let mut varies = vec![false; graph.len()];
        let mut place = vec![Node(0); graph.len()];
        let nodes = || (0..graph.len()).filter(|&index| live[index]);
        for index in nodes() {
            let op = graph.op(Node(index as u32));
            varies[index] = op.operands().iter().any(|n| varies[n.index()]);
            if let Op::Input(input) = op {
                varies[index] = input as usize >= settled;
                place[index] = Node(input);
            }
        }
        let (mut steps, mut once) = (Vec::new(), 0);
        for late in [false, true] {
            once = steps.len();
            for index in nodes().filter(|&index| varies[index] == late) {
                let op = graph.op(Node(index as u32));
                if !matches!(op, Op::Input(_)) {
                    place[index] = Node((inputs + steps.len()) as u32);
                    steps.push(op.map(|n| place[n.index()]));
                }
            }
        }
        let outputs = outputs.iter().map(|n| place[n.index()]).collect();
        Self { inputs, settled, steps, once, outputs }
    }

    /// Memory for a thread to run in.
    pub(crate) fn table(&self) -> Table {
        vec![Cell::new(0.0); self.inputs + self.steps.len()].into()
    }

    /// Takes the first inputs.
    pub(crate) fn settle(&self, table: &[Cell<f64>], inputs: &[f64]) {
        assert_eq!(inputs.len(), self.settled, "an argument for each settled input");
        for (place, &x) in table.iter().zip(inputs) {
            place.set(x);
        }
        self.step(table, 0..self.once);
    }

    /// The outputs for the inputs that were settled and these, which come in some pieces.
    pub(crate) fn run(&self, table: &[Cell<f64>], inputs: &[&[f64]], outputs: &mut [f64]) {
        let places = &table[self.settled..self.inputs];
        for (place, &x) in places.iter().zip(inputs.iter().copied().flatten()) {
            place.set(x);
        }
        self.step(table, self.once..self.steps.len());
        for (output, place) in outputs.iter_mut().zip(&self.outputs) {
            *output = table[place.index()].get();
        }
    }

    fn step(&self, table: &[Cell<f64>], range: Range<usize>) {
        let places = &table[self.inputs + range.start..];
        for (op, place) in self.steps[range].iter().zip(places) {
            let value = op.of(|n| table[n.index()].get());
            place.set(value.expect("neither inputs nor uniforms among the steps"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Comparison, Unary};

    #[test]
    fn settled_and_varying_inputs_give_what_the_graph_says() {
        // |a|·max(a, 2), chosen over e^x·3 where x < a; a itself; 5; the detached value of a + x
        let mut graph = Graph::new();
        let (a, x) = (graph.input(0), graph.input(2));
        let unused = graph.input(1);
        graph.unary(Unary::Sin, unused);
        let (two, three, five) = (graph.constant(2.0), graph.constant(3.0), graph.constant(5.0));
        let (size, most) = (graph.unary(Unary::Abs, a), graph.max(a, two));
        let early = graph.mul(size, most);
        let exp = graph.unary(Unary::Exp, x);
        let late = graph.mul(three, exp);
        let chosen = graph.select(Comparison::Less, [x, a, early, late]);
        let sum = graph.add(a, x);
        let detached = graph.unary(Unary::Detach, sum);
        let routine = ScalarRoutine::new(&graph, &[chosen, a, five, detached], 3, 2);
        assert_eq!(routine.steps.len() - routine.once, 5, "exp, product, select, sum, detached");
        let table = routine.table();
        for a in [-1.5, 3.0] {
            routine.settle(&table, &[a, f64::NAN]);
            for x in [-2.0, 0.5, 4.0_f64] {
                let mut found = [f64::NAN; 4];
                routine.run(&table, &[&[], &[x]], &mut found);
                let chosen = if x < a { a.abs() * a.max(2.0) } else { 3.0 * x.exp() };
                assert_eq!(found, [chosen, a, 5.0, a + x]);
            }
        }
    }
}
