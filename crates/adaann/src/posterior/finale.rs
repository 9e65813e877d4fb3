//! The last program: log prior, log likelihood and gradient from sums over rows and their slopes.

use crate::program::{self, Graph, Halves, Node, Prepared, gradient, of_first_inputs};
use std::ops::Range;

/// Inputs of the last program: parameters, sums, slopes in crossing values, and the two weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) parameters: usize,
    pub(super) sums: usize,
    pub(super) slopes: usize,
}

impl Layout {
    pub(super) fn first_slope(&self) -> usize {
        self.parameters + self.sums
    }

    pub(super) fn weights(&self) -> usize {
        self.first_slope() + self.slopes
    }

    pub(super) fn inputs(&self) -> usize {
        self.weights() + 2
    }
}

/// The positions of the numbers of some sums.
#[derive(Debug)]
pub(super) struct Place {
    /// The arguments of the sums: values among the results of the prelude, or the parameters
    /// themselves. Slopes are in the same order.
    pub(super) arguments: Arguments,
    /// Positions among the results of the prelude.
    pub(super) weights: Range<usize>,
    /// Positions among all sums, and among all slopes.
    pub(super) sums: Range<usize>,
    pub(super) slopes: Range<usize>,
}

/// The arguments of sums.
#[derive(Debug)]
pub(super) enum Arguments {
    /// Results of the prelude: the last program pulls the slopes in these back to the parameters.
    Crossing(Range<usize>),
    /// All parameters: the slopes in these are added unchanged after the last program.
    Parameters,
}

/// The parts of the last program, as nodes of the recorded graph.
#[derive(Debug)]
pub(super) struct Finale {
    log_prior: Node,
    /// Terms of the log likelihood that have no sums.
    terms: Vec<Node>,
    /// The factor of each sum.
    sums: Vec<Option<Node>>,
    /// Each crossing value with the factor that its slope still needs; `None` for slopes in
    /// parameters.
    slopes: Vec<Option<(Node, Option<Node>)>>,
}

impl Finale {
    pub(super) fn new(log_prior: Node, direct: Node) -> Self {
        Self { log_prior, terms: vec![direct], sums: Vec::new(), slopes: Vec::new() }
    }

    /// Adds a term of the log likelihood that has no sums.
    pub(super) fn add(&mut self, term: Node) {
        self.terms.push(term);
    }

    /// Adds sums with their factors, and requests their arguments from the prelude.
    pub(super) fn take(
        &mut self,
        graph: &mut Graph,
        factors: Vec<Option<Node>>,
        crossing: Vec<Node>,
        prelude: &mut Vec<Node>,
    ) -> Place {
        let first = prelude.len();
        prelude.extend(&crossing);
        let crossing_end = prelude.len();
        // Several sums share one set of slopes, weighted in the loop; those of a single sum are
        // weighted here.
        let lacks = if let [factor] = factors[..] {
            factor
        } else {
            let one = graph.constant(1.0);
            prelude.extend(factors.iter().map(|factor| factor.unwrap_or(one)));
            None
        };
        let (first_sum, first_slope) = (self.sums.len(), self.slopes.len());
        self.sums.extend(factors);
        self.slopes.extend(crossing.into_iter().map(|node| Some((node, lacks))));
        Place {
            arguments: Arguments::Crossing(first..crossing_end),
            weights: crossing_end..prelude.len(),
            sums: first_sum..self.sums.len(),
            slopes: first_slope..self.slopes.len(),
        }
    }

    /// Adds one sum that is a function of the parameters themselves.
    pub(super) fn take_of_parameters(&mut self, parameters: usize) -> Place {
        let (first_sum, first_slope) = (self.sums.len(), self.slopes.len());
        self.sums.push(None);
        self.slopes.extend(std::iter::repeat_n(None, parameters));
        Place {
            arguments: Arguments::Parameters,
            weights: 0..0,
            sums: first_sum..self.sums.len(),
            slopes: first_slope..self.slopes.len(),
        }
    }

    pub(super) fn layout(&self, parameters: usize) -> Layout {
        Layout { parameters, sums: self.sums.len(), slopes: self.slopes.len() }
    }

    /// Outputs: log prior and log likelihood.
    pub(super) fn values(&self, recorded: &Graph, layout: Layout) -> Prepared {
        Prepared::plain(self.record(recorded, layout, &[], false), layout.inputs())
    }

    /// Outputs: those of the prelude, which is the first half; then log prior, log likelihood and
    /// the gradient of their weighted sum without the slopes in parameters. Pulling slopes back
    /// through the prelude reuses most of its results.
    pub(super) fn with_gradient(
        &self,
        recorded: &Graph,
        layout: Layout,
        prelude: &[Node],
    ) -> Halves {
        let (inputs, late) = (layout.inputs(), layout.parameters..layout.inputs());
        let recorded = self.record(recorded, layout, prelude, true);
        Halves::new(&recorded, prelude.len(), inputs, late, [&[][..]])
    }

    fn record(
        &self,
        recorded: &Graph,
        layout: Layout,
        prelude: &[Node],
        with_gradient: bool,
    ) -> program::Recorded {
        let crossing = self.slopes.iter().flatten();
        let factors = self.sums.iter().chain(crossing.clone().map(|(_, factor)| factor));
        let mut nodes = prelude.to_vec();
        nodes.push(self.log_prior);
        let first_term = nodes.len();
        nodes.extend(&self.terms);
        let first_factor = nodes.len();
        nodes.extend(factors.clone().flatten());
        let first_crossing = nodes.len();
        nodes.extend(crossing.map(|(node, _)| *node));
        let (mut graph, nodes) = of_first_inputs(recorded, layout.parameters, &nodes);
        let mut present = nodes[first_factor..first_crossing].iter();
        let mut factors: Vec<Option<Node>> =
            factors.map(|factor| factor.and_then(|_| present.next().copied())).collect();
        let of_slopes = factors.split_off(self.sums.len());

        let mut log_likelihood = graph.constant(0.0);
        for &term in &nodes[first_term..first_factor] {
            log_likelihood = graph.add(log_likelihood, term);
        }
        for (k, factor) in factors.into_iter().enumerate() {
            let sum = graph.input((layout.parameters + k) as u32);
            let term = factor.map_or(sum, |factor| graph.mul(factor, sum));
            log_likelihood = graph.add(log_likelihood, term);
        }
        let log_prior = nodes[prelude.len()];
        let mut outputs = nodes[..prelude.len()].to_vec();
        outputs.extend([log_prior, log_likelihood]);
        if with_gradient {
            let weights = [0, 1].map(|k| graph.input((layout.weights() + k) as u32));
            let mut seeds = vec![(log_prior, weights[0]), (log_likelihood, weights[1])];
            let slopes = (0..self.slopes.len()).filter(|&j| self.slopes[j].is_some());
            for (j, (factor, &value)) in slopes.zip(of_slopes.iter().zip(&nodes[first_crossing..]))
            {
                let slope = graph.input((layout.first_slope() + j) as u32);
                let seed = graph.mul(weights[1], slope);
                let seed = factor.map_or(seed, |factor| graph.mul(factor, seed));
                seeds.push((value, seed));
            }
            let theta: Vec<Node> =
                (0..layout.parameters as u32).map(|input| graph.input(input)).collect();
            outputs.extend(gradient(&mut graph, &seeds, &theta));
        }
        (graph, outputs)
    }
}
