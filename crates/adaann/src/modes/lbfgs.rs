//! The direction of a climb: the gradient, transformed by the curvature along the last steps.
//!
//! J. Nocedal, "Updating quasi-Newton matrices with limited storage" (1980), for a maximum.

use std::collections::VecDeque;

/// Steps to remember: enough for full BFGS in a few dimensions.
const MEMORY: usize = 16;

/// A pair of a step s and the decrease y of the gradient along it, with s·y > 0.
#[derive(Debug, Clone)]
struct Pair {
    step: Vec<f64>,
    fall: Vec<f64>,
    product: f64,
}

/// The memory of a climb.
#[derive(Debug, Clone, Default)]
pub(super) struct Curvature {
    pairs: VecDeque<Pair>,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Curvature {
    /// Adds a step. Returns whether the density bends down along it; only then is the step useful.
    pub(super) fn learn(&mut self, step: Vec<f64>, before: &[f64], after: &[f64]) -> bool {
        let fall: Vec<f64> =
            before.iter().zip(after).map(|(before, after)| before - after).collect();
        let product = dot(&step, &fall);
        let size = (dot(&step, &step) * dot(&fall, &fall)).sqrt();
        // Below this the pair reflects rounding rather than curvature.
        let bends_down = product > 1e-8 * size && size.is_finite();
        if bends_down {
            if self.pairs.len() == MEMORY {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { step, fall, product });
        }
        bends_down
    }

    pub(super) fn forget(&mut self) {
        self.pairs.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// H g, with H the inverse of the negative curvature as far as it is known.
    pub(super) fn direction(&self, slope: &[f64]) -> Vec<f64> {
        let mut direction = slope.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = dot(&pair.step, &direction) / pair.product;
            direction.iter_mut().zip(&pair.fall).for_each(|(x, y)| *x -= share * y);
            shares.push(share);
        }
        if let Some(last) = self.pairs.back() {
            let scale = last.product / dot(&last.fall, &last.fall);
            direction.iter_mut().for_each(|x| *x *= scale);
        }
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = dot(&pair.fall, &direction) / pair.product;
            direction.iter_mut().zip(&pair.step).for_each(|(x, s)| *x += (share - back) * s);
        }
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_know_a_quadratic_in_the_plane() {
        // log p = −(2 x² + 2 x y + 3 y²)/2, so that the decrease of the gradient is A s.
        let a = |s: &[f64]| vec![2.0 * s[0] + s[1], s[0] + 3.0 * s[1]];
        let mut curvature = Curvature::default();
        // Conjugate steps, s·A t = 0, make the inverse exact.
        for step in [vec![1.0, 0.0], vec![-0.5, 1.0]] {
            let after: Vec<f64> = a(&step).iter().map(|y| -y).collect();
            assert!(curvature.learn(step, &[0.0, 0.0], &after));
        }
        let direction = curvature.direction(&a(&[0.3, -0.7]));
        for (x, exact) in direction.iter().zip([0.3, -0.7]) {
            assert!((x - exact).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn a_step_through_a_valley_teaches_nothing() {
        let mut curvature = Curvature::default();
        assert!(!curvature.learn(vec![1.0, 2.0], &[0.0, 0.0], &[0.5, 0.5]));
        assert!(!curvature.learn(vec![1.0], &[f64::NAN], &[0.5]));
        assert!(curvature.is_empty());
        assert_eq!(curvature.direction(&[3.0, 4.0]), [3.0, 4.0]);
    }
}
