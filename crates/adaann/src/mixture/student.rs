//! A mixture with Student tails: the same components with heavier tails.

use super::{Mixture, component::Gaussian};
use crate::{Batch, importance::log_sum_exp};

/// Degrees of freedom: the tails reach points that a Gaussian would miss, and χ² with 4 degrees is a
/// product of uniforms.
const DEGREES: f64 = 4.0;

impl Mixture {
    /// log Σ of weight times Student density with [`DEGREES`] degrees of freedom at every point, up
    /// to a constant.
    pub(crate) fn log_student(&self, points: &Batch) -> Vec<f64> {
        let power = 0.5 * (DEGREES + self.dim as f64);
        let terms = |component: &Gaussian| -> Vec<f64> {
            let height = component.log_weight - component.log_det;
            let squares = component.squares(points, None);
            squares.into_iter().map(|s| height - power * (s / DEGREES).ln_1p()).collect()
        };
        let terms: Vec<_> = self.components.iter().map(terms).collect();
        (0..points.len()).map(|i| log_sum_exp(terms.iter().map(|row| row[i]))).collect()
    }

    /// A point of the mixture with Student tails from three uniform numbers, the first of which
    /// chooses the component, and one normal number per coordinate.
    pub(crate) fn place_student(&self, uniforms: [f64; 3], normals: &[f64], out: &mut [f64]) {
        let [choice, u, v] = uniforms;
        let component = &self.components[self.pick(choice)];
        // χ² with four degrees of freedom is −2 ln(u v).
        let scale = (DEGREES / (-2.0 * (u.ln() + v.ln()))).sqrt();
        component.place(normals, scale, out);
    }

    /// The component that a uniform number picks by weight.
    fn pick(&self, mut uniform: f64) -> usize {
        for (k, component) in self.components.iter().enumerate() {
            uniform -= component.log_weight.exp();
            if uniform < 0.0 {
                return k;
            }
        }
        self.components.len() - 1
    }
}
