//! One step of a method as a graph: its result, its carried values, and both derivatives.
//!
//! A step is recorded as a whole, with all its stages in one graph, so that differentiating it
//! gives the exact derivative of the discrete solution.

use super::System;
use super::control::{Move, adaptive, attempt};
use super::first_step::Start;
use super::layout::{Layout, inputs};
use super::method::{Method, Pair};
use super::runge_kutta::rk4;
use super::uniforms::{LENGTH, START, TIME};
use crate::program::{Comparison, Graph, Node, Recorded, gradient, tangent};

/// Maps the parameters to the carry at the start.
pub(super) fn start(system: &System, method: &Method, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let p = layout.parameters(&mut graph, 0);
    let x = system.initial(&mut graph, &p);
    let mut carry = x.clone();
    let one = graph.constant(1.0);
    for &j in &layout.active {
        carry.extend(tangent(&mut graph, &[(p[j], one)], &x));
    }
    if let Method::Adaptive(_, tolerances) = method {
        let t = graph.uniform(START);
        let h = Start { system, tolerances, t, x: &x, p: &p }.first_step(&mut graph);
        let none = graph.constant(0.0);
        let left = graph.constant(tolerances.most_steps as f64);
        carry.extend([t, h, none, left]);
        carry.extend(layout.end().map(|_| t));
    }
    (graph, carry)
}

/// Maps the carry and the parameters to the next carry.
pub(super) fn step(system: &System, method: &Method, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let carry = inputs(&mut graph, 0, layout.carry());
    let p = layout.parameters(&mut graph, layout.carry());
    let x = &carry[..layout.states];
    let Move { to, accepted, controls } = match method {
        Method::Fixed => {
            let (t, h) = (graph.uniform(TIME), graph.uniform(LENGTH));
            let to = rk4(&mut graph, system, t, h, x, &p);
            Move { to, accepted: None, controls: Vec::new() }
        }
        Method::Adaptive(pair, tolerances) => {
            let controls = &carry[layout.controls()..];
            adaptive(&mut graph, system, (*pair, tolerances), controls, x, &p)
        }
    };
    let mut next = choose(&mut graph, accepted, x, &to);
    let one = graph.constant(1.0);
    for (&j, s) in layout.active.iter().zip(carry[layout.states..].chunks(layout.states)) {
        let mut seeds: Vec<_> = x.iter().copied().zip(s.iter().copied()).collect();
        seeds.push((p[j], one));
        let moved = tangent(&mut graph, &seeds, &to);
        next.extend(choose(&mut graph, accepted, s, &moved));
    }
    next.extend(controls);
    (graph, next)
}

/// `to` where the step is accepted, `from` elsewhere.
fn choose(graph: &mut Graph, taken: Option<[Node; 2]>, from: &[Node], to: &[Node]) -> Vec<Node> {
    let Some([a, b]) = taken else { return to.to_vec() };
    let select = |(&from, &to)| graph.select(Comparison::LessOrEqual, [a, b, to, from]);
    from.iter().zip(to).map(select).collect()
}

/// The adjoint of a step. Inputs: tape, parameters, λ = dL/dx after the step, μ = dL/dp so far;
/// outputs: λ before the step and μ.
pub(super) fn back(system: &System, method: &Method, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let n = layout.states;
    let rows = inputs(&mut graph, 0, layout.tape());
    let p = layout.parameters(&mut graph, layout.tape());
    let first = layout.tape() + layout.parameters;
    let lambda = inputs(&mut graph, first, n);
    let mu = inputs(&mut graph, first + n, layout.parameters);
    let x = &rows[..n];
    let next = match method {
        Method::Fixed => {
            let (t, h) = (graph.uniform(TIME), graph.uniform(LENGTH));
            rk4(&mut graph, system, t, h, x, &p)
        }
        Method::Adaptive(pair, _) => {
            attempt(&mut graph, system, *pair, [rows[n], rows[n + 1]], x, &p).to
        }
    };
    let seeds: Vec<_> = next.into_iter().zip(lambda.iter().copied()).collect();
    let mut outputs = pull_back(&mut graph, &seeds, x, &p, &mu);
    if matches!(method, Method::Adaptive(Pair::Rodas, _)) {
        // A waiting sample may be at a point where its Jacobian has no derivative.
        let zero = graph.constant(0.0);
        let taken = rows[n + 1];
        for (output, &before) in outputs.iter_mut().zip(lambda.iter().chain(&mu)) {
            let operands = [taken, zero, before, *output];
            *output = graph.select(Comparison::LessOrEqual, operands);
        }
    }
    (graph, outputs)
}

/// The adjoint of the initial state. Inputs: parameters, λ, μ; outputs: μ.
pub(super) fn back_to_start(system: &System, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let p = layout.parameters(&mut graph, 0);
    let lambda = inputs(&mut graph, layout.parameters, layout.states);
    let mu = inputs(&mut graph, layout.parameters + layout.states, layout.parameters);
    let x = system.initial(&mut graph, &p);
    let seeds: Vec<_> = x.into_iter().zip(lambda).collect();
    let outputs = pull_back(&mut graph, &seeds, &[], &p, &mu);
    (graph, outputs)
}

/// The cotangents of x, and those of p added to μ.
pub(super) fn pull_back(
    graph: &mut Graph,
    seeds: &[(Node, Node)],
    x: &[Node],
    p: &[Node],
    mu: &[Node],
) -> Vec<Node> {
    let mut cotangents = gradient(graph, seeds, &[x, p].concat());
    for (g, &mu) in cotangents[x.len()..].iter_mut().zip(mu) {
        *g = graph.add(mu, *g);
    }
    cotangents
}
