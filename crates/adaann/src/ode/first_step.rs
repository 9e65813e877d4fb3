//! The length of a sample's first step.

use super::System;
use super::error::error_square;
use super::method::Tolerances;
use super::runge_kutta::{combine, later};
use super::uniforms::SPAN;
use crate::program::{Comparison, Graph, Node, Unary};

/// The state where a sample starts; the distance to the end is a uniform.
pub(super) struct Start<'a> {
    pub(super) system: &'a System,
    pub(super) tolerances: &'a Tolerances,
    pub(super) t: Node,
    pub(super) x: &'a [Node],
    pub(super) p: &'a [Node],
}

impl Start<'_> {
    /// A step that moves the states by about a hundredth of their size: (x/x')/100 in the norm of
    /// the error, but at most a hundredth of the distance if the states stand still. States below
    /// the tolerated error have no meaningful size.
    pub(super) fn first_step(&self, graph: &mut Graph) -> Node {
        let Self { system, tolerances, t, x, p, .. } = *self;
        let slopes = system.derivative(graph, t, x, p);
        let size = error_square(graph, tolerances, x, x, x);
        let speed = error_square(graph, tolerances, &slopes, x, x);
        let (tiny, one) = (graph.constant(1e-10), graph.constant(1.0));
        let without_size = self.without_size(graph, &slopes, speed);
        let speed = graph.max(speed, tiny);
        let ratio = graph.div(size, speed);
        let root = graph.unary(Unary::Sqrt, ratio);
        let hundredth = graph.constant(0.01);
        let step = graph.mul(hundredth, root);
        let step = graph.select(Comparison::Less, [size, one, without_size, step]);
        let length = graph.uniform(SPAN);
        let most = graph.mul(hundredth, length);
        graph.min(most, step)
    }

    /// A step whose error is about a hundredth of the tolerance, as estimated from one tiny Euler
    /// step: h⁵ max(|x'|, |x''|) = 1/100 in the norm of the error (Hairer, Nørsett and Wanner,
    /// II.4).
    fn without_size(&self, graph: &mut Graph, slopes: &[Node], speed: Node) -> Node {
        let Self { system, tolerances, t, x, p, .. } = *self;
        let (millionth, length) = (graph.constant(1e-6), graph.uniform(SPAN));
        let h = graph.mul(millionth, length);
        let at = later(graph, t, 1.0, h);
        let moved = combine(graph, h, x, &[(1.0, slopes)]);
        let new = system.derivative(graph, at, &moved, p);
        let change: Vec<Node> = new.iter().zip(slopes).map(|(&a, &b)| graph.sub(a, b)).collect();
        let bend = error_square(graph, tolerances, &change, x, x);
        let (one, largest) = (graph.constant(1.0), graph.constant(f64::MAX));
        let square = graph.mul(h, h);
        let per_square = graph.div(one, square);
        let per_square = graph.min(per_square, largest);
        let bend = graph.mul(per_square, bend);
        let fastest = graph.max(speed, bend);
        let least = graph.constant(1e-30);
        let fastest = graph.max(fastest, least);
        // (1/100 / √fastest)^(1/5)
        let log = graph.unary(Unary::Ln, fastest);
        let (power, shift) = (graph.constant(-0.1), graph.constant(0.01_f64.ln() / 5.0));
        let exponent = graph.mul(power, log);
        let exponent = graph.add(shift, exponent);
        let ideal = graph.unary(Unary::Exp, exponent);
        let hundred = graph.constant(100.0);
        let most = graph.mul(hundred, h);
        graph.min(most, ideal)
    }
}
