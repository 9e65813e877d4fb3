//! The log likelihood of a block of samples and its gradient, through the steps of a solver.

use super::adjoint::{Adjoint, AdjointRoom};
use super::forward::{Forward, ForwardRoom, Watch};
use super::grid::Grid;
use super::measured::Measured;
use super::patterns::Patterns;
#[cfg(feature = "stiff")]
use super::stiff::{Stiff, StiffRoom};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Room, Rows};
use crate::{Error, Result};
use fearless_simd::Simd;

/// How the gradient of a likelihood goes through the steps of the solver. Both are exact for the
/// numbers that an explicit solver computes; which one is cheaper depends on the system. An implicit
/// solver goes forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differentiation {
    /// Sensitivities dx/dp go along with the states: for few parameters.
    Forward,
    /// Cotangents come back through the steps: for many.
    Adjoint,
}

/// The largest number of sensitivities for which the forward way is looked at.
const MOST_SENSITIVITIES: usize = 4_096;

/// From parameters to the log likelihood.
#[derive(Debug)]
pub(crate) enum Likelihood {
    /// By steps that are programs over blocks of samples.
    Explicit(Box<Explicit>),
    /// Sample by sample: for the value alone, and with sensitivities.
    #[cfg(feature = "stiff")]
    Stiff(Box<[(Stiff, Patterns); 2]>),
}

/// What a thread needs to run one.
#[derive(Debug)]
pub(crate) enum LikelihoodRoom {
    Explicit(Box<ExplicitRoom>),
    #[cfg(feature = "stiff")]
    Stiff {
        ways: Box<[(StiffRoom, Vec<Room>); 2]>,
        part: Rows,
    },
}

impl Likelihood {
    /// Compiles; the window of the adjoint's tape is at most so long.
    pub(crate) fn new(
        system: &System,
        solver: &Solver,
        measured: &Measured,
        longest_window: Option<usize>,
    ) -> Result<Self> {
        let grid = Grid::new(system, solver, &measured.times)?;
        #[cfg(feature = "stiff")]
        if let Solver::Stiff { .. } = solver {
            let plain = Stiff::new(system, solver, &grid, Vec::new());
            let observe = Patterns::new(measured, plain.layout.rows(), |pattern| {
                measured.value(&plain.layout, pattern)
            });
            let whole = Stiff::new(system, solver, &grid, system.active());
            let observe_whole = Patterns::new(measured, whole.layout.rows(), |pattern| {
                measured.with_sensitivities(&whole.layout, pattern)
            });
            return Ok(Self::Stiff(Box::new([(plain, observe), (whole, observe_whole)])));
        }
        let explicit = Explicit::new(system, solver, grid, measured, longest_window);
        Ok(Self::Explicit(Box::new(explicit)))
    }

    /// Operations that a step takes with its gradient: forward, and by the adjoint.
    pub(crate) fn operations_per_step(&self) -> (Option<usize>, usize) {
        match self {
            Self::Explicit(explicit) => explicit.operations_per_step(),
            #[cfg(feature = "stiff")]
            Self::Stiff(_) => (Some(0), 0),
        }
    }

    pub(crate) fn differentiation(&self) -> Differentiation {
        match self {
            Self::Explicit(explicit) => explicit.differentiation,
            #[cfg(feature = "stiff")]
            Self::Stiff(_) => Differentiation::Forward,
        }
    }

    /// How the gradient is computed, in words.
    pub(crate) fn note(&self) -> String {
        match (self.differentiation(), self.operations_per_step()) {
            (Differentiation::Forward, (_, 0)) => {
                "gradient by forward sensitivities, sample by sample".into()
            }
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
        }
    }

    pub(crate) fn set_differentiation(&mut self, differentiation: Differentiation) -> Result<()> {
        match self {
            Self::Explicit(explicit)
                if differentiation == Differentiation::Forward
                    && explicit.sensitivities.is_none() =>
            {
                Err(Error::Target(format!(
                    "a system with more than {MOST_SENSITIVITIES} sensitivities goes by the adjoint"
                )))
            }
            Self::Explicit(explicit) => {
                explicit.differentiation = differentiation;
                Ok(())
            }
            #[cfg(feature = "stiff")]
            Self::Stiff(_) if differentiation == Differentiation::Adjoint => {
                Err(Error::Target("a stiff solver has no adjoint: it goes forward".into()))
            }
            #[cfg(feature = "stiff")]
            Self::Stiff(_) => Ok(()),
        }
    }

    pub(crate) fn room(&self) -> LikelihoodRoom {
        match self {
            Self::Explicit(explicit) => LikelihoodRoom::Explicit(Box::new(explicit.room())),
            #[cfg(feature = "stiff")]
            Self::Stiff(ways) => LikelihoodRoom::Stiff {
                part: Rows::zeros(1 + ways[0].0.layout.parameters),
                ways: Box::new(ways.each_ref().map(|(stiff, o)| (stiff.room(), o.rooms()))),
            },
        }
    }

    /// Log likelihood of a block of samples and, if asked, its derivatives, into the rows of `sums`;
    /// tells whose trajectories are lost.
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
        match (self, room) {
            (Self::Explicit(explicit), LikelihoodRoom::Explicit(room)) => {
                explicit.run(simd, room, p, samples, with_gradient, sums)
            }
            #[cfg(feature = "stiff")]
            (Self::Stiff(ways), LikelihoodRoom::Stiff { ways: rooms, part }) => {
                let way = usize::from(with_gradient);
                let ((stiff, observe), (room, rooms)) = (&ways[way], &mut rooms[way]);
                let part = if with_gradient { part } else { &mut part[..1] };
                stiff.run(room, p, samples, &mut Sum { simd, observe, rooms, part, sums })
            }
            #[cfg(feature = "stiff")]
            _ => unreachable!("a room belongs to its likelihood"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Explicit {
    grid: Grid,
    plain: Forward,
    observe: Patterns,
    sensitivities: Option<(Forward, Patterns)>,
    adjoint: Adjoint,
    differentiation: Differentiation,
}

#[derive(Debug)]
pub(crate) struct ExplicitRoom {
    plain: (ForwardRoom, Vec<Room>),
    sensitivities: Option<(ForwardRoom, Vec<Room>)>,
    adjoint: AdjointRoom,
    /// What one observation adds to the sums.
    part: Rows,
}

impl Explicit {
    fn new(
        system: &System,
        solver: &Solver,
        grid: Grid,
        measured: &Measured,
        longest_window: Option<usize>,
    ) -> Self {
        let plain = Forward::new(system, solver, &grid, Vec::new());
        let observe = Patterns::new(measured, plain.layout.rows(), |pattern| {
            measured.value(&plain.layout, pattern)
        });
        let active = system.active();
        let few = active.len() * system.states().len() <= MOST_SENSITIVITIES;
        let sensitivities = few.then(|| {
            let forward = Forward::new(system, solver, &grid, active);
            let observe = Patterns::new(measured, forward.layout.rows(), |pattern| {
                measured.with_sensitivities(&forward.layout, pattern)
            });
            (forward, observe)
        });
        let adjoint = Adjoint::new(system, solver, &grid, measured, longest_window);
        let differentiation = Differentiation::Adjoint;
        let mut explicit = Self { grid, plain, observe, sensitivities, adjoint, differentiation };
        let (forward, adjoint) = explicit.operations_per_step();
        if forward.is_some_and(|forward| forward <= adjoint) {
            explicit.differentiation = Differentiation::Forward;
        }
        explicit
    }

    fn operations_per_step(&self) -> (Option<usize>, usize) {
        (
            self.sensitivities.as_ref().map(|(forward, _)| forward.operations()),
            self.plain.operations() + self.adjoint.operations(),
        )
    }

    fn room(&self) -> ExplicitRoom {
        ExplicitRoom {
            plain: (self.plain.room(), self.observe.rooms()),
            sensitivities: self.sensitivities.as_ref().map(|(f, o)| (f.room(), o.rooms())),
            adjoint: self.adjoint.room(&self.grid),
            part: Rows::zeros(1 + self.plain.layout.parameters),
        }
    }

    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut ExplicitRoom,
        p: impl Fn(usize) -> Block,
        samples: usize,
        with_gradient: bool,
        sums: &mut [Block],
    ) -> [bool; PAD] {
        let ExplicitRoom { plain, sensitivities, adjoint, part } = room;
        let grid = &self.grid;
        let forward = match (&self.sensitivities, sensitivities) {
            (Some((forward, observe)), Some((room, rooms)))
                if with_gradient && self.differentiation == Differentiation::Forward =>
            {
                let mut sum = Sum { simd, observe, rooms, part, sums };
                forward.run(simd, grid, room, p, samples, &mut sum);
                return std::array::from_fn(|i| forward.is_lost(grid, forward.rows(room), i));
            }
            _ => &self.plain,
        };
        let (room, rooms) = plain;
        let (value, gradient) = sums.split_at_mut(1);
        let mut sum =
            Sum { simd, observe: &self.observe, rooms, part: &mut part[..1], sums: value };
        if !with_gradient {
            forward.run(simd, grid, room, p, samples, &mut sum);
            return std::array::from_fn(|i| forward.is_lost(grid, forward.rows(room), i));
        }
        forward.run(simd, grid, room, p, samples, &mut Both(&mut adjoint.tape, &mut sum));
        let lost = std::array::from_fn(|i| forward.is_lost(grid, forward.rows(room), i));
        self.adjoint.run(simd, grid, forward, room, adjoint, gradient);
        lost
    }
}

/// Adds up what the observations say.
struct Sum<'a, S> {
    simd: S,
    observe: &'a Patterns,
    rooms: &'a mut [Room],
    part: &'a mut [Block],
    sums: &'a mut [Block],
}

impl<S: Simd> Watch for Sum<'_, S> {
    #[inline(always)]
    fn at_time(&mut self, k: usize, _steps: usize, rows: &[Block]) {
        self.observe.apply(self.simd, self.rooms, k, rows, self.part);
        for (sum, part) in self.sums.iter_mut().zip(&*self.part) {
            for i in 0..PAD {
                sum[i] += part[i];
            }
        }
    }
}

/// Two watchers of one pass.
struct Both<'a, A, B>(&'a mut A, &'a mut B);

impl<A: Watch, B: Watch> Watch for Both<'_, A, B> {
    #[inline(always)]
    fn begin(&mut self, rows: &[Block]) {
        self.0.begin(rows);
        self.1.begin(rows);
    }
    #[inline(always)]
    fn before_step(&mut self, step: usize, rows: &[Block]) {
        self.0.before_step(step, rows);
        self.1.before_step(step, rows);
    }
    #[inline(always)]
    fn after_step(&mut self, step: usize, rows: &[Block]) {
        self.0.after_step(step, rows);
        self.1.after_step(step, rows);
    }
    #[inline(always)]
    fn at_time(&mut self, k: usize, steps: usize, rows: &[Block]) {
        self.0.at_time(k, steps, rows);
        self.1.at_time(k, steps, rows);
    }
}
