//! The trajectory inside a step: a shorter step from the same state, as accurate as the whole step.

use super::layout::inputs;
use super::lazy::Lazy;
use super::method::{Method, Pair};
use super::runge_kutta::rk4;
use super::takeover::Kind;
use super::{System, control::attempt};
use crate::program::{Block, Function, Graph, Prepared, Recorded, Room, tangent};
use fearless_simd::Simd;

/// Steps of any length from a sample's states, time and parameters.
#[derive(Debug)]
pub(super) struct Within {
    system: System,
    method: Method,
    settings: Vec<Vec<f64>>,
    first: Lazy,
    stiff: Lazy,
}

/// The memory that a thread needs for these.
#[derive(Debug, Default)]
pub(super) struct WithinRoom {
    first: Option<Room>,
    stiff: Option<Room>,
}

impl Within {
    /// Settings are the uniforms on the stretch to each stop.
    pub(super) fn new(system: &System, method: Method, settings: Vec<Vec<f64>>) -> Self {
        let (first, stiff) = (Lazy::default(), Lazy::default());
        Self { system: system.clone(), method, settings, first, stiff }
    }

    /// The states after a step; `from` has states, time, length of the step and parameters.
    #[inline(always)]
    pub(super) fn states<S: Simd>(
        &self,
        simd: S,
        room: &mut WithinRoom,
        (kind, stop): (Kind, usize),
        from: &[Block],
        to: &mut [Block],
    ) {
        let (routine, own, pair) = match (kind, self.method) {
            (Kind::First, Method::Fixed) => (&self.first, &mut room.first, None),
            (Kind::First, Method::Adaptive(pair, _)) => (&self.first, &mut room.first, Some(pair)),
            (Kind::Stiff, _) => (&self.stiff, &mut room.stiff, Some(Pair::Rodas)),
        };
        let (prepared, own) = routine.get(own, || {
            let settings = self.settings.iter().map(Vec::as_slice);
            Prepared::new(step(&self.system, pair), from.len(), settings)
        });
        prepared.apply(simd, own, stop, from, to);
    }
}

/// Maps states, time, length and parameters to the states after a step of a pair, or of the
/// classical method.
fn step(system: &System, pair: Option<Pair>) -> Recorded {
    let (mut graph, n) = (Graph::new(), system.states().len());
    let x = inputs(&mut graph, 0, n);
    let [t, h] = [n, n + 1].map(|row| graph.input(row as u32));
    let p = inputs(&mut graph, n + 2, system.parameters().len());
    let to = match pair {
        None => rk4(&mut graph, system, t, h, &x, &p),
        Some(pair) => attempt(&mut graph, system, pair, [t, h], &x, &p).to,
    };
    (graph, to)
}

/// Maps states, time and parameters to the value of a function there and its slope along the
/// trajectory, ∂g/∂t + ∇g·f.
pub(super) fn look(system: &System, function: &Function) -> Recorded {
    let (mut graph, n) = (Graph::new(), system.states().len());
    let x = inputs(&mut graph, 0, n);
    let t = graph.input(n as u32);
    let p = inputs(&mut graph, n + 1, system.parameters().len());
    let value = system.reading(&mut graph, function, t, &x, &p);
    let rates = system.derivative(&mut graph, t, &x, &p);
    let one = graph.constant(1.0);
    let seeds: Vec<_> = x.into_iter().zip(rates).chain([(t, one)]).collect();
    let slope = tangent(&mut graph, &seeds, &value);
    (graph, [value, slope].concat())
}
