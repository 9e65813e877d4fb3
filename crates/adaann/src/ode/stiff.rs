//! Implicit steps, one sample after another: variable-order BDF of the crate `diffsol`.
//!
//! Steps and orders follow from the error of the states alone, so that sensitivities leave the
//! steps as they were. These solve the variational equations on the same steps, and their error
//! falls with the tolerances as the states' does; where they grow by orders of magnitude and fall
//! back, as in the jumps of a relaxation oscillator, they need tighter tolerances than the states.

use super::forward::Watch;
use super::grid::Grid;
use super::step::{self, Layout, inputs};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Graph, Node, Rows, ScalarRoutine, Table, tangent};
use diffsol::error::{DiffsolError, OdeSolverError};
use diffsol::{
    NalgebraContext, NalgebraLU, NalgebraMat, NalgebraVec, OdeBuilder, OdeEquations,
    OdeSolverMethod, OdeSolverStopReason,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Vector = NalgebraVec<f64>;
type Matrix = NalgebraMat<f64>;
type Lu = NalgebraLU<f64>;

/// A system for the implicit solver: from parameters to the states at the times of a grid.
#[derive(Debug)]
pub(crate) struct Stiff {
    pub(super) layout: Layout,
    grid: Grid,
    relative: f64,
    absolute: f64,
    most_steps: usize,
    /// p -> x(t₀) and its sensitivities
    start: ScalarRoutine,
    /// (p, scales; t, x) -> f
    derivative: ScalarRoutine,
    /// (p, scales; t, x, v) -> (df/dx) v
    times_dx: ScalarRoutine,
    /// (p, scales; t, x, v) -> Σ (df/dp_j) scale_j v_j over the active parameters
    times_dp: ScalarRoutine,
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(crate) struct StiffRoom {
    /// For each time the states, their sensitivities, and the parameters.
    rows: Rows,
    sample: SampleRoom,
}

#[derive(Debug)]
struct SampleRoom {
    /// Parameters of a sample, then the scales of the active ones.
    p: Vec<f64>,
    /// States and sensitivities at the start.
    carry: Vec<f64>,
    start: Table,
    derivative: Table,
    times_dx: Table,
    times_dp: Table,
}

impl Stiff {
    /// Compiles; `active` are the parameters whose sensitivities go along.
    pub(super) fn new(system: &System, solver: &Solver, grid: &Grid, active: Vec<usize>) -> Self {
        let Solver::Stiff { relative, absolute, most_steps } = *solver else {
            unreachable!("explicit methods step over blocks of samples")
        };
        let layout = Layout::new(system, solver, active);
        let (n, settled) = (layout.states, layout.parameters + layout.active.len());
        let record = |directions: usize, outputs: fn(&mut Graph, Point<'_>) -> Vec<Node>| {
            let mut graph = Graph::new();
            let z = inputs(&mut graph, 0, settled + 1 + n + directions);
            let (p, z) = z.split_at(layout.parameters);
            let (scales, z) = z.split_at(layout.active.len());
            let (x, v) = z[1..].split_at(n);
            let f = system.derivative(&mut graph, z[0], x, p);
            let active = layout.active.iter().map(|&j| p[j]).collect();
            let outputs = outputs(&mut graph, Point { x, active, scales, v, f });
            ScalarRoutine::new(&graph, &outputs, settled + 1 + n + directions, settled)
        };
        let (graph, carry) = step::start(system, solver, &layout, grid.span());
        Self {
            grid: grid.clone(),
            relative,
            absolute,
            most_steps,
            start: ScalarRoutine::new(&graph, &carry, layout.parameters, layout.parameters),
            derivative: record(0, |_, at| at.f),
            times_dx: record(n, |graph, at| {
                let seeds: Vec<_> = at.x.iter().copied().zip(at.v.iter().copied()).collect();
                tangent(graph, &seeds, &at.f)
            }),
            times_dp: record(layout.active.len(), |graph, at| {
                let scaled = at.scales.iter().zip(at.v).map(|(&scale, &v)| graph.mul(scale, v));
                let seeds: Vec<_> = at.active.into_iter().zip(scaled).collect();
                tangent(graph, &seeds, &at.f)
            }),
            layout,
        }
    }

    pub(super) fn room(&self) -> StiffRoom {
        let Layout { parameters, ref active, .. } = self.layout;
        StiffRoom {
            rows: Rows::zeros(self.grid.times() * self.layout.rows()),
            sample: SampleRoom {
                p: vec![0.0; parameters + active.len()],
                carry: vec![0.0; self.layout.carry()],
                start: self.start.table(),
                derivative: self.derivative.table(),
                times_dx: self.times_dx.table(),
                times_dp: self.times_dp.table(),
            },
        }
    }

    /// Solves for the parameters that a block has, of which `samples` places are taken; tells whose
    /// trajectories are lost. These have states that are no numbers.
    pub(super) fn run(
        &self,
        room: &mut StiffRoom,
        parameters: impl Fn(usize) -> Block,
        samples: usize,
        watch: &mut impl Watch,
    ) -> [bool; PAD] {
        let (carry, width) = (self.layout.carry(), self.layout.rows());
        for rows in room.rows.chunks_exact_mut(width) {
            rows[..carry].as_flattened_mut().fill(0.0);
            for (j, row) in rows[carry..].iter_mut().enumerate() {
                *row = parameters(j);
            }
        }
        let mut lost = [true; PAD];
        for sample in 0..samples {
            for (j, p) in room.sample.p[..self.layout.parameters].iter_mut().enumerate() {
                *p = room.rows[carry + j][sample];
            }
            lost[sample] = !self.solve(&mut room.sample, &mut room.rows, sample);
            if lost[sample] {
                for rows in room.rows.chunks_exact_mut(width) {
                    rows[..carry].iter_mut().for_each(|row| row[sample] = f64::NAN);
                }
            }
        }
        for (k, rows) in room.rows.chunks_exact(width).enumerate() {
            watch.at_time(k, 0, rows);
        }
        lost
    }

    /// Solves for one sample, into its column of the rows; false if that fails.
    fn solve(&self, room: &mut SampleRoom, rows: &mut [Block], sample: usize) -> bool {
        // `diffsol` has `unwrap`s on its way (comparing error estimates that are no numbers, for
        // one). All that a panic leaves half done is rewritten before it is read.
        catch_unwind(AssertUnwindSafe(|| self.integrate(room, rows, sample)))
            .is_ok_and(|done| done.is_some())
    }

    /// Hands the system to `diffsol`.
    fn integrate(&self, room: &mut SampleRoom, rows: &mut [Block], sample: usize) -> Option<()> {
        let (n, parameters) = (self.layout.states, self.layout.parameters);
        self.start.settle(&room.start, &room.p[..parameters]);
        self.start.run(&room.start, &[], &mut room.carry);
        // `diffsol` solves for sensitivities only as far as the absolute tolerance of the states
        // asks, and those to a rate of 10⁷, say, would be lost. It is given q = p/scale and finds
        // dx/dq = scale·dx/dp. A scale too small ruins them, one too large costs little.
        for (k, &j) in self.layout.active.iter().enumerate() {
            room.p[parameters + k] = room.p[j].abs().max(1.0);
        }
        let SampleRoom { p, carry, derivative, times_dx, times_dp, .. } = &*room;
        self.derivative.settle(derivative, p);
        self.times_dx.settle(times_dx, p);
        self.times_dp.settle(times_dp, p);
        let (x, s) = carry.split_at(n);
        let scales = &p[parameters..];
        let mut slope = vec![0.0; n];
        self.derivative.run(derivative, &[&[self.grid.start()], x], &mut slope);
        if !p.iter().chain(carry).chain(&slope).all(|x| x.is_finite()) {
            return None;
        }
        let mut problem = OdeBuilder::<Matrix>::new()
            .t0(self.grid.start())
            .rtol(self.relative)
            .atol(vec![self.absolute; n])
            .turn_off_sensitivities_error_control()
            .p(vec![0.0; scales.len()]) // only their number counts: the tables have them
            .rhs_sens_implicit(
                |x, _, t, out| self.derivative.run(derivative, &[&[t], x], out),
                |x, _, t, v, out| self.times_dx.run(times_dx, &[&[t], x, v], out),
                |x, _, t, v, out| self.times_dp.run(times_dp, &[&[t], x, v], out),
            )
            .init_sens(
                |_, _, out| out.copy_from_slice(x),
                |_, _, v, out| {
                    out.fill(0.0);
                    for ((s, scale), v) in s.chunks_exact(n).zip(scales).zip(v) {
                        out.iter_mut().zip(s).for_each(|(out, s)| *out += s * scale * v);
                    }
                },
                n,
            )
            .build()
            .ok()?;
        let options = &mut problem.ode_options;
        options.min_timestep = 1e-13 * self.grid.span().min(1.0);
        options.max_nonlinear_solver_failures = self.most_steps.max(50); // in the whole solve
        // Sensitivities that do not converge with an old matrix ask for a new one, and so for other
        // steps than without them. A matrix never older than 5 steps (50 by default) and more
        // iterations keep that from happening.
        options.update_jacobian_after_steps = 5;
        options.update_rhs_jacobian_after_steps = 5;
        options.derivative_solve_max_iter = 50;
        let column = Column { layout: &self.layout, scales, rows, sample };
        if scales.is_empty() {
            self.step_through(problem.bdf::<Lu>().ok()?, column)
        } else {
            self.step_through(problem.bdf_sens::<Lu>().ok()?, column)
        }
    }

    /// Takes the steps and writes down the states as they come by.
    fn step_through<'a, E>(
        &self,
        mut solver: impl OdeSolverMethod<'a, E>,
        mut column: Column<'_>,
    ) -> Option<()>
    where
        E: OdeEquations<T = f64, V = Vector, M = Matrix, C = NalgebraContext> + 'a,
    {
        let (mut x, mut s) = (solver.state().y.clone(), solver.state().s.clone());
        let mut at_end = match solver.set_stop_time(self.grid.time(self.grid.times() - 1)) {
            Err(DiffsolError::OdeSolverError(OdeSolverError::StopTimeAtCurrentTime)) => true,
            result => result.map(|()| false).ok()?,
        };
        let mut steps = 0;
        for k in 0..self.grid.times() {
            while solver.state().t < self.grid.time(k) && !at_end {
                if steps == self.most_steps {
                    return None;
                }
                steps += 1;
                at_end = matches!(solver.step().ok()?, OdeSolverStopReason::TstopReached);
                if !is_finite(solver.state().y.batch_as_slice(0)) {
                    return None;
                }
            }
            // The last step ends within rounding of the last time.
            let t = self.grid.time(k).min(solver.state().t);
            solver.interpolate_inplace(t, &mut x).ok()?;
            solver.interpolate_sens_inplace(t, &mut s).ok()?;
            column.write(k, &x, &s)?;
        }
        Some(())
    }
}

/// What a function of the system is recorded from.
struct Point<'a> {
    x: &'a [Node],
    active: Vec<Node>,
    scales: &'a [Node],
    /// The direction of a derivative.
    v: &'a [Node],
    f: Vec<Node>,
}

/// The place of one sample's solution.
struct Column<'a> {
    layout: &'a Layout,
    scales: &'a [f64],
    rows: &'a mut [Block],
    sample: usize,
}

impl Column<'_> {
    /// Writes the states at a time and their sensitivities, which come multiplied by the scales;
    /// nothing if some are not finite.
    fn write(&mut self, k: usize, x: &Vector, scaled: &Vector) -> Option<()> {
        let width = self.layout.rows();
        let (x_rows, s_rows) = self.rows[k * width..].split_at_mut(self.layout.states);
        let parts = s_rows.chunks_mut(self.layout.states).zip(self.scales).enumerate();
        let put = |rows: &mut [Block], from: &[f64], scale: f64| {
            for (row, x) in rows.iter_mut().zip(from) {
                row[self.sample] = x / scale;
            }
            is_finite(from).then_some(())
        };
        put(x_rows, x.batch_as_slice(0), 1.0)?;
        for (j, (rows, &scale)) in parts {
            put(rows, scaled.batch_as_slice(j), scale)?;
        }
        Some(())
    }
}

fn is_finite(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite())
}
