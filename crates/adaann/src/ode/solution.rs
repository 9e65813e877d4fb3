//! Solutions by themselves: for making data, drawing trajectories, and testing solvers.

use super::forward::{Forward, ForwardRoom, Watch};
use super::grid::Grid;
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
    /// Samples whose trajectory left the finite range or took too many steps; their states mean
    /// nothing.
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
/// If the parameters have another dimension, times fall, come before the start or are not finite,
/// there are none, the solver's settings are out of range, or it cannot solve so large a system.
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
    let solver = &solver.settled(system)?;
    let grid = Grid::new(system, solver, times)?;
    let states = vec![Batch::zeros(system.states().len(), parameters.len()); times.len()];
    let lost = vec![false; parameters.len()];
    let mut solution = Solution { states, lost };
    let forward = Forward::new(system, solver, &grid, Vec::new());
    let mut room = forward.room();
    let (grid, forward, room, solution_mut) = (&grid, &forward, &mut room, &mut solution);
    dispatch(Solve { grid, forward, room, parameters, solution: solution_mut });
    Ok(solution)
}

struct Solve<'a> {
    grid: &'a Grid,
    forward: &'a Forward,
    room: &'a mut ForwardRoom,
    parameters: &'a Batch,
    solution: &'a mut Solution,
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { grid, forward, room, parameters, solution } = self;
        let (rows, stride) = parameters.blocks();
        for block in 0..parameters.padded_len() / PAD {
            let samples = PAD.min(parameters.len() - block * PAD);
            let p = |j: usize| rows[j * stride + block];
            let mut watch = Keep { states: &mut solution.states, block };
            forward.run(simd, grid, room, p, samples, &mut watch);
            for sample in 0..samples {
                solution.lost[block * PAD + sample] =
                    forward.is_lost(grid, forward.rows(room), sample);
            }
        }
    }
}

/// Keeps the states at each time.
struct Keep<'a> {
    states: &'a mut [Batch],
    block: usize,
}

impl Watch for Keep<'_> {
    #[inline(always)]
    fn at_time(&mut self, k: usize, _steps: usize, rows: &[Block]) {
        let n = self.states[k].dim();
        let (blocks, stride) = self.states[k].blocks_mut();
        for i in 0..n {
            blocks[i * stride + self.block] = rows[i];
        }
    }
}
