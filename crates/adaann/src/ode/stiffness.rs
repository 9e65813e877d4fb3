//! Whether explicit steps are shorter than the solution asks for.
//!
//! Multiplied by the Jacobian a few times, any direction turns towards that of the fastest rate of the
//! linearised system. Steps that are as long as stability allows have a product of rate and length near 3.3, where the
//! region of stability of Dormand and Prince's pair ends; steps that are as long as accuracy allows have one
//! below 1. A fast rate spoils the accuracy of explicit stages before that: then the product is smaller, but
//! the states move by far less in a step than the fastest rate would have them.

use super::System;
use super::error::{error_square, tolerated};
use super::layout::{Layout, inputs};
use super::method::Tolerances;
use crate::program::{Graph, Node, Recorded, tangent};

/// Steps that a sample tries until the first look, and from one that found it stiff to the next.
pub(super) const LOOK_EVERY: f64 = 100.0;

/// What looks in a row must add up to before a sample goes over.
pub(super) const ENOUGH: u8 = 10;

/// How often a direction is multiplied by the Jacobian.
const MULTIPLICATIONS: usize = 5;

/// What one look adds, for the squares of the next step times the fastest rate and of the share of the
/// states that it moves; 0 if the steps are as they should be.
pub(super) fn evidence(fastest: f64, moved: f64) -> u8 {
    match fastest {
        // 2 and more: bound by stability.
        4.0.. => 5,
        // A smooth solution that moves by a thousandth a step has errors far below any tolerance.
        0.01.. if fastest > 1e4 * moved => 1,
        _ => 0,
    }
}

/// The carry and the parameters to the squares of the next step times the fastest rate, and of the share of
/// the states that it moves.
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

/// A direction that no system has a reason to be blind to: each state moves by a share of what is
/// tolerated, by fractions of multiples of the golden section.
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
