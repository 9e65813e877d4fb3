//! Steps of explicit Runge-Kutta methods as graphs.

use super::System;
use super::trial::Trial;
use crate::program::{Graph, Node};

/// x + Σ factor·h·k
pub(super) fn combine(
    graph: &mut Graph,
    h: Node,
    x: &[Node],
    terms: &[(f64, &[Node])],
) -> Vec<Node> {
    let mut sum = x.to_vec();
    for &(factor, k) in terms.iter().filter(|(factor, _)| *factor != 0.0) {
        let factor = graph.constant(factor);
        let scale = graph.mul(factor, h);
        for (sum, &k) in sum.iter_mut().zip(k) {
            let part = graph.mul(scale, k);
            *sum = graph.add(*sum, part);
        }
    }
    sum
}

/// t + factor·h
pub(super) fn later(graph: &mut Graph, t: Node, factor: f64, h: Node) -> Node {
    let factor = graph.constant(factor);
    let by = graph.mul(factor, h);
    graph.add(t, by)
}

/// The classical Runge–Kutta method of order 4.
pub(super) fn rk4(
    graph: &mut Graph,
    system: &System,
    t: Node,
    h: Node,
    x: &[Node],
    p: &[Node],
) -> Vec<Node> {
    let (middle, end) = (later(graph, t, 0.5, h), later(graph, t, 1.0, h));
    let k1 = system.derivative(graph, t, x, p);
    let x2 = combine(graph, h, x, &[(0.5, &k1)]);
    let k2 = system.derivative(graph, middle, &x2, p);
    let x3 = combine(graph, h, x, &[(0.5, &k2)]);
    let k3 = system.derivative(graph, middle, &x3, p);
    let x4 = combine(graph, h, x, &[(1.0, &k3)]);
    let k4 = system.derivative(graph, end, &x4, p);
    let (sixth, third) = (1.0 / 6.0, 1.0 / 3.0);
    combine(graph, h, x, &[(sixth, &k1), (third, &k2), (third, &k3), (sixth, &k4)])
}

/// Nodes c and stages a of the Dormand–Prince pair; the last stage is the solution of order 5.
const DORMAND_PRINCE: [(f64, &[f64]); 7] = [
    (0.0, &[]),
    (1.0 / 5.0, &[1.0 / 5.0]),
    (3.0 / 10.0, &[3.0 / 40.0, 9.0 / 40.0]),
    (4.0 / 5.0, &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0]),
    (8.0 / 9.0, &[19_372.0 / 6_561.0, -25_360.0 / 2_187.0, 64_448.0 / 6_561.0, -212.0 / 729.0]),
    (
        1.0,
        &[9_017.0 / 3_168.0, -355.0 / 33.0, 46_732.0 / 5_247.0, 49.0 / 176.0, -5_103.0 / 18_656.0],
    ),
    (1.0, &[35.0 / 384.0, 0.0, 500.0 / 1_113.0, 125.0 / 192.0, -2_187.0 / 6_784.0, 11.0 / 84.0]),
];

/// Order 5 minus order 4.
const DORMAND_PRINCE_ERROR: [f64; 7] = [
    71.0 / 57_600.0,
    0.0,
    -71.0 / 16_695.0,
    71.0 / 1_920.0,
    -17_253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// A step of the Dormand–Prince pair.
pub(super) fn dormand_prince(
    graph: &mut Graph,
    system: &System,
    t: Node,
    h: Node,
    x: &[Node],
    p: &[Node],
) -> Trial {
    let mut slopes: Vec<Vec<Node>> = Vec::new();
    let mut to = x.to_vec();
    for (c, weights) in DORMAND_PRINCE {
        let terms: Vec<_> = weights.iter().copied().zip(slopes.iter().map(Vec::as_slice)).collect();
        to = combine(graph, h, x, &terms);
        let at = later(graph, t, c, h);
        slopes.push(system.derivative(graph, at, &to, p));
    }
    let none = vec![graph.constant(0.0); x.len()];
    let terms: Vec<_> =
        DORMAND_PRINCE_ERROR.into_iter().zip(slopes.iter().map(Vec::as_slice)).collect();
    let error = combine(graph, h, &none, &terms);
    Trial { to, error, sound: Vec::new() }
}
