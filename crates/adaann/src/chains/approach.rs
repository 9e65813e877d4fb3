//! Before warm-up: chains that start far from the mass climb towards it.
//!
//! Trajectories would come down from there on their own, but with steps short enough for the steepest
//! point of all, while all chains wait for each other. An ascent has no kinetic energy to conserve.

use super::{
    metric::Metric,
    places::Places,
    state::{Sampler, State},
};
use crate::{
    Batch, Result, non_finite, optim,
    optim::{Adam, Optimizer},
    path::Tile,
};

/// Steps between checks of the gain, and the most steps in all.
const STRETCH: usize = 10;
const MOST_STEPS: usize = 300;

/// The initial step of each whitened coordinate, the factor by which it is divided after a stretch with
/// too little gain, and the most such divisions before a chain stops.
const RATE: f64 = 0.1;
const SHORTER: f64 = 4.0;
const ROUNDS: usize = 3;

/// Stretches are short, so the memory of slopes is short too.
const ADAM: Adam = Adam { beta1: 0.7, beta2: 0.9, epsilon: 1e-12 };

/// Chains that climb together, as on trajectories.
const PIECE: usize = 32;

impl Sampler<'_> {
    /// Moves chains uphill as long as a stretch gains more than d/2. A draw lies about that far below
    /// the mode, so a smaller gain says nothing, and a chain that starts at a draw stays there.
    pub(super) fn approach(&self, state: &mut State) -> Result<()> {
        let chains = state.places.len();
        let left = (self.settings.max_evaluations / 2).saturating_sub(state.evaluations);
        let each = self.density.target.values_with_gradients(chains);
        let (from, metric) = (&state.places, &state.metric);
        let pieces = self.density.each_piece(chains, PIECE, |range| {
            let mut places = from.gather(range.clone());
            let mut climbs: Vec<_> = (0..range.len()).map(|i| Climb::new(&places, i)).collect();
            let mut steps = 0;
            while steps < MOST_STEPS.min(left / each) && climbs.iter().any(Climb::goes_on) {
                self.climb(metric, &mut places, &mut climbs)?;
                steps += 1;
                if steps.is_multiple_of(STRETCH) {
                    climbs.iter_mut().for_each(Climb::end_stretch);
                }
            }
            climbs.iter().enumerate().for_each(|(i, climb)| climb.kept.put(&mut places, i));
            Ok((places, steps))
        })?;
        let mut at = 0;
        for (places, steps) in pieces {
            state.places.copy(at, &places);
            state.evaluations += self.density.target.values_with_gradients(steps * places.len());
            at += places.len();
        }
        Ok(())
    }

    /// One step of some chains; `places` is scratch space.
    fn climb(&self, metric: &Metric, places: &mut Places, climbs: &mut [Climb]) -> Result<()> {
        let (dim, len) = (places.z.dim(), climbs.len());
        let [mut slopes, mut steps] = [0, 1].map(|_| Batch::zeros(dim, len));
        for (i, climb) in climbs.iter().enumerate() {
            climb.at.put(places, i);
        }
        metric.add_stretched_back(1.0, &places.gradient, &mut slopes);
        for (i, climb) in climbs.iter_mut().enumerate() {
            steps.set_point(i, &climb.step(&slopes.point(i)));
        }
        metric.add_stretched(1.0, &steps, &mut places.z);
        let mut tile = Tile::zeros(dim, len);
        self.density.evaluate_parts(&places.z, Some(self.weights), &mut tile)?;
        for (i, climb) in climbs.iter_mut().enumerate() {
            climb.look(Place {
                z: places.z.point(i),
                log_density: tile.log_density(self.weights, i),
                gradient: tile.gradient().point(i),
            });
        }
        Ok(())
    }
}

/// The position of one chain.
#[derive(Clone)]
struct Place {
    z: Vec<f64>,
    log_density: f64,
    gradient: Vec<f64>,
}

impl Place {
    fn put(&self, places: &mut Places, i: usize) {
        places.z.set_point(i, &self.z);
        places.gradient.set_point(i, &self.gradient);
        places.log_density[i] = self.log_density;
    }
}

/// A chain that is climbing.
struct Climb {
    /// The last position with a confirmed gain.
    kept: Place,
    /// The highest position of this stretch.
    best: Place,
    at: Place,
    adam: optim::State,
    rate: f64,
    /// The number of further stretches with too little gain that are allowed.
    rounds: usize,
}

impl Climb {
    fn new(places: &Places, i: usize) -> Self {
        let (z, gradient) = (places.z.point(i), places.gradient.point(i));
        let adam = optim::State::new(Optimizer::Adam(ADAM), z.len());
        let kept = Place { z, log_density: places.log_density[i], gradient };
        Self { best: kept.clone(), at: kept.clone(), kept, adam, rate: RATE, rounds: ROUNDS }
    }

    fn goes_on(&self) -> bool {
        self.rounds > 0
    }

    /// The step along a slope, both in the metric's coordinates.
    fn step(&mut self, slope: &[f64]) -> Vec<f64> {
        let mut step = vec![0.0; slope.len()];
        if self.goes_on() {
            let downwards: Vec<f64> = slope.iter().map(|slope| -slope).collect();
            self.adam.update(&mut step, &downwards, self.rate);
        }
        step
    }

    /// Moves to the end of a step, unless it has no finite density or gradient.
    fn look(&mut self, place: Place) {
        if !non_finite::is_followed(place.log_density, place.gradient.iter().copied()) {
            self.shorten();
            return;
        }
        if place.log_density > self.best.log_density {
            self.best = place.clone();
        }
        self.at = place;
    }

    fn end_stretch(&mut self) {
        let enough = 0.5 * self.kept.z.len() as f64;
        if self.best.log_density - self.kept.log_density > enough {
            self.kept = self.best.clone();
        } else {
            self.shorten();
        }
    }

    /// Restarts from the last confirmed position, with shorter steps.
    fn shorten(&mut self) {
        self.rounds = self.rounds.saturating_sub(1);
        self.rate /= SHORTER;
        (self.at, self.best) = (self.kept.clone(), self.kept.clone());
        self.adam = optim::State::new(Optimizer::Adam(ADAM), self.kept.z.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climb(log_density: f64) -> Climb {
        let places = Places {
            z: Batch::from_points(2, &[[1.0, 2.0]]),
            log_density: vec![log_density],
            gradient: Batch::from_points(2, &[[3.0, -4.0]]),
        };
        Climb::new(&places, 0)
    }

    fn higher(by: f64) -> Place {
        Place { z: vec![9.0, 9.0], log_density: by, gradient: vec![1.0, 1.0] }
    }

    #[test]
    fn a_chain_goes_up_by_the_sign_of_its_slope() {
        // Adam's first step equals the rate along each coordinate.
        let step = climb(0.0).step(&[3.0, -4.0]);
        assert!((step[0] - RATE).abs() < 1e-9 && (step[1] + RATE).abs() < 1e-9, "{step:?}");
    }

    #[test]
    fn what_gains_little_is_taken_back_and_what_gains_much_is_kept() {
        let mut slow = climb(0.0);
        for round in 1..=ROUNDS {
            slow.look(higher(0.9));
            slow.end_stretch();
            assert_eq!((slow.at.z[0], slow.goes_on()), (1.0, round < ROUNDS));
        }
        assert_eq!(slow.step(&[1.0, 1.0]), [0.0, 0.0]);
        let mut quick = climb(0.0);
        quick.look(higher(1.1));
        quick.look(higher(f64::NAN));
        quick.look(higher(1.1));
        quick.end_stretch();
        assert_eq!((quick.kept.z[0], quick.rounds), (9.0, ROUNDS - 1));
    }
}
