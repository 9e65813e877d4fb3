//! The log likelihood of a block of samples and its gradient, through the steps of a solver.

use super::adjoint::{Adjoint, AdjointRoom};
use super::course::Does;
use super::forward::{Beat, Forward, ForwardRoom, Watch};
use super::grid::{Grid, Way};
use super::measured::Measured;
use super::patterns::Patterns;
use super::takeover::{Kind, Lanes};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Room, Rows};
use crate::{Error, Result};
use fearless_simd::Simd;

/// How the gradient of a likelihood is computed from the steps of the solver. Both methods are
/// exact for the computed numbers; which one is cheaper depends on the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differentiation {
    /// Propagates sensitivities dx/dp with the states: for few parameters.
    Forward,
    /// Propagates cotangents backwards through the steps: for many parameters.
    Adjoint,
}

/// The largest number of sensitivities for which forward mode is considered.
const MOST_SENSITIVITIES: usize = 4_096;

/// The same limit for operations of a step with linear equations, times the parameters. Derivatives
/// of longer steps would take seconds to compile, only to find that the adjoint is cheaper.
const MOST_OPERATIONS: usize = 20_000;

/// Maps parameters to the log likelihood.
#[derive(Debug)]
pub(crate) struct Likelihood {
    grid: Grid,
    /// For each course, the values that are its system's parameters.
    arguments: Vec<Vec<usize>>,
    plain: Forward,
    observe: Patterns,
    sensitivities: Option<(Forward, Patterns)>,
    adjoint: Adjoint,
    differentiation: Differentiation,
    /// Steps of all courses together, as far as they are known in advance.
    nominal_steps: f64,
    /// Whether the system is too large for the linear equations of the stiff solver.
    is_too_large: bool,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(crate) struct LikelihoodRoom {
    plain: (ForwardRoom, Vec<Room>),
    sensitivities: Option<(ForwardRoom, Vec<Room>)>,
    adjoint: AdjointRoom,
    /// The contribution of one observation to the sums.
    part: Rows,
    /// The sums of one course, in the parameters of its system.
    own: Rows,
}

impl Likelihood {
    /// Compiles a likelihood; the window of the adjoint's tape has at most `window` steps.
    pub(crate) fn new(
        system: &System,
        solver: &Solver,
        measured: &Measured,
        longest_window: Option<usize>,
    ) -> Result<Self> {
        let asked = solver;
        let solver = &solver.settled(system)?;
        let is_too_large = solver != asked;
        let courses = &measured.courses[..];
        let grid = Grid::new(solver, courses)?;
        let plain = Forward::new(system, solver, (&grid, courses), Vec::new());
        let count = measured.patterns.len();
        let observe =
            Patterns::new(count, courses, Does::observation, plain.layout.rows(), |pattern| {
                measured.value(&plain.layout, pattern)
            });
        let mut active = system.active();
        active.extend(courses.iter().flat_map(|course| &course.moving).map(|event| event.at));
        active.sort_unstable();
        active.dedup();
        let few = active.len() * system.states().len() <= MOST_SENSITIVITIES
            && (solver.is_explicit() || active.len() * plain.operations() <= MOST_OPERATIONS);
        let sensitivities = few.then(|| {
            let forward = Forward::new(system, solver, (&grid, courses), active);
            let layout = &forward.layout;
            let observe =
                Patterns::new(count, courses, Does::observation, layout.rows(), |pattern| {
                    measured.with_sensitivities(layout, pattern)
                });
            (forward, observe)
        });
        let adjoint = Adjoint::new(system, solver, &grid, measured, longest_window);
        let differentiation = Differentiation::Adjoint;
        let arguments = courses.iter().map(|course| course.arguments.clone()).collect();
        let nominal_steps = grid.nominal_steps(solver);
        let mut likelihood = Self {
            grid,
            arguments,
            plain,
            observe,
            sensitivities,
            adjoint,
            differentiation,
            nominal_steps,
            is_too_large,
        };
        let (forward, adjoint) = likelihood.operations_per_step();
        if forward.is_some_and(|forward| forward <= adjoint) {
            likelihood.differentiation = Differentiation::Forward;
        }
        Ok(likelihood)
    }

    /// Operations of a step with its gradient: forward, and by the adjoint.
    pub(crate) fn operations_per_step(&self) -> (Option<usize>, usize) {
        (
            self.sensitivities.as_ref().map(|(forward, _)| forward.operations()),
            self.plain.operations() + self.adjoint.operations(),
        )
    }

    /// Elementary operations for a sample with its gradient, for the nominal number of steps.
    pub(crate) fn cost(&self) -> f64 {
        let courses = self.arguments.len() as f64;
        match (&self.sensitivities, self.differentiation) {
            (Some((forward, observe)), Differentiation::Forward) => {
                let (step, start) = forward.cost();
                self.nominal_steps * step + courses * start + observe.cost()
            }
            _ => {
                let (step, start) = self.plain.cost();
                let (back, observed) = self.adjoint.cost();
                self.nominal_steps * (step + back)
                    + courses * start
                    + self.observe.cost()
                    + observed
            }
        }
    }

    pub(crate) fn differentiation(&self) -> Differentiation {
        self.differentiation
    }

    /// A note on how the gradient is computed.
    pub(crate) fn note(&self) -> String {
        let mut note = match (self.differentiation, self.operations_per_step()) {
            (Differentiation::Forward, (forward, adjoint)) => format!(
                "gradient by forward sensitivities: {} operations a step, {adjoint} \
                 by the adjoint",
                forward.unwrap_or_default()
            ),
            (Differentiation::Adjoint, (Some(forward), adjoint)) => format!(
                "gradient by the discrete adjoint: {adjoint} operations a step, \
                 {forward} by forward sensitivities"
            ),
            (Differentiation::Adjoint, (None, adjoint)) => {
                format!("gradient by the discrete adjoint: {adjoint} operations a step")
            }
        };
        if self.is_too_large {
            note.push_str("; the system is too large for the solver of stiff systems");
        }
        note
    }

    pub(crate) fn set_differentiation(&mut self, differentiation: Differentiation) -> Result<()> {
        if differentiation == Differentiation::Forward && self.sensitivities.is_none() {
            return Err(Error::Target(
                "this system has too many sensitivities; use the adjoint".to_owned(),
            ));
        }
        self.differentiation = differentiation;
        Ok(())
    }

    pub(crate) fn room(&self) -> LikelihoodRoom {
        LikelihoodRoom {
            plain: (self.plain.room(), self.observe.rooms()),
            sensitivities: self.sensitivities.as_ref().map(|(f, o)| (f.room(), o.rooms())),
            adjoint: self.adjoint.room(&self.grid),
            part: Rows::zeros(1 + self.plain.layout.parameters),
            own: Rows::zeros(1 + self.plain.layout.parameters),
        }
    }

    /// The log likelihood of a block of samples and, if requested, its derivatives by the samples'
    /// values `p`, into the rows of `sums`. Returns the samples whose trajectories failed.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut LikelihoodRoom,
        p: impl Fn(usize) -> Block,
        samples: usize,
        with_gradient: bool,
        sums: &mut [Block],
    ) -> [bool; PAD] {
        sums.as_flattened_mut().fill(0.0);
        let mut lost = std::array::from_fn(|i| i >= samples);
        for (way, arguments) in self.grid.ways().iter().zip(&self.arguments) {
            // A sample with a failed trajectory needs no further ones.
            self.run_course(simd, room, way, |j| p(arguments[j]), with_gradient, &mut lost);
            if lost == [true; PAD] {
                break;
            }
            add(&mut sums[0], &room.own[0]);
            if with_gradient {
                for (&argument, own) in arguments.iter().zip(&room.own[1..]) {
                    add(&mut sums[1 + argument], own);
                }
            }
        }
        lost
    }

    /// The same for one course, with separate sums in the room.
    #[inline(always)]
    fn run_course<S: Simd>(
        &self,
        simd: S,
        room: &mut LikelihoodRoom,
        way: &Way,
        p: impl Fn(usize) -> Block,
        with_gradient: bool,
        lost: &mut [bool; PAD],
    ) {
        let LikelihoodRoom { plain, sensitivities, adjoint, part, own } = room;
        own.as_flattened_mut().fill(0.0);
        let loses = |forward: &Forward, room: &ForwardRoom, lost: &mut [bool; PAD]| {
            for (i, lost) in lost.iter_mut().enumerate() {
                *lost |= forward.is_non_finite(way, forward.rows(room), i);
            }
        };
        let forward = match (&self.sensitivities, sensitivities) {
            (Some((forward, observe)), Some((room, rooms)))
                if with_gradient && self.differentiation == Differentiation::Forward =>
            {
                let mut sum = Sum { simd, observe, rooms, part, sums: own };
                forward.run(simd, way, room, p, lost, &mut sum);
                return loses(forward, room, lost);
            }
            _ => &self.plain,
        };
        let (room, rooms) = plain;
        let (value, gradient) = own.split_at_mut(1);
        let mut sum =
            Sum { simd, observe: &self.observe, rooms, part: &mut part[..1], sums: value };
        if !with_gradient {
            forward.run(simd, way, room, p, lost, &mut sum);
            return loses(forward, room, lost);
        }
        forward.run(simd, way, room, p, lost, &mut Both(&mut adjoint.tape, &mut sum));
        loses(forward, room, lost);
        self.adjoint.run(simd, way, forward, room, adjoint, gradient);
    }
}

/// Adds a block to another.
#[inline(always)]
fn add(sum: &mut Block, part: &Block) {
    for i in 0..PAD {
        sum[i] += part[i];
    }
}

/// Sums the log densities of the observations.
struct Sum<'a, S> {
    simd: S,
    observe: &'a Patterns,
    rooms: &'a mut [Room],
    part: &'a mut [Block],
    sums: &'a mut [Block],
}

impl<S: Simd> Watch for Sum<'_, S> {
    #[inline(always)]
    fn at_stop(&mut self, way: &Way, k: usize, _steps: usize, rows: &[Block]) {
        if self.observe.pattern(way.stop(k)).is_none() {
            return;
        }
        self.observe.apply(self.simd, self.rooms, way.stop(k), rows, self.part);
        for (sum, part) in self.sums.iter_mut().zip(&*self.part) {
            add(sum, part);
        }
    }
}

/// Two observers of one pass.
struct Both<'a, A, B>(&'a mut A, &'a mut B);

impl<A: Watch, B: Watch> Watch for Both<'_, A, B> {
    #[inline(always)]
    fn begin(&mut self) {
        self.0.begin();
        self.1.begin();
    }
    #[inline(always)]
    fn before_step(&mut self, step: usize, lanes: Option<&Lanes>, rows: &[Block]) {
        self.0.before_step(step, lanes, rows);
        self.1.before_step(step, lanes, rows);
    }
    #[inline(always)]
    fn after_step(&mut self, step: usize, kind: Kind, rows: &[Block]) {
        self.0.after_step(step, kind, rows);
        self.1.after_step(step, kind, rows);
    }
    #[inline(always)]
    fn at_event(&mut self, beat: Beat, rows: &[Block]) {
        self.0.at_event(beat, rows);
        self.1.at_event(beat, rows);
    }
    #[inline(always)]
    fn at_stop(&mut self, way: &Way, k: usize, steps: usize, rows: &[Block]) {
        self.0.at_stop(way, k, steps, rows);
        self.1.at_stop(way, k, steps, rows);
    }
}
