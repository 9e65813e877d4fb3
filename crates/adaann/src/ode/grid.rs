//! The times at which a solution is wanted, and the fixed steps that land on them.

use super::{Solver, System};
use crate::{Result, error};

/// Fixed steps that this program takes; more is surely a slip.
const MOST_STEPS: usize = 10_000_000;

/// Times, with the steps between them if these are known beforehand.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    start: f64,
    times: Vec<f64>,
    /// Start and length of every fixed step, and how many there are until each time.
    fixed: Option<(Vec<[f64; 2]>, Vec<usize>)>,
}

impl Grid {
    /// The way from the system's start through `times`, which do not fall.
    pub(super) fn new(system: &System, solver: &Solver, times: &[f64]) -> Result<Self> {
        solver.check()?;
        let start = system.start();
        let fixed = match *solver {
            Solver::Rk4 { step } => Some(fixed_steps(start, step, times)?),
            _ => None,
        };
        Ok(Self { start, times: times.to_vec(), fixed })
    }

    pub(super) fn is_adaptive(&self) -> bool {
        self.fixed.is_none()
    }

    /// How many times there are.
    pub(super) fn times(&self) -> usize {
        self.times.len()
    }

    pub(super) fn time(&self, k: usize) -> f64 {
        self.times[k]
    }

    /// From the start to the last time.
    pub(super) fn span(&self) -> f64 {
        self.times.last().map_or(0.0, |end| end - self.start)
    }

    /// Fixed steps until time number `k`.
    #[inline]
    pub(super) fn steps_until(&self, k: usize) -> Option<usize> {
        self.fixed.as_ref().map(|(_, until)| until[k])
    }

    /// Steps of the whole way, if that is known.
    pub(super) fn steps(&self) -> Option<usize> {
        self.fixed.as_ref().map(|(steps, _)| steps.len())
    }

    /// Uniforms of every step: start and length of a fixed one, the end of an adaptive one.
    pub(super) fn settings(&self) -> Vec<Vec<f64>> {
        match &self.fixed {
            Some((steps, _)) => steps.iter().map(|step| step.to_vec()).collect(),
            None => self.times.iter().map(|&end| vec![end]).collect(),
        }
    }
}

/// Equal steps of at most `step` from each time to the next.
fn fixed_steps(start: f64, step: f64, times: &[f64]) -> Result<(Vec<[f64; 2]>, Vec<usize>)> {
    let (mut steps, mut until) = (Vec::new(), Vec::new());
    let mut from = start;
    for &to in times {
        // A whole number of steps, but for rounding, is that number.
        let count = ((to - from) / step * (1.0 - 1e-9)).ceil();
        if steps.len() as f64 + count > MOST_STEPS as f64 {
            let range = format!("so long that {MOST_STEPS} of them suffice");
            return Err(error::setting("step", step, range));
        }
        let h = (to - from) / count;
        steps.extend((0..count as usize).map(|i| [from + i as f64 * h, h]));
        until.push(steps.len());
        from = to;
    }
    Ok((steps, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_land_on_every_time() {
        let (steps, until) =
            fixed_steps(0.0, 0.1, &[0.0, 0.1, 0.30000000000000004, 0.35, 0.35, 1.0]).unwrap();
        assert_eq!(until, [0, 1, 3, 4, 4, 11]);
        for (i, [from, h]) in steps.iter().enumerate() {
            let end = if i + 1 < steps.len() { steps[i + 1][0] } else { 1.0 };
            assert!((from + h - end).abs() < 1e-15 && *h <= 0.1 + 1e-15, "step {i}");
        }
    }

    #[test]
    fn too_many_steps_are_refused() {
        let error = fixed_steps(0.0, 1e-9, &[1.0]).unwrap_err().to_string();
        assert!(error.contains("step") && error.contains("10000000"), "{error}");
    }
}
