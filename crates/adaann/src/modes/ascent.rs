//! Climbs that move together: each round is one batch of points for the target.

use crate::Result;
use crate::modes::{
    heights::{Heights, Place},
    lbfgs::{Curvature, dot},
};

/// A climb is at its peak when the next step promises less than this, in nats.
const ENOUGH: f64 = 1e-12;

/// The most times that a step is shortened without success before the climb ends.
const MAX_CUTS: u32 = 30;

/// The end of a climb.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) u: Vec<f64>,
    pub(super) height: f64,
    /// Has it reached a peak, rather than the limit of its rounds or of its steps?
    pub(super) has_peaked: bool,
}

/// A climb in progress.
struct Climb {
    at: Place,
    curvature: Curvature,
    /// The next trial point, relative to the current one.
    step: Vec<f64>,
    /// The longest step. It starts as the distance to a neighbour and grows with success, so that climbs do
    /// not jump over valleys that they have not seen.
    radius: f64,
    cuts: u32,
    has_moved: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Climbing,
    Peaked,
    Stuck,
}

/// Climbs from places, each with the length of its first step, for at most this many rounds and
/// evaluations.
pub(super) fn climb(
    heights: &mut Heights,
    starts: Vec<(Place, f64)>,
    rounds: usize,
    evaluations: usize,
) -> Result<Vec<End>> {
    let floor = heights.left().saturating_sub(evaluations);
    let mut climbs: Vec<Climb> =
        starts.into_iter().map(|(at, radius)| Climb::new(at, radius)).collect();
    for _ in 0..rounds {
        let mut active: Vec<_> =
            climbs.iter_mut().filter(|climb| climb.state == State::Climbing).collect();
        if active.is_empty() || heights.left() - floor < active.len() {
            break;
        }
        let trials = active.iter().map(|climb| climb.trial()).collect();
        for (climb, place) in active.iter_mut().zip(heights.places(trials)?) {
            climb.consider(place);
        }
    }
    Ok(climbs.into_iter().map(Climb::end).collect())
}

/// Climbs in bursts of rounds. After each burst, climbs for which `is_done` holds stop; its arguments are
/// the position, its height and the evaluations so far.
pub(super) fn climb_in_bursts(
    heights: &mut Heights,
    starts: Vec<(Place, f64)>,
    (burst, rounds): (usize, usize),
    is_done: &mut dyn FnMut(&[f64], f64, usize) -> bool,
) -> Result<Vec<End>> {
    let mut climbs: Vec<Climb> =
        starts.into_iter().map(|(at, radius)| Climb::new(at, radius)).collect();
    for round in 0..rounds {
        let mut active: Vec<_> =
            climbs.iter_mut().filter(|climb| climb.state == State::Climbing).collect();
        if active.is_empty() {
            break;
        }
        let trials = active.iter().map(|climb| climb.trial()).collect();
        let places = heights.places(trials)?;
        for (climb, place) in active.iter_mut().zip(places) {
            climb.consider(place);
            let is_looked_at = (round + 1).is_multiple_of(burst) && climb.state == State::Climbing;
            if is_looked_at && is_done(&climb.at.u, climb.at.height, heights.used()) {
                climb.state = State::Stuck;
            }
        }
    }
    Ok(climbs.into_iter().map(Climb::end).collect())
}

impl Climb {
    fn new(at: Place, radius: f64) -> Self {
        let step = Vec::new();
        let curvature = Curvature::default();
        let state = State::Climbing;
        let mut climb = Self { at, curvature, step, radius, cuts: 0, has_moved: false, state };
        climb.aim(true);
        climb
    }

    fn trial(&self) -> Vec<f64> {
        self.at.u.iter().zip(&self.step).map(|(u, s)| u + s).collect()
    }

    /// Chooses the next step. If the density did not bend down along the last one, its scale is unknown,
    /// and the climb moves uphill by the radius.
    fn aim(&mut self, has_scale: bool) {
        let slope = &self.at.slope;
        let mut step = self.curvature.direction(slope);
        if dot(&step, slope) <= 0.0 {
            self.curvature.forget();
            step = slope.clone();
        }
        let promise = 0.5 * dot(&step, slope);
        if promise <= ENOUGH + f64::EPSILON * self.at.height.abs() {
            self.state = State::Peaked;
            return;
        }
        let length = dot(&step, &step).sqrt();
        if !length.is_finite() {
            self.state = State::Stuck;
            return;
        }
        if length > self.radius || !has_scale {
            step.iter_mut().for_each(|s| *s *= self.radius / length);
        }
        (self.step, self.cuts) = (step, 0);
    }

    /// Moves to a trial point, or shortens the step.
    fn consider(&mut self, place: Place) {
        let (before, after) = (dot(&self.at.slope, &self.step), dot(&place.slope, &self.step));
        let gain = place.height - self.at.height;
        if !is_followed(gain, before, after, self.at.height.abs()) {
            return self.shorten(gain, before);
        }
        let length = dot(&self.step, &self.step).sqrt();
        self.radius = if self.cuts > 0 { 2.0 * length } else { self.radius.max(2.0 * length) };
        let step = std::mem::take(&mut self.step);
        let has_scale = self.curvature.learn(step, &self.at.slope, &place.slope);
        self.at = place;
        self.has_moved = true;
        self.aim(has_scale);
    }

    /// Moves to the top of the parabola through the known values along the step, between a tenth and a half
    /// of its length.
    fn shorten(&mut self, gain: f64, before: f64) {
        let top = 0.5 * before / (before - gain);
        let share = if top.is_finite() { top.clamp(0.1, 0.5) } else { 0.1 };
        self.step.iter_mut().for_each(|s| *s *= share);
        self.cuts += 1;
        if self.cuts == MAX_CUTS {
            if self.curvature.is_empty() {
                self.state = State::Stuck;
            } else {
                self.curvature.forget();
                self.radius = dot(&self.step, &self.step).sqrt().max(f64::MIN_POSITIVE);
                self.aim(false);
            }
        }
    }

    fn end(self) -> End {
        let has_peaked = self.state == State::Peaked && self.has_moved;
        End { u: self.at.u, height: self.at.height, has_peaked }
    }
}

/// Did the step stay on the slope of a single peak? It does if it gains, does not end on the far side, and
/// gains what the slopes at both ends promise.
fn is_followed(gain: f64, before: f64, after: f64, size: f64) -> bool {
    // Rounding dominates the differences of heights near the peak, so the slopes decide.
    let rounding = 8.0 * f64::EPSILON * size;
    if gain.abs() <= rounding {
        return after.abs() <= before;
    }
    let promised = 0.5 * (before + after);
    gain >= 1e-4 * before
        && after >= -0.9 * before
        && (gain - promised).abs() <= 0.5 * (before + after.abs()) + rounding
}
