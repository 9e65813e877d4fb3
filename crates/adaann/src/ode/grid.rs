//! The courses of all subjects from stop to stop, and the fixed steps that land on the stops.

use super::Solver;
use super::course::{Course, Stop};
use crate::{Result, error};

/// The most fixed steps that a solution may take; more are certainly a mistake.
const MOST_STEPS: usize = 10_000_000;

/// One entry for each course.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    ways: Vec<Way>,
    /// Uniforms of every fixed step, or of every stretch.
    settings: Vec<Vec<f64>>,
    /// Uniforms of every start.
    starts: Vec<Vec<f64>>,
}

/// The stops of one course, with the steps between them if these are known in advance.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Its index.
    pub(super) number: usize,
    /// The index of its first stop among those of all courses.
    first_stop: usize,
    times: Vec<f64>,
    /// The index of its first setting.
    first_setting: usize,
    /// Fixed steps before each stop.
    until: Option<Vec<usize>>,
}

impl Grid {
    pub(super) fn new(solver: &Solver, courses: &[Course]) -> Result<Self> {
        solver.check()?;
        let mut grid = Self { ways: Vec::new(), settings: Vec::new(), starts: Vec::new() };
        let mut first_stop = 0;
        for (number, course) in courses.iter().enumerate() {
            let first_setting = grid.settings.len();
            let until = match *solver {
                Solver::Rk4 { step } => Some(grid.add_fixed(course, step)?),
                _ => {
                    grid.settings
                        .extend(course.stops.iter().map(|stop| uniforms(stop.time, 0.0, stop)));
                    None
                }
            };
            let times: Vec<f64> = course.stops.iter().map(|stop| stop.time).collect();
            let span = times.last().map_or(0.0, |end| (end - course.start).abs());
            let span = span.max(f64::MIN_POSITIVE);
            grid.starts.push(uniforms(course.start, span, &course.stops[0]));
            grid.ways.push(Way { number, first_stop, times, first_setting, until });
            first_stop += course.stops.len();
        }
        Ok(grid)
    }

    /// Adds equal steps of at most `step` from each stop to the next; returns the number of steps
    /// before each.
    fn add_fixed(&mut self, course: &Course, step: f64) -> Result<Vec<usize>> {
        let first = self.settings.len();
        let (mut until, mut from) = (Vec::new(), course.start);
        for stop in &course.stops {
            let to = stop.time;
            // A count that is whole up to rounding is not rounded up.
            let count = ((to - from) / step * (1.0 - 1e-9)).ceil();
            if self.settings.len() as f64 + count > MOST_STEPS as f64 {
                let range = format!("large enough that {MOST_STEPS} steps suffice");
                return Err(error::setting("step", step, range));
            }
            let h = (to - from) / count;
            let setting = |i: usize| uniforms(from + i as f64 * h, h, stop);
            self.settings.extend((0..count as usize).map(setting));
            until.push(self.settings.len() - first);
            from = to;
        }
        Ok(until)
    }

    pub(super) fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Steps of the longest course, if known.
    pub(super) fn most_steps(&self) -> Option<usize> {
        let steps = |way: &Way| way.until.as_ref()?.last().copied();
        self.ways.iter().map(steps).max().flatten()
    }

    /// Steps of all courses: exact for fixed steps. Adaptive steps differ between samples; the
    /// estimate is one step for each stop plus those of a smooth trajectory at this tolerance.
    pub(super) fn nominal_steps(&self, solver: &Solver) -> f64 {
        let smooth = solver.steps_of_a_smooth_way();
        let steps = |way: &Way| match way.until.as_ref().and_then(|until| until.last()) {
            Some(steps) => *steps as f64,
            None => way.times.len() as f64 + smooth,
        };
        self.ways.iter().map(steps).sum()
    }

    /// The largest number of stops in a course.
    pub(super) fn most_stops(&self) -> usize {
        self.ways.iter().map(|way| way.times.len()).max().unwrap_or(0)
    }

    /// Uniforms of every step.
    pub(super) fn settings(&self) -> impl Iterator<Item = &[f64]> {
        self.settings.iter().map(Vec::as_slice)
    }

    /// Time and length of a fixed step, by its setting.
    #[inline]
    pub(super) fn fixed(&self, setting: usize) -> [f64; 2] {
        [self.settings[setting][0], self.settings[setting][1]]
    }

    /// Uniforms of every start.
    pub(super) fn starts(&self) -> impl Iterator<Item = &[f64]> {
        self.starts.iter().map(Vec::as_slice)
    }
}

/// The uniforms of a step: two of the method, then those of the stretch.
fn uniforms(first: f64, second: f64, stop: &Stop) -> Vec<f64> {
    [&[first, second], &stop.stretch[..]].concat()
}

impl Way {
    #[inline]
    pub(super) fn is_adaptive(&self) -> bool {
        self.until.is_none()
    }

    /// The number of stops.
    #[inline]
    pub(super) fn stops(&self) -> usize {
        self.times.len()
    }

    #[inline]
    pub(super) fn time(&self, k: usize) -> f64 {
        self.times[k]
    }

    /// The index of stop `k` among those of all courses.
    #[inline]
    pub(super) fn stop(&self, k: usize) -> usize {
        self.first_stop + k
    }

    /// Fixed steps before stop number `k`.
    #[inline]
    pub(super) fn steps_until(&self, k: usize) -> Option<usize> {
        self.until.as_ref().map(|until| until[k])
    }

    /// The setting of a step towards stop number `k`, after `done` other steps.
    #[inline]
    pub(super) fn setting(&self, k: usize, done: usize) -> usize {
        self.first_setting + if self.is_adaptive() { k } else { done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(step: f64, times: &[f64]) -> Result<Grid> {
        Grid::new(&Solver::Rk4 { step }, &[Course::through(times, 0.0, 0)])
    }

    #[test]
    fn steps_land_on_every_time() {
        let grid = fixed(0.1, &[0.0, 0.1, 0.30000000000000004, 0.35, 0.35, 1.0]).unwrap();
        assert_eq!(grid.ways[0].until.as_deref(), Some(&[0, 1, 3, 4, 4, 11][..]));
        for (i, step) in grid.settings.iter().enumerate() {
            let end = grid.settings.get(i + 1).map_or(1.0, |next| next[0]);
            assert!((step[0] + step[1] - end).abs() < 1e-15 && step[1] <= 0.1 + 1e-15, "step {i}");
        }
    }

    #[test]
    fn too_many_steps_are_refused() {
        let error = fixed(1e-9, &[1.0]).unwrap_err().to_string();
        assert!(error.contains("step") && error.contains("10000000"), "{error}");
    }
}
