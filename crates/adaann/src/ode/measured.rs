//! The measurements of a system: log densities of states and parameters, and the times at which
//! each applies.

use super::course::Course;
use super::layout::{Layout, inputs};
use super::step::pull_back;
use crate::program::{Graph, Node, Recorded, gradient};

/// Log densities of the measurements, and the courses that lead to them.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Log densities: functions of states, then parameters, with uniforms.
    pub(crate) patterns: Vec<(Graph, Node)>,
    /// One for each subject.
    pub(crate) courses: Vec<Course>,
}

impl Measured {
    /// log p of a pattern, for states and parameters that are nodes.
    fn log_likelihood(&self, graph: &mut Graph, pattern: usize, x: &[Node], p: &[Node]) -> Node {
        let (own, node) = &self.patterns[pattern];
        graph.embed(own, &[*node], &[x, p].concat())[0]
    }

    /// Inputs: rows of `carry` that begin with the states, parameters. Output: log p.
    pub(super) fn value(&self, layout: &Layout, pattern: usize) -> Recorded {
        let mut graph = Graph::new();
        let x = inputs(&mut graph, 0, layout.states);
        let p = inputs(&mut graph, layout.carry(), layout.parameters);
        let value = self.log_likelihood(&mut graph, pattern, &x, &p);
        (graph, vec![value])
    }

    /// Inputs: carry with sensitivities, parameters. Outputs: log p, then its derivatives by all
    /// parameters.
    pub(super) fn with_sensitivities(&self, layout: &Layout, pattern: usize) -> Recorded {
        let mut graph = Graph::new();
        let carry = inputs(&mut graph, 0, layout.carry());
        let x = &carry[..layout.states];
        let p = inputs(&mut graph, layout.carry(), layout.parameters);
        let value = self.log_likelihood(&mut graph, pattern, x, &p);
        let one = graph.constant(1.0);
        let zeros = vec![graph.constant(0.0); p.len()];
        let mut slopes = pull_back(&mut graph, &[(value, one)], x, &p, &zeros);
        let mut outputs = slopes.split_off(layout.states);
        for (&j, s) in layout.active.iter().zip(carry[layout.states..].chunks(layout.states)) {
            for (&slope, &s) in slopes.iter().zip(s).filter(|(slope, _)| **slope != zeros[0]) {
                let part = graph.mul(slope, s);
                outputs[j] = graph.add(outputs[j], part);
            }
        }
        outputs.insert(0, value);
        (graph, outputs)
    }

    /// Inputs: tape, parameters. Outputs: the derivatives of log p by states and parameters that
    /// are not 0 everywhere. Also returns which these are.
    pub(super) fn back(&self, layout: &Layout, pattern: usize) -> (Recorded, Vec<usize>) {
        let mut graph = Graph::new();
        let x = inputs(&mut graph, 0, layout.states);
        let p = inputs(&mut graph, layout.tape(), layout.parameters);
        let value = self.log_likelihood(&mut graph, pattern, &x, &p);
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let slopes = gradient(&mut graph, &[(value, one)], &[x, p].concat());
        let rows: Vec<usize> = (0..slopes.len()).filter(|&row| slopes[row] != zero).collect();
        let outputs = rows.iter().map(|&row| slopes[row]).collect();
        ((graph, outputs), rows)
    }
}
