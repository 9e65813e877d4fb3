//! Solutions on their own: for simulating data, drawing trajectories, and testing solvers.

use super::course::Course;
use super::forward::{Forward, ForwardRoom, Watch};
use super::grid::{Grid, Way};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::Block;
use crate::simd::{Kernel, dispatch};
use crate::{Batch, Error, Result};
use fearless_simd::Simd;

/// The states of some samples at some times.
#[derive(Debug, Clone)]
pub struct Solution {
    /// One batch for each time: coordinates are the states, points are the samples.
    pub states: Vec<Batch>,
    /// Samples whose trajectory left the finite range or took too many steps; their states are
    /// meaningless.
    pub lost: Vec<bool>,
}

/// Solves a system for each point of `parameters`.
///
/// ```
/// use adaann::{Batch, ode::{Solver, System, solve}};
///
/// let decay = System::record(&["x"], &["rate"], |_, x, p| vec![-p[0] * x[0]], 0.0,
///     |_| vec![1.0.into()])?;
/// let solution = solve(&decay, &Solver::ADAPTIVE, &Batch::from_points(1, &[[1.0], [2.0]]), &[1.5])?;
/// assert!((solution.states[0].row(0)[1] - (-3.0_f64).exp()).abs() < 1e-6);
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// If the parameters have the wrong dimension, if `times` is empty, not finite, decreasing or
/// before the start, if the solver's settings are out of range, or if it cannot solve so large a
/// system.
pub fn solve(
    system: &System,
    solver: &Solver,
    parameters: &Batch,
    times: &[f64],
) -> Result<Solution> {
    if parameters.dim() != system.parameters().len() {
        return Err(Error::Shape {
            what: "the parameters".into(),
            found: format!("{} coordinates", parameters.dim()),
            expected: system.parameters().len().to_string(),
        });
    }
    let rising = times.windows(2).all(|pair| pair[0] <= pair[1]);
    if times.is_empty() || !rising || !times.iter().all(|t| t.is_finite() && *t >= system.start()) {
        return Err(Error::Target(format!(
            "a solution needs at least one time, all of them finite, in order and not before the \
             start at {}",
            system.start()
        )));
    }
    let course = Course::through(times, system.start(), parameters.dim());
    let mut solutions = solve_courses(system, solver, &[course], parameters)?;
    Ok(solutions.swap_remove(0))
}

/// The states at every stop of some courses, before any jump: one solution for each course.
///
/// # Errors
/// If the solver's settings are out of range, or it cannot solve so large a system.
pub(crate) fn solve_courses(
    system: &System,
    solver: &Solver,
    courses: &[Course],
    values: &Batch,
) -> Result<Vec<Solution>> {
    let solver = &solver.settled(system)?;
    let grid = Grid::new(solver, courses)?;
    let forward = Forward::new(system, solver, (&grid, courses), Vec::new());
    let mut room = forward.room();
    let mut solutions = Vec::new();
    for (way, course) in grid.ways().iter().zip(courses) {
        let states = vec![Batch::zeros(system.states().len(), values.len()); way.stops()];
        let mut solution = Solution { states, lost: vec![false; values.len()] };
        let (forward, room, arguments) = (&forward, &mut room, &course.arguments[..]);
        dispatch(Solve { way, arguments, forward, room, values, solution: &mut solution });
        solutions.push(solution);
    }
    Ok(solutions)
}

struct Solve<'a> {
    way: &'a Way,
    arguments: &'a [usize],
    forward: &'a Forward,
    room: &'a mut ForwardRoom,
    values: &'a Batch,
    solution: &'a mut Solution,
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { way, arguments, forward, room, values, solution } = self;
        let (rows, stride) = values.blocks();
        for block in 0..values.padded_len() / PAD {
            let samples = PAD.min(values.len() - block * PAD);
            let p = |j: usize| rows[arguments[j] * stride + block];
            let mut watch = Keep { states: &mut solution.states, block };
            let idle = std::array::from_fn(|i| i >= samples);
            forward.run(simd, way, room, p, &idle, &mut watch);
            for sample in 0..samples {
                solution.lost[block * PAD + sample] =
                    forward.is_non_finite(way, forward.rows(room), sample);
            }
        }
    }
}

/// Stores the states at each stop.
struct Keep<'a> {
    states: &'a mut [Batch],
    block: usize,
}

impl Watch for Keep<'_> {
    #[inline(always)]
    fn at_stop(&mut self, _way: &Way, k: usize, _steps: usize, rows: &[Block]) {
        let n = self.states[k].dim();
        let (blocks, stride) = self.states[k].blocks_mut();
        for i in 0..n {
            blocks[i * stride + self.block] = rows[i];
        }
    }
}
