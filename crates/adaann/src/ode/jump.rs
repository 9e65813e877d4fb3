//! Jumps of the states at events, with both derivatives.

use super::System;
use super::layout::{Layout, inputs};
use super::step::pull_back;
use crate::program::{Graph, Recorded, tangent};

/// Maps the carry and the parameters to the states and sensitivities after a jump.
pub(super) fn jump(system: &System, layout: &Layout, number: usize) -> Recorded {
    let mut graph = Graph::new();
    let carry = inputs(&mut graph, 0, layout.controls());
    let p = layout.parameters(&mut graph, layout.carry());
    let (x, sensitivities) = carry.split_at(layout.states);
    let to = system.jump(&mut graph, number, x, &p);
    let mut outputs = to.clone();
    let one = graph.constant(1.0);
    for (&j, s) in layout.active.iter().zip(sensitivities.chunks(layout.states)) {
        let mut seeds: Vec<_> = x.iter().copied().zip(s.iter().copied()).collect();
        seeds.push((p[j], one));
        outputs.extend(tangent(&mut graph, &seeds, &to));
    }
    (graph, outputs)
}

/// The adjoint of a jump. Inputs: tape, parameters, λ after it, μ so far; outputs: λ before it and
/// μ.
pub(super) fn back(system: &System, layout: &Layout, number: usize) -> Recorded {
    let mut graph = Graph::new();
    let x = inputs(&mut graph, 0, layout.states);
    let p = layout.parameters(&mut graph, layout.tape());
    let first = layout.tape() + layout.parameters;
    let lambda = inputs(&mut graph, first, layout.states);
    let mu = inputs(&mut graph, first + layout.states, layout.parameters);
    let to = system.jump(&mut graph, number, &x, &p);
    let seeds: Vec<_> = to.into_iter().zip(lambda).collect();
    let outputs = pull_back(&mut graph, &seeds, &x, &p, &mu);
    (graph, outputs)
}
