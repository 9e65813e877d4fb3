//! Events whose times differ between samples: each sample lands on its own events, between stops.
//!
//! The states after an event are g(x) at its time τ. If τ moves, they move by (g′f⁻ − f⁺) dτ as
//! seen from a fixed later time: x followed f⁻ for longer before the jump, and follows f⁺ for less
//! time after it.

use super::System;
use super::course::{Course, Moving};
use super::grid::{Grid, Way};
use super::layout::{Layout, inputs};
use super::step::pull_back;
use crate::batch::PAD;
use crate::program::{Block, Graph, Node, Prepared, Recorded, Room, tangent};
use fearless_simd::Simd;

/// The events of all courses, compiled.
#[derive(Debug)]
pub(super) struct MovingEvents {
    routines: Vec<Prepared>,
    /// The events of each course, with the first setting of their routine: one for each stop.
    of: Vec<Vec<(Moving, usize)>>,
}

/// The samples for which each event of a course has occurred.
pub(super) type Happened = Vec<[bool; PAD]>;

impl MovingEvents {
    pub(super) fn new(
        system: &System,
        (grid, courses): (&Grid, &[Course]),
        rows: usize,
        record: impl Fn(usize) -> Recorded,
    ) -> Self {
        let mut settings: Vec<Vec<Vec<f64>>> = vec![Vec::new(); system.jumps()];
        let mut of = Vec::new();
        for (way, course) in grid.ways().iter().zip(courses) {
            let mut own = Vec::new();
            for event in &course.moving {
                let settings = &mut settings[event.jump];
                own.push((event.clone(), settings.len()));
                for k in 0..way.stops() {
                    let stretch = &course.stops[k].stretch[..];
                    settings.push([&[0.0; 2], stretch, &event.numbers].concat());
                }
            }
            of.push(own);
        }
        let is_empty = of.iter().all(Vec::is_empty);
        let prepare = |(number, settings): (usize, &Vec<Vec<f64>>)| {
            Prepared::new(record(number), rows, settings.iter().map(Vec::as_slice))
        };
        let routines = settings.iter().enumerate().filter(|_| !is_empty).map(prepare).collect();
        Self { routines, of }
    }

    /// The events of a course.
    pub(super) fn of(&self, way: &Way) -> &[(Moving, usize)] {
        &self.of[way.number]
    }

    pub(super) fn rooms(&self) -> Vec<Room> {
        self.routines.iter().map(|prepared| prepared.routine.room()).collect()
    }

    /// Runs an event of a course, on the stretch to stop number `k`.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        rooms: &mut [Room],
        (way, event, k): (&Way, usize, usize),
        inputs: &[Block],
        outputs: &mut [Block],
    ) {
        let (moving, first) = &self.of[way.number][event];
        let (routine, room) = (&self.routines[moving.jump], &mut rooms[moving.jump]);
        routine.apply(simd, room, first + k, inputs, outputs);
    }

    /// The next landing time of every sample on the stretch to `end`.
    pub(super) fn ends(
        &self,
        way: &Way,
        happened: &Happened,
        end: f64,
        time: &Block,
        p: &[Block],
    ) -> Block {
        let mut ends = [end; PAD];
        for ((event, _), happened) in self.of[way.number].iter().zip(happened) {
            for i in 0..PAD {
                let at = event.after + p[event.at][i];
                if !happened[i] && at >= event.opens && time[i] <= at && at < ends[i] {
                    ends[i] = at;
                }
            }
        }
        ends
    }

    /// An event that is due for samples that have reached its time before `end`, and these samples.
    pub(super) fn due(
        &self,
        way: &Way,
        happened: &Happened,
        end: f64,
        time: &Block,
        p: &[Block],
    ) -> Option<(usize, [bool; PAD])> {
        for (number, (event, _)) in self.of[way.number].iter().enumerate() {
            let is_due = |i: usize| {
                let at = event.after + p[event.at][i];
                !happened[number][i] && at >= event.opens && time[i] == at && at < end
            };
            let due = std::array::from_fn(is_due);
            if due.contains(&true) {
                return Some((number, due));
            }
        }
        None
    }
}

/// The states after a jump, and their derivatives by its time.
fn moved(
    graph: &mut Graph,
    system: &System,
    number: usize,
    (t, x, p): (Node, &[Node], &[Node]),
) -> (Vec<Node>, Vec<Node>) {
    let before = system.derivative(graph, t, x, p);
    let to = system.jump_behind_stretch(graph, number, x, p);
    let behind = system.derivative(graph, t, &to, p);
    let seeds: Vec<_> = x.iter().copied().zip(before).collect();
    let carried = tangent(graph, &seeds, &to);
    let slopes = carried.into_iter().zip(behind).map(|(a, b)| graph.sub(a, b)).collect();
    (to, slopes)
}

/// Maps the carry and the parameters to the states and sensitivities after an event, and to the
/// derivatives of the states by its time.
pub(super) fn jump(system: &System, layout: &Layout, number: usize) -> Recorded {
    let mut graph = Graph::new();
    let carry = inputs(&mut graph, 0, layout.carry());
    let p = layout.parameters(&mut graph, layout.carry());
    let x = &carry[..layout.states];
    let t = carry[layout.time()];
    let (to, slopes) = moved(&mut graph, system, number, (t, x, &p));
    let mut outputs = to.clone();
    let one = graph.constant(1.0);
    let sensitivities = &carry[layout.states..layout.controls()];
    for (&j, s) in layout.active.iter().zip(sensitivities.chunks(layout.states)) {
        let mut seeds: Vec<_> = x.iter().copied().zip(s.iter().copied()).collect();
        seeds.push((p[j], one));
        outputs.extend(tangent(&mut graph, &seeds, &to));
    }
    outputs.extend(slopes);
    (graph, outputs)
}

/// The adjoint of this map. Inputs: tape, parameters, λ after it, μ so far; outputs: λ before it,
/// μ, and the slope in the event's time.
pub(super) fn back(system: &System, layout: &Layout, number: usize) -> Recorded {
    let mut graph = Graph::new();
    let n = layout.states;
    let rows = inputs(&mut graph, 0, layout.tape());
    let p = layout.parameters(&mut graph, layout.tape());
    let first = layout.tape() + layout.parameters;
    let lambda = inputs(&mut graph, first, n);
    let mu = inputs(&mut graph, first + n, layout.parameters);
    let (to, slopes) = moved(&mut graph, system, number, (rows[n], &rows[..n], &p));
    let seeds: Vec<_> = to.into_iter().zip(lambda.iter().copied()).collect();
    let mut outputs = pull_back(&mut graph, &seeds, &rows[..n], &p, &mu);
    let zero = graph.constant(0.0);
    let in_time = slopes.into_iter().zip(lambda).fold(zero, |sum, (slope, lambda)| {
        let part = graph.mul(slope, lambda);
        graph.add(sum, part)
    });
    outputs.push(in_time);
    (graph, outputs)
}
