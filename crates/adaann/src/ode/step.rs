//! One step of a method as a graph: what it computes, what it carries along, and both its
//! derivatives.
//!
//! A step is recorded whole, all its stages in one graph, so that differentiating it gives the
//! derivative of the discrete solution, exactly. Rows of the carry are the states x, then their
//! sensitivities S (forward mode only), then what the method needs for itself.

use super::Solver;
use super::system::System;
use crate::program::{Comparison, Graph, Node, Recorded, Unary, gradient, tangent};

/// Rows that an adaptive method carries behind the states: the time, the step it will try, the step
/// it has just taken (0 if it was rejected), and how many it may still try.
const TIME: usize = 0;
const NEXT: usize = 1;
const TAKEN: usize = 2;
const LEFT: usize = 3;
const CONTROLS: usize = 4;

/// Uniforms of a fixed step.
const UNIFORM_T: u32 = 0;
const UNIFORM_H: u32 = 1;

/// The uniform of an adaptive step: the time at which to land.
const UNIFORM_END: u32 = 0;

/// Where the rows of a step are.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) states: usize,
    /// Parameters with sensitivities among the rows.
    pub(super) active: Vec<usize>,
    adaptive: bool,
    pub(super) parameters: usize,
}

impl Layout {
    pub(super) fn new(system: &System, solver: &Solver, active: Vec<usize>) -> Self {
        Self {
            states: system.states().len(),
            active,
            adaptive: solver.is_adaptive(),
            parameters: system.parameters().len(),
        }
    }

    fn controls(&self) -> usize {
        self.states * (1 + self.active.len())
    }

    /// Rows that a step takes and gives.
    pub(super) fn carry(&self) -> usize {
        self.controls() + if self.adaptive { CONTROLS } else { 0 }
    }

    /// Rows of a step's inputs: the carry, then the parameters.
    pub(super) fn rows(&self) -> usize {
        self.carry() + self.parameters
    }

    /// Rows of the carry that a reverse step reads: those of the state before the step and, behind
    /// them in its inputs, the time before it and the step taken.
    pub(super) fn tape(&self) -> usize {
        self.states + if self.adaptive { 2 } else { 0 }
    }

    /// The rows of time, next step and steps left of an adaptive carry.
    pub(super) fn time(&self) -> usize {
        self.controls() + TIME
    }
    pub(super) fn next(&self) -> usize {
        self.controls() + NEXT
    }
    pub(super) fn taken(&self) -> usize {
        self.controls() + TAKEN
    }

    fn parameters(&self, graph: &mut Graph, first: usize) -> Vec<Node> {
        inputs(graph, first, self.parameters)
    }
}

/// Inputs `first..first + count`.
pub(super) fn inputs(graph: &mut Graph, first: usize, count: usize) -> Vec<Node> {
    (first..first + count).map(|row| graph.input(row as u32)).collect()
}

/// Parameters to the carry at the start.
pub(super) fn start(system: &System, solver: &Solver, layout: &Layout, span: f64) -> Recorded {
    let mut graph = Graph::new();
    let p = layout.parameters(&mut graph, 0);
    let x = system.initial(&mut graph, &p);
    let mut carry = x.clone();
    let one = graph.constant(1.0);
    for &j in &layout.active {
        carry.extend(tangent(&mut graph, &[(p[j], one)], &x));
    }
    if let Solver::DormandPrince { most_steps, .. } = *solver {
        let t = graph.constant(system.start());
        let derivative = system.derivative(&mut graph, t, &x, &p);
        let h = first_step(&mut graph, solver, &x, &derivative, span);
        let none = graph.constant(0.0);
        let left = graph.constant(most_steps as f64);
        carry.extend([t, h, none, left]);
    }
    (graph, carry)
}

/// A first step that moves the states by about a hundredth of their size: (x/x')/100 in the norm of
/// the error, and no more than a hundredth of the way to go if they stand still.
fn first_step(graph: &mut Graph, solver: &Solver, x: &[Node], d: &[Node], span: f64) -> Node {
    let size = error_square(graph, solver, x, x, x);
    let speed = error_square(graph, solver, d, x, x);
    let tiny = graph.constant(1e-10);
    let (size, speed) = (graph.max(size, tiny), graph.max(speed, tiny));
    let ratio = graph.div(size, speed);
    let root = graph.unary(Unary::Sqrt, ratio);
    let hundredth = graph.constant(0.01);
    let step = graph.mul(hundredth, root);
    let most = graph.constant(0.01 * span.abs().max(f64::MIN_POSITIVE));
    graph.min(most, step)
}

/// The carry and the parameters to the next carry.
pub(super) fn step(system: &System, solver: &Solver, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let carry = inputs(&mut graph, 0, layout.carry());
    let p = layout.parameters(&mut graph, layout.carry());
    let x = &carry[..layout.states];
    let Move { to, accepted, controls } = match *solver {
        Solver::Rk4 { .. } => {
            let (t, h) = (graph.uniform(UNIFORM_T), graph.uniform(UNIFORM_H));
            let to = rk4(&mut graph, system, t, h, x, &p);
            Move { to, accepted: None, controls: Vec::new() }
        }
        Solver::DormandPrince { .. } => {
            adaptive(&mut graph, system, solver, &carry[layout.controls()..], x, &p)
        }
        #[cfg(feature = "stiff")]
        Solver::Stiff { .. } => unreachable!("implicit steps are no graphs"),
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

/// Where a step leads.
struct Move {
    to: Vec<Node>,
    /// Two nodes, of which the first is at most the second where the step is taken; always if none.
    accepted: Option<[Node; 2]>,
    controls: Vec<Node>,
}

/// `to` where the step is taken, `from` elsewhere.
fn choose(graph: &mut Graph, taken: Option<[Node; 2]>, from: &[Node], to: &[Node]) -> Vec<Node> {
    let Some([a, b]) = taken else { return to.to_vec() };
    let select = |(&from, &to)| graph.select(Comparison::LessOrEqual, [a, b, to, from]);
    from.iter().zip(to).map(select).collect()
}

/// The adjoint of a step. Inputs: tape, parameters, λ = dL/dx after the step, μ = dL/dp so far;
/// outputs: λ before the step and μ.
pub(super) fn back(system: &System, solver: &Solver, layout: &Layout) -> Recorded {
    let mut graph = Graph::new();
    let n = layout.states;
    let rows = inputs(&mut graph, 0, layout.tape());
    let p = layout.parameters(&mut graph, layout.tape());
    let first = layout.tape() + layout.parameters;
    let lambda = inputs(&mut graph, first, n);
    let mu = inputs(&mut graph, first + n, layout.parameters);
    let x = &rows[..n];
    let next = match *solver {
        Solver::Rk4 { .. } => {
            let (t, h) = (graph.uniform(UNIFORM_T), graph.uniform(UNIFORM_H));
            rk4(&mut graph, system, t, h, x, &p)
        }
        Solver::DormandPrince { .. } => {
            dormand_prince(&mut graph, system, rows[n], rows[n + 1], x, &p).0
        }
        #[cfg(feature = "stiff")]
        Solver::Stiff { .. } => unreachable!("implicit steps are no graphs"),
    };
    let seeds: Vec<_> = next.into_iter().zip(lambda).collect();
    let outputs = pull_back(&mut graph, &seeds, x, &p, &mu);
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

/// x + Σ factor·h·k
fn combine(graph: &mut Graph, h: Node, x: &[Node], terms: &[(f64, &[Node])]) -> Vec<Node> {
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
fn later(graph: &mut Graph, t: Node, factor: f64, h: Node) -> Node {
    let factor = graph.constant(factor);
    let by = graph.mul(factor, h);
    graph.add(t, by)
}

/// Kutta's classical method of order 4.
fn rk4(graph: &mut Graph, system: &System, t: Node, h: Node, x: &[Node], p: &[Node]) -> Vec<Node> {
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

/// Nodes c and stages a of Dormand and Prince's pair; the last stage is the solution of order 5.
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

/// The next state and the difference between the pair's two solutions.
fn dormand_prince(
    graph: &mut Graph,
    system: &System,
    t: Node,
    h: Node,
    x: &[Node],
    p: &[Node],
) -> (Vec<Node>, Vec<Node>) {
    let mut slopes: Vec<Vec<Node>> = Vec::new();
    let mut stage = x.to_vec();
    for (c, weights) in DORMAND_PRINCE {
        let terms: Vec<_> = weights.iter().copied().zip(slopes.iter().map(Vec::as_slice)).collect();
        stage = combine(graph, h, x, &terms);
        let at = later(graph, t, c, h);
        slopes.push(system.derivative(graph, at, &stage, p));
    }
    let none = vec![graph.constant(0.0); x.len()];
    let terms: Vec<_> =
        DORMAND_PRINCE_ERROR.into_iter().zip(slopes.iter().map(Vec::as_slice)).collect();
    let error = combine(graph, h, &none, &terms);
    (stage, error)
}

/// The mean of (e/(absolute + relative·max(|x|, |y|)))²: at most 1 for an error that is tolerated.
fn error_square(graph: &mut Graph, solver: &Solver, e: &[Node], x: &[Node], y: &[Node]) -> Node {
    let Solver::DormandPrince { relative, absolute, .. } = *solver else {
        unreachable!("only an adaptive method asks for errors")
    };
    let (relative, absolute) = (graph.constant(relative), graph.constant(absolute));
    let mut sum = graph.constant(0.0);
    for ((&e, &x), &y) in e.iter().zip(x).zip(y) {
        let (x, y) = (graph.unary(Unary::Abs, x), graph.unary(Unary::Abs, y));
        let size = graph.max(x, y);
        let scaled = graph.mul(relative, size);
        let tolerated = graph.add(absolute, scaled);
        let ratio = graph.div(e, tolerated);
        let square = graph.mul(ratio, ratio);
        sum = graph.add(sum, square);
    }
    let share = graph.constant(1.0 / e.len() as f64);
    graph.mul(share, sum)
}

/// A step that each sample takes at its own pace: rejected and finished samples stay where they are,
/// and a sample that can go no further has 0 as its next step.
fn adaptive(
    graph: &mut Graph,
    system: &System,
    solver: &Solver,
    controls: &[Node],
    x: &[Node],
    p: &[Node],
) -> Move {
    let (t, h, left) = (controls[TIME], controls[NEXT], controls[LEFT]);
    let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
    let end = graph.uniform(UNIFORM_END);
    // A last step that is a little too short is made a little longer, not followed by a tiny one.
    let to_go = graph.sub(end, t);
    let stretch = graph.constant(1.1);
    let reach = graph.mul(stretch, h);
    let lands = [to_go, reach];
    let select = |graph: &mut Graph, [a, b]: [Node; 2], yes, no| {
        graph.select(Comparison::LessOrEqual, [a, b, yes, no])
    };
    let tried = select(graph, lands, to_go, h);
    let (to, error) = dormand_prince(graph, system, t, tried, x, p);
    let square = error_square(graph, solver, &error, x, &to);
    let accepted = [square, one];
    let beyond = graph.add(t, tried);
    let arrived = select(graph, lands, end, beyond);
    let time = select(graph, accepted, arrived, t);
    let taken = select(graph, accepted, tried, zero);
    // 0.9·error^(−1/5) in [1/5, 5]; an error that is not a number asks for the shortest step.
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
    // A step cut short to land says little about the next one.
    let longer = graph.max(h, grown);
    let after_landing = select(graph, accepted, longer, grown);
    let next = select(graph, lands, after_landing, grown);
    let spent = select(graph, [tried, zero], zero, one);
    let left = graph.sub(left, spent);
    // Steps that no longer move the time, or too many of them: this sample is lost.
    let epsilon = graph.constant(1e-14);
    let size = graph.unary(Unary::Abs, end);
    let start = graph.constant(system.start().abs());
    let size = graph.max(size, start);
    let smallest = graph.mul(epsilon, size);
    let next = select(graph, [smallest, next], next, zero);
    let next = select(graph, [one, left], next, zero);
    Move { to, accepted: Some(accepted), controls: vec![time, next, taken, left] }
}
