//! Detects whether stability makes explicit steps shorter than the solution requires.
//!
//! A few multiplications by the Jacobian turn any direction towards that of the fastest rate of the
//! linearised system. If stability limits the steps, the product of this rate and the step length
//! is near 3.3, where the stability region of the Dormand–Prince pair ends; if accuracy limits
//! them, it is below 1. A fast rate may spoil the accuracy of explicit stages before that. The
//! product is then smaller, but the states move by far less in a step than the fastest rate would
//! imply.

use super::System;
use super::error::{error_square, tolerated};
use super::layout::{Layout, inputs};
use super::method::Tolerances;
use crate::program::{Graph, Node, Recorded, tangent};

/// Steps before the first check of a sample, and between checks once one found it stiff.
pub(super) const LOOK_EVERY: f64 = 100.0;

/// The evidence from successive checks at which a sample switches.
pub(super) const ENOUGH: u8 = 10;

/// Multiplications of a direction by the Jacobian.
const MULTIPLICATIONS: usize = 5;

/// The evidence from one check, given the squares of two numbers: the next step times the fastest
/// rate, and the share by which the step moves the states. 0 if the step length is appropriate.
pub(super) fn evidence(fastest: f64, moved: f64) -> u8 {
    match fastest {
        // 2 and more: limited by stability.
        4.0.. => 5,
        // A smooth solution that moves by a thousandth in a step has errors far below any
        // tolerance.
        0.01.. if fastest > 1e4 * moved => 1,
        _ => 0,
    }
}

/// Maps the carry and the parameters to the squares of the next step times the fastest rate, and of
/// the share by which the step moves the states.
pub(super) fn look(system: &System, tolerances: &Tolerances, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let x = inputs(&mut graph, 0, layout.states);
    let p = layout.parameters(&mut graph, layout.carry());
    let rows = [layout.time(), layout.next()];
    let [t, h] = rows.map(|row| graph.input(row as u32));
    let rates = system.derivative(&mut graph, t, &x, &p);
    let mut direction = any_direction(&mut graph, tolerances, &x);
    let mut before = direction.clone();
    for _ in 0..MULTIPLICATIONS {
        let seeds: Vec<_> = x.iter().copied().zip(direction.iter().copied()).collect();
        let moved = tangent(&mut graph, &seeds, &rates);
        before = std::mem::replace(&mut direction, moved);
    }
    let mut norm = |of: &[Node]| error_square(&mut graph, tolerances, of, &x, &x);
    let ratios = [(norm(&direction), norm(&before)), (norm(&rates), norm(&x))];
    let square = graph.mul(h, h);
    let outputs = ratios.map(|(above, below)| {
        let ratio = graph.div(above, below);
        graph.mul(square, ratio)
    });
    (graph, outputs.to_vec())
}

/// A direction that is unlikely to miss any rate: each state moves by a share of its tolerated
/// error, where the shares are fractional parts of multiples of the golden ratio.
fn any_direction(graph: &mut Graph, tolerances: &Tolerances, x: &[Node]) -> Vec<Node> {
    let mut direction = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        let share = (0.618_033_988_749_894_9 * (i + 1) as f64).fract() + 0.5;
        let share = graph.constant(if i % 2 == 0 { share } else { -share });
        let size = tolerated(graph, tolerances, x, x);
        direction.push(graph.mul(share, size));
    }
    direction
}
