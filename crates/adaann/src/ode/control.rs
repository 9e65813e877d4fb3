//! Adaptive steps, separate for each sample: tried, judged by their error, then accepted or
//! repeated.

use super::error::error_square;
use super::layout::{self, LEFT, NEXT, TIME};
use super::method::{Pair, Tolerances};
use super::rosenbrock::rodas5p;
use super::runge_kutta::dormand_prince;
use super::system::System;
use super::trial::Trial;
use super::uniforms::END;
use crate::program::{Comparison, Graph, Node, Unary};

/// The result of a step.
pub(super) struct Move {
    pub(super) to: Vec<Node>,
    /// The step is accepted where the first of these nodes is at most the second; always if `None`.
    pub(super) accepted: Option<[Node; 2]>,
    pub(super) controls: Vec<Node>,
}

/// A step of an adaptive method from x at t, of length h.
pub(super) fn attempt(
    graph: &mut Graph,
    system: &System,
    pair: Pair,
    [t, h]: [Node; 2],
    x: &[Node],
    p: &[Node],
) -> Trial {
    match pair {
        Pair::DormandPrince => dormand_prince(graph, system, t, h, x, p),
        Pair::Rodas => rodas5p(graph, system, t, h, x, p),
    }
}

/// An adaptive step of each sample. Rejected and finished samples keep their state, and a sample
/// that cannot continue has 0 as its next step.
pub(super) fn adaptive(
    graph: &mut Graph,
    system: &System,
    (pair, tolerances): (Pair, &Tolerances),
    controls: &[Node],
    x: &[Node],
    p: &[Node],
) -> Move {
    let (t, h, left) = (controls[TIME], controls[NEXT], controls[LEFT]);
    let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
    let own = controls.get(layout::END).copied();
    let end = own.unwrap_or_else(|| graph.uniform(END));
    // If the last step would be slightly too short, it is lengthened, so that no tiny step follows.
    let to_go = graph.sub(end, t);
    let stretch = graph.constant(1.1);
    let reach = graph.mul(stretch, h);
    let lands = [to_go, reach];
    let select = |graph: &mut Graph, [a, b]: [Node; 2], yes, no| {
        graph.select(Comparison::LessOrEqual, [a, b, yes, no])
    };
    let tried = select(graph, lands, to_go, h);
    let Trial { to, error, sound } = attempt(graph, system, pair, [t, tried], x, p);
    let mut square = error_square(graph, tolerances, &error, x, &to);
    let infinite = graph.constant(f64::INFINITY);
    for sound in sound {
        square = select(graph, sound, square, infinite);
    }
    let accepted = [square, one];
    let beyond = graph.add(t, tried);
    let arrived = select(graph, lands, end, beyond);
    let time = select(graph, accepted, arrived, t);
    let taken = select(graph, accepted, tried, zero);
    // 0.9·error^(−1/5) in [1/5, 5]; if the error is NaN, the shortest step.
    let log = graph.unary(Unary::Ln, square);
    let power = graph.constant(-0.1);
    let exponent = graph.mul(power, log);
    let ideal = graph.unary(Unary::Exp, exponent);
    let safety = graph.constant(0.9);
    let ideal = graph.mul(safety, ideal);
    let (least, most) = (graph.constant(0.2), graph.constant(5.0));
    let bounded = graph.max(ideal, least);
    let bounded = graph.min(bounded, most);
    let largest = graph.constant(f64::MAX);
    let factor = select(graph, [square, largest], bounded, least);
    let grown = graph.mul(tried, factor);
    // A step shortened to land on a time says little about the next one.
    let longer = graph.max(h, grown);
    let after_landing = select(graph, accepted, longer, grown);
    let next = select(graph, lands, after_landing, grown);
    let spent = select(graph, [tried, zero], zero, one);
    let left = graph.sub(left, spent);
    // The sample fails if a hundredth of a step no longer changes the time, or after too many
    // steps. At the start, which may be 0, the time counts as accurate to ten digits of the end.
    let (hundredth, shift) = (graph.constant(0.01), graph.constant(1e-10));
    let size = graph.unary(Unary::Abs, end);
    let shift = graph.mul(shift, size);
    let from = graph.add(shift, t);
    let by = graph.mul(hundredth, next);
    let moved = graph.add(from, by);
    let next = graph.select(Comparison::Less, [from, moved, next, zero]);
    let next = select(graph, [one, left], next, zero);
    // A waiting sample may be at a point where its Jacobian has no value; this does not affect it.
    let next = match pair {
        Pair::DormandPrince => next,
        Pair::Rodas => select(graph, [tried, zero], h, next),
    };
    let controls = [time, next, taken, left].into_iter().chain(own).collect();
    Move { to, accepted: Some(accepted), controls }
}
